#include <weir/tests/storage/support/workload.hpp>

#include <algorithm>

#include <weir/runtime/sleep.hpp>
#include <weir/runtime/try.hpp>
#include <weir/storage/errc.hpp>

namespace weir::storage::test {
namespace {

Seen seen_of(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  return writer_of(*text);
}

/// What the transaction itself has written to a key, if it has.
std::optional<Seen> own_value(const ClientRecord& record, std::uint64_t key) {
  const auto own = record.writes.find(key);
  if (own == record.writes.end()) return std::nullopt;
  if (own->second.is_removal) return Seen();
  return Seen(Writer{record.id, own->second.step});
}

/// Checks its own writes in what a scan found, and notes the rest: ranges without those keys.
void note_range(ClientRecord& record, TransactionRecord::Range range) {
  for (const auto& [key, write] : record.writes) {
    if (key < range.begin || key >= range.end) continue;
    const auto found = range.found.find(key);
    const Seen seen = found == range.found.end() ? Seen() : Seen(found->second);
    EXPECT_EQ(seen, *own_value(record, key)) << "T" << record.id << " and its own key " << key;
    TransactionRecord::Range before{range.begin, key, {}};
    before.found = {range.found.begin(), range.found.lower_bound(key)};
    record.ranges.push_back(std::move(before));
    range.found.erase(range.found.begin(), range.found.upper_bound(key));
    range.begin = key + 1;
  }
  record.ranges.push_back(std::move(range));
}

template <class RowScan>
Task<Result<>> read_all(RowScan* scan, std::map<std::uint64_t, Writer>* found) {
  std::optional<std::uint64_t> last;
  for (;;) {
    WEIR_CO_TRY(row, co_await scan->next());
    if (!row) co_return {};
    EXPECT_TRUE(!last || *last < row->key) << "a scan goes from " << *last << " to " << row->key;
    last = row->key;
    found->emplace(row->key, writer_of(row->value));
  }
}

}  // namespace

Task<Result<Spaces>> open_spaces(Store* store) {
  WEIR_CO_TRY(rows, co_await store->open_rows<std::uint64_t, std::string>("rows"));
  WEIR_CO_TRY(states, co_await store->open_state<std::uint64_t, std::string>("states"));
  co_return Spaces{std::move(rows), std::move(states)};
}

std::string text_of(Writer writer) {
  return std::to_string(writer.transaction) + "." + std::to_string(writer.step);
}

Writer writer_of(const std::string& text) {
  const std::size_t dot = text.find('.');
  return {std::stoull(text), static_cast<std::uint32_t>(std::stoul(text.substr(dot + 1)))};
}

Client::Client(Store* store, Spaces spaces, ClientOptions options, ClientRecords* records,
               std::function<void()> on_end)
    : store_(store),
      spaces_(std::move(spaces)),
      options_(options),
      records_(records),
      on_end_(std::move(on_end)),
      random_(options.seed) {}

Task<> Client::on(Work) {
  for (std::uint64_t i = 0; i < options_.transactions; ++i) {
    co_await yield();
    if (below(4) == 0) {
      co_await read_only(options_.first_id + i);
    } else {
      co_await read_write(options_.first_id + i);
    }
  }
  if (on_end_) on_end_();
}

Task<> Client::read_only(std::uint64_t id) {
  Version version = store_->version();
  version.number -= std::min(version.number, below(options_.versions_back + 1));
  auto reader = store_->read_at(version);
  if (!reader) {
    EXPECT_EQ(reader.error(), Errc::version_collected) << reader.error().message();
    co_return;
  }
  ClientRecord record;
  record.id = id;
  record.snapshot = record.version = version;
  for (auto reads = below(3); reads > 0; --reads) {
    const std::uint64_t key = below(options_.keys);
    const auto value = co_await reader->get(spaces_.rows, key);
    EXPECT_TRUE(value) << value.error().message();
    if (!value) co_return;
    record.reads.push_back({key, seen_of(*value)});
    co_await yield();
  }
  TransactionRecord::Range range{0, first_state_key, {}};
  auto rows = reader->scan(spaces_.rows);
  const auto read = co_await read_all(&rows, &range.found);
  EXPECT_TRUE(read) << read.error().message();
  if (!read) co_return;
  record.ranges.push_back(std::move(range));
  record.outcome = Outcome::committed;
  records_->push_back(std::move(record));
}

Task<> Client::read_write(std::uint64_t id) {
  Transaction transaction = store_->begin();
  transaction.set_origin(std::to_string(id));
  ClientRecord& record = records_->emplace_back();
  record.id = id;
  record.snapshot = transaction.version();
  if (const auto filled = co_await fill(transaction, record); !filled) {
    EXPECT_EQ(filled.error(), Errc::conflict) << filled.error().message();
    record.outcome = Outcome::aborted;
    co_return;
  }
  const auto version = co_await transaction.commit();
  if (version) {
    record.version = *version;
    record.outcome = Outcome::committed;
  } else if (version.error() == Errc::conflict) {
    record.outcome = Outcome::aborted;
  }
}

Task<Result<>> Client::fill(Transaction& transaction, ClientRecord& record) {
  for (auto operations = 1 + below(6); operations > 0; --operations) {
    switch (below(8)) {
      case 0:
      case 1: WEIR_CO_TRY_VOID(co_await get(transaction, record)); break;
      case 2:
      case 3: WEIR_CO_TRY_VOID(co_await scan(transaction, record)); break;
      case 4: WEIR_CO_TRY_VOID(co_await move_checkpoint(transaction, record)); break;
      default: write(transaction, record); break;
    }
    if (below(2) == 0) co_await yield();
  }
  if (record.writes.empty()) write(transaction, record);
  co_return {};
}

Task<Result<>> Client::get(Transaction& transaction, ClientRecord& record) {
  const bool is_state = options_.states > 0 && below(4) == 0;
  const std::uint64_t key =
      is_state ? first_state_key + below(options_.states) : below(options_.keys);
  std::optional<std::string> value;
  if (is_state) {
    WEIR_CO_TRY(state, co_await transaction.get(spaces_.states, key));
    value = state;
  } else {
    WEIR_CO_TRY(row, co_await transaction.get(spaces_.rows, key));
    value = row;
  }
  if (const auto own = own_value(record, key)) {
    EXPECT_EQ(seen_of(value), *own) << "T" << record.id << " and its own key " << key;
  } else {
    record.reads.push_back({key, seen_of(value)});
  }
  co_return {};
}

Task<Result<>> Client::scan(Transaction& transaction, ClientRecord& record) {
  const std::uint64_t begin = below(options_.keys);
  const std::uint64_t end = begin + 1 + below(options_.keys);
  TransactionRecord::Range range{begin, end, {}};
  if (options_.states > 0 && below(4) == 0) {
    range.begin = first_state_key;
    range.end = first_state_key + options_.states;
    auto states = transaction.scan(spaces_.states);
    WEIR_CO_TRY_VOID(co_await read_all(&states, &range.found));
  } else {
    auto rows =
        transaction.scan(spaces_.rows, KeyRange<std::uint64_t>::between(range.begin, range.end));
    WEIR_CO_TRY_VOID(co_await read_all(&rows, &range.found));
  }
  note_range(record, std::move(range));
  co_return {};
}

Task<Result<>> Client::move_checkpoint(Transaction& transaction, ClientRecord& record) {
  WEIR_CO_TRY(before, co_await transaction.checkpoint(consumer));
  const Version next = transaction.version();
  EXPECT_TRUE(!before || before->version <= next) << "a checkpoint from the future";
  transaction.set_checkpoint(consumer, next, std::to_string(record.id));
  record.checkpoint = next;
  co_return {};
}

void Client::write(Transaction& transaction, ClientRecord& record) {
  const bool is_state = options_.states > 0 && below(4) == 0;
  const std::uint64_t key =
      is_state ? first_state_key + below(options_.states) : below(options_.keys);
  TransactionRecord::Write& write = record.writes[key];
  ++write.step;
  write.is_removal = below(4) == 0;
  const std::string text = text_of({record.id, write.step});
  if (is_state && write.is_removal) {
    transaction.remove(spaces_.states, key);
  } else if (is_state) {
    transaction.put(spaces_.states, key, text);
  } else if (write.is_removal) {
    transaction.remove(spaces_.rows, key);
  } else {
    transaction.put(spaces_.rows, key, text);
  }
}

}  // namespace weir::storage::test

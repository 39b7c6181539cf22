#include <weir/tests/flow/workflow/support/board.hpp>

namespace weir::flow::workflow::testing {

Board::Board() {
  if (store_ != nullptr) store_->clear();
}

std::vector<Notice> Board::take_notices() {
  if (store_ != nullptr) return store_->take_notices();
  std::vector<Notice> notices = records_.notices();
  records_.note_taken();
  return notices;
}

void Board::learn(const internal::Missing& missing) {
  missing.each([&](const auto& list) {
    using Record = typename std::remove_cvref_t<decltype(list)>::Record;
    for (const auto& key : list.keys) records_.add<Record>(key, std::nullopt);
  });
}

void Board::read(const internal::Missing& asked) const {
  const auto copy = [&](internal::Draft& draft) -> Result<bool> {
    asked.each([&](const auto& list) {
      using Record = typename std::remove_cvref_t<decltype(list)>::Record;
      for (const auto& key : list.keys) {
        std::optional<Record> record;
        if (const Record* found = draft.find<Record>(key)) record = *found;
        records_.change<Record>(key, std::move(record));
      }
    });
    return true;
  };
  store_->run(now, std::make_shared<internal::CommandOf<decltype(copy)>>(copy));
}

}  // namespace weir::flow::workflow::testing

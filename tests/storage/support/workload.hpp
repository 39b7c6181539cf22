#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include <weir/runtime/actor.hpp>
#include <weir/runtime/task.hpp>
#include <weir/storage/store.hpp>
#include <weir/tests/storage/support/history.hpp>
#include <weir/tests/storage/support/store_fixture.hpp>

// Clients that run random transactions on a few keys and write down what they see. Real threads or
// simulated ones: the same clients.
namespace weir::storage::test {

using StatesOf = StateSpace<std::uint64_t, std::string>;

/// Keys up to `first_state_key` are rows, those from there on state.
struct Spaces {
  RowsOf rows;
  StatesOf states;
};
inline constexpr std::uint64_t first_state_key = 100;

Task<Result<Spaces>> open_spaces(Store* store);

/// Values name who wrote them.
std::string text_of(Writer writer);
Writer writer_of(const std::string& text);

/// The consumer whose checkpoint clients move.
inline constexpr const char* consumer = "consumer";

struct ClientRecord : TransactionRecord {
  std::optional<Version> checkpoint = {};  // that it set
};
/// Outlive the client, which may crash: then the last one has not ended.
using ClientRecords = std::deque<ClientRecord>;

struct ClientOptions {
  std::uint64_t seed = 1;
  std::uint64_t first_id = 1;  // of its transactions
  std::uint64_t transactions = 100;
  std::uint64_t keys = 8;
  std::uint64_t states = 2;
  /// So many versions back a reader goes at most.
  std::uint64_t versions_back = 10;
};

/// Begins.
struct Work {};

/// Runs transactions one after the other. Nothing that it needs may go before it does.
class Client final : public Actor<Work> {
 public:
  Client(Store* store, Spaces spaces, ClientOptions options, ClientRecords* records,
         std::function<void()> on_end);
  Task<> on(Work);

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  Task<> read_only(std::uint64_t id);
  Task<> read_write(std::uint64_t id);
  Task<Result<>> fill(Transaction& transaction, ClientRecord& record);
  Task<Result<>> get(Transaction& transaction, ClientRecord& record);
  Task<Result<>> scan(Transaction& transaction, ClientRecord& record);
  Task<Result<>> move_checkpoint(Transaction& transaction, ClientRecord& record);
  void write(Transaction& transaction, ClientRecord& record);

  Store* store_;
  Spaces spaces_;
  ClientOptions options_;
  ClientRecords* records_;
  std::function<void()> on_end_;
  std::mt19937_64 random_;
};

}  // namespace weir::storage::test

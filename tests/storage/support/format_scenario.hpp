#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include <weir/runtime/simulation.hpp>
#include <weir/storage/store.hpp>
#include <weir/tests/runtime/support/recorded_spans.hpp>

// What the sample of the persisted format holds: tests/storage/samples/format_1.txt.
namespace weir::storage::test {

struct SampleAccount {
  std::string owner;
  std::int64_t cents = 0;

  static auto weir_fields(auto& self) { return std::tie(self.owner, self.cents); }
  friend bool operator==(const SampleAccount&, const SampleAccount&) = default;
};

using Milliseconds = std::chrono::milliseconds;

/// One of each kind of key.
using SampleKey =
    std::tuple<bool, std::uint8_t, std::int16_t, float, double, std::string,
               std::array<std::uint8_t, 2>, std::optional<std::uint32_t>, Milliseconds,
               std::chrono::sys_time<std::chrono::seconds>, Descending<std::uint16_t>>;

/// One of each kind of value.
using SampleValue =
    std::tuple<bool, std::uint8_t, std::int8_t, std::uint64_t, std::int32_t, float, double,
               std::vector<std::byte>, std::array<std::uint8_t, 2>, std::optional<std::string>,
               std::vector<std::int64_t>, std::map<std::string, std::uint16_t>,
               std::variant<std::monostate, std::string>, Milliseconds,
               std::chrono::sys_time<std::chrono::seconds>>;

SampleKey sample_key();
SampleValue sample_value();

using SampleAccounts = RowSpace<std::uint64_t, SampleAccount>;
using SampleTypes = RowSpace<SampleKey, SampleValue>;
using SampleStates = StateSpace<std::string, std::string>;

/// Runs the scenario, which is the same every time, on a store with these options, and closes it.
class FormatScenario {
 public:
  FormatScenario();

  ActorSystem& system() { return simulation_.system(); }
  void run(StoreOptions options);

 private:
  Task<Result<>> open_spaces(Store* store);
  Task<Result<Version>> commit_traced(Transaction* transaction);
  void fill();
  void change();
  void end();
  /// A second after the one before, with its origin.
  void commit(Transaction transaction, std::string origin);

  weir::testing::RecordedSpans spans_;
  Simulation simulation_;
  std::optional<Store> store_;
  std::optional<SampleAccounts> accounts_;
  std::optional<SampleTypes> types_;
  std::optional<SampleStates> states_;
};

}  // namespace weir::storage::test

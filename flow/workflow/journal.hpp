#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include <weir/flow/workflow/records.hpp>

// The journal of a durable coroutine: what it did, so that it can be run again up to where it was.
// Persisted: fields are only added, at the end.
namespace weir::flow::workflow {

// Persisted: never renumber.
enum class JournalKind : std::uint8_t {
  input = 1,     // what the coroutine begins with, after `continue_as_new`
  step,          // the result of a function
  sleep,         // until when
  value,         // a time, a random number or an id
  child,         // an execution that was begun
  decision,      // which of them decided
  signal,        // what came
  version,       // which version of the code goes on
  compensation,  // the result of a function that undoes a step
};
template <>
inline constexpr std::array words<JournalKind> = {
    "input", "step", "sleep", "value", "child", "decision", "signal", "version", "compensation"};

/// Something that happened once, with what came of it.
struct JournalEntry {
  JournalKind kind = JournalKind::step;
  std::string name = {};
  /// As which of all the coroutine asked for it, from 1 on. Those that were asked for side by side
  /// are in the journal in the order in which they ended.
  std::uint32_t number = 0;
  bool has_failed = false;
  /// What came of it; the reason, if it has failed.
  std::string payload = {};
  Time at = {};

  static auto weir_fields(auto& self) {
    return std::tie(self.kind, self.name, self.number, self.has_failed, self.payload, self.at);
  }
  friend bool operator==(const JournalEntry&, const JournalEntry&) = default;
};

/// By its place in the journal. Places are never used again.
struct JournalKey {
  ExecutionId execution = {};
  std::uint32_t place = 0;

  static auto weir_fields(auto& self) { return std::tie(self.execution, self.place); }
  friend bool operator==(const JournalKey&, const JournalKey&) = default;
  friend auto operator<=>(const JournalKey&, const JournalKey&) = default;
};

/// Which places have entries: from `begin` to before `end`.
struct JournalHead {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  static auto weir_fields(auto& self) { return std::tie(self.begin, self.end); }
  friend bool operator==(const JournalHead&, const JournalHead&) = default;
};

/// A journal as it is, in order.
struct Journal {
  JournalHead head;
  std::vector<JournalEntry> entries;
};

/// A longer one is refused: `continue_as_new` begins anew.
inline constexpr std::uint32_t journal_entries_max = 50'000;

}  // namespace weir::flow::workflow

#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weir/flow/operator/state.hpp>
#include <weir/flow/operator/state_reader.hpp>

namespace weir::flow::operators {

/// What a flow has written, in memory: for tests, and for flows that need not survive.
class MemoryState final : public StateReader {
 public:
  Result<std::optional<std::string>> get(std::string_view key) override;
  Result<std::vector<Entry>> scan(const Range& range) override;

  void write(std::span<const State::Write> writes);
  const std::map<std::string, std::string, std::less<>>& entries() const noexcept {
    return entries_;
  }

 private:
  std::map<std::string, std::string, std::less<>> entries_;
};

}  // namespace weir::flow::operators

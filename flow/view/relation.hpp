#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <weir/flow/data/schema.hpp>

namespace weir::flow::view {

namespace internal {
struct RelationInfo;
}

/// A table, view, ring buffer or series of a database, as it was when it was opened. Cheap to copy.
class Relation {
 public:
  explicit Relation(std::shared_ptr<const internal::RelationInfo> info) noexcept
      : info_(std::move(info)) {}

  std::uint64_t id() const noexcept;
  const std::string& name() const noexcept;
  const data::SchemaRef& schema() const noexcept;
  /// `table`, `view`, `ring_buffer` or `series`.
  const char* kind() const noexcept;
  bool is_view() const noexcept;
  /// Whether it is a view that is part of the commits which change it.
  bool is_transactional() const noexcept;
  /// Whether it is a ring buffer or series, which rows are appended to.
  bool is_appended() const noexcept;
  /// Of rows to be appended: without the position or sequence. Null if nothing is appended to it.
  data::SchemaRef append_schema() const;
  /// The names of what a view reads; empty for others.
  std::vector<std::string> sources() const;
  const internal::RelationInfo& info() const noexcept { return *info_; }
  const std::shared_ptr<const internal::RelationInfo>& shared_info() const noexcept {
    return info_;
  }

 private:
  std::shared_ptr<const internal::RelationInfo> info_;
};

}  // namespace weir::flow::view

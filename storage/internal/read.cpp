#include <weir/storage/internal/read.hpp>

#include <weir/storage/internal/row_reader.hpp>

namespace weir::storage::internal {

Result<std::optional<std::string>> PointRead::read(engine::Wait wait) const {
  std::string value;
  auto found = family == engine::Family::rows
                   ? read_row(*core, key, version, value, wait)
                   : read_single(*core, family, key, version, value, wait);
  if (!found) return found.error();
  if (!*found) return std::optional<std::string>();
  return std::optional<std::string>(std::move(value));
}

}  // namespace weir::storage::internal

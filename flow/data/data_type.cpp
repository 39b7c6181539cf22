#include <weir/flow/data/data_type.hpp>

namespace weir::flow::data {

const char* to_string(Kind kind) noexcept {
  switch (kind) {
    case Kind::boolean: return "bool";
    case Kind::int64: return "int64";
    case Kind::uint64: return "uint64";
    case Kind::float64: return "float64";
    case Kind::decimal: return "decimal";
    case Kind::text: return "text";
    case Kind::bytes: return "bytes";
    case Kind::timestamp: return "timestamp";
    case Kind::date: return "date";
    case Kind::duration: return "duration";
    case Kind::uuid: return "uuid";
  }
  return "unknown";
}

std::string to_string(DataType type) {
  if (type.kind != Kind::decimal) return to_string(type.kind);
  return "decimal(" + std::to_string(type.scale) + ")";
}

}  // namespace weir::flow::data

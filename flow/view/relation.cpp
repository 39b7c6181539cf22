#include <weir/flow/view/relation.hpp>

#include <weir/flow/view/internal/relation_info.hpp>

namespace weir::flow::view {

std::uint64_t Relation::id() const noexcept { return info_->id; }
const std::string& Relation::name() const noexcept { return info_->entry.name; }
const data::SchemaRef& Relation::schema() const noexcept { return info_->format.schema(); }
const char* Relation::kind() const noexcept {
  switch (info_->entry.kind) {
    case internal::RelationKind::table: return "table";
    case internal::RelationKind::view: return "view";
    case internal::RelationKind::ring_buffer: return "ring_buffer";
    case internal::RelationKind::series: return "series";
  }
  return "unknown";
}
bool Relation::is_view() const noexcept {
  return info_->entry.kind == internal::RelationKind::view;
}
bool Relation::is_appended() const noexcept { return info_->append.has_value(); }
data::SchemaRef Relation::append_schema() const {
  return info_->append ? info_->append->schema : nullptr;
}

std::vector<std::string> Relation::sources() const {
  std::vector<std::string> names;
  for (const internal::SourceEntry& source : info_->entry.sources) names.push_back(source.name);
  return names;
}

bool Relation::is_transactional() const noexcept { return info_->entry.is_transactional(); }

}  // namespace weir::flow::view

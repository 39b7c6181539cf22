#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weir/telemetry/metric_record.hpp>

namespace weir::telemetry::internal {

enum class FamilyType : std::uint8_t { counter, gauge, histogram };

/// What a record becomes on a page.
FamilyType family_type(const MetricRecord& record) noexcept;

/// A metric on a page: its samples are named by `name` and what their type adds to it.
struct Family {
  const MetricRecord* record = nullptr;
  FamilyType type = FamilyType::gauge;
  std::string name;  // without `_total`
  std::string unit;  // a word that the name ends with, or nothing
};

/// Letters, digits and single `_`; begins with no digit and is not empty.
std::string prometheus_name(std::string_view name);

/// `seconds` for `s`, `bytes_per_second` for `By/s`; nothing for what is only annotated, such as
/// `{message}`.
std::string prometheus_unit(std::string_view unit, FamilyType type);

/// The families of all records that have points, by name; no two have a sample name in common.
std::vector<Family> name_families(std::span<const MetricRecord> records);

struct Label {
  std::string name;
  std::string value;

  friend auto operator<=>(const Label&, const Label&) = default;
};

/// By name, each once.
std::vector<Label> labels_of(const Attributes& attributes, FamilyType type);

}  // namespace weir::telemetry::internal

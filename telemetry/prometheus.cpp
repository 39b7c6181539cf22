#include <weir/telemetry/prometheus.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <weir/telemetry/internal/character.hpp>
#include <weir/telemetry/internal/instrument_state.hpp>
#include <weir/telemetry/internal/prometheus_names.hpp>

namespace weir::telemetry {
namespace {

using internal::Family;
using internal::FamilyType;
using internal::Label;
using Labels = std::vector<Label>;

// A line cannot be ended, nor a quotation, and what is no character or not visible is shown by its
// number. Readers know three escapes and no others, so that its backslash is escaped as well.
std::string escaped(std::string_view text, bool escapes_quotes) {
  std::string result;
  while (!text.empty()) {
    const internal::Character character = internal::first_character(text);
    const char first = text.front();
    if (first == '\n') {
      result += "\\n";
    } else if (first == '\\' || (first == '"' && escapes_quotes)) {
      result += {'\\', first};
    } else if (!character.is_valid || internal::is_control(character.code)) {
      result += '\\' + internal::escape_of(character, first);
    } else {
      result += text.substr(0, character.bytes);
    }
    text.remove_prefix(character.bytes);
  }
  return result;
}

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return internal::number_text(value);
}

const char* to_string(FamilyType type) noexcept {
  switch (type) {
    case FamilyType::counter: return "counter";
    case FamilyType::gauge: return "gauge";
    case FamilyType::histogram: return "histogram";
  }
  return "unknown";
}

// A point and the labels that no other point of its family has.
struct LabelledPoint {
  const MetricPoint* point;
  Labels labels;
};

void tell_apart(std::vector<LabelledPoint>& points) {
  std::set<Labels> taken;
  for (LabelledPoint& point : points) {
    Labels labels = point.labels;
    for (int number = 2; !taken.insert(labels).second; ++number) {
      labels = point.labels;
      std::erase_if(labels, [](const Label& label) { return label.name == "duplicate"; });
      labels.push_back({"duplicate", std::to_string(number)});
      std::ranges::sort(labels);
    }
    point.labels = std::move(labels);
  }
}

// In an order that does not depend on which came first.
std::vector<LabelledPoint> label_points(const Family& family) {
  std::vector<std::pair<std::string, LabelledPoint>> keyed;
  for (const MetricPoint& point : family.record->points) {
    keyed.emplace_back(internal::key_of(internal::normalised(point.attributes)),
                       LabelledPoint{&point, labels_of(point.attributes, family.type)});
  }
  std::ranges::sort(keyed, [](const auto& a, const auto& b) {
    return std::tie(a.second.labels, a.first, a.second.point) <
           std::tie(b.second.labels, b.first, b.second.point);
  });
  std::vector<LabelledPoint> points;
  for (auto& [key, point] : keyed) points.push_back(std::move(point));
  tell_apart(points);
  return points;
}

class Page {
 public:
  explicit Page(PrometheusFormat format)
      : is_openmetrics_(format == PrometheusFormat::openmetrics) {}

  void add(const Family& family) {
    describe(family);
    for (const LabelledPoint& point : label_points(family)) add(family, point);
  }

  std::string take() && {
    if (is_openmetrics_) text_ += "# EOF\n";
    return std::move(text_);
  }

 private:
  void describe(const Family& family) {
    // The older format describes samples, the newer one families.
    std::string name = family.name;
    if (family.type == FamilyType::counter && !is_openmetrics_) name += "_total";
    line("# TYPE " + name + ' ' + to_string(family.type));
    if (is_openmetrics_ && !family.unit.empty()) line("# UNIT " + name + ' ' + family.unit);
    const std::string& description = family.record->description;
    if (!description.empty()) line("# HELP " + name + ' ' + escaped(description, is_openmetrics_));
  }

  void add(const Family& family, const LabelledPoint& point) {
    if (const auto* histogram = std::get_if<HistogramPoint>(&point.point->value)) {
      if (family.type == FamilyType::histogram) add(family.name, point.labels, *histogram);
    } else if (const auto* sum = std::get_if<SumPoint>(&point.point->value)) {
      const bool counts = family.type == FamilyType::counter;
      sample(counts ? family.name + "_total" : family.name, point.labels, number(sum->value));
    } else if (family.type != FamilyType::histogram) {
      sample(family.name, point.labels, number(std::get<GaugePoint>(point.point->value).value));
    }
  }

  void add(const std::string& name, const Labels& labels, const HistogramPoint& histogram) {
    std::uint64_t count = 0;
    double last = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < histogram.buckets.size(); ++i) {
      count += histogram.buckets[i];
      const double bound = i < histogram.bounds.size() ? histogram.bounds[i] : std::nan("");
      if (!std::isfinite(bound) || bound <= last) continue;
      bucket(name, labels, bound_text(bound), count);
      last = bound;
    }
    bucket(name, labels, "+Inf", count);
    // With negative values a sum may fall, which the newer format forbids: it wants none then.
    const bool may_fall = !histogram.bounds.empty() && histogram.bounds.front() < 0;
    if (is_openmetrics_ && (may_fall || histogram.sum < 0)) return;
    sample(name + "_sum", labels, number(histogram.sum));
    sample(name + "_count", labels, std::to_string(count));
  }

  void bucket(const std::string& name, Labels labels, std::string bound, std::uint64_t count) {
    labels.push_back({"le", std::move(bound)});
    sample(name + "_bucket", labels, std::to_string(count));
  }

  // The newer format tells `1` from `1.0`, and wants the latter.
  std::string bound_text(double bound) const {
    std::string text = number(bound);
    const bool is_whole = text.find_first_of(".eIN") == std::string::npos;
    return is_openmetrics_ && is_whole ? text + ".0" : text;
  }

  void sample(const std::string& name, const Labels& labels, const std::string& value) {
    text_ += name;
    char separator = '{';
    for (const Label& label : labels) {
      text_ += separator + label.name + "=\"" + escaped(label.value, true) + '"';
      separator = ',';
    }
    if (!labels.empty()) text_ += '}';
    line(' ' + value);
  }

  void line(std::string_view text) { (text_ += text) += '\n'; }

  const bool is_openmetrics_;
  std::string text_;
};

}  // namespace

std::string_view content_type(PrometheusFormat format) noexcept {
  return format == PrometheusFormat::openmetrics
             ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
             : "text/plain; version=0.0.4; charset=utf-8";
}

std::string prometheus_page(std::span<const MetricRecord> records, PrometheusFormat format) {
  Page page(format);
  for (const Family& family : internal::name_families(records)) page.add(family);
  return std::move(page).take();
}

}  // namespace weir::telemetry

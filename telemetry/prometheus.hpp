#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <weir/telemetry/metric_record.hpp>

namespace weir::telemetry {

enum class PrometheusFormat : std::uint8_t {
  text,         // version 0.0.4
  openmetrics,  // version 1.0.0
};

/// What an answer with such a page says it is.
std::string_view content_type(PrometheusFormat format) noexcept;

/// The page that a Prometheus server reads. Names follow the rules for OpenTelemetry metrics:
/// `weir.actor.handle.duration` in `s` becomes `weir_actor_handle_duration_seconds`, and a counter
/// ends in `_total`.
///
/// Nothing in a name, description or attribute can break the page: what a name cannot hold becomes
/// `_`, and control characters in values are shown by their number. Of metrics that become the
/// same name, the one whose own name sorts first keeps it, and others get a number made from their
/// own names; attributes that become the same label are joined by `;`; and points that become the
/// same series are told apart by the label `duplicate`.
std::string prometheus_page(std::span<const MetricRecord> records, PrometheusFormat format);

}  // namespace weir::telemetry

#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/telemetry/telemetry.hpp>

namespace weir::testing {

/// A telemetry whose spans stay in this process.
class RecordedSpans {
 public:
  explicit RecordedSpans(telemetry::TelemetryOptions options = {},
                         std::vector<telemetry::LogSink> sinks = {}) {
    telemetry::Exporters exporters;
    exporters.spans = std::make_unique<Exporter>(store_);
    telemetry_ = std::make_unique<telemetry::Telemetry>(std::move(options), std::move(exporters),
                                                        std::move(sinks));
  }

  telemetry::Telemetry* telemetry() const noexcept { return telemetry_.get(); }

  /// All spans that have ended so far.
  std::vector<telemetry::SpanRecord> all() const {
    EXPECT_TRUE(telemetry_->flush(std::chrono::minutes(1)));
    const std::scoped_lock hold(store_->mutex);
    return store_->spans;
  }
  std::vector<telemetry::SpanRecord> named(std::string_view name) const {
    std::vector<telemetry::SpanRecord> found = all();
    std::erase_if(found, [&](const auto& span) { return !is_named(span, name); });
    return found;
  }
  /// The only one of that name.
  telemetry::SpanRecord one(std::string_view name) const {
    const auto found = named(name);
    EXPECT_EQ(found.size(), 1u) << name;
    return found.empty() ? telemetry::SpanRecord() : found.front();
  }

  static const telemetry::AttributeValue* attribute(const telemetry::SpanRecord& span,
                                                    std::string_view name) {
    const auto found = std::find_if(span.attributes.begin(), span.attributes.end(),
                                    [&](const auto& one) { return one.name == name; });
    return found == span.attributes.end() ? nullptr : &found->value;
  }

 private:
  struct Store {
    std::mutex mutex;
    std::vector<telemetry::SpanRecord> spans;
  };

  class Exporter final : public telemetry::Exporter<telemetry::SpanRecord> {
   public:
    explicit Exporter(std::shared_ptr<Store> store) : store_(std::move(store)) {}
    bool export_batch(std::span<const telemetry::SpanRecord> batch) override {
      const std::scoped_lock hold(store_->mutex);
      store_->spans.insert(store_->spans.end(), batch.begin(), batch.end());
      return true;
    }
    void shut_down(std::chrono::milliseconds) override {}

   private:
    std::shared_ptr<Store> store_;
  };

  // Message types are printed with their namespaces.
  static bool is_named(const telemetry::SpanRecord& span, std::string_view name) {
    return span.name == name || span.name.ends_with("::" + std::string(name));
  }

  std::shared_ptr<Store> store_ = std::make_shared<Store>();
  std::unique_ptr<telemetry::Telemetry> telemetry_;
};

}  // namespace weir::testing

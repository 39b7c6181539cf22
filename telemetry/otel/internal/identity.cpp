#include <weir/telemetry/otel/internal/identity.hpp>

#include <string>
#include <variant>

#include <opentelemetry/sdk/instrumentationscope/instrumentation_scope.h>
#include <opentelemetry/sdk/resource/resource.h>

#include <weir/telemetry/otel/internal/utf8.hpp>

namespace weir::telemetry::otel {
namespace {

// `Resource::Create` would mix in OTEL_RESOURCE_ATTRIBUTES, which the options already are the last
// word on.
struct OwnResource : sdk::resource::Resource {
  explicit OwnResource(const sdk::resource::ResourceAttributes& attributes)
      : Resource(attributes) {}
};

sdk::common::OwnedAttributeValue owned(const AttributeValue& value) {
  return std::visit(
      [](const auto& v) -> sdk::common::OwnedAttributeValue {
        if constexpr (std::is_same_v<decltype(v), const std::string&>) {
          return std::string(Utf8Text(v).view());
        } else {
          return v;
        }
      },
      value);
}

}  // namespace

Identity make_identity(const TelemetryOptions& options) {
  sdk::resource::ResourceAttributes attributes;
  for (const auto& [name, value] : options.resource) {
    attributes[std::string(Utf8Text(name).view())] = owned(value);
  }
  attributes["service.name"] = owned(options.service_name);
  const OwnResource own(attributes);
  Identity identity;
  identity.resource = std::make_shared<const sdk::resource::Resource>(
      sdk::resource::Resource::GetDefault().Merge(own));
  identity.scope = std::shared_ptr<const sdk::instrumentationscope::InstrumentationScope>(
      sdk::instrumentationscope::InstrumentationScope::Create("weir", WEIR_VERSION).release());
  return identity;
}

}  // namespace weir::telemetry::otel

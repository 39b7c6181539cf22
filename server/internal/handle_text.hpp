#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <weir/flow/workflow/handle.hpp>
#include <weir/server/internal/json_fields.hpp>

namespace weir::server::internal {

/// A handle as callers hold it: base64 of RFC 4648 section 5, in which nothing is for them to read.
///
///     version 1, partition 2, uuid 16, attempt 4, epoch 8, store 8, checksum 8 bytes
///
/// The checksum keeps what was cut off or mixed up from reaching the engine. It is no signature:
/// who may write may complete what others claimed, and the engine tells a handle that is too old.
std::string print_handle(const flow::workflow::Handle& handle);
/// Nothing for a text that was not made by `print_handle`.
std::optional<flow::workflow::Handle> parse_handle(std::string_view text);

/// `malformed_handle`
Refused read_json(const JsonReader& json, flow::workflow::Handle& to);

}  // namespace weir::server::internal

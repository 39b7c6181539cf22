#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <weir/flow/workflow/handle.hpp>
#include <weir/server/internal/json_fields.hpp>

namespace weir::server::internal {

/// A handle as callers hold it: base64 of RFC 4648 section 5, in which nothing is for them to read.
///
///     version 1, partition 2, uuid 16, attempt 4, epoch 8, store 8, signature 16 bytes
///
/// The signature is the beginning of an HMAC-SHA256 with a secret of the store
/// (`Engine::handle_secret`): only who was given a handle has it, and it is good after a restart,
/// and in every gateway on the store.
std::string print_handle(const flow::workflow::Handle& handle, std::string_view secret);
/// Nothing for a text that was not made by `print_handle` with that secret.
std::optional<flow::workflow::Handle> parse_handle(std::string_view text, std::string_view secret);

/// A handle in a body.
struct HandleField {
  flow::workflow::Handle* handle;
  std::string_view secret;
};
/// `malformed_handle`
Refused read_json(const JsonReader& json, HandleField to);

}  // namespace weir::server::internal

#pragma once

#include <string>
#include <string_view>

#include <weir/flow/workflow/suspension.hpp>
#include <weir/runtime/result.hpp>

// Tokens with which others may send signals: `key:64 hex digits`, an HMAC-SHA256 of the execution
// and the waitpoint. So one is good for one waitpoint of one execution, as long as its key is
// there.
namespace weir::flow::workflow::internal {

/// The keyring is not empty.
std::string make_token(const Keyring& keyring, const ExecutionId& execution,
                       std::string_view waitpoint);
/// `invalid_token` without saying more to who guesses: the token itself is not in the message.
Result<> verify_token(const Keyring& keyring, const ExecutionId& execution,
                      std::string_view waitpoint, std::string_view token);

/// A secret that nobody can guess.
std::string make_secret();

}  // namespace weir::flow::workflow::internal

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// What options may be, however they were given.
namespace weir::telemetry::internal {

/// As OpenTelemetry has it for all its numbers; durations count milliseconds.
inline constexpr std::int64_t number_max = 2'147'483'647;

/// Throws `std::invalid_argument`: what is wrong, its value, and what would be right.
[[noreturn]] void refuse_option(std::string_view name, std::string_view value,
                                std::string_view accepted);

std::string number_form(std::int64_t min, std::int64_t max);

inline constexpr std::string_view ratio_form = "a number from 0 to 1";
inline constexpr std::string_view text_form = "UTF-8 text that is not empty";
inline constexpr std::string_view http_form = "a URL such as http://localhost:4318";
inline constexpr std::string_view grpc_form =
    "a URL such as http://localhost:4317, host:port, dns:///host:port or unix:path";

inline constexpr std::string_view pem_form = "a PEM file that can be read";
/// For one of two files that must be given together.
std::string pem_form_beside(std::string_view other);

bool is_ratio(double value) noexcept;
bool is_option_text(std::string_view text) noexcept;
/// With scheme http or https, a host, and perhaps a port, a path and a query.
bool is_http_url(std::string_view text) noexcept;
/// An HTTP URL, or one of the names that gRPC has for a server: `host:port`, which may be preceded
/// by `dns:///`, or `unix:` and a path.
bool is_grpc_target(std::string_view text) noexcept;
/// Reads the file.
bool is_pem_file(const std::string& path);
/// Whether both can be sent as a header of HTTP.
bool is_http_header(std::string_view name, std::string_view value) noexcept;
/// Whether both can be sent with a call of gRPC, which takes fewer names, and ends the process at
/// one that it does not take. Letters may be of upper case here, and have to be lowered before.
bool is_grpc_header(std::string_view name, std::string_view value) noexcept;

}  // namespace weir::telemetry::internal

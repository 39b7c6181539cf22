#pragma once

#include <filesystem>
#include <string>

#include <weir/runtime/result.hpp>

namespace weir::cli {

/// `not_found` names it.
Result<std::string> read_file(const std::filesystem::path& path);

/// An error of the store as one of this program, with what to do about it.
Error explain(const Error& error, const std::filesystem::path& directory);

/// `not_found` if it is not there, `failed` if it holds something else than a store.
Result<> check_is_store(const std::filesystem::path& directory);

}  // namespace weir::cli

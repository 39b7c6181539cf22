#pragma once

namespace weir::cli {

/// Of Weir: that of the CMake project.
inline constexpr const char* version = WEIR_VERSION;

}  // namespace weir::cli

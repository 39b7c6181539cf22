// An enumeration that is not an error code enumeration names no error.

#include <weir/runtime/error.hpp>

enum class Colour { red };

weir::Error error = Colour::red;

#pragma once

// `std::function` alone. <functional> also has searchers, and with them hash tables, vectors and
// algorithms, which cost every file with an actor a tenth of its time to compile. libstdc++ has
// `std::function` apart as well.
#if __has_include(<bits/std_function.h>)
#include <bits/std_function.h>
#else
#include <functional>
#endif

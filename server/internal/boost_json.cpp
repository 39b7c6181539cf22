// Boost.JSON as Debian's headers have it, without a library to link to: compiled here, once.
#include <boost/json/src.hpp>

// A prefix is of the first components, not of any.

#include <weir/storage/key_range.hpp>

using Key = std::tuple<std::uint64_t, std::string>;

auto range() { return weir::storage::KeyRange<Key>::prefix("name"); }

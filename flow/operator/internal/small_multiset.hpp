#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <weir/flow/data/change_batch.hpp>
#include <weir/flow/operator/internal/row_bytes.hpp>

namespace weir::flow::operators::internal {

/// What came of changing how often an item is there.
enum class ItemChange : std::uint8_t {
  none,
  came,        // it was not there before
  went,        // it is not there any more
  is_missing,  // it went more often than it came; nothing was changed
};

// A few items, in order, and how often each is there, as bytes: faster than a table for those that
// fit into a few cache lines. Persisted:
//
//     for each item: size:varint item weight:varint
class SmallMultiset {
 public:
  /// The next of them. False if there is something else.
  static bool take(std::string_view& in, std::string_view& item, data::Weight& weight) noexcept {
    data::Weight size = 0;
    if (!take_weight(in, size) || static_cast<std::uint64_t>(size) > in.size()) return false;
    item = in.substr(0, static_cast<std::size_t>(size));
    in.remove_prefix(static_cast<std::size_t>(size));
    return take_weight(in, weight);
  }
  static bool is_valid(std::string_view bytes) noexcept {
    std::string_view item;
    data::Weight weight = 0;
    while (!bytes.empty())
      if (!take(bytes, item, weight)) return false;
    return true;
  }
  /// Empty if there is none.
  static std::string_view first(std::string_view bytes) noexcept {
    std::string_view item;
    data::Weight weight = 0;
    return !bytes.empty() && take(bytes, item, weight) ? item : std::string_view();
  }

  static ItemChange add(std::string& bytes, std::string_view item, data::Weight weight) {
    std::string_view rest = bytes;
    while (!rest.empty()) {
      const std::size_t begin = bytes.size() - rest.size();
      std::string_view found;
      data::Weight before = 0;
      if (!take(rest, found, before)) return ItemChange::is_missing;
      if (found < item) continue;
      if (found != item) return insert(bytes, begin, item, weight);
      const std::size_t size = bytes.size() - rest.size() - begin;
      if (before + weight < 0) return ItemChange::is_missing;
      if (before + weight == 0) {
        bytes.erase(begin, size);
        return ItemChange::went;
      }
      replace(bytes, {.begin = begin, .size = size}, item, before + weight);
      return ItemChange::none;
    }
    return insert(bytes, bytes.size(), item, weight);
  }

 private:
  struct Part {
    std::size_t begin;
    std::size_t size;
  };
  static ItemChange insert(std::string& bytes, std::size_t at, std::string_view item,
                           data::Weight weight) {
    if (weight < 0) return ItemChange::is_missing;
    replace(bytes, {.begin = at, .size = 0}, item, weight);
    return ItemChange::came;
  }
  static void replace(std::string& bytes, Part part, std::string_view item, data::Weight weight) {
    std::string entry;
    append_weight(static_cast<data::Weight>(item.size()), entry);
    entry.append(item);
    append_weight(weight, entry);
    bytes.replace(part.begin, part.size, entry);
  }
};

}  // namespace weir::flow::operators::internal

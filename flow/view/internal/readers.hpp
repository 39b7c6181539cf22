#pragma once

#include <cstdint>
#include <map>
#include <set>

namespace weir::flow::view::internal {

/// Who reads a relation, by their ids, which are greater than its own.
using Readers = std::map<std::uint64_t, std::set<std::uint64_t>>;

/// Calls `visit` for everyone who reads a relation, through however many others, each after those
/// that it reads. The readers of one for whom it is false are left out.
template <class Visit>
void visit_readers(const Readers& readers, std::uint64_t id, Visit visit) {
  std::set<std::uint64_t> left = {id};
  while (!left.empty()) {
    const auto at = readers.find(left.extract(left.begin()).value());
    if (at == readers.end()) continue;
    for (const std::uint64_t reader : at->second)
      if (!left.contains(reader) && visit(reader)) left.insert(reader);
  }
}

}  // namespace weir::flow::view::internal

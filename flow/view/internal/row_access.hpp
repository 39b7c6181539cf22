#pragma once

#include <optional>
#include <string>
#include <vector>

#include <weir/flow/data/change_batch.hpp>
#include <weir/flow/data/value.hpp>
#include <weir/flow/view/internal/relation_info.hpp>
#include <weir/flow/view/snapshot.hpp>
#include <weir/runtime/result.hpp>
#include <weir/storage/key_range.hpp>

namespace weir::flow::view::internal {

/// A batch of one row.
Result<data::ChangeBatch> make_row(const RelationInfo& relation,
                                   const std::vector<data::Value>& row);
/// The values of the primary key as a key of the store. `invalid_argument` names what is wrong.
Result<EncodedKey> make_key(const RelationInfo& relation, const std::vector<data::Value>& key);
Result<std::vector<data::Value>> decode_row(const RelationInfo& relation, const EncodedKey& key,
                                            const EncodedValue& value);
/// The keys that begin with the values of a range. `invalid_argument` names what is wrong.
Result<storage::KeyRange<EncodedKey>> make_range(const RelationInfo& relation,
                                                 const RowRange& range);
/// `'orders': (1)`
std::string describe_key(const RelationInfo& relation, const data::ChangeBatch& batch,
                         std::size_t row);

}  // namespace weir::flow::view::internal

#include <weir/storage/encoded.hpp>

#include <utility>

#include <weir/runtime/try.hpp>
#include <weir/storage/internal/open.hpp>

namespace weir::storage {

Task<Result<EncodedState>> open_encoded_state(const Store* store, std::string name,
                                              std::string key_signature,
                                              std::string value_signature) {
  SpaceInfo wanted{.kind = SpaceKind::state,
                   .name = std::move(name),
                   .key_signature = std::move(key_signature),
                   .value_signature = std::move(value_signature)};
  WEIR_CO_TRY(info, co_await internal::StoreAccess::find_or_make_space(*store, std::move(wanted)));
  co_return internal::SpaceAccess::make<EncodedState>(std::move(info),
                                                      internal::StoreAccess::life_of(*store));
}

}  // namespace weir::storage

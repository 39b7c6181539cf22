#include <weir/flow/operator/internal/record.hpp>

#include <cstring>
#include <new>

namespace weir::flow::operators::internal {

void Record::Free::operator()(Record* record) const noexcept {
  record->~Record();
  ::operator delete(record);
}

Record::Ptr Record::make(std::string_view key, std::size_t value_capacity) {
  void* memory = ::operator new(sizeof(Record) + key.size() + value_capacity);
  Ptr record(::new (memory) Record);
  record->key_size_ = static_cast<std::uint32_t>(key.size());
  record->capacity_ = static_cast<std::uint32_t>(value_capacity);
  if (!key.empty()) std::memcpy(record->bytes(), key.data(), key.size());
  return record;
}

void Record::set_value(std::string_view value) noexcept {
  if (!value.empty()) std::memcpy(bytes() + key_size_, value.data(), value.size());
  value_size_ = static_cast<std::uint32_t>(value.size());
  exists_ = true;
}

void Record::clear_value() noexcept {
  value_size_ = 0;
  exists_ = false;
}

}  // namespace weir::flow::operators::internal

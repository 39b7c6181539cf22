#include <weir/flow/operator/internal/record.hpp>

#include <cstring>
#include <new>

namespace weir::flow::operators::internal {

void Record::Free::operator()(Record* record) const noexcept {
  record->~Record();
  ::operator delete(record);
}

Record::Record(std::string_view key, std::size_t value_capacity) noexcept
    : key_size_(static_cast<std::uint32_t>(key.size()) & key_size_max),
      capacity_(static_cast<std::uint32_t>(value_capacity)) {
  if (!key.empty()) std::memcpy(content(), key.data(), key.size());
}

Record::Ptr Record::make(std::string_view key, std::size_t value_capacity) {
  void* memory = ::operator new(bytes_for(key, value_capacity));
  return Ptr(::new (memory) Record(key, value_capacity));
}

Record::Ptr Record::make_in(Ptr gone, std::string_view key, std::size_t value_capacity) noexcept {
  const std::size_t room = std::size_t{gone->key_size_} + gone->capacity_;
  const std::size_t needed = key.size() + value_capacity;
  if (needed > room || needed + 16 < room) return nullptr;
  Record* memory = gone.release();
  memory->~Record();
  return Ptr(::new (static_cast<void*>(memory)) Record(key, room - key.size()));
}

void Record::set_value(std::string_view value) noexcept {
  if (!value.empty()) std::memcpy(content() + key_size_, value.data(), value.size());
  value_size_ = static_cast<std::uint32_t>(value.size());
  exists_ = 1;
}

void Record::clear_value() noexcept {
  value_size_ = 0;
  exists_ = 0;
}

}  // namespace weir::flow::operators::internal

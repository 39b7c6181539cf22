#include <weir/flow/operator/internal/record.hpp>

#include <cstring>
#include <new>

namespace weir::flow::operators::internal {

void Record::Free::operator()(Record* record) const noexcept {
  record->~Record();
  ::operator delete(record);
}

Record::Record(std::string_view key, std::size_t value_capacity) noexcept
    : key_size_(static_cast<std::uint32_t>(key.size())),
      capacity_(static_cast<std::uint32_t>(value_capacity)) {
  if (!key.empty()) std::memcpy(bytes(), key.data(), key.size());
}

Record::Ptr Record::make(std::string_view key, std::size_t value_capacity) {
  void* memory = ::operator new(sizeof(Record) + key.size() + value_capacity);
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
  if (!value.empty()) std::memcpy(bytes() + key_size_, value.data(), value.size());
  value_size_ = static_cast<std::uint32_t>(value.size());
  exists_ = true;
}

void Record::clear_value() noexcept {
  value_size_ = 0;
  exists_ = false;
}

}  // namespace weir::flow::operators::internal

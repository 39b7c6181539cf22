#include <weir/flow/data/internal/buffers.hpp>

#include <array>
#include <bit>
#include <cstdint>
#include <new>

// The sanitizer sees who uses memory that was given back only if it is given back to it.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEIR_BUFFERS_ARE_KEPT 0
#endif
#endif
#ifndef WEIR_BUFFERS_ARE_KEPT
#define WEIR_BUFFERS_ARE_KEPT 1
#endif

namespace weir::flow::data::internal {
namespace {

// Sizes that are kept: 1 KiB and its doubles, up to 64 KiB. Others are left to `malloc`.
constexpr std::size_t bytes_min = 1024;
constexpr std::size_t size_count = 7;
constexpr std::size_t none = size_count;
// Of each size, by a thread: 2 MiB in all.
constexpr std::size_t kept_max = 16;

/// Which of the sizes so many bytes fit into.
std::size_t size_of(std::size_t bytes) noexcept {
  if (!WEIR_BUFFERS_ARE_KEPT || bytes < bytes_min) return none;
  const auto size = static_cast<std::size_t>(std::bit_width((bytes - 1) / bytes_min));
  return size < size_count ? size : none;
}

struct Kept {
  std::array<std::array<void*, kept_max>, size_count> buffers;
  std::array<std::uint8_t, size_count> counts;
  bool may_keep;  // from the first that is given back until the thread ends
  bool has_ended;
};
constinit thread_local Kept kept = {};

/// Ends with its thread. Columns that live longer find that nothing is kept any more.
struct Keeper {
  Keeper() noexcept { kept.may_keep = true; }
  Keeper(const Keeper&) = delete;
  ~Keeper() {
    kept.may_keep = false;
    kept.has_ended = true;
    for (std::size_t size = 0; size < size_count; ++size)
      while (kept.counts[size] > 0) ::operator delete(kept.buffers[size][--kept.counts[size]]);
  }
};

[[gnu::noinline]] bool begin_keeping() noexcept {
  if (kept.has_ended) return false;
  static const thread_local Keeper keeper;
  return kept.may_keep;
}

}  // namespace

void* take_buffer(std::size_t bytes) {
  const std::size_t size = size_of(bytes);
  if (size == none) return ::operator new(bytes);
  if (kept.counts[size] > 0) return kept.buffers[size][--kept.counts[size]];
  return ::operator new(bytes_min << size);
}

void give_buffer(void* buffer, std::size_t bytes) noexcept {
  const std::size_t size = size_of(bytes);
  const bool is_kept =
      size != none && kept.counts[size] < kept_max && (kept.may_keep || begin_keeping());
  if (!is_kept) return ::operator delete(buffer);
  kept.buffers[size][kept.counts[size]++] = buffer;
}

}  // namespace weir::flow::data::internal

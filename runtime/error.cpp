#include <weir/runtime/error.hpp>

#include <atomic>
#include <cstdint>

#include <weir/runtime/result.hpp>

namespace weir {
namespace {

class RuntimeCategory final : public std::error_category {
 public:
  const char* name() const noexcept override { return "weir.runtime"; }

  std::string message(int value) const override {
    switch (static_cast<Errc>(value)) {
      case Errc::full: return "mailbox full";
      case Errc::stopped: return "actor stopped";
      case Errc::timed_out: return "deadline passed";
      case Errc::cancelled: return "cancelled";
      case Errc::failed: return "handler failed";
      case Errc::deadlock: return "would wait for itself";
      case Errc::not_found: return "not found";
      case Errc::already_exists: return "already exists";
      case Errc::wrong_type: return "handles other messages";
      case Errc::invalid_argument: return "invalid argument";
      case Errc::closed: return "closed";
      case Errc::unsupported: return "not supported here";
    }
    return "unknown runtime error";
  }
};

const std::string no_detail;

}  // namespace

const std::error_category& runtime_category() noexcept {
  static const RuntimeCategory category;
  return category;
}

struct Error::Detail {
  std::string text;
  std::atomic<std::uint32_t> errors{1};  // that share it
};

Error::Error(std::error_code code, std::string detail)
    : code_(code), detail_(new Detail{std::move(detail)}) {}

void Error::share(Detail* detail) noexcept {
  detail->errors.fetch_add(1, std::memory_order_relaxed);
}

void Error::release(Detail* detail) noexcept {
  if (detail->errors.fetch_sub(1, std::memory_order_acq_rel) == 1) delete detail;
}

const std::string& Error::detail() const noexcept { return detail_ ? detail_->text : no_detail; }

std::string Error::message() const {
  return detail_ ? code_.message() + ": " + detail_->text : code_.message();
}

void internal::throw_error(const Error& error) { throw ErrorException(error); }

}  // namespace weir

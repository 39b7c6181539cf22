// An actor with 40 handlers of every kind, the file whose compilation the suite `compile` measures.

#include <cstdint>

#include <weir/runtime/actor.hpp>
#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/result.hpp>
#include <weir/runtime/task.hpp>

namespace weir::bench::compile {

struct M0 {
  std::int64_t value;
};
struct M1 {
  std::int64_t value;
};
struct M2 {
  std::int64_t value;
};
struct M3 {
  std::int64_t value;
};
struct M4 {
  std::int64_t value;
};
struct M5 {
  std::int64_t value;
};
struct M6 {
  std::int64_t value;
};
struct M7 {
  std::int64_t value;
};
struct M8 {
  std::int64_t value;
};
struct M9 {
  std::int64_t value;
};
struct M10 {
  std::int64_t value;
};
struct M11 {
  std::int64_t value;
};
struct M12 {
  std::int64_t value;
};
struct M13 {
  std::int64_t value;
};
struct M14 {
  std::int64_t value;
};
struct M15 {
  std::int64_t value;
};
struct M16 {
  std::int64_t value;
};
struct M17 {
  std::int64_t value;
};
struct M18 {
  std::int64_t value;
};
struct M19 {
  std::int64_t value;
};
struct M20 {
  using Reply = std::int64_t;
  std::int64_t value;
};
struct M21 {
  using Reply = std::int64_t;
  std::int64_t value;
};
struct M22 {
  using Reply = std::int64_t;
  std::int64_t value;
};
struct M23 {
  using Reply = std::int64_t;
  std::int64_t value;
};
struct M24 {
  using Reply = std::int64_t;
  std::int64_t value;
};
struct M25 {
  using Reply = std::int64_t;
  std::int64_t value;
};
struct M26 {
  using Reply = std::int64_t;
  std::int64_t value;
};
struct M27 {
  using Reply = std::int64_t;
  std::int64_t value;
};
struct M28 {
  using Reply = std::int64_t;
  std::int64_t value;
};
struct M29 {
  using Reply = std::int64_t;
  std::int64_t value;
};
struct M30 {
  using Reply = std::int64_t;
  std::int64_t value;
};
struct M31 {
  using Reply = std::int64_t;
  std::int64_t value;
};
struct M32 {
  using Reply = std::int64_t;
  std::int64_t value;
};
struct M33 {
  using Reply = std::int64_t;
  std::int64_t value;
};
struct M34 {
  using Reply = std::int64_t;
  std::int64_t value;
};
struct M35 {
  using Reply = std::int64_t;
  std::int64_t value;
};
struct M36 {
  using Reply = std::int64_t;
  std::int64_t value;
};
struct M37 {
  using Reply = std::int64_t;
  std::int64_t value;
};
struct M38 {
  using Reply = std::int64_t;
  std::int64_t value;
};
struct M39 {
  using Reply = std::int64_t;
  std::int64_t value;
};

class FortyHandlers final
    : public weir::Actor<M0, M1, M2, M3, M4, M5, M6, M7, M8, M9, M10, M11, M12, M13, M14, M15, M16,
                         M17, M18, M19, M20, M21, M22, M23, M24, M25, M26, M27, M28, M29, M30, M31,
                         M32, M33, M34, M35, M36, M37, M38, M39> {
 public:
  void on(M0 message) { sum_ += 1 * message.value; }
  void on(M1 message) { sum_ += 2 * message.value; }
  void on(M2 message) { sum_ += 3 * message.value; }
  void on(M3 message) { sum_ += 4 * message.value; }
  void on(M4 message) { sum_ += 5 * message.value; }
  void on(M5 message) { sum_ += 6 * message.value; }
  void on(M6 message) { sum_ += 7 * message.value; }
  void on(M7 message) { sum_ += 8 * message.value; }
  void on(M8 message) { sum_ += 9 * message.value; }
  void on(M9 message) { sum_ += 10 * message.value; }
  void on(M10 message) { sum_ += 11 * message.value; }
  void on(M11 message) { sum_ += 12 * message.value; }
  void on(M12 message) { sum_ += 13 * message.value; }
  void on(M13 message) { sum_ += 14 * message.value; }
  void on(M14 message) { sum_ += 15 * message.value; }
  void on(M15 message) { sum_ += 16 * message.value; }
  void on(M16 message) { sum_ += 17 * message.value; }
  void on(M17 message) { sum_ += 18 * message.value; }
  void on(M18 message) { sum_ += 19 * message.value; }
  void on(M19 message) { sum_ += 20 * message.value; }

  std::int64_t on(M20 message) const { return sum_ - 20 * message.value; }
  std::int64_t on(M21 message) const { return sum_ - 21 * message.value; }
  std::int64_t on(M22 message) const { return sum_ - 22 * message.value; }
  std::int64_t on(M23 message) const { return sum_ - 23 * message.value; }
  std::int64_t on(M24 message) const { return sum_ - 24 * message.value; }
  std::int64_t on(M25 message) const { return sum_ - 25 * message.value; }
  std::int64_t on(M26 message) const { return sum_ - 26 * message.value; }
  std::int64_t on(M27 message) const { return sum_ - 27 * message.value; }
  std::int64_t on(M28 message) const { return sum_ - 28 * message.value; }
  std::int64_t on(M29 message) const { return sum_ - 29 * message.value; }

  weir::Result<std::int64_t> on(M30 message) { return sum_ += 30 * message.value; }
  weir::Result<std::int64_t> on(M31 message) { return sum_ += 31 * message.value; }
  weir::Result<std::int64_t> on(M32 message) { return sum_ += 32 * message.value; }
  weir::Result<std::int64_t> on(M33 message) { return sum_ += 33 * message.value; }
  weir::Result<std::int64_t> on(M34 message) { return sum_ += 34 * message.value; }

  weir::Task<std::int64_t> on(M35 message) { co_return sum_ += 35 * message.value; }
  weir::Task<std::int64_t> on(M36 message) { co_return sum_ += 36 * message.value; }
  weir::Task<std::int64_t> on(M37 message) { co_return sum_ += 37 * message.value; }
  weir::Task<std::int64_t> on(M38 message) { co_return sum_ += 38 * message.value; }
  weir::Task<std::int64_t> on(M39 message) { co_return sum_ += 39 * message.value; }

 private:
  std::int64_t sum_ = 0;
};

weir::RefOf<FortyHandlers> start(weir::ActorSystem& system) {
  return system.spawn<FortyHandlers>();
}

weir::Task<weir::Result<std::int64_t>> use(weir::RefOf<FortyHandlers> actor) {
  (void)actor.send<M0>(1);
  co_return co_await actor.ask<M39>(2);
}

}  // namespace weir::bench::compile

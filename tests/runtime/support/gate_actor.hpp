#pragma once

#include <weir/runtime/actor.hpp>

namespace weir::test {

struct Pass {
  using Reply = int;
};
struct Open {};

/// Keeps those who ask to pass waiting until it is told to open.
class GateActor final : public Actor<Pass, Open> {
 public:
  bool ready_for(const Pass&) const { return is_open_; }
  int on(Pass) { return ++passed_; }
  void on(Open) {
    is_open_ = true;
    unstash();
  }

 private:
  bool is_open_ = false;
  int passed_ = 0;
};

}  // namespace weir::test

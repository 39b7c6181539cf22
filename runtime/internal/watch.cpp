#include <weir/runtime/internal/watch.hpp>

#include <algorithm>
#include <memory>

#include <weir/runtime/internal/core.hpp>
#include <weir/runtime/internal/extension.hpp>
#include <weir/runtime/internal/supervise.hpp>

namespace weir::internal {
namespace {

// True if it was there.
bool forget(std::vector<Watched>& watching, Watched watched) noexcept {
  const auto at = std::find(watching.begin(), watching.end(), watched);
  if (at == watching.end()) return false;
  watching.erase(at);
  return true;
}

Terminated describe_end(Cell& cell) {
  Terminated message{{cell.id.load(std::memory_order_relaxed)}, {}, {}};
  if (Extension* extension = cell.extension_if_any()) {
    message.name = extension->name;
    message.reason = extension->stop_reason;
  }
  return message;
}

// Carries the news to a watcher; owns a reference to the cell that ended.
struct EndedSignal : Signal, Pooled {
  EndedSignal(Cell& dead, const Watcher& watcher, Terminated news)
      : Signal(&act),
        ended(&dead),
        notify(watcher.notify),
        is_linked(watcher.is_linked),
        message(std::move(news)) {
    ended->add_ref();
  }
  ~EndedSignal() { ended->release(); }

  static void act(Signal* signal, Cell& cell) {
    std::unique_ptr<EndedSignal> self(static_cast<EndedSignal*>(signal));
    if (cell.state.load(std::memory_order_relaxed) != Cell::State::running) return;
    if (!forget(cell.extension().watching, {self->ended, self->is_linked})) return;
    self->ended->release();
    if (!self->is_linked) {
      self->notify(cell, std::move(self->message));
    } else if (self->message.reason.is_failure()) {
      const Extension* extension = self->ended->extension_if_any();
      const Cause none;
      const WithinCause within(*this_worker, extension ? extension->failed_in : none);
      fail_with(cell, "linked actor failed: " + self->message.reason.message);
    }
  }

  Cell* ended;
  NotifyTerminated notify;
  bool is_linked;
  Terminated message;
};

// Consumes the watcher's reference.
void tell(const Watcher& watcher, Cell& ended) {
  watcher.cell->send_signal(new EndedSignal(ended, watcher, describe_end(ended)));
  watcher.cell->release();
}

struct WatchSignal : Signal, Pooled {
  explicit WatchSignal(Watcher who) : Signal(&act), watcher(who) {}

  static void act(Signal* signal, Cell& cell) {
    std::unique_ptr<WatchSignal> self(static_cast<WatchSignal*>(signal));
    if (cell.state.load(std::memory_order_acquire) == Cell::State::terminated) {
      tell(self->watcher, cell);
    } else {
      cell.extension().watchers.push_back(self->watcher);
    }
  }

  Watcher watcher;
};

struct UnwatchSignal : Signal, Pooled {
  UnwatchSignal(Cell* who, bool linked) : Signal(&act), watcher(who), is_linked(linked) {
    watcher->add_ref();
  }
  ~UnwatchSignal() { watcher->release(); }

  static void act(Signal* signal, Cell& cell) {
    std::unique_ptr<UnwatchSignal> self(static_cast<UnwatchSignal*>(signal));
    if (cell.state.load(std::memory_order_acquire) == Cell::State::terminated) return;
    std::erase_if(cell.extension().watchers, [&](const Watcher& watcher) {
      if (watcher.cell != self->watcher || watcher.is_linked != self->is_linked) return false;
      watcher.cell->release();
      return true;
    });
  }

  Cell* watcher;
  bool is_linked;
};

}  // namespace

void watch(Cell& watcher, Cell& target, bool is_linked, NotifyTerminated notify) {
  const Watched watched{&target, is_linked};
  auto& watching = watcher.extension().watching;
  if (std::find(watching.begin(), watching.end(), watched) != watching.end()) return;
  target.add_ref();
  watching.push_back(watched);
  watcher.add_ref();
  target.send_signal(new WatchSignal(Watcher{&watcher, is_linked, notify}));
}

void unwatch(Cell& watcher, Cell& target, bool is_linked) noexcept {
  if (!forget(watcher.extension().watching, {&target, is_linked})) return;
  target.send_signal(new UnwatchSignal(&watcher, is_linked));
  target.release();
}

void notify_watchers(Cell& cell) noexcept {
  Extension* extension = cell.extension_if_any();
  if (!extension) return;
  for (const Watcher& watcher : std::exchange(extension->watchers, {})) tell(watcher, cell);
  unwatch_all(cell);
}

void unwatch_all(Cell& watcher) noexcept {
  Extension* extension = watcher.extension_if_any();
  if (!extension) return;
  for (const Watched& watched : std::exchange(extension->watching, {})) {
    watched.cell->send_signal(new UnwatchSignal(&watcher, watched.is_linked));
    watched.cell->release();
  }
}

}  // namespace weir::internal

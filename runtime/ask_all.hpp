#pragma once

#include <concepts>
#include <cstddef>
#include <ranges>
#include <utility>
#include <vector>

#include <weir/runtime/actor_ref.hpp>
#include <weir/runtime/clock.hpp>
#include <weir/runtime/task.hpp>
#include <weir/runtime/task_scope.hpp>

namespace weir {

namespace internal {

/// The same request to several actors.
template <Request M>
struct GroupRequest {
  std::vector<ActorRef<M>> refs;
  M message;
  Duration timeout;
};

/// "none of 3: timed out; actor stopped: ...", with the code of the last one.
Error none_succeeded(const std::vector<Error>& errors);

template <class M>
using Replies = std::vector<Result<ReplyOf<M>>>;

template <class M>
Task<> ask_one(const GroupRequest<M>* group, std::size_t index, Result<ReplyOf<M>>* reply) {
  *reply = co_await group->refs[index].template ask<M>(group->message).within(group->timeout);
}

template <class M>
Task<Replies<M>> run_ask_all(GroupRequest<M> group) {
  Replies<M> replies;
  replies.reserve(group.refs.size());
  TaskScope scope;
  for (std::size_t i = 0; i < group.refs.size(); ++i) {
    scope.spawn(ask_one(&group, i, &replies.emplace_back(Error(Errc::cancelled))));
  }
  co_await scope.join();
  co_return replies;
}

/// The first reply of a group, or why there is none.
template <class M>
struct FirstReply {
  Result<ReplyOf<M>> reply{Error(Errc::invalid_argument, "first_of: no references to ask")};
  std::vector<Error> errors;
  bool is_found = false;
};

template <class M>
Task<> race_one(const GroupRequest<M>* group, std::size_t index, FirstReply<M>* first,
                TaskScope* scope) {
  auto reply = co_await group->refs[index].template ask<M>(group->message).within(group->timeout);
  if (first->is_found) co_return;
  if (!reply) {
    first->errors.push_back(reply.error());
    co_return;
  }
  first->reply = std::move(reply);
  first->is_found = true;
  scope->cancel_all();
}

template <class M>
Task<Result<ReplyOf<M>>> run_first_of(GroupRequest<M> group) {
  FirstReply<M> first;
  TaskScope scope;
  for (std::size_t i = 0; i < group.refs.size(); ++i) {
    scope.spawn(race_one(&group, i, &first, &scope));
  }
  co_await scope.join();
  if (!first.is_found && !first.errors.empty()) co_return none_succeeded(first.errors);
  co_return std::move(first.reply);
}

/// A group of requests that have not been sent yet.
template <class M, auto run>
class [[nodiscard]] GroupAsk {
 public:
  explicit GroupAsk(GroupRequest<M> group) noexcept : group_(std::move(group)) {}

  /// Waits no longer than this for all of them; `forever` for as long as it takes.
  GroupAsk&& within(Duration timeout) && noexcept {
    group_.timeout = timeout;
    return std::move(*this);
  }

  auto operator co_await() && { return run(std::move(group_)).operator co_await(); }

 private:
  GroupRequest<M> group_;
};

template <class M, class Refs, class... Args>
GroupRequest<M> make_group(const Refs& refs, Args&&... args) {
  static_assert(Request<M>, "weir: ask_all needs a request: a message with `using Reply = ...`");
  static_assert(std::copy_constructible<M>, "weir: a request to several actors must be copyable");
  GroupRequest<M> group{{}, M{std::forward<Args>(args)...}, forever};
  for (const auto& ref : refs) {
    group.refs.emplace_back(ref);
    group.timeout = std::min(group.timeout, default_ask_timeout(RefAccess::cell(ref)));
  }
  return group;
}

}  // namespace internal

/// `co_await ask_all<M>(refs, args...).within(1s)`: sends `M{args...}` to every actor in the range
/// and waits for all of them, with one deadline. Gives a `std::vector<Result<Reply>>` in the order
/// of `refs`.
template <Request M, std::ranges::input_range Refs, class... Args>
auto ask_all(const Refs& refs, Args&&... args) {
  return internal::GroupAsk<M, &internal::run_ask_all<M>>(
      internal::make_group<M>(refs, std::forward<Args>(args)...));
}

/// `co_await first_of<M>(refs, args...).within(1s)`: sends `M{args...}` to every actor in the range
/// and takes the first reply; the other requests are cancelled. Gives a `Result<Reply>`: if none
/// succeeds, the error that came last, with all of them in its detail.
template <Request M, std::ranges::input_range Refs, class... Args>
auto first_of(const Refs& refs, Args&&... args) {
  return internal::GroupAsk<M, &internal::run_first_of<M>>(
      internal::make_group<M>(refs, std::forward<Args>(args)...));
}

}  // namespace weir

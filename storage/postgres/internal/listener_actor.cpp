#include <weir/storage/postgres/internal/listener_actor.hpp>

#include <utility>

#include <weir/runtime/actor_system.hpp>
#include <weir/storage/postgres/errc.hpp>

namespace weir::storage::postgres::internal {
namespace {

std::string quoted(const std::string& name) {
  std::string text = "\"";
  for (const char letter : name) text.append(letter == '"' ? 2 : 1, letter);
  return text + '"';
}

}  // namespace

ListenerActor::ListenerActor(Options options, ConnectionParameters parameters,
                             std::vector<std::string> channels, Listener::Callback callback,
                             std::shared_ptr<ListenerStatus> status)
    : options_(std::move(options)),
      channels_(std::move(channels)),
      callback_(std::move(callback)),
      status_(std::move(status)),
      session_(system(), options_, Session::Settings{std::move(parameters), true}, hooks()) {}

void ListenerActor::on_start() {
  session_.start();
  schedule_every<Beat>(options_.heartbeat);
}

Session::Hooks ListenerActor::hooks() {
  Session::Hooks hooks;
  hooks.pipeline.on_answer = [this](const std::shared_ptr<Unit>& unit,
                                    const Unit::Outcome& outcome) { answered(*unit, outcome); };
  hooks.pipeline.on_notification = [this](std::string channel, std::string payload) {
    callback_({std::move(channel), std::move(payload)});
  };
  hooks.pipeline.on_notice = options_.on_notice;
  hooks.on_up = [this] { listen(); };
  hooks.on_down = [this](const Error&) { status_->is_listening.store(false); };
  hooks.on_progress = [] {};
  return hooks;
}

void ListenerActor::listen() {
  Batch statements;
  for (const std::string& channel : channels_) {
    statements.push_back(Statement("listen " + quoted(channel)).unprepared());
  }
  send(std::move(statements));
  listening_ = last_;
}

void ListenerActor::send(Batch statements) {
  last_ = std::make_shared<Unit>();
  last_->statements = std::move(statements);
  last_->isolation = options_.isolation;
  last_->timeout = options_.call_timeout;
  last_->submitted = now();
  last_->deadline = last_->submitted + last_->timeout;
  session_.send(last_);
}

void ListenerActor::answered(const Unit& unit, const Unit::Outcome& outcome) {
  if (!outcome) return session_.give_up(outcome.error());
  if (&unit != listening_.get()) return;
  status_->begun.fetch_add(1);
  status_->is_listening.store(true);
  for (const std::string& channel : channels_) {
    callback_({.channel = channel, .may_have_missed = true});
  }
}

void ListenerActor::on(Beat) {
  if (!session_.is_up()) return;
  if (last_ && !last_->is_answered) {
    if (now() < last_->deadline) return;
    session_.give_up(Error(Errc::unavailable, "the server did not answer in time"));
  } else {
    Batch statements;
    statements.emplace_back("select 1");
    send(std::move(statements));
  }
}

}  // namespace weir::storage::postgres::internal

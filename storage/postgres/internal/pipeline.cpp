#include <weir/storage/postgres/internal/pipeline.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

#include <libpq-fe.h>

#include <weir/storage/postgres/internal/failure.hpp>

namespace weir::storage::postgres::internal {
namespace {

using ResultPointer = std::unique_ptr<pg_result, decltype(&PQclear)>;

constexpr int binary = 1;

std::string milliseconds(Duration duration) {
  const auto count = std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
  // Zero would be no limit, and the server knows 32 bits.
  return std::to_string(std::clamp<std::int64_t>(count, 1, 2'147'483'647));
}

const char* name_of(Isolation isolation) {
  switch (isolation) {
    case Isolation::repeatable_read: return "repeatable read";
    case Isolation::serializable: return "serializable";
    default: return "read committed";
  }
}

/// What the statement is, for people.
std::string describe(const Statement& statement) {
  if (!statement.subject().empty()) return statement.subject();
  constexpr std::size_t length_max = 60;
  const std::string& text = statement.text();
  return text.size() <= length_max ? text : text.substr(0, length_max) + "...";
}

/// The parameters of a statement in the form that libpq takes.
struct Arguments {
  explicit Arguments(const Statement& statement) {
    for (const Parameter& parameter : statement.parameters()) {
      types.push_back(static_cast<Oid>(parameter.type()));
      values.push_back(parameter.bytes() ? parameter.bytes()->data() : nullptr);
      lengths.push_back(parameter.bytes() ? static_cast<int>(parameter.bytes()->size()) : 0);
      formats.push_back(binary);
    }
  }
  int size() const { return static_cast<int>(types.size()); }

  std::vector<Oid> types;
  std::vector<const char*> values;
  std::vector<int> lengths;
  std::vector<int> formats;
};

}  // namespace

void receive_notice(void* pipeline, const pg_result* result) {
  static_cast<Pipeline*>(pipeline)->take_notice(result);
}

Pipeline::Pipeline(ConnectionHandle connection, const Options& options, const Hooks& hooks)
    : options_(options),
      hooks_(hooks),
      connection_(std::move(connection)),
      isolation_(options.isolation),
      transaction_timeout_(options.call_timeout) {
  PQsetNoticeReceiver(connection_.get(), &receive_notice, this);
}

Pipeline::~Pipeline() = default;

Result<> Pipeline::start() {
  if (PQsetnonblocking(connection_.get(), 1) != 0 || !PQenterPipelineMode(connection_.get())) {
    return broken(message_of(connection_.get()));
  }
  return send_settings();
}

Result<> Pipeline::send_settings() {
  // The server notices within a second that we are gone, even while it runs a statement.
  const Statement settings(
      "select set_config(name, value, false) from pg_settings join"
      " (values ('statement_timeout', $1), ('idle_in_transaction_session_timeout', $2),"
      " ('default_transaction_isolation', $3), ('client_connection_check_interval', '1000'))"
      " as wanted (name, value) using (name)",
      milliseconds(options_.call_timeout), milliseconds(options_.transaction_idle_timeout),
      name_of(options_.isolation));
  if (auto done = send_one(settings, nullptr); !done) return done;
  return sync({.skipped = 1});
}

Result<> Pipeline::set_isolation(Isolation isolation) {
  if (isolation == isolation_) return {};
  isolation_ = isolation;
  const Statement setting("select set_config('default_transaction_isolation', $1, false)",
                          name_of(isolation));
  if (auto done = send_one(setting, nullptr); !done) return done;
  return sync({.skipped = 1});
}

Result<> Pipeline::send(std::shared_ptr<Unit> unit) {
  ++units_;
  unit->is_sent = true;
  backlog_.push_back(std::move(unit));
  return advance();
}

/// Sends what need not wait: a script goes alone.
Result<> Pipeline::advance() {
  while (!backlog_.empty() && !is_in_script_) {
    const bool is_script = backlog_.front()->kind == Unit::Kind::script;
    if (is_script && !groups_.empty()) return {};
    const std::shared_ptr<Unit> unit = std::move(backlog_.front());
    backlog_.pop_front();
    auto done = is_script ? send_script(unit) : send_group(unit);
    if (done) continue;
    // So that it is answered with all the others.
    if (groups_.empty() || groups_.back().unit != unit) groups_.push_back({.unit = unit});
    return done;
  }
  return {};
}

Result<> Pipeline::send_group(const std::shared_ptr<Unit>& unit) {
  Group group{.unit = unit};
  const bool is_alone = unit->transaction == 0;
  if (is_alone) {
    if (auto done = set_isolation(unit->isolation); !done) return done;
  }
  for (const Statement& statement : unit->statements) {
    auto prepared = prepare(statement);
    if (!prepared) return prepared.error();
    group.prepared.push_back(*prepared);
  }
  if (unit->kind == Unit::Kind::begin) transaction_timeout_ = options_.call_timeout;
  const Duration known = is_alone ? options_.call_timeout : transaction_timeout_;
  if (unit->kind == Unit::Kind::statements && unit->timeout != known) {
    const Statement limit("select set_config('statement_timeout', $1, true)",
                          milliseconds(unit->timeout));
    if (auto done = send_one(limit, nullptr); !done) return done;
    group.skipped = 1;
    if (!is_alone) transaction_timeout_ = unit->timeout;
  }
  for (std::size_t at = 0; at < unit->statements.size(); ++at) {
    auto done = send_one(unit->statements[at], group.prepared[at].get());
    if (!done) return done;
  }
  return sync(std::move(group));
}

/// Simple queries may hold several statements, but are no part of a pipeline.
Result<> Pipeline::send_script(std::shared_ptr<Unit> unit) {
  std::string text = unit->statements.front().text();
  if (unit->timeout != transaction_timeout_) {
    transaction_timeout_ = unit->timeout;
    text.insert(0, "set local statement_timeout = " + milliseconds(unit->timeout) + "; ");
  }
  if (!PQexitPipelineMode(connection_.get()) || !PQsendQuery(connection_.get(), text.c_str())) {
    return broken(message_of(connection_.get()));
  }
  is_in_script_ = true;
  groups_.push_back({.unit = std::move(unit)});
  return {};
}

/// Null if the statement is to be sent whole.
std::shared_ptr<Pipeline::Prepared> Pipeline::find_prepared(const Statement& statement) {
  std::string key = statement.text();
  for (const Parameter& parameter : statement.parameters()) {
    key.append(1, '\0').append(std::to_string(static_cast<std::uint32_t>(parameter.type())));
  }
  const auto found = prepared_.find(key);
  if (found != prepared_.end()) return found->second;
  if (prepared_.size() >= options_.prepared_max) return nullptr;
  auto made = std::make_shared<Prepared>();
  made->key = key;
  return prepared_.emplace(std::move(key), std::move(made)).first->second;
}

Result<std::shared_ptr<Pipeline::Prepared>> Pipeline::prepare(const Statement& statement) {
  if (!statement.is_prepared()) return std::shared_ptr<Prepared>();
  auto prepared = find_prepared(statement);
  if (!prepared || !prepared->name.empty()) return prepared;
  prepared->name = "weir_" + std::to_string(++prepared_count_);
  const Arguments arguments(statement);
  auto done =
      sent(PQsendPrepare(connection_.get(), prepared->name.c_str(), statement.text().c_str(),
                         arguments.size(), arguments.types.data()));
  if (done) done = sync({.prepares = prepared, .skipped = 1});
  if (!done) return done.error();
  return prepared;
}

Result<> Pipeline::send_one(const Statement& statement, const Prepared* prepared) {
  const Arguments arguments(statement);
  if (prepared) {
    return sent(PQsendQueryPrepared(connection_.get(), prepared->name.c_str(), arguments.size(),
                                    arguments.values.data(), arguments.lengths.data(),
                                    arguments.formats.data(), binary));
  }
  return sent(PQsendQueryParams(connection_.get(), statement.text().c_str(), arguments.size(),
                                arguments.types.data(), arguments.values.data(),
                                arguments.lengths.data(), arguments.formats.data(), binary));
}

Result<> Pipeline::sync(Group group) {
  groups_.push_back(std::move(group));
  return sent(PQpipelineSync(connection_.get()));
}

Result<> Pipeline::sent(int is_accepted) const {
  if (is_accepted) return {};
  return broken(message_of(connection_.get()));
}

Result<bool> Pipeline::flush() {
  const int left = PQflush(connection_.get());
  if (left < 0) return broken(message_of(connection_.get()));
  return left > 0;
}

Result<> Pipeline::receive() {
  const bool is_alive = PQconsumeInput(connection_.get()) == 1;
  const std::string message = is_alive ? std::string() : message_of(connection_.get());
  drain();
  take_notifications();
  if (!is_alive || PQstatus(connection_.get()) == CONNECTION_BAD) {
    return broken(is_alive ? message_of(connection_.get()) : message);
  }
  if (setup_failure_) return *setup_failure_;
  return advance();
}

void Pipeline::drain() {
  // Between the results of two statements stands one null; more would be an end without end.
  int nulls = 0;
  while (!groups_.empty() && nulls < 3 && !PQisBusy(connection_.get())) {
    ResultPointer result(PQgetResult(connection_.get()), &PQclear);
    if (!result) {
      ++nulls;
      if (is_in_script_) complete();
      continue;
    }
    nulls = 0;
    take(groups_.front(), result.release());
  }
}

/// Takes `result` over.
void Pipeline::take(Group& group, pg_result* result) {
  ResultPointer owned(result, &PQclear);
  switch (PQresultStatus(result)) {
    case PGRES_PIPELINE_SYNC: complete(); break;
    case PGRES_PIPELINE_ABORTED: break;  // what failed came before it
    case PGRES_EMPTY_QUERY:
    case PGRES_COMMAND_OK:
    case PGRES_TUPLES_OK:
      if (group.skipped > 0) {
        --group.skipped;
      } else {
        const bool is_known = group.rows.size() < group.unit->statements.size();
        const std::string subject =
            is_known ? group.unit->statements[group.rows.size()].subject() : std::string();
        group.rows.emplace_back(owned.release(), subject);
      }
      break;
    default: take_error(group, result);
  }
}

void Pipeline::take_error(Group& group, const pg_result* result) {
  if (group.error) return;
  std::string what = "settings";
  const std::size_t at = group.rows.size();
  if (group.unit) {
    const Batch& statements = group.unit->statements;
    what = at < statements.size() ? describe(statements[at]) : "commit";
  }
  group.error = failure_of(result, what);
  Prepared* used = at < group.prepared.size() ? group.prepared[at].get() : nullptr;
  if (!used) return;
  const std::string sqlstate = diagnose(*group.error).sqlstate;
  // Not known, as preparing it failed; or known, but tables have changed since.
  if (sqlstate == "26000" && used->failure) group.error = used->failure;
  if (sqlstate == "26000" || sqlstate == "0A000") prepared_.erase(used->key);
}

/// The first group has been answered.
void Pipeline::complete() {
  Group group = std::move(groups_.front());
  groups_.pop_front();
  if (std::exchange(is_in_script_, false) && !PQenterPipelineMode(connection_.get())) {
    setup_failure_ = broken(message_of(connection_.get()));
  }
  if (group.unit) {
    --units_;
    group.unit->is_answered = true;
    hooks_.on_answer(group.unit, group.error ? Unit::Outcome(*std::move(group.error))
                                             : Unit::Outcome(std::move(group.rows)));
  } else if (group.prepares && group.error) {
    group.prepares->failure = std::move(group.error);
    prepared_.erase(group.prepares->key);
  } else if (group.error) {
    setup_failure_ = broken(group.error->message());
  }
}

void Pipeline::take_notifications() {
  for (;;) {
    const std::unique_ptr<PGnotify, decltype(&PQfreemem)> told(PQnotifies(connection_.get()),
                                                               &PQfreemem);
    if (!told) return;
    if (hooks_.on_notification) hooks_.on_notification(told->relname, told->extra);
  }
}

void Pipeline::take_notice(const pg_result* result) {
  const auto field = [result](int code) {
    const char* text = PQresultErrorField(result, code);
    return std::string(text ? text : "");
  };
  Notice notice{field(PG_DIAG_SEVERITY_NONLOCALIZED), field(PG_DIAG_SQLSTATE),
                field(PG_DIAG_MESSAGE_PRIMARY)};
  if (notice.message.empty()) notice.message = trimmed(PQresultErrorMessage(result));
  if (notice.severity == "FATAL") last_words_ = notice.message;
  if (hooks_.on_notice) hooks_.on_notice(notice);
}

Error Pipeline::broken(const std::string& message) const {
  if (!last_words_.empty()) return Error(Errc::unavailable, last_words_);
  for (const Group& group : groups_) {
    // What the server said before it went.
    if (group.error && *group.error == Errc::unavailable) return *group.error;
  }
  return Error(Errc::unavailable, message);
}

void Pipeline::fail(const Error& cause) {
  const Error sent(cause.code(),
                   "the connection was lost before the answer came, so what was sent"
                   " may have been carried out: " +
                       cause.detail());
  std::deque<Group> groups = std::exchange(groups_, {});
  std::deque<std::shared_ptr<Unit>> backlog = std::exchange(backlog_, {});
  units_ = 0;
  for (Group& group : groups) {
    if (!group.unit) continue;
    group.unit->is_answered = true;
    hooks_.on_answer(group.unit, group.error ? *group.error : sent);
  }
  for (const auto& unit : backlog) {
    unit->is_answered = true;
    hooks_.on_answer(unit, cause);
  }
}

const Unit* Pipeline::front() const noexcept {
  for (const Group& group : groups_) {
    if (group.unit) return group.unit.get();
  }
  return nullptr;
}

}  // namespace weir::storage::postgres::internal

#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <weir/runtime/result.hpp>
#include <weir/storage/postgres/internal/connect.hpp>
#include <weir/storage/postgres/internal/unit.hpp>
#include <weir/storage/postgres/options.hpp>

struct pg_result;

namespace weir::storage::postgres::internal {

/// A connection in libpq's pipeline mode: units go out, and their answers come back in that order.
///
///     [prepare, sync] [set isolation, sync] [timeout, statement, statement, ..., sync]
///
/// Each group ends with a sync point, at which the server commits what is in no transaction, or
/// has rolled it back; so what fails in one group does not touch the next. What a unit needs
/// before it (a statement prepared, another default isolation) is a group of its own: then it
/// remains, whatever becomes of the unit.
///
/// Waits for nothing: who owns it watches the socket. Confined to an actor.
class Pipeline {
 public:
  struct Hooks {
    std::function<void(const std::shared_ptr<Unit>&, Unit::Outcome)> on_answer;
    std::function<void(std::string channel, std::string payload)> on_notification;
    std::function<void(const Notice&)> on_notice;
  };

  Pipeline(ConnectionHandle connection, const Options& options, const Hooks& hooks);
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;
  ~Pipeline();

  // Each gives an error when the connection is broken; then only `fail` is left.
  Result<> start();
  Result<> send(std::shared_ptr<Unit> unit);
  Result<> receive();
  /// True if the socket does not take all yet.
  Result<bool> flush();

  /// Answers all units with `cause`.
  void fail(const Error& cause);

  /// Units sent or waiting, and not answered.
  std::size_t depth() const noexcept { return units_; }
  /// The unit whose answer comes next, if any.
  const Unit* front() const noexcept;

 private:
  /// A statement that the server knows by name.
  struct Prepared {
    std::string name;
    std::string key;
    std::optional<Error> failure;
  };
  struct Group {
    std::shared_ptr<Unit> unit = {};                       // null: a group of our own
    std::shared_ptr<Prepared> prepares = {};               // what it prepares
    std::vector<std::shared_ptr<Prepared>> prepared = {};  // by the statements of the unit
    std::size_t skipped = 0;                               // results before those of the unit
    std::vector<Rows> rows = {};
    std::optional<Error> error = {};
  };

  Result<> send_group(const std::shared_ptr<Unit>& unit);
  Result<> send_script(std::shared_ptr<Unit> unit);
  Result<> send_settings();
  Result<> set_isolation(Isolation isolation);
  Result<> advance();
  std::shared_ptr<Prepared> find_prepared(const Statement& statement);
  Result<std::shared_ptr<Prepared>> prepare(const Statement& statement);
  Result<> send_one(const Statement& statement, const Prepared* prepared);
  Result<> sync(Group group);
  Result<> sent(int is_accepted) const;

  void drain();
  void take(Group& group, pg_result* result);
  void take_error(Group& group, const pg_result* result);
  void complete();
  void take_notifications();
  Error broken(const std::string& message) const;

  friend void receive_notice(void* pipeline, const pg_result* result);
  void take_notice(const pg_result* result);

  const Options& options_;
  const Hooks& hooks_;
  ConnectionHandle connection_;
  std::deque<Group> groups_;                   // sent
  std::deque<std::shared_ptr<Unit>> backlog_;  // behind a script
  std::unordered_map<std::string, std::shared_ptr<Prepared>> prepared_;
  std::uint64_t prepared_count_ = 0;
  std::size_t units_ = 0;
  Isolation isolation_;
  Duration transaction_timeout_;  // of statements in the transaction that goes on
  bool is_in_script_ = false;
  std::optional<Error> setup_failure_;
  std::string last_words_;  // of a server that ended the connection
};

}  // namespace weir::storage::postgres::internal

#include <weir/cli/backup.hpp>

#include <unistd.h>

#include <system_error>
#include <utility>

#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <weir/cli/errc.hpp>
#include <weir/cli/files.hpp>
#include <weir/cli/format.hpp>
#include <weir/flow/data/calendar.hpp>
#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/error.hpp>
#include <weir/storage/copy_backup.hpp>
#include <weir/storage/errc.hpp>
#include <weir/storage/store.hpp>
#include <weir/storage/verify.hpp>

namespace weir::cli {
namespace {

namespace fs = std::filesystem;
using storage::BackupInfo;

void tell_copied(const char* done, const BackupInfo& info, Output& output) {
  const auto time = std::chrono::floor<std::chrono::microseconds>(info.time);
  const std::string made = flow::data::to_string(flow::data::Timestamp(time));
  if (output.is_json()) {
    output.line(boost::json::serialize(boost::json::value{{"directory", info.directory.string()},
                                                          {"version", info.version.number},
                                                          {"time", made},
                                                          {"files", info.files},
                                                          {"bytes", info.bytes}}));
  } else {
    output.line(std::string(done) + " " + info.directory.string() + ": version " +
                grouped(info.version.number) + " of " + made + ", " + grouped(info.files) +
                " files, " + bytes(static_cast<double>(info.bytes)));
  }
}

storage::BackupProgress shown_on(Progress& progress) {
  return [&progress](std::uint64_t done, std::uint64_t total) {
    progress.update(Progress::Unit::bytes, done, total);
  };
}

/// No other process uses it at the same time.
std::string savepoint_name() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return "backup-" + std::to_string(std::chrono::duration_cast<std::chrono::seconds>(now).count()) +
         "-" + std::to_string(::getpid());
}

/// The savepoint shares its files with the store; what is copied of it does not.
Result<BackupInfo> copy_out(const BackupOptions& options, const std::string& savepoint,
                            Progress& progress) {
  progress.begin("copying");
  auto copied = storage::copy_backup(options.directory / "savepoints" / savepoint, options.target,
                                     shown_on(progress));
  if (!copied) return explain(copied.error(), options.target);
  return copied;
}

Result<BackupInfo> back_up_closed(storage::Store store, ActorSystem& system,
                                  const BackupOptions& options, Progress& progress) {
  const std::string name = savepoint_name();
  const auto made = system.run(store.make_savepoint(name));
  if (!made) return explain(made.error(), options.directory);
  auto copied = copy_out(options, name, progress);
  const auto removed = system.run(store.remove_savepoint(name));
  if (copied && !removed) return explain(removed.error(), options.directory);
  return copied;
}

/// Nobody knows whether the savepoint was made, or will be: it is removed if it can be.
Error give_up(Client& client, const std::string& savepoint, const Error& why) {
  if (client.send("DELETE", "/api/v1/savepoints/" + savepoint)) return why;
  return {why.code(), why.detail() +
                          "; if the server has made the savepoint all the same, `weir savepoints " +
                          "remove " + savepoint + "` removes it"};
}

Result<BackupInfo> back_up_served(const BackupOptions& options, const Error& held,
                                  Progress& progress) {
  auto client = Client::open(options.server);
  if (!client) return client.error();
  client->be_quiet();
  const std::string name = savepoint_name();
  const auto made =
      client->send("PUT", "/api/v1/savepoints/" + name, savepoint_wait(options.server));
  if (!made && client->reach() == Reach::nobody) {
    return Error(Errc::in_use, held.detail() + ", and is not served at " + client->url() +
                                   ": say by --url where it is, or end that process");
  }
  if (!made && client->reach() == Reach::lost) return give_up(*client, name, made.error());
  if (!made) return made.error();
  std::error_code ignored;
  Result<BackupInfo> copied =
      fs::exists(options.directory / "savepoints" / name, ignored)
          ? copy_out(options, name, progress)
          : Error(Errc::failed, client->url() + " serves another store than " +
                                    options.directory.string() + ": look at --url");
  const auto removed = client->send("DELETE", "/api/v1/savepoints/" + name);
  if (copied && !removed) return removed.error();
  return copied;
}

Result<> check_is_free(const fs::path& target, const char* argument) {
  std::error_code ignored;
  if (!fs::exists(target, ignored)) return {};
  if (fs::is_directory(target, ignored) && fs::is_empty(target, ignored) &&
      fs::remove(target, ignored)) {
    return {};
  }
  return Error(Errc::failed, target.string() + " is there, and not empty: " + argument +
                                 " names a directory that is to be made");
}

Result<> tell_fault(const Error& fault, const fs::path& directory, Output& output) {
  if (output.is_json() && fault == storage::Errc::corruption) {
    output.line(boost::json::serialize(boost::json::value{
        {"directory", directory.string()}, {"whole", false}, {"fault", fault.detail()}}));
  }
  return explain(fault, directory);
}

void tell_whole(const storage::VerifyReport& report, const VerifyCommandOptions& options,
                bool is_backup, Output& output) {
  const char* kind = is_backup ? "backup" : "store";
  if (output.is_json()) {
    output.line(
        boost::json::serialize(boost::json::value{{"directory", options.directory.string()},
                                                  {"kind", kind},
                                                  {"whole", true},
                                                  {"version", report.newest.number},
                                                  {"oldest_logged", report.oldest_logged.number},
                                                  {"rows", report.rows},
                                                  {"old_versions", report.old_versions},
                                                  {"states", report.states},
                                                  {"checkpoints", report.checkpoints},
                                                  {"changes", report.changes}}));
    return;
  }
  output.line(options.directory.string() + " is a whole " + kind + ": version " +
              grouped(report.newest.number) + ", " + grouped(report.rows) + " rows, " +
              grouped(report.old_versions) + " old versions, " + grouped(report.states) +
              " states, " + grouped(report.checkpoints) + " checkpoints, " +
              grouped(report.changes) + " changes since version " +
              grouped(report.oldest_logged.number));
}

}  // namespace

Result<> back_up(const BackupOptions& options, Output& output) {
  if (auto checked = check_is_store(options.directory); !checked) return checked;
  if (auto checked = check_is_free(options.target, "the target"); !checked) return checked;
  Progress progress("making a savepoint", options.show);
  ActorSystem system({.threads = 1});
  auto store = storage::Store::open(system, {.directory = options.directory});
  if (!store && store.error() != storage::Errc::locked)
    return explain(store.error(), options.directory);
  const auto made = store ? back_up_closed(*std::move(store), system, options, progress)
                          : back_up_served(options, store.error(), progress);
  if (!made) return made.error();
  tell_copied("backed up to", *made, output);
  return {};
}

Result<> restore(const RestoreOptions& options, Output& output) {
  if (const auto found = storage::read_backup(options.backup); !found) {
    if (found.error() != storage::Errc::not_found) return explain(found.error(), options.backup);
    return Error(Errc::not_found, options.backup.string() +
                                      " has no file BACKUP: it is no backup, or was not finished");
  }
  if (auto checked = check_is_free(options.directory, "--directory"); !checked) return checked;
  Progress progress("restoring", options.show);
  const auto made = storage::restore_backup(options.backup, options.directory, shown_on(progress));
  if (!made) return explain(made.error(), options.backup);
  tell_copied("restored to", *made, output);
  return {};
}

Result<> verify_directory(const VerifyCommandOptions& options, Output& output) {
  std::error_code ignored;
  const bool is_backup = fs::exists(options.directory / "BACKUP", ignored);
  if (!is_backup) {
    if (auto checked = check_is_store(options.directory); !checked) return checked;
  }
  Progress progress("comparing checksums", options.show);
  if (is_backup) {
    const auto checked = storage::check_backup(options.directory, shown_on(progress));
    if (!checked) return tell_fault(checked.error(), options.directory, output);
  }
  storage::VerifyOptions how;
  how.on_progress = [&, family = std::string()](const char* what, std::uint64_t entries) mutable {
    if (what != family) progress.begin("verifying " + (family = what));
    progress.update(Progress::Unit::entries, entries);
  };
  const auto report = is_backup ? storage::verify_backup(options.directory, std::move(how))
                                : storage::verify(options.directory, std::move(how));
  if (!report) return tell_fault(report.error(), options.directory, output);
  tell_whole(*report, options, is_backup, output);
  return {};
}

}  // namespace weir::cli

// Uses each part of the installed package once, in the forms that GCC 12 compiles correctly.

#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/blocking_pool.hpp>
#include <weir/runtime/check.hpp>
#include <weir/runtime/result.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/runtime/try.hpp>

#include <cstdio>
#include <string>
#include <utility>

namespace {

weir::Result<int> parse_digit(char character) {
  if (character < '0' || character > '9') {
    return weir::Error(weir::Errc::invalid_argument, "parse_digit: not a digit");
  }
  return character - '0';
}

void use_results() {
  const auto digit = parse_digit('7');
  const auto letter = parse_digit('x');
  weir::check(digit && *digit == 7, "a success holds its value");
  weir::check(!letter && letter.error() == weir::Errc::invalid_argument, "a failure its error");
}

struct Note {
  std::string text;
};
struct Find {
  using Reply = std::string;
  std::string prefix;
};

class Notebook final : public weir::Actor<Note, Find> {
 public:
  void on(Note note) { last_ = std::move(note.text); }
  weir::Result<std::string> on(Find find) {
    if (last_.compare(0, find.prefix.size(), find.prefix) != 0) {
      return weir::Error(weir::Errc::not_found, find.prefix);
    }
    return last_;
  }

 private:
  std::string last_;
};

// The texts are too long to be kept inside the string, so that one destroyed twice is noticed.
weir::Task<weir::Result<std::string>> use_actors(weir::RefOf<Notebook> notebook) {
  // [gcc_safe]
  const std::string text = "a note that is longer than fifteen characters";
  const auto delivered = co_await notebook.deliver<Note>(text);  // not deliver(Note{text})
  if (!delivered) co_return delivered.error();
  WEIR_CO_TRY(found, co_await notebook.ask<Find>("a note that is longer"));  // not ask(Find{...})
  auto join = [found] { return found + ", found"; };  // not inside the co_await
  co_return co_await weir::on_blocking_pool(std::move(join));
  // [/gcc_safe]
}

weir::Task<> use_scope(weir::RefOf<Notebook> notebook, std::string* found) {
  struct Finding {
    static weir::Task<> run(weir::RefOf<Notebook> where, std::string* result) {
      auto reply = co_await where.ask<Find>("a note that is longer");
      *result = *reply;
    }
  };
  weir::TaskScope scope;
  scope.spawn(Finding::run(notebook, found));
  co_await scope.join();
}

void use_coroutines() {
  weir::ActorSystem system;
  auto notebook = system.spawn<Notebook>();
  const auto joined = system.run(use_actors(notebook));
  weir::check(joined && *joined == "a note that is longer than fifteen characters, found",
              "requests, deliveries and blocking calls give their results");
  std::string found;
  system.run(use_scope(notebook, &found));
  weir::check(found.size() == 45, "a task of a scope gives its result");
}

}  // namespace

int main() {
  use_results();
  use_coroutines();
  std::puts("consumer: ok");
}

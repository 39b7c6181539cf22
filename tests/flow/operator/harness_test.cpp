#include <weir/flow/operator/harness.hpp>

#include <functional>
#include <memory>

#include <gtest/gtest.h>

#include <weir/flow/operator/operator_registry.hpp>
#include <weir/tests/flow/operator/support/rows.hpp>

namespace weir::flow::operators::test {
namespace {

const data::SchemaRef numbers = make_schema({{"number", data::Kind::int64, false}});

data::ChangeBatch one(std::int64_t number, data::Weight weight = 1) {
  return make_batch(numbers, Rows{{{number}, weight}});
}

/// An operator with a mistake.
class Mistaken final : public Operator {
 public:
  using Body = std::function<Result<>(Mistaken& self, const Input& input, Output& out)>;

  Mistaken(data::SchemaRef schema, Body body)
      : Operator(std::move(schema)), body_(std::move(body)) {}
  void open(State& state) override { table = &state.add_table(); }
  Result<> apply(const Input& input, Output& out) override { return body_(*this, input, out); }

  StateTable* table = nullptr;
  int calls = 0;  // what an operator must not have

 private:
  Body body_;
};

std::string verdict(Mistaken::Body body) {
  OperatorRegistry registry;
  registry
      .add("mistaken",
           [body](const OperatorRegistry::Arguments& arguments) {
             return Result<std::unique_ptr<Operator>>(
                 std::make_unique<Mistaken>(arguments.inputs[0], body));
           })
      .value();
  OperatorHarness harness(from("numbers", numbers).apply("mistaken"),
                          {.library = {.operators = &registry}});
  harness.add("numbers", one(1));
  harness.add("numbers", one(2));
  const auto checked = harness.check();
  return checked ? "passed" : checked.error().message();
}

TEST(OperatorHarness, PassesWhatDoesAsItShould) {
  EXPECT_EQ(verdict([](Mistaken&, const Input& input, Output& out) {
              out.emit(input.batch);
              return Result<>();
            }),
            "passed");
}

TEST(OperatorHarness, FindsMemoryBesideTheState) {
  EXPECT_EQ(verdict([](Mistaken& self, const Input& input, Output& out) {
              if (++self.calls == 1) out.emit(input.batch);
              return Result<>();
            }),
            "broken rule: restart before each cycle: cycle 1 gave\n+1 (2)\ninstead of\n");
}

TEST(OperatorHarness, FindsWhatIsLeftBehindWhereALaterReadHasToWait) {
  EXPECT_EQ(verdict([](Mistaken& self, const Input& input, Output& out) {
              const bool was_interrupted = self.calls != 0;
              if (auto slot = self.table->find("a"); !slot) return Result<>(slot.error());
              self.calls = 1;
              if (auto slot = self.table->find("b"); !slot) return Result<>(slot.error());
              auto count = self.table->find("count");  // so that there is state
              if (!count) return Result<>(count.error());
              const bool comes = input.batch.weights()[0] > 0;
              comes ? count->edit().push_back('x') : count->edit().pop_back();
              if (count->value().empty()) count->remove();
              self.calls = 0;
              if (!was_interrupted) out.emit(input.batch);
              return Result<>();
            }),
            "broken rule: waiting half-way: cycle 1 gave\ninstead of\n+1 (2)\n");
}

TEST(OperatorHarness, FindsStateThatUndoingTheInputDoesNotUndo) {
  EXPECT_EQ(verdict([](Mistaken& self, const Input& input, Output& out) {
              auto slot = self.table->find("last");
              if (!slot) return Result<>(slot.error());
              slot->put(to_string(input.batch.row(0)[0]));
              out.emit(input.batch);
              return Result<>();
            }),
            "broken rule: retraction: 1 entries of state are left");
}

TEST(OperatorHarness, FindsRowsThatDependOnHowTheyAreBatched) {
  // Gives only every second batch.
  EXPECT_EQ(verdict([](Mistaken& self, const Input& input, Output& out) {
              auto slot = self.table->find("calls");
              if (!slot) return Result<>(slot.error());
              slot->put(slot->value() == "1" ? "2" : "1");
              if (slot->value() == "1") out.emit(input.batch);
              return Result<>();
            }).substr(0, 21),
            "broken rule: batching");
}

TEST(OperatorHarness, FindsOutputThatUndoingTheInputDoesNotUndo) {
  EXPECT_EQ(verdict([](Mistaken&, const Input& input, Output& out) {
              if (input.batch.weights()[0] > 0) out.emit(input.batch);
              return Result<>();
            }),
            "broken rule: retraction: 2 rows are left");
}

TEST(OperatorHarness, FindsRowsThatGoWithoutHavingCome) {
  EXPECT_EQ(verdict([](Mistaken&, const Input& input, Output& out) {
              out.emit(input.batch.negated());
              return Result<>();
            }),
            "broken rule: honesty: cycle 0 removed (1), which had not come");
}

TEST(OperatorHarness, PassesOnWhatWentWrong) {
  EXPECT_EQ(verdict([](Mistaken&, const Input&, Output&) -> Result<> {
              return Error(Errc::row_error, "no");
            }),
            "row error: apply mistaken: no");
}

TEST(OperatorHarness, GivesTheResultOfAllCycles) {
  OperatorHarness harness(from("numbers", numbers).distinct());
  EXPECT_EQ(harness.result().error(), Errc::invalid_argument);
  harness.add("numbers", one(1));
  harness.add("numbers", one(1));
  harness.add("numbers", one(2));
  EXPECT_EQ(to_string(harness.result().value()), "+1 (1)\n+1 (2)\n");
}

}  // namespace
}  // namespace weir::flow::operators::test

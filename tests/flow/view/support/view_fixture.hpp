#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <weir/flow/operator/operator_registry.hpp>
#include <weir/tests/flow/operator/support/rows.hpp>
#include <weir/tests/flow/view/support/database_fixture.hpp>

namespace weir::flow::view::test {

inline const data::SchemaRef orders_schema =
    operators::test::make_schema({{"id", data::Kind::int64, false},
                                  {"item", data::Kind::text, false},
                                  {"amount", data::Kind::int64}},
                                 {"id"});

/// Views over orders.
class ViewTest : public DatabaseTest {
 protected:
  Relation make_orders(const std::vector<Row>& rows = {}) {
    const Relation orders = run(database().create_table("orders", orders_schema)).value();
    if (!rows.empty()) insert(orders, rows);
    return orders;
  }
  /// The rows of a view once it has seen everything.
  std::string fresh_rows(const Relation& view) {
    const auto reached = run(database().fresh(view, store().version()));
    return reached ? rows_of(view) : reached.error().message();
  }
};

/// Fails on an item, as often as it is told to.
class Picky final : public operators::Operator {
 public:
  /// Shared with the test; touched by one worker at a time.
  struct Script {
    int failures = 0;
    std::size_t rows = 0;  // that it was given, with those it failed with
  };

  Picky(data::SchemaRef schema, std::shared_ptr<Script> script)
      : Operator(std::move(schema)), script_(std::move(script)) {}
  Result<> apply(const operators::Input& input, operators::Output& out) override {
    script_->rows += input.batch.size();
    for (std::size_t row = 0; row < input.batch.size(); ++row) {
      if (input.batch.row(row)[1] == data::Value("poison") && script_->failures > 0) {
        --script_->failures;
        if (script_->failures % 2 == 1) throw std::runtime_error("poison");
        return Error(operators::Errc::row_error, "poison");
      }
    }
    out.emit(input.batch);
    return {};
  }

 private:
  std::shared_ptr<Script> script_;
};

/// With an operator `picky`.
class FailingViewTest : public ViewTest {
 protected:
  FailingViewTest() {
    EXPECT_TRUE(registry_.add("picky", [this](const operators::OperatorRegistry::Arguments& of) {
      return Result<std::unique_ptr<operators::Operator>>(
          std::make_unique<Picky>(of.inputs[0], script_));
    }));
    reopen(options());
  }
  ~FailingViewTest() override { close(); }

  DatabaseOptions options() const {
    return {.library = {.operators = &registry_},
            .retry_backoff = std::chrono::milliseconds(1),
            .failures_max = 3};
  }

  std::shared_ptr<Picky::Script> script_ = std::make_shared<Picky::Script>();
  operators::OperatorRegistry registry_;
};

}  // namespace weir::flow::view::test

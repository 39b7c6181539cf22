#pragma once

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <weir/flow/data/change_batch.hpp>
#include <weir/flow/operator/operator.hpp>
#include <weir/flow/operator/operator_registry.hpp>
#include <weir/flow/operator/typed_table.hpp>

namespace sensors {

namespace data = weir::flow::data;
namespace operators = weir::flow::operators;

inline data::SchemaRef readings_schema() {
  return std::make_shared<const data::Schema>(
      data::Schema::make({{"sensor", data::Kind::text, false},
                          {"at", data::Kind::timestamp, false},
                          {"celsius", data::Kind::float64, false}},
                         {"sensor", "at"})
          .value());
}

// [operator]
/// Readings that differ by more than a threshold from the last one that was given, in order of
/// their time: also when they come late, are corrected or go.
class Moved final : public operators::Operator {
 public:
  /// `moved(0.5)`.
  static weir::Result<std::unique_ptr<operators::Operator>> make(
      const operators::OperatorRegistry::Arguments& arguments) {
    const auto& [inputs, parameters] = arguments;
    if (inputs.size() != 1 || *inputs[0] != *readings_schema())
      return weir::Error(operators::Errc::wrong_schema, "takes readings");
    if (parameters.size() != 1 || parameters[0].type() != data::Kind::float64)
      return weir::Error(operators::Errc::invalid_argument, "takes a threshold");
    return std::make_unique<Moved>(inputs[0], parameters[0].as<double>());
  }
  Moved(data::SchemaRef schema, double threshold)
      : Operator(std::move(schema)), threshold_(threshold) {}

  void open(operators::State& state) override {
    sensors_ = state.add_table<std::string, Readings>();
  }

  weir::Result<> apply(const operators::Input& input, operators::Output& out) override {
    const data::ChangeBatch batch = input.batch.consolidated();
    std::map<std::string, std::vector<std::size_t>> rows_of;
    for (std::size_t row = 0; row < batch.size(); ++row)
      rows_of[std::string(batch.column(0).strings()[row])].push_back(row);
    data::BatchBuilder moves(schema());
    for (const auto& [sensor, rows] : rows_of)
      if (auto updated = update(sensor, batch, rows, moves); !updated) return updated;
    out.emit(moves.finish());
    return {};
  }

 private:
  using Readings = std::map<data::Timestamp, double>;

  /// What the old readings gave goes, what the new ones give comes. A row that does both has not
  /// changed: the flow leaves it out.
  weir::Result<> update(const std::string& sensor, const data::ChangeBatch& batch,
                        const std::vector<std::size_t>& rows, data::BatchBuilder& moves) {
    auto known = sensors_.get(sensor);
    if (!known) return std::move(known).error();
    Readings readings = known->value_or(Readings());
    if (auto given = give(sensor, readings, -1, moves); !given) return given;
    // What goes, then what comes: a reading that was corrected does both.
    for (const std::size_t row : rows) {
      const data::Timestamp at = batch.column(1).value(row).as<data::Timestamp>();
      if (batch.weights()[row] < 0 && readings.erase(at) == 0)
        return weir::Error(operators::Errc::unknown_row, sensor + " at " + data::to_string(at));
    }
    for (const std::size_t row : rows) {
      const data::Timestamp at = batch.column(1).value(row).as<data::Timestamp>();
      if (batch.weights()[row] > 0) readings[at] = batch.column(2).value(row).as<double>();
    }
    if (auto given = give(sensor, readings, 1, moves); !given) return given;
    return readings.empty() ? sensors_.remove(sensor) : sensors_.put(sensor, readings);
  }

  weir::Result<> give(const std::string& sensor, const Readings& readings, data::Weight weight,
                      data::BatchBuilder& moves) const {
    const double* last = nullptr;
    for (const auto& [at, celsius] : readings) {
      if (last != nullptr && std::abs(celsius - *last) <= threshold_) continue;
      if (auto added = moves.add({sensor, at, celsius}, weight); !added) return added;
      last = &celsius;
    }
    return {};
  }

  double threshold_;
  operators::TypedTable<std::string, Readings> sensors_;  // each with all its readings
};
// [/operator]

}  // namespace sensors

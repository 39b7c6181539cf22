#include <weir/bench/views/tables.hpp>

#include <memory>
#include <utility>

namespace weir::bench::views {
namespace {

using flow::data::BatchBuilder;
using flow::data::ChangeBatch;
using flow::data::Kind;
using flow::data::SchemaRef;

SchemaRef make_schema(std::vector<flow::data::Field> fields) {
  return std::make_shared<const flow::data::Schema>(
      flow::data::Schema::make(std::move(fields), {"id"}).value());
}

void add(const OrderChange& change, BatchBuilder& builder) {
  builder.column(0).push(change.id);
  builder.column(1).push(change.customer);
  builder.column(2).push(change.amount);
  builder.column(3).push(change.price);
  builder.add_weight(change.weight);
}

}  // namespace

const SchemaRef& orders_schema() {
  static const SchemaRef schema = make_schema({{"id", Kind::int64, false},
                                               {"customer", Kind::int64, false},
                                               {"amount", Kind::int64, false},
                                               {"price", Kind::float64, false}});
  return schema;
}

const SchemaRef& events_schema() {
  static const SchemaRef schema = make_schema({{"id", Kind::int64, false},
                                               {"customer", Kind::int64, false},
                                               {"amount", Kind::int64, false},
                                               {"price", Kind::float64, false},
                                               {"at", Kind::timestamp, false}});
  return schema;
}

const SchemaRef& customers_schema() {
  static const SchemaRef schema =
      make_schema({{"id", Kind::int64, false}, {"city", Kind::int64, false}});
  return schema;
}

ChangeBatch decode(const OrderBatch& batch) {
  BatchBuilder builder(orders_schema());
  for (const OrderChange& change : batch) add(change, builder);
  return builder.finish();
}

ChangeBatch decode_events(const OrderBatch& batch) {
  BatchBuilder builder(events_schema());
  for (const OrderChange& change : batch) {
    add(change, builder);
    builder.column(4).push(event_time(change));
  }
  return builder.finish();
}

ChangeBatch decode(const CustomerBatch& batch) {
  BatchBuilder builder(customers_schema());
  for (const CustomerChange& change : batch) {
    builder.column(0).push(change.id);
    builder.column(1).push(change.city);
    builder.add_weight(change.weight);
  }
  return builder.finish();
}

}  // namespace weir::bench::views

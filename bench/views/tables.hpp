#pragma once

#include <weir/bench/views/changes.hpp>
#include <weir/flow/data/change_batch.hpp>
#include <weir/flow/data/schema.hpp>

/// The tables of the benchmark as batches of columns.
namespace weir::bench::views {

/// orders(id, customer, amount, price), events: the same and when, customers(id, city).
const flow::data::SchemaRef& orders_schema();
const flow::data::SchemaRef& events_schema();
const flow::data::SchemaRef& customers_schema();

flow::data::ChangeBatch decode(const OrderBatch& batch);
flow::data::ChangeBatch decode_events(const OrderBatch& batch);
flow::data::ChangeBatch decode(const CustomerBatch& batch);

template <class Batch>
std::vector<flow::data::ChangeBatch> decode(const std::vector<Batch>& batches) {
  std::vector<flow::data::ChangeBatch> decoded;
  for (const Batch& batch : batches) decoded.push_back(decode(batch));
  return decoded;
}

}  // namespace weir::bench::views

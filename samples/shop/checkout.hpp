#pragma once

#include <weir/flow/compose/on_change.hpp>
#include <weir/flow/workflow/worker.hpp>
#include <weir/samples/shop/tables.hpp>

namespace shop {

/// Teaches a worker to charge and to ship orders, and to ask couriers.
void add_checkout(weir::flow::workflow::Worker& worker, weir::ActorSystem* system,
                  const Database* database, const Tables& tables);

/// Each order that is paid for begins one checkout.
weir::flow::compose::Start checkout_of_paid_order();

}  // namespace shop

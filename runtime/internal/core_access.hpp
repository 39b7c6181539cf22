#pragma once

#include <weir/runtime/internal/lifecycle.hpp>

// The few things that templates in public headers need from the core, without its definition.
namespace weir::internal {

/// Builds the user's object again after a failure, from copies of its constructor arguments.
struct Factory {
  virtual ~Factory() = default;
  virtual void construct(void* memory) = 0;
};

/// Takes the factory over.
void set_factory(Cell& cell, Factory* factory);

}  // namespace weir::internal

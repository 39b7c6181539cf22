#pragma once

#include <memory>

#include <weir/runtime/internal/lifecycle.hpp>

// The few things that templates in public headers need from the core, without its definition.
namespace weir::internal {

/// Builds the user's object again after a failure, from copies of its constructor arguments.
struct Factory {
  virtual ~Factory() = default;
  virtual void construct(void* memory) = 0;
};

void set_factory(Cell& cell, std::unique_ptr<Factory> factory);

}  // namespace weir::internal

#pragma once

namespace weir::internal {

/// Runs asynchronous I/O. What it is made of is known where Asio is.
class IoService {
 public:
  virtual ~IoService() = default;
};

}  // namespace weir::internal

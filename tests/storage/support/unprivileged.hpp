#pragma once

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace weir::storage::test {

/// As long as it lives this process has no more rights than the permissions of files give to
/// anybody, even if root runs it.
class Unprivileged {
 public:
  Unprivileged() : is_root_(::geteuid() == 0) {
    static constexpr uid_t nobody = 65534;
    if (is_root_) EXPECT_EQ(::setresuid(nobody, nobody, 0), 0);
  }
  Unprivileged(const Unprivileged&) = delete;
  Unprivileged& operator=(const Unprivileged&) = delete;
  ~Unprivileged() {
    if (!is_root_) return;
    EXPECT_EQ(::setresuid(0, 0, 0), 0);
    // Taken with the rights, and needed by the leak checker.
    ::prctl(PR_SET_DUMPABLE, 1);
  }

 private:
  const bool is_root_;
};

}  // namespace weir::storage::test

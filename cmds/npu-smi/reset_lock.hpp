// SPDX-License-Identifier: Apache-2.0
// The lock that keeps two resets apart, shared with the vendor's tool: /run/reset.
#pragma once

#include <chrono>
#include <expected>
#include <string>

namespace asc::cmds::npu_smi {

class ResetLock {
  public:
    struct Refusal {
        bool busy = false; // another holds it
        std::string text;
    };

    // Waits at most `limit` for the lock. Only root takes it: others could not, and the driver
    // refuses their reset anyway. ASC_RESET_LOCK names another file (not in set-id programs), which
    // everybody takes.
    static std::expected<ResetLock, Refusal> take(std::chrono::milliseconds limit);

    ResetLock(ResetLock&& other) noexcept;
    ResetLock& operator=(ResetLock&& other) noexcept;
    ~ResetLock();

  private:
    explicit ResetLock(int descriptor) : descriptor_(descriptor) {}
    int descriptor_; // -1: nothing was to be locked
};

} // namespace asc::cmds::npu_smi

// SPDX-License-Identifier: Apache-2.0
// An epoll loop: descriptors with what is to be done when they are ready, and one timer.
#pragma once

#include "kmod-sim/server/descriptor.hpp"

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace asc::server {

class Loop {
  public:
    using Ready = std::function<void(std::uint32_t events)>; // EPOLL*

    // The error is an errno.
    static std::expected<Loop, int> create();

    // 0 or an errno. `ready` may remove descriptors, its own too.
    int add(int fd, std::uint32_t events, Ready ready);
    int change(int fd, std::uint32_t events);
    void remove(int fd);

    // Calls `due` once after `ns` nanoseconds; replaces an earlier wish. UINT64_MAX: never.
    void wake_after(std::uint64_t ns);
    void on_timer(std::function<void()> due) { due_ = std::move(due); }

    // Waits for the next events and does what is to be done; 0 or an errno. `timeout_ms` -1: for
    // ever.
    int run_once(int timeout_ms = -1);

  private:
    struct Entry {
        Ready ready;
        int fd;
        bool removed = false;
    };
    Descriptor epoll_, timer_;
    bool armed_ = false;
    std::function<void()> due_;
    std::unordered_map<int, std::unique_ptr<Entry>> entries_;
    std::vector<std::unique_ptr<Entry>> graveyard_; // removed while their events may be pending
};

} // namespace asc::server

// SPDX-License-Identifier: Apache-2.0
// Signals as events of the loop.
#pragma once

#include "kmod-sim/server/descriptor.hpp"
#include "kmod-sim/server/loop.hpp"

#include <signal.h>
#include <sys/signalfd.h>

#include <functional>
#include <initializer_list>

namespace asc::server {

// Blocks the signals and hands them to `arrived` while it lives; SIGPIPE is ignored from then on.
class Signals {
  public:
    Signals(Loop& loop, std::initializer_list<int> numbers,
            std::function<void(const signalfd_siginfo&)> arrived);
    ~Signals();
    Signals(const Signals&) = delete;
    Signals& operator=(const Signals&) = delete;

    // For a forked child, before it runs another program.
    void undo() const;

  private:
    Loop& loop_;
    sigset_t before_;
    Descriptor fd_;
};

} // namespace asc::server

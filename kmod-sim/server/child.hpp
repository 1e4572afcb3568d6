// SPDX-License-Identifier: Apache-2.0
// A command run by davsim: started, watched, and what it leaves behind ended.
#pragma once

#include "kmod-sim/server/descriptor.hpp"
#include "kmod-sim/server/signals.hpp"

#include <sys/types.h>

#include <expected>
#include <string>
#include <utility>
#include <vector>

namespace asc::server {

class Child {
  public:
    // Starts `command` with these variables set besides the environment. The signals' blocking is
    // undone in it. The failure is the exit status (127 not found, 126 cannot be run) and why.
    static std::expected<Child, std::pair<int, std::string>>
    start(const std::vector<std::string>& command,
          const std::vector<std::pair<std::string, std::string>>& variables,
          const Signals& signals);

    pid_t pid() const { return pid_; }
    int pidfd() const { return pidfd_.get(); }
    // True when it has ended; status() is then as a shell has it: 128 + n after signal n.
    bool reap();
    int status() const { return status_; }

  private:
    pid_t pid_ = -1;
    Descriptor pidfd_;
    int status_ = 0;
};

// The children of this process that are not in `except`, zombies included.
std::vector<pid_t> children_of_this(const std::vector<pid_t>& except);

// Folder of this program.
std::string program_folder();

} // namespace asc::server

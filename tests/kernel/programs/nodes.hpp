// SPDX-License-Identifier: Apache-2.0
// For the programs that run in the guest: the nodes, memory with edges, results as lines.
#pragma once

#include "ioctl/wire/commands.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace asc::kernel_test {

// The result of ioctl(2): 0 and above as it is, or a negative errno.
int ask(int fd, std::uint32_t number, const void* argument);
// Opens the node that a module lives on and binds it; -1 with a message when that fails.
int open_module(unsigned module);
const char* module_name(unsigned module); // as the bind carries it; "" for HDC

// Pages with a hole behind them: an object that ends at `end()` ends where memory ends.
class Edge {
  public:
    explicit Edge(std::size_t pages = 4);
    ~Edge();
    Edge(const Edge&) = delete;
    Edge& operator=(const Edge&) = delete;
    std::uint8_t* start() const { return start_; }
    std::uint8_t* end() const { return end_; }
    std::size_t size() const { return static_cast<std::size_t>(end_ - start_); }
    // The last bytes of the region.
    std::uint8_t* tail(std::size_t bytes) const { return end_ - bytes; }
    void protect(int protection) const; // PROT_ of all its pages

  private:
    std::uint8_t *start_, *end_;
};

// SIGALRM ends a call that waits and does nothing else.
void ignore_alarms();
// So is the one thread of this process, at this interval.
void interrupt_every(unsigned milliseconds);

// ---- results, as tests/kernel/guest/lib.sh counts them ----
void verdict(bool good, const std::string& name, const std::string& why = {});
int failures();

// Every ioctl of commands.def, once for the module it belongs to.
std::vector<const dv_command_info*> ioctl_commands();

} // namespace asc::kernel_test

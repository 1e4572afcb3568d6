// SPDX-License-Identifier: Apache-2.0
// The channel to real nodes: the vendor's driver, or the kernel module of this project.
#pragma once

#include "hal/channel.hpp"
#include "hal/driver.hpp"

#include <memory>
#include <string>

namespace asc::hal {

// What reaches the kernel; the seam for tests. Results as of the system calls, errors as -errno.
struct SysOps {
    int (*open)(void* context, const char* path, int flags);
    int (*ioctl)(void* context, int fd, unsigned long number, void* argument);
    void (*close)(void* context, int fd);
    void* context;
};

// open(2), ioctl(2) and close(2) themselves.
const SysOps& system_ops();

// Path of a node (enum dv_node) under `dev_root`, and how it is opened.
std::string node_path(const std::string& dev_root, std::uint32_t node, std::uint32_t index);
int node_flags(std::uint32_t node);
// What an open that failed with `error` met: the node's owner and mode, our ids and capabilities.
std::string node_trouble(const std::string& path, int error);

// isolate: calls are made by a helper process, so that one that never returns keeps neither this
// program nor the other devices. Without it a call blocks the caller for as long as the driver
// likes.
std::unique_ptr<Channel> make_chardev_channel(const std::string& dev_root, bool isolate,
                                              const SysOps& ops);
std::unique_ptr<Channel> make_helper_channel(const std::string& dev_root, const SysOps& ops);

// What the helper process does from the fork on: answers on `fd` until it is closed.
[[noreturn]] void run_helper(int fd, const std::string& dev_root, const SysOps& ops);

// Message of our own to the helper: payload u64, the token of the node to close.
inline constexpr std::uint16_t kHelperClose = 0x100;
// Lanes from here on have one thread, which makes all their calls.
inline constexpr std::uint32_t kPinnedLane = 0x80000000U;

} // namespace asc::hal

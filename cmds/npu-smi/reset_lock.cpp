// SPDX-License-Identifier: Apache-2.0
#include "cmds/npu-smi/reset_lock.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace asc::cmds::npu_smi {

ResetLock::ResetLock(ResetLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

ResetLock& ResetLock::operator=(ResetLock&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
}

ResetLock::~ResetLock() {
    if (descriptor_ >= 0)
        ::close(descriptor_);
}

std::expected<ResetLock, ResetLock::Refusal> ResetLock::take(std::chrono::milliseconds limit) {
    const char* other_path = ::secure_getenv("ASC_RESET_LOCK");
    if (other_path == nullptr && ::geteuid() != 0)
        return ResetLock(-1);
    const char* path = other_path != nullptr ? other_path : "/run/reset";
    ResetLock lock(::open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0600));
    if (lock.descriptor_ < 0)
        return std::unexpected(
            Refusal{false, fmt::format("{}: the lock of resets cannot be opened: {}", path,
                                       std::strerror(errno))});
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (::flock(lock.descriptor_, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return std::unexpected(
                Refusal{false, fmt::format("{}: {}", path, std::strerror(errno))});
        if (std::chrono::steady_clock::now() >= deadline)
            return std::unexpected(
                Refusal{true, "Another user is resetting the NPU(s). Please try again later."});
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return lock;
}

} // namespace asc::cmds::npu_smi

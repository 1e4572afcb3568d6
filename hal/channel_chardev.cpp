// SPDX-License-Identifier: Apache-2.0
// Nodes of the driver, opened and asked by this very process.
#include "hal/channel_chardev.hpp"

#include "ioctl/wire/commands.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <thread>

namespace asc::hal {

namespace {

// The one place of the tree that calls ioctl(2).
int system_ioctl(void*, int fd, unsigned long number, void* argument) {
    const int result = ioctl(fd, number, argument);
    return result < 0 ? -errno : result;
}

int system_open(void*, const char* path, int flags) {
    const int fd = open(path, flags | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

void system_close(void*, int fd) {
    close(fd);
}

// CapEff of this process in hexadecimal, as /proc shows it.
std::string capabilities() {
    std::string found = "unknown";
    const int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return found;
    char text[4096];
    const ssize_t length = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (length <= 0)
        return found;
    text[length] = 0;
    if (const char* line = std::strstr(text, "\nCapEff:")) {
        line += 8;
        line += std::strspn(line, "\t ");
        found.assign(line, std::strcspn(line, "\n"));
    }
    return found;
}

class DirectChannel final : public Channel {
  public:
    DirectChannel(std::string dev_root, const SysOps& ops)
        : dev_root_(std::move(dev_root)), ops_(ops) {}
    ~DirectChannel() override {
        for (const int fd : open_)
            ops_.close(ops_.context, fd);
    }

    void close(Node node) override {
        if (std::erase(open_, node) != 0)
            ops_.close(ops_.context, node);
    }

    Files files() const override { return Files::nodes; }

    std::string open_trouble(std::uint32_t node, std::uint32_t index, int error) const override {
        return node_trouble(node_path(dev_root_, node, index), error);
    }

  protected:
    // The driver knows the parent by these files; ours are opened anew (driver-abi.md 3).
    bool new_process() override {
        for (const int fd : open_)
            ops_.close(ops_.context, fd);
        open_.clear();
        return false;
    }

    bool start(Call& call) override {
        if (call.op == Call::Op::open) {
            const int fd =
                ops_.open(ops_.context, node_path(dev_root_, call.number, call.index).c_str(),
                          node_flags(call.number));
            if (fd >= 0)
                open_.push_back(fd);
            call.node = fd < 0 ? -1 : fd;
            end(call, std::min(fd, 0));
            return true;
        }
        end(call, ops_.ioctl(ops_.context, call.node, call.number, call.argument));
        return true;
    }
    // Every call has ended when start() returns; only a pause is ever waited for.
    void wait(TimePoint until) override { std::this_thread::sleep_until(until); }
    void forget(Call&) override {}

  private:
    std::string dev_root_;
    SysOps ops_;
    std::vector<int> open_;
};

} // namespace

const SysOps& system_ops() {
    static const SysOps ops{system_open, system_ioctl, system_close, nullptr};
    return ops;
}

std::string node_path(const std::string& dev_root, std::uint32_t node, std::uint32_t index) {
    switch (node) {
    case DV_NODE_IS_DEVICE:
        return dev_root + "/davinci" + std::to_string(index);
    case DV_NODE_IS_HDC:
        return dev_root + "/hisi_hdc";
    case DV_NODE_IS_SVM:
        return dev_root + "/devmm_svm";
    default:
        return dev_root + "/davinci_manager";
    }
}

int node_flags(std::uint32_t node) {
    return node == DV_NODE_IS_MANAGER || node == DV_NODE_IS_SVM ? O_RDWR : O_RDONLY;
}

std::string node_trouble(const std::string& path, int error) {
    struct stat status {};
    const bool there = stat(path.c_str(), &status) == 0;
    const auto ids = [&] {
        char text[256];
        std::snprintf(text, sizeof(text),
                      "it belongs to %u:%u with mode %04o, we are uid %u, gid %u, capabilities %s",
                      status.st_uid, status.st_gid, status.st_mode & 07777U, geteuid(), getegid(),
                      capabilities().c_str());
        return std::string(text);
    };
    switch (error) {
    case ENOENT:
        return path + ": no such node; the driver is not loaded, or the node was not mapped into "
                      "this container";
    case ENXIO:
    case ENODEV:
        return path + ": the node is there but no driver stands behind it; load the driver";
    case EACCES:
        return path + ": permission denied" + (there ? ": " + ids() : std::string()) +
               "; join the node's group or ask an administrator";
    case EPERM:
        return path +
               ": not permitted although the node is there: access is revoked (device cgroup) or a "
               "capability is missing" +
               (there ? "; " + ids() : std::string()) +
               "; the host may be healthy, re-create the container with the device";
    case EBUSY:
        return path + ": in use by another (process, container or virtual machine)" +
               (there ? "; " + ids() : std::string());
    default:
        return path + ": " + std::strerror(error);
    }
}

std::unique_ptr<Channel> make_chardev_channel(const std::string& dev_root, bool isolate,
                                              const SysOps& ops) {
    if (isolate)
        return make_helper_channel(dev_root, ops);
    return std::make_unique<DirectChannel>(dev_root, ops);
}

} // namespace asc::hal

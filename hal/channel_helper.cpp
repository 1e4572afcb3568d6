// SPDX-License-Identifier: Apache-2.0
// The chardev channel with a helper process: this side. A thread in an uninterruptible sleep keeps
// its whole process from ending, so calls that may sleep so are made by a process that nobody waits
// for.
#include "hal/channel_chardev.hpp"

#include "hal/dsock.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace asc::hal {

namespace {

class HelperChannel final : public Channel {
  public:
    HelperChannel(std::string dev_root, const SysOps& ops)
        : dev_root_(std::move(dev_root)), ops_(ops) {}
    ~HelperChannel() override {
        if (process_ == getpid())
            end_helper();
    }

    void close(Node node) override {
        if (node < 0 || calls_.fd() < 0)
            return;
        const std::uint64_t token = static_cast<std::uint64_t>(node);
        send_packet(calls_.fd(), kHelperClose, 0,
                    {reinterpret_cast<const std::uint8_t*>(&token), sizeof(token)});
    }

    Files files() const override { return Files::nodes; }

    std::string open_trouble(std::uint32_t node, std::uint32_t index, int error) const override {
        return node_trouble(node_path(dev_root_, node, index), error);
    }

    std::int64_t helper_pid() const override { return helper_; }

  protected:
    // The helper is our parent's. Ours starts with the first call.
    bool new_process() override {
        calls_.close();
        pidfd_.reset();
        helper_ = 0;
        broken_.clear();
        return false;
    }

    bool start(Call& call) override {
        if (broken_.empty() && helper_ == 0)
            start_helper();
        if (!broken_.empty()) {
            end_broken(call);
            return true;
        }
        const std::uint32_t lane = lane_of(call);
        if (call.op == Call::Op::open)
            return calls_.post_open(call, lane);
        if (call.node < 0) {
            end(call, -EBADF);
            return true;
        }
        return calls_.post(call, static_cast<std::uint64_t>(call.node), 0, lane);
    }

    bool start_alone(Call& call) override {
        if (!broken_.empty() || helper_ == 0 || call.op != Call::Op::ioctl || call.node < 0 ||
            !calls_.exchange(call, static_cast<std::uint64_t>(call.node), 0, lane_of(call), ended_))
            return start(call);
        if (call.state == Call::State::broken)
            note_broken();
        return true;
    }

    void flush() override { calls_.flush(); }

    void wait(TimePoint until) override {
        if (!calls_.sending() && !calls_.idle() && until - Steady::now() >= kReceiveSlice) {
            calls_.receive(ended_, true);
        } else {
            pollfd watched{calls_.fd(),
                           static_cast<short>(POLLIN | (calls_.sending() ? POLLOUT : 0)), 0};
            const auto left =
                until == TimePoint::max()
                    ? 60000
                    : std::chrono::ceil<std::chrono::milliseconds>(until - Steady::now()).count();
            if (poll(&watched, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, 60000))) <= 0)
                return;
            if ((watched.revents & POLLOUT) != 0)
                calls_.flush();
            if ((watched.revents & ~POLLOUT) != 0)
                calls_.receive(ended_, false);
        }
        note_broken();
    }

    void forget(Call& call) override { calls_.forget(call); }

  private:
    static std::uint32_t lane_of(const Call& call) {
        return call.pinned ? kPinnedLane | call.lane : call.lane;
    }

    void note_broken() {
        if (broken_.empty() && !calls_.broken().empty())
            broken_ = "the helper process for " + dev_root_ + ": " + calls_.broken();
    }

    void start_helper() {
        int pair[2];
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
            broken_ = std::string("no socket for the helper process: ") + std::strerror(errno);
            return;
        }
        Descriptor ours(pair[0]);
        Descriptor theirs(pair[1]);
        limit_receive(ours.get());
        const pid_t child = fork();
        if (child < 0) {
            broken_ = std::string("the helper process cannot be started: ") + std::strerror(errno);
            return;
        }
        if (child == 0)
            run_helper(theirs.get(), dev_root_, ops_);
        helper_ = child;
        pidfd_.reset(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
        calls_.attach(std::move(ours));
    }

    void end_helper() {
        if (helper_ == 0)
            return;
        calls_.close(); // its end of file ends the helper; the signal is for one that is stuck
        if (pidfd_)
            syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
        // One in an uninterruptible sleep stays until the driver lets it go: nobody waits for it.
        for (int i = 0; i < 20; ++i) {
            const pid_t gone = waitpid(static_cast<pid_t>(helper_), nullptr, WNOHANG);
            if (gone != 0 && !(gone < 0 && errno == EINTR))
                break;
            const timespec nap{0, 500'000};
            nanosleep(&nap, nullptr);
        }
        helper_ = 0;
    }

    std::string dev_root_;
    SysOps ops_;
    DsockClient calls_;
    Descriptor pidfd_;
    std::int64_t helper_ = 0;
};

} // namespace

std::unique_ptr<Channel> make_helper_channel(const std::string& dev_root, const SysOps& ops) {
    return std::make_unique<HelperChannel>(dev_root, ops);
}

} // namespace asc::hal

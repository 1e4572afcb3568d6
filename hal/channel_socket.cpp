// SPDX-License-Identifier: Apache-2.0
// Life sockets are the open files; one call socket a process carries all calls, many at once.
#include "hal/channel_socket.hpp"

#include "hal/dsock.hpp"

#include <poll.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

namespace asc::hal {

namespace {

timeval to_timeval(std::chrono::milliseconds time) {
    return {static_cast<time_t>(time.count() / 1000),
            static_cast<suseconds_t>(time.count() % 1000 * 1000)};
}

int poll_timeout(TimePoint until) {
    if (until == TimePoint::max())
        return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Steady::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60000));
}

template <class T> std::span<const std::uint8_t> bytes_of(const T& value) {
    return {reinterpret_cast<const std::uint8_t*>(&value), sizeof(value)};
}

std::uint32_t next_subscriber() {
    static std::atomic<std::uint32_t> ordinal{0};
    return static_cast<std::uint32_t>(getpid()) + (ordinal++ << 22);
}

class SocketChannel final : public Channel {
  public:
    SocketChannel(std::string path, std::chrono::milliseconds timeout)
        : path_(std::move(path)), timeout_(timeout) {}

    std::expected<void, ConnectError> greet() {
        auto fd = connect_checked();
        if (!fd)
            return std::unexpected(std::move(fd.error()));
        const dsock_hello hello{DSOCK_PROTOCOL, 0};
        Packet packet;
        std::string why;
        if (const int sent = send_packet(fd->get(), DSOCK_HELLO, 0, bytes_of(hello)); sent < 0)
            return failure(ConnectError::Kind::failed, -sent, std::strerror(-sent));
        const int got = receive_packet(fd->get(), 0, buffer_, packet, why);
        if (got == 0)
            return failure(ConnectError::Kind::timeout, ETIMEDOUT,
                           "it took the connection but did not answer within " +
                               std::to_string(timeout_.count()) + " ms");
        if (got < 0)
            return failure(ConnectError::Kind::failed, 0, why);
        if (packet.header.type == DSOCK_REFUSED)
            return failure(ConnectError::Kind::denied, EACCES,
                           "it refused: " +
                               std::string(packet.payload.begin(), packet.payload.end()));
        dsock_welcome welcome;
        if (packet.header.type != DSOCK_WELCOME || packet.payload.size() != sizeof(welcome))
            return failure(ConnectError::Kind::abi_mismatch, 0,
                           "it does not greet as davsimd of this version does");
        std::memcpy(&welcome, packet.payload.data(), sizeof(welcome));
        if (welcome.protocol != DSOCK_PROTOCOL)
            return failure(ConnectError::Kind::abi_mismatch, 0,
                           "it speaks protocol " + std::to_string(welcome.protocol) +
                               ", this program " + std::to_string(DSOCK_PROTOCOL) +
                               "; use programs and server of one build");
        limit_receive(fd->get());
        calls_.attach(std::move(*fd));
        return {};
    }

    void close(Node node) override {
        if (node >= 0 && static_cast<std::size_t>(node) < nodes_.size())
            nodes_[static_cast<std::size_t>(node)] = {};
    }

    Files files() const override { return Files::sockets; }

  protected:
    // The life sockets are ours too, the call socket is the parent's alone.
    bool new_process() override {
        calls_.close();
        opening_.clear();
        broken_.clear();
        if (const auto greeted = greet(); !greeted)
            broken_ = greeted.error().text;
        return true;
    }

    bool start(Call& call) override {
        if (!broken_.empty()) {
            end_broken(call);
            return true;
        }
        if (call.op == Call::Op::open) {
            open_node(call);
            return true;
        }
        if (call.node < 0 || static_cast<std::size_t>(call.node) >= nodes_.size() ||
            !nodes_[static_cast<std::size_t>(call.node)].fd) {
            end(call, -EBADF);
            return true;
        }
        return calls_.post(call, nodes_[static_cast<std::size_t>(call.node)].token,
                           call.pinned ? subscriber_ : static_cast<std::uint32_t>(process_), 0);
    }

    bool start_alone(Call& call) override {
        // A node that is not open has token 0, which the server does not know.
        if (call.op != Call::Op::ioctl || static_cast<std::size_t>(call.node) >= nodes_.size() ||
            !calls_.exchange(call, nodes_[static_cast<std::size_t>(call.node)].token,
                             call.pinned ? subscriber_ : static_cast<std::uint32_t>(process_), 0,
                             ended_))
            return start(call);
        if (call.state == Call::State::broken)
            note_broken();
        return true;
    }

    void flush() override { calls_.flush(); }

    void wait(TimePoint until) override {
        if (opening_.empty() && !calls_.sending() && !calls_.idle() &&
            until - Steady::now() >= kReceiveSlice) {
            // The short way: one system call, which waits at most the slice.
            calls_.receive(ended_, true);
            note_broken();
            return;
        }
        std::vector<pollfd> watched;
        watched.push_back(
            {calls_.fd(), static_cast<short>(POLLIN | (calls_.sending() ? POLLOUT : 0)), 0});
        for (const Opening& opening : opening_)
            watched.push_back({opening.fd.get(), POLLIN, 0});
        const int ready = poll(watched.data(), watched.size(), poll_timeout(until));
        if (ready <= 0)
            return;
        if ((watched[0].revents & POLLOUT) != 0)
            calls_.flush();
        if ((watched[0].revents & ~POLLOUT) != 0)
            calls_.receive(ended_, false);
        for (std::size_t i = opening_.size(); i-- > 0;)
            if (watched[i + 1].revents != 0)
                finish_open(i);
        note_broken();
    }

    void forget(Call& call) override {
        if (call.op == Call::Op::open)
            std::erase_if(opening_, [&](const Opening& opening) { return opening.call == &call; });
        else
            calls_.forget(call);
    }

  private:
    struct File {
        Descriptor fd;
        std::uint64_t token = 0;
    };
    struct Opening {
        Descriptor fd;
        Call* call;
    };

    std::unexpected<ConnectError> failure(ConnectError::Kind kind, int error,
                                          const std::string& why) const {
        return std::unexpected(ConnectError{kind, error, "the simulator at " + path_ + ": " + why});
    }

    // A connection to the server, whose owner has been checked.
    std::expected<Descriptor, ConnectError> connect_checked() const {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        if (path_.empty() || path_.size() >= sizeof(address.sun_path))
            return std::unexpected(
                ConnectError{ConnectError::Kind::bad_backend, ENAMETOOLONG,
                             "the socket's path '" + path_ + "' is empty or longer than " +
                                 std::to_string(sizeof(address.sun_path) - 1) + " characters"});
        std::memcpy(address.sun_path, path_.c_str(), path_.size() + 1);
        Descriptor fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
        if (!fd)
            return failure(ConnectError::Kind::failed, errno, std::strerror(errno));
        const timeval limit = to_timeval(timeout_);
        setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
        setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
        if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
            return connect_failure(errno);
        ucred peer{};
        socklen_t size = sizeof(peer);
        if (getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
            return failure(ConnectError::Kind::failed, errno, std::strerror(errno));
        if (peer.uid != 0 && peer.uid != geteuid())
            return failure(ConnectError::Kind::untrusted, EACCES,
                           "it belongs to uid " + std::to_string(peer.uid) + ", not to us (uid " +
                               std::to_string(geteuid()) +
                               ") or to root; its answers would be its "
                               "owner's, start a simulator of your own (davsim start)");
        return fd;
    }

    std::unexpected<ConnectError> connect_failure(int error) const {
        switch (error) {
        case ENOENT:
            return failure(ConnectError::Kind::no_driver, error,
                           "there is no such socket; start one with 'davsim start'");
        case ECONNREFUSED:
            return failure(ConnectError::Kind::no_driver, error,
                           "nobody answers there (the server has ended); start one with "
                           "'davsim start'");
        case EACCES:
        case EPERM: {
            struct stat status {};
            std::string owner;
            if (lstat(path_.c_str(), &status) == 0)
                owner = " (owner " + std::to_string(status.st_uid) + ":" +
                        std::to_string(status.st_gid) + ", we are " + std::to_string(geteuid()) +
                        ":" + std::to_string(getegid()) + ")";
            return failure(ConnectError::Kind::denied, error, "not permitted to connect" + owner);
        }
        case EAGAIN:
            return failure(ConnectError::Kind::timeout, ETIMEDOUT,
                           "it does not take connections (no answer within " +
                               std::to_string(timeout_.count()) + " ms)");
        case EPROTOTYPE:
            return failure(ConnectError::Kind::abi_mismatch, error,
                           "it is a socket of another kind, not davsimd's");
        default:
            return failure(ConnectError::Kind::failed, error, std::strerror(error));
        }
    }

    void open_node(Call& call) {
        auto fd = connect_checked();
        if (!fd) {
            end(call, fd.error().error != 0 ? -fd.error().error : -EIO);
            return;
        }
        const dsock_open open{DSOCK_PROTOCOL, call.number, call.index, 0};
        if (const int sent = send_packet(fd->get(), DSOCK_OPEN, 0, bytes_of(open)); sent < 0) {
            end(call, sent);
            return;
        }
        opening_.push_back({std::move(*fd), &call});
    }

    void finish_open(std::size_t at) {
        Packet packet;
        std::string why;
        const int got = receive_packet(opening_[at].fd.get(), MSG_DONTWAIT, buffer_, packet, why);
        if (got == 0)
            return;
        Opening opening = std::move(opening_[at]);
        opening_.erase(opening_.begin() + static_cast<std::ptrdiff_t>(at));
        dsock_opened opened{};
        if (got < 0) {
            end(*opening.call, -EIO);
            return;
        }
        if (packet.header.type == DSOCK_REFUSED) {
            end(*opening.call, -EACCES);
            return;
        }
        if (packet.header.type != DSOCK_OPENED || packet.payload.size() != sizeof(opened)) {
            end(*opening.call, -EPROTO);
            return;
        }
        std::memcpy(&opened, packet.payload.data(), sizeof(opened));
        if (opened.result != 0) {
            end(*opening.call, opened.result < 0 ? opened.result : -EPROTO);
            return;
        }
        auto free =
            std::find_if(nodes_.begin(), nodes_.end(), [](const File& file) { return !file.fd; });
        if (free == nodes_.end())
            free = nodes_.emplace(nodes_.end());
        *free = {std::move(opening.fd), opened.token};
        opening.call->node = static_cast<Node>(free - nodes_.begin());
        end(*opening.call, 0);
    }

    void note_broken() {
        if (broken_.empty() && !calls_.broken().empty())
            broken_ = "the simulator at " + path_ + ": " + calls_.broken();
    }

    std::string path_;
    std::chrono::milliseconds timeout_;
    // Event subscriptions are per thread (driver-abi.md 9): each channel has its own.
    std::uint32_t subscriber_ = next_subscriber();
    DsockClient calls_;
    std::vector<File> nodes_;
    std::vector<Opening> opening_;
    std::vector<std::uint8_t> buffer_;
};

} // namespace

std::expected<std::unique_ptr<Channel>, ConnectError>
make_socket_channel(const std::string& path, std::chrono::milliseconds timeout) {
    auto channel = std::make_unique<SocketChannel>(path, timeout);
    if (auto greeted = channel->greet(); !greeted)
        return std::unexpected(std::move(greeted.error()));
    return channel;
}

} // namespace asc::hal

// SPDX-License-Identifier: Apache-2.0
// A server in the test's own hands, packet by packet, and a fixture that connects to it.
#pragma once

#include "hal/channel_socket.hpp"
#include "hal/dsock.hpp"
#include "ioctl/wire/commands.h"

#include <gtest/gtest.h>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace asc::hal::test {

using namespace std::chrono_literals;
using Bytes = std::vector<std::uint8_t>;

template <class T> Bytes bytes_of(const T& value) {
    const auto* first = reinterpret_cast<const std::uint8_t*>(&value);
    return {first, first + sizeof(value)};
}

struct Asked { // one DSOCK_CALL
    std::uint32_t id = 0;
    dsock_call call{};
    std::vector<dsock_range> ranges;
    Bytes in;
    const dsock_range& out() const {
        for (const dsock_range& range : ranges)
            if ((range.direction & DV_RANGE_OUT) != 0)
                return range;
        return ranges.front();
    }
};

// What a test sets while the server's threads use it.
template <class F> class Shared {
  public:
    Shared(std::function<F> function = nullptr) : function_(std::move(function)) {}
    Shared& operator=(std::function<F> function) {
        const std::scoped_lock lock(mutex_);
        function_ = std::move(function);
        return *this;
    }
    std::function<F> get() const {
        const std::scoped_lock lock(mutex_);
        return function_;
    }

  private:
    mutable std::mutex mutex_;
    std::function<F> function_;
};

// A server in a thread of its own. Greets and opens rightly unless told otherwise; what calls get
// is the test's.
class Server {
  public:
    Shared<void(int fd, const Asked&)> answer{[](int, const Asked&) {}};
    Shared<void(int fd)> greet; // in place of DSOCK_WELCOME
    Shared<void(std::uint32_t id)> cancelled{[](std::uint32_t) {}};
    std::atomic<int> hellos{0}, cancels{0};

    Server() {
        char name[] = "/tmp/hal_sock_XXXXXX";
        folder_ = mkdtemp(name);
        path = folder_ + "/s";
        listener_ = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strcpy(address.sun_path, path.c_str());
        bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address));
        listen(listener_, 64);
        acceptor_ = std::thread([this] { accept_all(); });
    }
    ~Server() { stop(); }
    // Ends the threads; nothing is answered from then on.
    void stop() {
        if (!acceptor_.joinable())
            return;
        shutdown(listener_, SHUT_RDWR);
        acceptor_.join();
        {
            const std::scoped_lock lock(mutex_);
            for (const int fd : connections_)
                shutdown(fd, SHUT_RDWR);
        }
        for (std::thread& worker : workers_)
            worker.join();
        close(listener_);
        unlink(path.c_str());
        rmdir(folder_.c_str());
    }
    // Stops the server before what stands above it in the test, and `answer` refers to, is gone.
    struct Scope {
        Server& server;
        ~Scope() { server.stop(); }
    };
    std::string path;

    static void send_raw(int fd, const Bytes& bytes) {
        send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    }
    static Bytes packet(std::uint16_t type, std::uint32_t id, const Bytes& payload,
                        std::uint16_t flags = 0, std::int64_t length = -1) {
        Bytes all = bytes_of(
            dsock_header{DSOCK_MAGIC, type, flags,
                         static_cast<std::uint32_t>(
                             length < 0 ? static_cast<std::int64_t>(payload.size()) : length),
                         id});
        all.insert(all.end(), payload.begin(), payload.end());
        return all;
    }
    // A good reply: result, and one write to the call's OUT memory.
    static Bytes reply(std::int32_t result, std::uint64_t address = 0, const Bytes& data = {}) {
        Bytes payload = bytes_of(dsock_reply{result, data.empty() ? 0U : 1U});
        if (!data.empty()) {
            const Bytes write =
                bytes_of(dsock_write{address, static_cast<std::uint32_t>(data.size()), 0});
            payload.insert(payload.end(), write.begin(), write.end());
            payload.insert(payload.end(), data.begin(), data.end());
        }
        return payload;
    }
    static void good(int fd, const Asked& asked, std::uint32_t value = 42) {
        send_raw(fd, packet(DSOCK_REPLY, asked.id, reply(0, asked.out().address, bytes_of(value))));
    }

  private:
    void accept_all() {
        for (;;) {
            const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
            if (fd < 0)
                return;
            const std::scoped_lock lock(mutex_);
            connections_.push_back(fd);
            workers_.emplace_back([this, fd] { serve(fd); });
        }
    }
    void serve(int fd) {
        Bytes buffer;
        std::uint64_t token = 1;
        for (;;) {
            Packet got;
            std::string why;
            if (receive_packet(fd, 0, buffer, got, why) <= 0)
                break;
            const Bytes payload(got.payload.begin(), got.payload.end());
            switch (got.header.type) {
            case DSOCK_HELLO: {
                ++hellos;
                if (const auto greeting = greet.get()) {
                    greeting(fd);
                    break;
                }
                dsock_welcome welcome{};
                welcome.protocol = DSOCK_PROTOCOL;
                send_raw(fd, packet(DSOCK_WELCOME, 0, bytes_of(welcome)));
                break;
            }
            case DSOCK_OPEN:
                send_raw(fd, packet(DSOCK_OPENED, 0, bytes_of(dsock_opened{0, 0, token++})));
                break;
            case DSOCK_CALL: {
                Asked asked;
                asked.id = got.header.call_id;
                std::memcpy(&asked.call, payload.data(), sizeof(asked.call));
                asked.ranges.resize(asked.call.range_count);
                std::memcpy(asked.ranges.data(), payload.data() + sizeof(asked.call),
                            asked.ranges.size() * sizeof(dsock_range));
                asked.in.assign(payload.begin() + static_cast<std::ptrdiff_t>(
                                                      sizeof(asked.call) +
                                                      asked.ranges.size() * sizeof(dsock_range)),
                                payload.end());
                answer.get()(fd, asked);
                break;
            }
            case DSOCK_CANCEL:
                ++cancels;
                cancelled.get()(got.header.call_id);
                break;
            default:
                break;
            }
        }
        close(fd);
    }

    std::string folder_;
    int listener_ = -1;
    std::thread acceptor_;
    std::deque<std::thread> workers_;
    std::mutex mutex_;
    std::vector<int> connections_;
};

class HalSocket : public testing::Test {
  protected:
    std::unique_ptr<Channel> connect(std::chrono::milliseconds timeout = 1000ms) {
        auto channel = make_socket_channel(server_.path, timeout);
        EXPECT_TRUE(channel) << channel.error().text;
        return channel ? std::move(*channel) : nullptr;
    }
    ConnectError connect_error(std::chrono::milliseconds timeout = 300ms) {
        auto channel = make_socket_channel(server_.path, timeout);
        EXPECT_FALSE(channel);
        return channel ? ConnectError{} : channel.error();
    }
    static Node open_node(Channel& channel) {
        Call open;
        open.op = Call::Op::open;
        EXPECT_TRUE(channel.call(open, Steady::now() + 1s));
        EXPECT_EQ(open.result, 0);
        return open.node;
    }
    // A call with four bytes of memory, between two that must stay as they are.
    struct Query {
        std::uint32_t before = 0xAAAAAAAA;
        std::uint32_t value = 0;
        std::uint32_t after = 0xBBBBBBBB;
        Call call;
        explicit Query(Node node) {
            call.node = node;
            call.number = DV_IO('M', 7);
            call.argument = &value;
            call.add_range(&value, sizeof(value), DV_RANGE_IN | DV_RANGE_OUT);
        }
        bool untouched() const { return before == 0xAAAAAAAA && after == 0xBBBBBBBB && value == 0; }
    };
    Server server_;
};

} // namespace asc::hal::test

// SPDX-License-Identifier: Apache-2.0
// bench_socket pair BLOCKS CALLS | hal CALLS | raw CALLS
// One UDIS query through the HAL's socket channel against a bare send/recv ping-pong of the same
// bytes with another process. `pair` alternates blocks of both and prints a line "ours raw" in ns a
// call for each pair; `hal` and `raw` run one of them (callgrind). ASC_DEVICE names the server.
#include "hal/channel_socket.hpp"
#include "ioctl/wire/davsock.h"
#include "ioctl/wire/marshal.h"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

using namespace asc::hal;

[[noreturn]] void fail(const char* what) {
    std::fprintf(stderr, "bench_socket: %s\n", what);
    std::exit(1);
}

struct Query {
    dv_urd urd{};
    dv_udis_get get{};
    dv_udis_reply reply{};
    std::array<std::uint8_t, DV_UDIS_DATA_MAX> data{};

    Query() {
        get.module = DV_UDIS_LP;
        std::strcpy(get.name, "soc_max_temp");
        get.room = DV_UDIS_DATA_MAX;
        get.data = at(data.data());
        urd.main_command = DV_MAIN_BASIC;
        urd.sub_command = DV_BASIC_UDIS_GET;
        urd.input = at(&get);
        urd.input_len = sizeof(get);
        urd.output = at(&reply);
        urd.output_len = sizeof(reply);
    }
    static std::uint64_t at(const void* pointer) {
        return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(pointer));
    }
};

class Ours {
  public:
    Ours() {
        const char* device = std::getenv("ASC_DEVICE");
        if (device == nullptr || std::strncmp(device, "unix:", 5) != 0)
            fail("ASC_DEVICE names no socket");
        auto made = make_socket_channel(device + 5, std::chrono::seconds(5));
        if (!made)
            fail(made.error().text.c_str());
        channel_ = std::move(*made);
        Call open;
        open.op = Call::Op::open;
        open.number = DV_NODE_IS_MANAGER;
        if (!channel_->call(open, soon()) || open.result != 0)
            fail("the manager node does not open");
        node_ = open.node;
        dv_bind bind{};
        std::strcpy(bind.module_name, "URD");
        Call binding;
        binding.node = node_;
        binding.number = DV_IOCTL_BIND;
        binding.argument = &bind;
        binding.add_range(&bind, sizeof(bind), DV_RANGE_IN | DV_RANGE_OUT);
        if (!channel_->call(binding, soon()) || binding.result != 0)
            fail("URD does not bind");
    }
    void run(long calls) {
        for (long done = 0; done < calls; ++done) {
            Call call;
            call.node = node_;
            call.number = DV_IOCTL_URD;
            call.argument = &query_.urd;
            call.add_range(&query_.urd, sizeof(query_.urd), DV_RANGE_IN);
            call.add_range(&query_.get, sizeof(query_.get), DV_RANGE_IN);
            call.add_range(&query_.reply, sizeof(query_.reply), DV_RANGE_OUT);
            call.add_range(query_.data.data(), query_.data.size(), DV_RANGE_OUT);
            if (!channel_->call(call, soon()) || call.result != 0 || query_.reply.length != 2)
                fail("a query failed");
        }
    }

  private:
    static TimePoint soon() { return Steady::now() + std::chrono::seconds(5); }
    std::unique_ptr<Channel> channel_;
    Node node_ = -1;
    Query query_;
};

class Raw {
  public:
    // What the channel sends and gets for this query.
    static constexpr std::size_t kRequest =
        sizeof(dsock_header) + sizeof(dsock_call) + 4 * sizeof(dsock_range) + 64 + 32;
    static constexpr std::size_t kReply =
        sizeof(dsock_header) + sizeof(dsock_reply) + 2 * sizeof(dsock_write) + 16 + 2;

    Raw() {
        std::array<int, 2> ends{};
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
            fail("socketpair");
        child_ = fork();
        if (child_ == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            close(ends[0]);
            std::array<char, 65536> buffer{};
            while (recv(ends[1], buffer.data(), buffer.size(), 0) > 0)
                if (send(ends[1], buffer.data(), kReply, MSG_NOSIGNAL) < 0)
                    break;
            _exit(0);
        }
        close(ends[1]);
        fd_ = ends[0];
    }
    ~Raw() {
        close(fd_);
        waitpid(child_, nullptr, 0);
    }
    Raw(const Raw&) = delete;
    Raw& operator=(const Raw&) = delete;
    void run(long calls) {
        std::array<char, kRequest> request{};
        std::array<char, 2048> reply{};
        for (long done = 0; done < calls; ++done)
            if (send(fd_, request.data(), request.size(), MSG_NOSIGNAL) < 0 ||
                recv(fd_, reply.data(), reply.size(), 0) != static_cast<ssize_t>(kReply))
                fail("the ping-pong broke");
    }

  private:
    int fd_ = -1;
    pid_t child_ = -1;
};

template <class Side> double nanoseconds(Side& side, long calls) {
    const auto began = Steady::now();
    side.run(calls);
    return std::chrono::duration<double, std::nano>(Steady::now() - began).count() /
           static_cast<double>(calls);
}

} // namespace

int main(int argc, char** argv) {
    const std::string_view mode = argc > 1 ? argv[1] : "";
    const long first = argc > 2 ? std::atol(argv[2]) : 0;
    if (mode == "hal" && argc == 3) {
        Ours().run(first);
    } else if (mode == "raw" && argc == 3) {
        Raw().run(first);
    } else if (mode == "pair" && argc == 4) {
        const long calls = std::atol(argv[3]);
        Ours ours;
        Raw raw;
        ours.run(100);
        raw.run(100);
        for (long block = 0; block < first; ++block) {
            const double a = nanoseconds(ours, calls), b = nanoseconds(raw, calls);
            std::printf("%.1f %.1f\n", a, b);
        }
    } else {
        fail("usage: bench_socket pair BLOCKS CALLS | hal CALLS | raw CALLS");
    }
    return 0;
}

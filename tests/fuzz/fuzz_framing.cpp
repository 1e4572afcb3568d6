// SPDX-License-Identifier: Apache-2.0
// The server's framing: the input is a sequence of packets, each with a byte of its length and one
// that picks a socket; a live server answers them. It must not fall over, and a fresh client must
// be served afterwards.
#include "kmod-sim/server/client.hpp"
#include "kmod-sim/server/server.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>

namespace {

namespace server = asc::server;

struct World {
    server::Loop loop;
    std::unique_ptr<server::Server> server;
    std::string path;
};

World& world() {
    static World* made = [] {
        auto loop = server::Loop::create();
        auto* w =
            new World{std::move(*loop), nullptr, "/tmp/davsim-fuzz-" + std::to_string(getpid())};
        asc::sim::MachineOptions options;
        options.clock = asc::sim::Clock::virtual_time;
        auto machine = asc::sim::Machine::create(*asc::sim::load_profile("single"), options);
        server::ServerOptions where;
        where.path = w->path;
        auto made_server = server::Server::create(w->loop, std::move(*machine), where);
        if (!made_server || !(*made_server)->publish())
            std::abort();
        w->server = std::move(*made_server);
        std::atexit([] { world().server.reset(); });
        return w;
    }();
    return *made;
}

server::Descriptor dial(World& w) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    w.path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    server::Descriptor s(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (connect(s.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0)
        std::abort();
    return s;
}

void turn(World& w) {
    for (int i = 0; i < 4; ++i)
        w.server->turn(0);
}

bool is_reply(int socket, std::uint16_t type) {
    std::array<std::uint8_t, server::kPacketRoom> buffer;
    const ssize_t got = recv(socket, buffer.data(), buffer.size(), 0);
    dsock_header header{};
    if (got < static_cast<ssize_t>(sizeof(header)))
        return false;
    std::memcpy(&header, buffer.data(), sizeof(header));
    return header.magic == DSOCK_MAGIC && header.type == type;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    World& w = world();
    std::array<server::Descriptor, 4> sockets;
    for (auto& s : sockets)
        s = dial(w);
    while (size > 3) {
        const std::size_t length = std::min<std::size_t>(data[1] | data[2] << 8U, size - 3);
        std::vector<std::uint8_t> packet(data + 3, data + 3 + length);
        // With bit 7 the header is right but for its type and id, so that the bodies are reached.
        if ((data[0] & 0x80) != 0 && packet.size() >= sizeof(dsock_header)) {
            dsock_header header{};
            std::memcpy(&header, packet.data(), sizeof(header));
            header.magic = DSOCK_MAGIC;
            header.flags = 0;
            header.type = static_cast<std::uint16_t>(header.type % 14);
            header.length = static_cast<std::uint32_t>(packet.size() - sizeof(header));
            std::memcpy(packet.data(), &header, sizeof(header));
        }
        send(sockets[data[0] & 3U].get(), packet.data(), packet.size(),
             MSG_NOSIGNAL | MSG_DONTWAIT);
        w.server->turn(0);
        data += 3 + length;
        size -= 3 + length;
    }
    turn(w);
    for (auto& s : sockets)
        s.reset();
    turn(w);
    server::Descriptor fresh = dial(w);
    const dsock_hello hello{DSOCK_PROTOCOL, 0};
    auto message = server::build_message(
        DSOCK_HELLO, 0, {reinterpret_cast<const std::uint8_t*>(&hello), sizeof(hello)});
    server::send_message(fresh.get(), *message, false);
    turn(w);
    if (!is_reply(fresh.get(), DSOCK_WELCOME))
        std::abort();
    return 0;
}

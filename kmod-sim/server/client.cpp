// SPDX-License-Identifier: Apache-2.0
#include "kmod-sim/server/client.hpp"

#include "ioctl/wire/marshal.h"
#include "kmod-sim/server/call_message.hpp"

#include <nlohmann/json.hpp>

#include <poll.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace asc::server {

namespace {

int read_own(void*, void* destination, std::uint64_t address, std::uint32_t length) {
    std::memcpy(destination, reinterpret_cast<const void*>(address), length);
    return 0;
}

void append(std::vector<std::uint8_t>& to, const void* bytes, std::size_t length) {
    const auto* first = static_cast<const std::uint8_t*>(bytes);
    to.insert(to.end(), first, first + length);
}

template <class T> std::span<const std::uint8_t> bytes_of(const T& value) {
    return {reinterpret_cast<const std::uint8_t*>(&value), sizeof(value)};
}

Failure broken(const std::string& what) {
    return {kFailed, "the simulator's answer cannot be used: " + what};
}

} // namespace

std::expected<std::string, Failure> socket_path(std::string_view backend) {
    std::string text(backend);
    const bool given = !text.empty();
    if (!given && getauxval(AT_SECURE) == 0)
        if (const char* variable = std::getenv("ASC_DEVICE"))
            text = variable;
    if (text.empty())
        return std::unexpected(
            Failure{kNobody, "no simulator named: use --backend unix:PATH or set ASC_DEVICE, as "
                             "'davsim start' prints it"});
    if (!text.starts_with("unix:") || text.size() == 5)
        return std::unexpected(Failure{kUsage, (given ? "--backend" : "ASC_DEVICE") +
                                                   std::string(" '") + text +
                                                   "' is no simulator's socket: unix:PATH is "
                                                   "expected"});
    return text.substr(5);
}

std::expected<Descriptor, Failure> Client::dial() const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path_.empty() || path_.size() >= sizeof(address.sun_path))
        return std::unexpected(Failure{kUsage, "the socket's path '" + path_ + "' is empty or " +
                                                   "longer than 107 bytes"});
    path_.copy(address.sun_path, sizeof(address.sun_path) - 1);
    Descriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (!socket)
        return std::unexpected(Failure{kFailed, std::string("socket: ") + std::strerror(errno)});
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) !=
        0) {
        const int error = errno;
        const bool denied = error == EACCES || error == EPERM;
        const bool nobody = error == ENOENT || error == ECONNREFUSED || error == ENOTDIR;
        return std::unexpected(Failure{
            denied   ? kDenied
            : nobody ? kNobody
                     : kFailed,
            "unix:" + path_ + ": " + std::strerror(error) +
                (nobody ? "; no simulator is running there ('davsim start' starts one)" : "")});
    }
    return socket;
}

std::expected<Client, Failure> Client::connect(const std::string& path) {
    Client client;
    client.path_ = path;
    client.buffer_.resize(kPacketRoom);
    client.packet_ = std::make_unique<Packet>();
    auto socket = client.dial();
    if (!socket)
        return std::unexpected(socket.error());
    client.calls_ = std::move(*socket);
    ucred peer{};
    socklen_t length = sizeof(peer);
    if (getsockopt(client.calls_.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0)
        return std::unexpected(Failure{kFailed, std::string("peer: ") + std::strerror(errno)});
    if (peer.uid != geteuid() && peer.uid != 0)
        return std::unexpected(Failure{kDenied, "unix:" + path + " is served by user " +
                                                    std::to_string(peer.uid) +
                                                    ", neither this user nor root"});
    client.server_uid_ = peer.uid;
    const dsock_hello hello{DSOCK_PROTOCOL, 0};
    if (auto done = client.ask(client.calls_.get(), DSOCK_HELLO, 0, bytes_of(hello), DSOCK_WELCOME);
        !done)
        return std::unexpected(done.error());
    dsock_welcome welcome{};
    if (client.packet_->payload().size() != sizeof(welcome))
        return std::unexpected(broken("a greeting of another length"));
    std::memcpy(&welcome, client.packet_->payload().data(), sizeof(welcome));
    if (welcome.protocol != DSOCK_PROTOCOL)
        return std::unexpected(
            Failure{kMismatch, "the simulator speaks protocol " + std::to_string(welcome.protocol) +
                                   ", this program " + std::to_string(DSOCK_PROTOCOL)});
    client.server_pid_ = welcome.server_pid;
    client.server_text_.assign(welcome.backend, strnlen(welcome.backend, sizeof(welcome.backend)));
    return client;
}

std::expected<void, Failure> Client::ask(int socket, std::uint16_t type, std::uint32_t call_id,
                                         std::span<const std::uint8_t> payload,
                                         std::uint16_t expected) {
    auto message = build_message(type, call_id, payload);
    if (!message)
        return std::unexpected(
            Failure{kFailed, std::string("memfd: ") + std::strerror(message.error())});
    if (const int error = send_message(socket, *message, true))
        return std::unexpected(
            Failure{error == EPIPE ? kNobody : kFailed,
                    std::string("the simulator does not listen: ") + std::strerror(error)});
    while (true) {
        switch (packet_->receive(socket, buffer_, kControlMax, true)) {
        case Packet::Outcome::message:
            break;
        case Packet::Outcome::wake:
            continue;
        case Packet::Outcome::end:
        case Packet::Outcome::again:
            return std::unexpected(Failure{kNobody, "the simulator has gone"});
        case Packet::Outcome::malformed:
        case Packet::Outcome::unreachable:
            return std::unexpected(broken(packet_->problem()));
        }
        const dsock_header& header = packet_->header();
        if (header.type == DSOCK_REFUSED)
            return std::unexpected(Failure{
                kDenied, std::string("the simulator refuses: ") +
                             std::string(packet_->payload().begin(), packet_->payload().end())});
        if (header.type != expected || header.call_id != call_id)
            return std::unexpected(broken("message " + std::to_string(header.type) +
                                          " instead of " + std::to_string(expected)));
        return {};
    }
}

std::expected<Life, int> Client::open(std::uint32_t node, std::uint32_t index) {
    auto socket = dial();
    if (!socket)
        return std::unexpected(ECONNREFUSED);
    const dsock_open open{DSOCK_PROTOCOL, node, index, 0};
    if (!ask(socket->get(), DSOCK_OPEN, 0, bytes_of(open), DSOCK_OPENED))
        return std::unexpected(ECONNREFUSED);
    dsock_opened opened{};
    if (packet_->payload().size() != sizeof(opened))
        return std::unexpected(EPROTO);
    std::memcpy(&opened, packet_->payload().data(), sizeof(opened));
    if (opened.result < 0)
        return std::unexpected(-opened.result);
    Life life;
    life.socket = std::move(*socket);
    life.token = opened.token;
    return life;
}

int Client::call(Life& life, std::uint32_t number, void* argument) {
    const auto address = reinterpret_cast<std::uint64_t>(argument);
    dv_range ranges[DV_RANGES_MAX];
    const int count = dv_marshal_ranges(life.module, number, address, &read_own, nullptr, ranges);
    if (count < 0)
        return -EFAULT;
    dsock_call call{};
    call.token = life.token;
    call.argument = address;
    call.number = number;
    call.thread = static_cast<std::uint32_t>(syscall(SYS_gettid));
    call.range_count = static_cast<std::uint32_t>(count);
    std::vector<std::uint8_t> payload;
    append(payload, &call, sizeof(call));
    for (int i = 0; i < count; ++i) {
        const dsock_range range{ranges[i].address, ranges[i].length, ranges[i].direction};
        append(payload, &range, sizeof(range));
    }
    for (int i = 0; i < count; ++i)
        if ((ranges[i].direction & DV_RANGE_IN) != 0)
            append(payload, reinterpret_cast<const void*>(ranges[i].address), ranges[i].length);
    if (!ask(calls_.get(), DSOCK_CALL, next_call_++, payload, DSOCK_REPLY))
        return -ECONNRESET;
    std::int32_t result = 0;
    if (!apply_reply(packet_->payload(), {ranges, static_cast<std::size_t>(count)}, result))
        return -EPROTO;
    if (number == DV_IOCTL_BIND && result == 0)
        life.module = static_cast<std::uint16_t>(
            dv_module_of(static_cast<const dv_bind*>(argument)->module_name));
    return result;
}

std::expected<Life, Failure> Client::extension() {
    auto life = open(DV_NODE_IS_MANAGER, 0);
    if (!life)
        return std::unexpected(Failure{life.error() == EACCES ? kDenied : kFailed,
                                       std::string("the control node cannot be opened: ") +
                                           std::strerror(life.error())});
    dv_bind bind{};
    std::strcpy(bind.module_name, DS_MODULE_NAME);
    if (const int result = call(*life, DV_IOCTL_BIND, &bind); result != 0)
        return std::unexpected(Failure{kFailed, std::string("the simulator's extension cannot be "
                                                            "bound: ") +
                                                    std::strerror(std::abs(result))});
    return std::move(*life);
}

std::expected<nlohmann::json, Failure> Client::control(const nlohmann::json& question) {
    if (!control_) {
        auto socket = dial();
        if (!socket)
            return std::unexpected(socket.error());
        control_ = std::move(*socket);
    }
    const std::string text =
        question.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    if (auto done =
            ask(control_.get(), DSOCK_CONTROL, 0,
                {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, DSOCK_ANSWER);
        !done)
        return std::unexpected(done.error());
    auto answer =
        nlohmann::json::parse(packet_->payload().begin(), packet_->payload().end(), nullptr, false);
    if (!answer.is_object() || !answer["ok"].is_boolean())
        return std::unexpected(broken("no JSON object with a verdict"));
    if (answer["ok"].get<bool>())
        return answer;
    if (!answer["status"].is_number_integer() || !answer["error"].is_string())
        return std::unexpected(broken("a refusal without its reason"));
    return std::unexpected(
        Failure{answer["status"].get<int>(), answer["error"].get<std::string>()});
}

std::expected<nlohmann::json, Failure> Client::next_answer() {
    switch (packet_->receive(control_.get(), buffer_, kControlMax, true)) {
    case Packet::Outcome::message:
        break;
    case Packet::Outcome::end:
        return std::unexpected(Failure{kNobody, "the simulator has gone"});
    default:
        return std::unexpected(broken(packet_->problem()));
    }
    auto answer =
        nlohmann::json::parse(packet_->payload().begin(), packet_->payload().end(), nullptr, false);
    if (!answer.is_object())
        return std::unexpected(broken("no JSON object"));
    return answer;
}

bool Client::answer_waits(int milliseconds) const {
    pollfd waits{control_.get(), POLLIN, 0};
    return poll(&waits, 1, milliseconds) > 0;
}

void Client::wait_for_end() const {
    pollfd end{calls_.get(), POLLRDHUP, 0};
    while (poll(&end, 1, -1) < 0 && errno == EINTR) {
    }
}

} // namespace asc::server

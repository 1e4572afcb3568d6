// SPDX-License-Identifier: Apache-2.0
#include "kmod-sim/server/server.hpp"

#include "kmod-sim/server/log.hpp"

#include <fcntl.h>
#include <linux/sockios.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace asc::server {

namespace {

constexpr int kBacklog = 512;
constexpr int kAcceptsATurn = 64; // then the others have their turn
constexpr std::uint32_t kReading = EPOLLIN | EPOLLRDHUP;

template <class T> std::span<const std::uint8_t> bytes_of(const T& value) {
    return {reinterpret_cast<const std::uint8_t*>(&value), sizeof(value)};
}

template <class T> bool take(std::span<const std::uint8_t> payload, T& value) {
    if (payload.size() != sizeof(value))
        return false;
    std::memcpy(&value, payload.data(), sizeof(value));
    return true;
}

std::string by(const Connection& connection) {
    return "pid " + std::to_string(connection.ident.pid) + " uid " +
           std::to_string(connection.ident.uid) + ": ";
}

std::vector<std::uint32_t> groups_of(int socket) {
    std::vector<std::uint32_t> groups(64);
    socklen_t length = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
    int result = getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &length);
    if (result != 0 && errno == ERANGE) {
        groups.resize(length / sizeof(gid_t));
        result = getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &length);
    }
    groups.resize(result == 0 ? length / sizeof(gid_t) : 0);
    return groups;
}

Descriptor spare_descriptor() {
    return Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}

} // namespace

// ---- life of the server ----

Server::Server(Loop& loop, std::unique_ptr<sim::Machine> machine, ServerOptions options)
    : loop_(loop), machine_(std::move(machine)),
      options_(std::move(options)), policy_{geteuid(), options_.owner_is_root},
      reserve_(spare_descriptor()), buffer_(kPacketRoom), residents_(*this, loop) {}

std::expected<std::unique_ptr<Server>, std::string>
Server::create(Loop& loop, std::unique_ptr<sim::Machine> machine, const ServerOptions& options) {
    rlimit files{};
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    std::unique_ptr<Server> server(new Server(loop, std::move(machine), options));
    if (const int error = server->listen())
        return std::unexpected(server->listening_path_ + ": " + std::strerror(error));
    loop.on_timer([raw = server.get()] {
        raw->busy_ = true;
        raw->armed_for_ = SIM_NEVER;
    });
    return server;
}

Server::~Server() {
    residents_.end_all();
    loop_.on_timer({});
    for (auto& [fd, connection] : connections_)
        loop_.remove(fd);
    if (listener_)
        loop_.remove(listener_.get());
    for (const auto& flight : flights_)
        machine_->abandon(flight->call);
    ::unlink(published_ ? options_.path.c_str() : listening_path_.c_str());
}

int Server::listen() {
    listening_path_ = options_.path + ".new";
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (listening_path_.size() >= sizeof(address.sun_path))
        return ENAMETOOLONG;
    listening_path_.copy(address.sun_path, sizeof(address.sun_path) - 1);
    listener_ = Descriptor(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!listener_)
        return errno;
    ::unlink(listening_path_.c_str());
    const mode_t before = umask(0177); // narrow until it is published
    const int bound =
        ::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address));
    const int error = errno;
    umask(before);
    if (bound != 0)
        return error;
    if (::listen(listener_.get(), kBacklog) != 0)
        return errno;
    return loop_.add(listener_.get(), EPOLLIN, [this](std::uint32_t) { accept_all(); });
}

std::expected<void, std::string> Server::publish() {
    if (::chmod(listening_path_.c_str(), options_.mode) != 0 ||
        ::rename(listening_path_.c_str(), options_.path.c_str()) != 0)
        return std::unexpected(options_.path + ": " + std::strerror(errno));
    published_ = true;
    listening_path_ = options_.path; // residents of a state that is loaded later
    return {};
}

std::expected<void, std::string> Server::settle(const std::vector<Resident>& residents) {
    for (const Resident& resident : residents)
        if (auto settled = residents_.settle(resident); !settled)
            return settled;
    machine_->residents_settled();
    return {};
}

std::expected<void, std::string> Server::settle_owners(const std::vector<sim::SavedOwner>& owners) {
    for (const sim::SavedOwner& owner : owners) {
        const Resident resident{owner.device, 0, owner.name, false, static_cast<int>(owner.owner)};
        if (auto settled = residents_.settle(resident); !settled)
            return settled;
    }
    return {};
}

// The machine goes and the loaded one takes its place. Only residents have nodes open.
std::expected<void, std::string> Server::exchange(sim::LoadedState& state) {
    residents_.end_all();
    while (!lives_.empty()) {
        for (const auto& [ordinal, life] : lives_)
            close(*life); // a client that has opened a node since loses it
        bury();
    }
    finish_calls(); // those of the files that have gone end with them
    machine_ = std::move(state.machine);
    due_ = armed_for_ = SIM_NEVER;
    busy_ = true;
    return settle_owners(state.owners);
}

int Server::turn(int timeout_ms) {
    after_work();
    arm_timer();
    if (const int error = loop_.run_once(timeout_ms))
        return error;
    after_work();
    while (!later_.empty()) { // what must not run inside of the loop's callbacks
        const auto work = std::move(later_.front());
        later_.erase(later_.begin());
        work();
        after_work();
    }
    return 0;
}

void Server::arm_timer() {
    if (due_ == armed_for_)
        return;
    armed_for_ = due_;
    if (due_ == SIM_NEVER) {
        loop_.wake_after(UINT64_MAX);
        return;
    }
    const std::uint64_t now = machine_->now_ns();
    loop_.wake_after(due_ > now ? due_ - now : 0);
}

void Server::after_work() {
    bury();
    if (!busy_)
        return;
    busy_ = false;
    do
        due_ = machine_->step();
    while (parked_ != 0 && finish_calls());
    wake_readable();
    tracer_.flush([this](Connection& to, const std::string& text) {
        send(to, DSOCK_ANSWER, 0,
             {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    });
    bury();
}

// A life socket is readable when the node would be: one byte lies in it, put back when the client
// has taken it and there still is something (docs/socket-protocol.md).
void Server::wake_readable() {
    for (const std::uint32_t ordinal : machine_->readable(pollable_)) {
        Connection& connection = *lives_.at(ordinal);
        int unread = 0;
        if (ioctl(connection.socket.get(), SIOCOUTQ, &unread) != 0 || unread != 0)
            continue;
        const std::uint8_t one = 1;
        ::send(connection.socket.get(), &one, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
}

// ---- connections ----

void Server::accept_all() {
    for (int i = 0; i < kAcceptsATurn; ++i) {
        Descriptor socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (socket) {
            adopt(std::move(socket));
            continue;
        }
        if (errno == EINTR || errno == ECONNABORTED)
            continue;
        if (errno != EMFILE && errno != ENFILE && errno != ENOMEM && errno != ENOBUFS)
            return;
        // No descriptor left: the reserve lets the client be sent away instead of waiting for
        // ever. When that fails too, nothing is accepted until a connection has closed.
        const int error = errno;
        log_line(std::string("accept: ") + std::strerror(error));
        reserve_.reset();
        Descriptor(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        reserve_ = spare_descriptor();
        if (!reserve_ && !connections_.empty()) {
            loop_.change(listener_.get(), 0);
            accepting_ = false;
            return;
        }
    }
}

void Server::adopt(Descriptor socket) {
    ucred peer{};
    socklen_t length = sizeof(peer);
    if (getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0)
        return;
    auto connection = std::make_unique<Connection>();
    struct stat info {};
    const std::uint64_t inode = fstat(socket.get(), &info) == 0 ? info.st_ino : 0;
    const auto groups = groups_of(socket.get());
    connection->ident = sim::read_identity(
        {static_cast<std::uint32_t>(peer.pid), peer.uid, peer.gid, groups}, inode, policy_);
    connection->socket = std::move(socket);
    Connection& placed = *connection;
    const int fd = placed.socket.get();
    Usage& usage = usage_[peer.uid];
    ++usage.connections;
    connections_[fd] = std::move(connection);
    if (tracer_.active())
        tracer_.note_process(placed.ident.pid);
    if (const int error = loop_.add(
            fd, kReading, [this, &placed](std::uint32_t events) { serve(placed, events); })) {
        log_line(std::string("epoll: ") + std::strerror(error));
        close(placed);
        return;
    }
    if (usage.connections > options_.limits.connections)
        refuse(placed,
               "too many connections of one user: " + std::to_string(options_.limits.connections));
}

void Server::serve(Connection& connection, std::uint32_t events) {
    if (connection.closing)
        return;
    // Who waited for a process to end and asks then finds its files released.
    bury();
    if ((events & EPOLLOUT) != 0)
        flush(connection);
    if ((events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) == 0 || connection.closing)
        return;
    busy_ = true;
    const std::uint32_t limit =
        connection.kind == Connection::Kind::control || connection.kind == Connection::Kind::fresh
            ? (is_owner(connection) ? kControlMax : DSOCK_INLINE_MAX)
            : DSOCK_PAYLOAD_MAX;
    switch (packet_.receive(connection.socket.get(), buffer_, limit, false)) {
    case Packet::Outcome::message:
        dispatch(connection, packet_);
        return;
    case Packet::Outcome::again:
        return;
    case Packet::Outcome::end:
        close(connection);
        return;
    case Packet::Outcome::wake:
        refuse(connection, "a packet shorter than a header");
        return;
    case Packet::Outcome::malformed:
        refuse(connection, packet_.problem());
        return;
    case Packet::Outcome::unreachable:
        log_line(by(connection) + packet_.problem());
        close(connection);
        return;
    }
}

void Server::dispatch(Connection& connection, const Packet& packet) {
    using Kind = Connection::Kind;
    const std::uint16_t type = packet.header().type;
    const bool fresh = connection.kind == Kind::fresh;
    if (fresh && type == DSOCK_OPEN)
        open_life(connection, packet.payload());
    else if (fresh && type == DSOCK_HELLO)
        greet(connection, packet.payload());
    else if (type == DSOCK_CONTROL && (fresh || connection.kind == Kind::control)) {
        connection.kind = Kind::control;
        control(connection, packet.payload());
    } else if (connection.kind == Kind::calls && type == DSOCK_CALL)
        begin_call(connection, packet);
    else if (connection.kind == Kind::calls && type == DSOCK_CANCEL && packet.payload().empty())
        cancel_call(connection, packet.header().call_id);
    else if (connection.kind == Kind::life && type == DSOCK_WHO && packet.payload().empty())
        tell_token(connection);
    else
        refuse(connection, "message " + std::to_string(type) + " is not expected here");
}

void Server::greet(Connection& connection, std::span<const std::uint8_t> payload) {
    dsock_hello hello{};
    if (!take(payload, hello) || hello.protocol != DSOCK_PROTOCOL) {
        refuse(connection, "this server speaks protocol " + std::to_string(DSOCK_PROTOCOL));
        return;
    }
    connection.kind = Connection::Kind::calls;
    dsock_welcome welcome{};
    welcome.protocol = DSOCK_PROTOCOL;
    welcome.server_pid = static_cast<std::uint32_t>(getpid());
    std::strncpy(welcome.backend, "davsimd " ASC_VERSION, sizeof(welcome.backend) - 1);
    send(connection, DSOCK_WELCOME, 0, bytes_of(welcome));
}

void Server::open_life(Connection& connection, std::span<const std::uint8_t> payload) {
    dsock_open open{};
    if (!take(payload, open) || open.protocol != DSOCK_PROTOCOL || open.flags != 0) {
        refuse(connection, "this server speaks protocol " + std::to_string(DSOCK_PROTOCOL));
        return;
    }
    Usage& usage = usage_[connection.ident.uid];
    dsock_opened opened{};
    if (usage.lives >= options_.limits.lives) {
        opened.result = -EMFILE;
        log_line(by(connection) +
                 "too many open files of one user: " + std::to_string(options_.limits.lives));
    } else if (const auto ordinal = machine_->open(open.node, open.index, connection.ident)) {
        connection.kind = Connection::Kind::life;
        connection.ordinal = *ordinal;
        do {
            if (getrandom(&connection.token, sizeof(connection.token), 0) !=
                sizeof(connection.token)) {
                refuse(connection, "no random numbers"); // a token that can be guessed is none
                return;
            }
        } while (connection.token == 0 || tokens_.contains(connection.token));
        tokens_[connection.token] = lives_[connection.ordinal] = &connection;
        ++usage.lives;
        ++lives_of_pid_[connection.ident.pid];
        if (open.node == DV_NODE_IS_HDC || open.node == DV_NODE_IS_MANAGER)
            pollable_.push_back(connection.ordinal);
        opened.token = connection.token;
    } else {
        opened.result = -ordinal.error();
    }
    ++opens_answered_;
    if (tracer_.active())
        tracer_.open(connection, open.node, open.index, opened.result);
    send(connection, DSOCK_OPENED, 0, bytes_of(opened));
    if (opened.result < 0)
        close(connection);
}

void Server::tell_token(Connection& connection) {
    dsock_opened opened{};
    opened.token = connection.token;
    send(connection, DSOCK_OPENED, 0, bytes_of(opened));
}

void Server::refuse(Connection& connection, const std::string& why) {
    if (connection.closing)
        return;
    log_line(by(connection) + why);
    send(connection, DSOCK_REFUSED, 0,
         {reinterpret_cast<const std::uint8_t*>(why.data()), why.size()});
    close(connection);
}

void Server::send(Connection& connection, std::uint16_t type, std::uint32_t call_id,
                  std::span<const std::uint8_t> payload) {
    if (connection.closing)
        return;
    auto message = build_message(type, call_id, payload);
    if (!message) {
        log_line(by(connection) + "memfd: " + std::strerror(message.error()));
        close(connection);
        return;
    }
    if (connection.queue.empty()) {
        const int error = send_message(connection.socket.get(), *message, false);
        if (error == 0)
            return;
        if (error != EAGAIN) {
            close(connection); // EPIPE: the peer has gone
            return;
        }
    }
    connection.queued_bytes += payload.size() + sizeof(dsock_header);
    if (connection.queued_bytes > options_.limits.queued_bytes) {
        log_line(by(connection) + "does not read its answers; dropped");
        close(connection);
        return;
    }
    connection.queue.push_back(std::move(*message));
    if (!connection.waits_for_room) {
        connection.waits_for_room = true;
        loop_.change(connection.socket.get(), kReading | EPOLLOUT);
    }
}

void Server::flush(Connection& connection) {
    while (!connection.queue.empty()) {
        const int error = send_message(connection.socket.get(), connection.queue.front(), false);
        if (error == EAGAIN)
            return;
        if (error != 0) {
            close(connection);
            return;
        }
        connection.queue.pop_front();
    }
    connection.queued_bytes = 0;
    connection.waits_for_room = false;
    loop_.change(connection.socket.get(), kReading);
}

// Marks; bury() does it once no caller holds a reference any more.
void Server::close(Connection& connection) {
    connection.closing = true;
    const int fd = connection.socket.get();
    if (std::ranges::count(doomed_, fd) == 0)
        doomed_.push_back(fd);
    busy_ = true;
}

void Server::bury() {
    while (!doomed_.empty()) {
        const int fd = doomed_.back();
        doomed_.pop_back();
        const auto found = connections_.find(fd);
        if (found == connections_.end())
            continue;
        const std::unique_ptr<Connection> connection = std::move(found->second);
        connections_.erase(found);
        loop_.remove(fd);
        Usage& usage = usage_[connection->ident.uid];
        drop_flights(*connection);
        if (connection->tracing)
            tracer_.remove(*connection);
        if (connection->kind == Connection::Kind::life && connection->token != 0) {
            tokens_.erase(connection->token);
            lives_.erase(connection->ordinal);
            std::erase(pollable_, connection->ordinal);
            --usage.lives;
            if (--lives_of_pid_[connection->ident.pid] == 0)
                lives_of_pid_.erase(connection->ident.pid);
        }
        if (connection->kind == Connection::Kind::life)
            machine_->release(connection->ordinal);
        if (--usage.connections == 0)
            usage_.erase(connection->ident.uid);
        if (!accepting_ && loop_.change(listener_.get(), EPOLLIN) == 0)
            accepting_ = true;
    }
}

bool Server::is_owner(const Connection& connection) const {
    return connection.ident.uid == 0 || connection.ident.uid == policy_.owner_uid;
}

} // namespace asc::server

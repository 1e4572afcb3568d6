// SPDX-License-Identifier: Apache-2.0
// The socket channel against servers that speak wrongly: a clear error, no crash, and never a wrong
// answer. The test plays the server, packet by packet.
#include "tests/unit/socket_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>

using namespace asc::hal;
using namespace asc::hal::test;
using namespace std::chrono_literals;
using testing::HasSubstr;

namespace {

TEST_F(HalSocket, ACallIsOneRoundTrip) {
    server_.answer = [](int fd, const Asked& asked) {
        EXPECT_EQ(asked.call.number, DV_IO('M', 7));
        EXPECT_EQ(asked.in.size(), 4U);
        Server::good(fd, asked);
    };
    auto channel = connect();
    Query query(open_node(*channel));
    ASSERT_TRUE(channel->call(query.call, Steady::now() + 1s));
    EXPECT_EQ(query.value, 42U);
    EXPECT_EQ(query.call.result, 0);
    EXPECT_EQ(server_.hellos, 1);
}

TEST_F(HalSocket, PositiveResultsAndErrorsSurvive) {
    std::int32_t result = 0;
    const Server::Scope serving{server_};
    server_.answer = [&](int fd, const Asked& asked) {
        Server::send_raw(fd, Server::packet(DSOCK_REPLY, asked.id, Server::reply(result)));
    };
    auto channel = connect();
    Query query(open_node(*channel));
    for (const std::int32_t value : {87, 0xfffe, -19, -4}) {
        result = value;
        ASSERT_TRUE(channel->call(query.call, Steady::now() + 1s));
        EXPECT_EQ(query.call.result, value);
    }
}

struct Wrong {
    const char* name;
    std::function<Bytes(const Asked&)> packet;
    const char* text;
};

TEST_F(HalSocket, WrongRepliesBreakTheChannelAndReachNoMemory) {
    const Bytes four{1, 2, 3, 4};
    const Wrong cases[] = {
        {"a write before the range",
         [&](const Asked& a) {
             return Server::packet(DSOCK_REPLY, a.id, Server::reply(0, a.out().address - 4, four));
         },
         "outside"},
        {"a write behind it",
         [&](const Asked& a) {
             return Server::packet(DSOCK_REPLY, a.id, Server::reply(0, a.out().address + 4, four));
         },
         "outside"},
        {"a write that runs over its end",
         [&](const Asked& a) {
             return Server::packet(DSOCK_REPLY, a.id, Server::reply(0, a.out().address + 2, four));
         },
         "outside"},
        {"a write to address 0",
         [&](const Asked& a) {
             return Server::packet(DSOCK_REPLY, a.id, Server::reply(0, 0, four));
         },
         "outside"},
        {"an address that wraps",
         [&](const Asked& a) {
             Bytes reply = Server::reply(0, a.out().address, four);
             const std::uint32_t length = 0xFFFFFFFF;
             std::memcpy(reply.data() + sizeof(dsock_reply) + 8, &length, sizeof(length));
             return Server::packet(DSOCK_REPLY, a.id, reply);
         },
         "outside"},
        {"fewer bytes than the write says",
         [&](const Asked& a) {
             Bytes reply = Server::reply(0, a.out().address, four);
             reply.pop_back();
             return Server::packet(DSOCK_REPLY, a.id, reply);
         },
         "more or less"},
        {"more bytes than it says",
         [&](const Asked& a) {
             Bytes reply = Server::reply(0, a.out().address, four);
             reply.push_back(9);
             return Server::packet(DSOCK_REPLY, a.id, reply);
         },
         "more or less"},
        {"a thousand writes",
         [&](const Asked& a) {
             return Server::packet(DSOCK_REPLY, a.id, bytes_of(dsock_reply{0, 1000}));
         },
         "cut short"},
        {"an id that was never asked",
         [&](const Asked& a) { return Server::packet(DSOCK_REPLY, a.id + 1000, Server::reply(0)); },
         "never made"},
        {"id 0", [&](const Asked&) { return Server::packet(DSOCK_REPLY, 0, Server::reply(0)); },
         "never made"},
        {"another type",
         [&](const Asked& a) { return Server::packet(DSOCK_WELCOME, a.id, Server::reply(0)); },
         "type 2"},
        {"an answer to an open",
         [&](const Asked& a) {
             return Server::packet(DSOCK_OPENED, a.id, bytes_of(dsock_opened{0, 0, 5}));
         },
         "wrong kind"},
        {"a wrong mark",
         [&](const Asked& a) {
             Bytes packet = Server::packet(DSOCK_REPLY, a.id, Server::reply(0));
             packet[0] ^= 1;
             return packet;
         },
         "mark"},
        {"a short head",
         [&](const Asked&) {
             return Bytes{1, 2, 3};
         },
         "too short"},
        {"a head alone that claims more",
         [&](const Asked& a) { return Server::packet(DSOCK_REPLY, a.id, {}, 0, 500); },
         "as long as"},
        {"a length of less than there is",
         [&](const Asked& a) { return Server::packet(DSOCK_REPLY, a.id, Server::reply(0), 0, 4); },
         "as long as"},
        {"an empty reply", [&](const Asked& a) { return Server::packet(DSOCK_REPLY, a.id, {}); },
         "too short"},
        {"more than was asked for",
         [&](const Asked& a) { return Server::packet(DSOCK_REPLY, a.id, Bytes(5000, 1)); },
         "longer"},
        {"a memory file that is not there",
         [&](const Asked& a) {
             return Server::packet(DSOCK_REPLY, a.id, {}, DSOCK_FLAG_MEMFD, 100000);
         },
         "without its memory file"},
        {"a refusal in words",
         [&](const Asked&) {
             return Server::packet(DSOCK_REFUSED, 0, Bytes{'n', 'o'});
         },
         "refused: no"},
    };
    const Server::Scope serving{server_};
    for (const Wrong& wrong : cases) {
        SCOPED_TRACE(wrong.name);
        server_.answer = [&](int fd, const Asked& asked) {
            Server::send_raw(fd, wrong.packet(asked));
        };
        auto channel = connect();
        Query query(open_node(*channel));
        const TimePoint begin = Steady::now();
        EXPECT_FALSE(channel->call(query.call, begin + 2s));
        EXPECT_LT(Steady::now() - begin, 1s);
        EXPECT_EQ(query.call.state, Call::State::broken);
        EXPECT_TRUE(query.untouched());
        EXPECT_THAT(channel->broken(), HasSubstr(wrong.text));
        EXPECT_THAT(channel->broken(), HasSubstr(server_.path));
        // It stays broken, at once.
        EXPECT_FALSE(channel->call(query.call, Steady::now() + 2s));
        EXPECT_EQ(query.call.state, Call::State::broken);
    }
}

void send_with_fd(int fd, const Bytes& packet, int passed) {
    iovec part{const_cast<std::uint8_t*>(packet.data()), packet.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    cmsghdr* head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(head), &passed, sizeof(passed));
    sendmsg(fd, &message, MSG_NOSIGNAL);
}

int open_descriptors() {
    int count = 0;
    for (int fd = 0; fd < 256; ++fd)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

TEST_F(HalSocket, MemoryFilesMustBeSealedAndAsLongAsTheySay) {
    Bytes big(100000);
    for (std::size_t i = 0; i < big.size(); ++i)
        big[i] = static_cast<std::uint8_t>(i * 3);
    enum { good, unsealed, no_file, shorter, half_sealed } kind = good;
    const Server::Scope serving{server_};
    server_.answer = [&](int fd, const Asked& asked) {
        const Bytes payload = Server::reply(0, asked.out().address, big);
        int file = kind == no_file ? open("/dev/zero", O_RDONLY | O_CLOEXEC)
                                   : memfd_create("t", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        if (kind != no_file) {
            const std::size_t length = kind == shorter ? payload.size() - 1 : payload.size();
            EXPECT_EQ(write(file, payload.data(), length), static_cast<ssize_t>(length));
        }
        if (kind == good || kind == shorter)
            fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
        if (kind == half_sealed)
            fcntl(file, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_WRITE);
        send_with_fd(fd,
                     Server::packet(DSOCK_REPLY, asked.id, {}, DSOCK_FLAG_MEMFD,
                                    static_cast<std::int64_t>(payload.size())),
                     file);
        close(file);
    };
    const auto ask = [&](std::string& broken) {
        auto channel = connect();
        Bytes room(big.size());
        Call call;
        call.node = open_node(*channel);
        call.number = DV_IO('E', 20);
        call.argument = room.data();
        call.add_range(room.data(), room.size(), DV_RANGE_OUT);
        const bool done = channel->call(call, Steady::now() + 2s);
        broken = channel->broken();
        if (!done) {
            EXPECT_EQ(room, Bytes(big.size()));
        }
        return done && room == big;
    };
    std::string broken;
    EXPECT_TRUE(ask(broken)) << broken;
    kind = unsealed;
    EXPECT_FALSE(ask(broken));
    EXPECT_THAT(broken, HasSubstr("not sealed"));
    kind = half_sealed;
    EXPECT_FALSE(ask(broken));
    EXPECT_THAT(broken, HasSubstr("not sealed"));
    kind = no_file;
    EXPECT_FALSE(ask(broken));
    EXPECT_THAT(broken, HasSubstr("not sealed"));
    kind = shorter;
    EXPECT_FALSE(ask(broken));
    EXPECT_THAT(broken, HasSubstr("shorter"));
}

TEST_F(HalSocket, DescriptorsThatNobodyAskedForAreClosed) {
    server_.answer = [&](int fd, const Asked& asked) {
        for (int i = 0; i < 3; ++i)
            send_with_fd(fd, Server::packet(DSOCK_REPLY, asked.id, Server::reply(0)), fd);
    };
    auto channel = connect();
    Query query(open_node(*channel));
    channel->call(query.call, Steady::now() + 1s);
    std::this_thread::sleep_for(20ms);
    const int before = open_descriptors();
    for (int i = 0; i < 10; ++i)
        channel->call(query.call, Steady::now() + 1s);
    std::this_thread::sleep_for(20ms);
    EXPECT_LE(open_descriptors(), before + 1);
}

TEST_F(HalSocket, ALateReplyNeverAnswersTheNextCall) {
    std::deque<std::pair<int, Asked>> kept;
    int count = 0;
    const Server::Scope serving{server_};
    server_.answer = [&](int fd, const Asked& asked) {
        if (++count == 1) {
            kept.emplace_back(fd, asked); // too late
            return;
        }
        for (const auto& [late_fd, late] : kept)
            Server::good(late_fd, late, 666);
        kept.clear();
        Server::good(fd, asked, 7);
    };
    auto channel = connect();
    const Node node = open_node(*channel);
    Query first(node), second(node);
    EXPECT_FALSE(channel->call(first.call, Steady::now() + 80ms));
    EXPECT_EQ(first.call.state, Call::State::timeout);
    ASSERT_TRUE(channel->call(second.call, Steady::now() + 2s));
    EXPECT_EQ(second.value, 7U);
    EXPECT_TRUE(first.untouched());
    EXPECT_EQ(channel->broken(), "");
    EXPECT_EQ(server_.cancels, 1);
}

TEST_F(HalSocket, RepliesInAnyOrderFindTheirCalls) {
    std::vector<Asked> waiting;
    const Server::Scope serving{server_};
    server_.answer = [&](int fd, const Asked& asked) {
        waiting.push_back(asked);
        if (waiting.size() < 20)
            return;
        for (std::size_t i = waiting.size(); i-- > 0;) {
            std::uint32_t in = 0;
            std::memcpy(&in, waiting[i].in.data(), sizeof(in));
            Server::good(fd, waiting[i], in * 10);
        }
        waiting.clear();
    };
    auto channel = connect();
    const Node node = open_node(*channel);
    class One final : public Chain {
      public:
        explicit One(Query& query) : query_(query) {}
        Call* next(Call* ended) override { return ended == nullptr ? &query_.call : nullptr; }

      private:
        Query& query_;
    };
    std::deque<Query> queries;
    std::deque<One> chains;
    Group group(Steady::now() + 2s, 1);
    for (std::uint32_t i = 0; i < 200; ++i) {
        queries.emplace_back(node).value = i;
        group.add(chains.emplace_back(queries.back()));
    }
    Group* const groups[] = {&group};
    channel->run(groups);
    for (std::uint32_t i = 0; i < 200; ++i) {
        EXPECT_EQ(queries[i].call.state, Call::State::done);
        EXPECT_EQ(queries[i].value, i * 10);
    }
}

TEST_F(HalSocket, AServerThatGoesAwayIsAnError) {
    server_.answer = [](int fd, const Asked&) { shutdown(fd, SHUT_RDWR); };
    auto channel = connect();
    Query query(open_node(*channel));
    EXPECT_FALSE(channel->call(query.call, Steady::now() + 2s));
    EXPECT_EQ(query.call.state, Call::State::broken);
    EXPECT_THAT(channel->broken(), testing::AnyOf(HasSubstr("ended"), HasSubstr("gone")));
}

TEST_F(HalSocket, GreetingsThatAreWrong) {
    server_.greet = [](int fd) {
        dsock_welcome welcome{};
        welcome.protocol = 99;
        Server::send_raw(fd, Server::packet(DSOCK_WELCOME, 0, bytes_of(welcome)));
    };
    EXPECT_EQ(connect_error().kind, ConnectError::Kind::abi_mismatch);
    server_.greet = [](int fd) {
        Server::send_raw(fd, Server::packet(DSOCK_WELCOME, 0, Bytes(5)));
    };
    EXPECT_EQ(connect_error().kind, ConnectError::Kind::abi_mismatch);
    server_.greet = [](int fd) {
        Server::send_raw(fd, Server::packet(DSOCK_REFUSED, 0, Bytes{'f', 'u', 'l', 'l'}));
    };
    EXPECT_EQ(connect_error().kind, ConnectError::Kind::denied);
    EXPECT_THAT(connect_error().text, HasSubstr("full"));
    server_.greet = [](int) {}; // says nothing
    const TimePoint begin = Steady::now();
    EXPECT_EQ(connect_error().kind, ConnectError::Kind::timeout);
    EXPECT_LT(Steady::now() - begin, 2s);
    server_.greet = [](int fd) { shutdown(fd, SHUT_RDWR); };
    EXPECT_EQ(connect_error().kind, ConnectError::Kind::failed);
}

TEST(HalSocketPath, WhyNobodyAnswersIsTold) {
    auto none = make_socket_channel("/tmp/hal-no-such-socket", 1s);
    EXPECT_EQ(none.error().kind, ConnectError::Kind::no_driver);
    EXPECT_THAT(none.error().text, HasSubstr("davsim start"));
    auto long_one = make_socket_channel("/tmp/" + std::string(200, 'x'), 1s);
    EXPECT_EQ(long_one.error().kind, ConnectError::Kind::bad_backend);
    std::string left;
    {
        Server gone;
        left = gone.path + "2";
        const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strcpy(address.sun_path, left.c_str());
        ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
        close(fd); // the name stays, nobody listens
        auto dead = make_socket_channel(left, 1s);
        EXPECT_EQ(dead.error().kind, ConnectError::Kind::no_driver);
        EXPECT_THAT(dead.error().text, HasSubstr("has ended"));
        unlink(left.c_str());
    }
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
// The management protocol's client against a device end that the test plays itself (driver-abi.md
// 10.2, 17.5): framing, slices, replies in parts, wrong answers, retries.
#include "hal/dmp.hpp"
#include "tests/unit/hal_nodes.hpp"

#include <map>

using namespace asc::hal;
using asc::test::FakeNodes;
using asc::test::why;
using namespace std::chrono_literals;
using Bytes = std::vector<std::uint8_t>;

namespace {

// A device end: sessions, one request and one reply each.
class Device {
  public:
    struct Request {
        dv_dmp_packet packet{};
        dv_dmp_request head{};
        Bytes payload;
    };
    // Payload of the reply, its error and total length.
    struct Reply {
        Bytes payload;
        std::uint16_t error = 0;
        std::uint32_t total = ~0U; // the payload's size
    };
    std::function<Reply(const Request&)> serve = [](const Request&) { return Reply{}; };
    std::function<void(Bytes&)> spoil; // changes the datagram before it is queued
    std::vector<Request> requests;
    std::vector<std::int32_t> connect_errors; // HDC numbers for the next connects
    std::vector<std::int32_t> send_errors, peek_errors;
    int sessions = 0, closes = 0, owners = 0;

    std::optional<int> operator()(const FakeNodes::Seen& seen) {
        if (seen.number >> 8 != 'H')
            return std::nullopt;
        auto* argument = static_cast<dv_hdc_argument*>(seen.argument);
        const auto next_error = [](std::vector<std::int32_t>& errors) {
            if (errors.empty())
                return 0;
            const int error = errors.front();
            errors.erase(errors.begin());
            return -error;
        };
        switch (seen.number & 0xFF) {
        case DV_H_PAGE_SIZE:
            return 0;
        case DV_H_CONFIG:
            argument->config.segment = std::min(argument->config.segment, segment);
            return 0;
        case DV_H_CONNECT:
            if (const int error = next_error(connect_errors))
                return error;
            EXPECT_EQ(argument->connect.peer_pid, -1);
            EXPECT_EQ(argument->connect.service, DV_HDC_SERVICE_DMP);
            argument->connect.session = 17 + sessions;
            argument->connect.alloc_index = 3 + sessions;
            ++sessions;
            return 0;
        case DV_H_SET_OWNER:
            EXPECT_EQ(argument->set_owner.session, 16 + sessions);
            ++owners;
            return 0;
        case DV_H_SEND:
            if (const int error = next_error(send_errors))
                return error;
            EXPECT_EQ(argument->send.session, 16 + sessions);
            take({reinterpret_cast<const std::uint8_t*>(argument->send.source),
                  static_cast<std::size_t>(argument->send.length)});
            return 0;
        case DV_H_PEEK:
            if (const int error = next_error(peek_errors))
                return error;
            EXPECT_EQ(argument->peek.alloc_index, 2 + sessions);
            argument->peek.length = static_cast<std::int32_t>(queued.size());
            argument->peek.count = 1;
            return 0;
        case DV_H_RECEIVE:
            EXPECT_GE(argument->receive.room, argument->receive.length);
            std::memcpy(reinterpret_cast<void*>(argument->receive.destination), queued.data(),
                        std::min<std::size_t>(queued.size(),
                                              static_cast<std::size_t>(argument->receive.room)));
            argument->receive.length = static_cast<std::int32_t>(queued.size());
            return 0;
        case DV_H_CLOSE:
            EXPECT_EQ(argument->close.alloc_index, 2 + sessions);
            ++closes;
            return 0;
        default:
            return -DV_HDC_NOT_SUPPORTED;
        }
    }

    std::uint32_t segment = DV_HDC_SEGMENT_MAX;

  private:
    void take(std::span<const std::uint8_t> datagram) {
        Request request;
        ASSERT_GE(datagram.size(), sizeof(request.packet) + sizeof(request.head));
        std::memcpy(&request.packet, datagram.data(), sizeof(request.packet));
        std::memcpy(&request.head, datagram.data() + sizeof(request.packet), sizeof(request.head));
        request.payload.assign(datagram.begin() + sizeof(request.packet) + sizeof(request.head),
                               datagram.end());
        EXPECT_EQ(request.packet.type, 0);
        EXPECT_EQ(request.packet.data_len, datagram.size() - sizeof(request.packet));
        requests.push_back(request);
        const Reply reply = serve(request);
        dv_dmp_packet packet{};
        packet.message_id = request.packet.message_id;
        packet.type = 1;
        packet.data_len =
            static_cast<std::uint16_t>(sizeof(dv_dmp_response) + reply.payload.size());
        const dv_dmp_response head{
            reply.error, request.head.opcode,
            reply.total == ~0U ? static_cast<std::uint32_t>(reply.payload.size()) : reply.total,
            static_cast<std::uint32_t>(reply.payload.size())};
        queued.resize(sizeof(packet) + sizeof(head));
        std::memcpy(queued.data(), &packet, sizeof(packet));
        std::memcpy(queued.data() + sizeof(packet), &head, sizeof(head));
        queued.insert(queued.end(), reply.payload.begin(), reply.payload.end());
        if (spoil)
            spoil(queued);
    }
    Bytes queued;
};

class HalDmp : public testing::Test {
  protected:
    HalDmp() : nodes_("single"), driver_(nodes_.connect()) {
        nodes_.before = [this](const FakeNodes::Seen& seen) { return device_(seen); };
    }
    Reading<Bytes> ask(std::uint16_t opcode, Bytes payload, std::uint8_t operation = 0,
                       std::chrono::milliseconds limit = 3000ms) {
        Driver::Impl& impl = Driver::Impl::of(driver_);
        Question question(*impl.channel, impl.nodes, driver_.devices()[0], limit,
                          Steady::now() + limit);
        Reading<Bytes> got;
        question.dmp({opcode, operation, std::move(payload)},
                     [&](Reading<Bytes> reply) { got = std::move(reply); });
        impl.ask(question);
        return got;
    }
    FakeNodes nodes_;
    Driver driver_;
    Device device_;
};

TEST_F(HalDmp, ARequestIsFramedAsTheFactsSay) {
    device_.serve = [](const Device::Request&) { return Device::Reply{{0x2d, 0}}; };
    const auto reply = ask(DV_DMP_ECC_CLEAR, {}, DV_DMP_OP_CONFIGURE);
    ASSERT_TRUE(reply) << why(reply);
    EXPECT_EQ(*reply, (Bytes{0x2d, 0}));
    ASSERT_EQ(device_.requests.size(), 1U);
    const Device::Request& request = device_.requests[0];
    EXPECT_EQ(request.head.lun, 0x80); // 17.5: 0c 00 80 01 82 06, offset 0, length 0
    EXPECT_EQ(request.head.operation, 1);
    EXPECT_EQ(request.head.opcode, 0x0682);
    EXPECT_EQ(request.head.offset, 0U);
    EXPECT_EQ(request.head.length, 0U);
    EXPECT_EQ(request.packet.data_len, 12);
    EXPECT_EQ(device_.sessions, 1);
    EXPECT_EQ(device_.owners, 1);
    EXPECT_EQ(device_.closes, 1);
    EXPECT_EQ(nodes_.opened_hdc, 2) << "the session's owner is a second file";
}

TEST_F(HalDmp, ALongRequestGoesInSlices) {
    Bytes payload(4054 * 2 + 100);
    for (std::size_t i = 0; i < payload.size(); ++i)
        payload[i] = static_cast<std::uint8_t>(i * 7);
    Bytes received;
    device_.serve = [&](const Device::Request& request) {
        EXPECT_EQ(request.head.offset, received.size());
        EXPECT_EQ(request.head.length, request.payload.size());
        received.insert(received.end(), request.payload.begin(), request.payload.end());
        return (request.head.lun & 0x80) != 0 ? Device::Reply{{7}} : Device::Reply{};
    };
    const auto reply = ask(DV_DMP_UPGRADE, payload, DV_DMP_OP_FIRMWARE);
    ASSERT_TRUE(reply) << why(reply);
    EXPECT_EQ(*reply, Bytes{7});
    EXPECT_EQ(received, payload);
    ASSERT_EQ(device_.requests.size(), 3U);
    EXPECT_EQ(device_.requests[0].head.lun, 0);
    EXPECT_EQ(device_.requests[1].head.lun, 0);
    EXPECT_EQ(device_.requests[2].head.lun, 0x80);
    EXPECT_EQ(device_.sessions, 3) << "each slice on its own session";
}

TEST_F(HalDmp, ASmallSegmentMakesSmallerSlices) {
    device_.segment = 1042; // 1000 bytes of payload
    device_.serve = [](const Device::Request&) { return Device::Reply{}; };
    ASSERT_TRUE(ask(DV_DMP_UPGRADE, Bytes(2500, 1), DV_DMP_OP_FIRMWARE));
    EXPECT_EQ(device_.requests.size(), 3U);
    EXPECT_EQ(device_.requests[0].payload.size(), 1000U);
}

TEST_F(HalDmp, ALongReplyIsAskedForInParts) {
    Bytes whole(4000);
    for (std::size_t i = 0; i < whole.size(); ++i)
        whole[i] = static_cast<std::uint8_t>(i);
    device_.serve = [&](const Device::Request& request) {
        EXPECT_EQ(request.payload, Bytes{9}) << "the last request is repeated";
        const std::size_t from = request.head.offset;
        EXPECT_EQ(request.head.length, from == 0 ? 1U : DV_DMP_PAYLOAD_MAX);
        const std::size_t part = std::min<std::size_t>(1500, whole.size() - from);
        return Device::Reply{Bytes(whole.begin() + static_cast<std::ptrdiff_t>(from),
                                   whole.begin() + static_cast<std::ptrdiff_t>(from + part)),
                             0, 4000};
    };
    const auto reply = ask(DV_DMP_VERSION, {9});
    ASSERT_TRUE(reply) << why(reply);
    EXPECT_EQ(*reply, whole);
    EXPECT_EQ(device_.requests.size(), 3U);
}

TEST_F(HalDmp, RepliesThatCannotBeAreRefused) {
    struct Case {
        const char* name;
        std::function<void(Bytes&)> spoil;
    };
    const Case cases[] = {
        {"another message id", [](Bytes& packet) { packet[16] ^= 1; }},
        {"another opcode", [](Bytes& packet) { packet[32] ^= 1; }},
        {"a request", [](Bytes& packet) { packet[24] = 0; }},
        {"data_len", [](Bytes& packet) { packet[28] += 1; }},
        {"cut short", [](Bytes& packet) { packet.resize(35); }},
        {"total too large", [](Bytes& packet) { packet[36] = 0xFF, packet[37] = 0xFF; }},
        {"an empty part",
         [](Bytes& packet) {
             packet.resize(42);
             packet[28] = 12;
             packet[34] = 9; // total 9, nothing here
         }},
    };
    for (const Case& item : cases) {
        SCOPED_TRACE(item.name);
        device_.serve = [](const Device::Request&) { return Device::Reply{{1, 2}}; };
        device_.spoil = item.spoil;
        const auto reply = ask(DV_DMP_TEMPERATURE, {});
        ASSERT_FALSE(reply);
        EXPECT_EQ(reply.absence().reason, Reason::failed) << reply.absence().detail;
    }
    EXPECT_EQ(device_.sessions, device_.closes);
}

TEST_F(HalDmp, PartsThatNeverEndAreRefused) {
    device_.serve = [](const Device::Request& request) {
        return request.head.offset == 0 ? Device::Reply{{1}, 0, 100} : Device::Reply{{}, 0, 100};
    };
    EXPECT_EQ(ask(DV_DMP_VERSION, {1}).absence().error, DV_E_INNER);
    EXPECT_EQ(device_.requests.size(), 2U);
    device_.serve = [](const Device::Request&) { return Device::Reply{Bytes(70, 1), 0, 100}; };
    EXPECT_EQ(ask(DV_DMP_VERSION, {1}).absence().error, DV_E_INNER);
}

TEST_F(HalDmp, AnErrorInTheReplyIsFinal) {
    device_.serve = [](const Device::Request&) { return Device::Reply{{1, 2, 3}, 46}; };
    const auto reply = ask(DV_DMP_ECC_CLEAR, {}, 1);
    EXPECT_EQ(reply.absence().reason, Reason::denied);
    EXPECT_EQ(reply.absence().error, 46);
    EXPECT_EQ(device_.requests.size(), 1U);
    device_.serve = [](const Device::Request&) { return Device::Reply{{}, 0xfffe}; };
    EXPECT_EQ(ask(DV_DMP_FLASH, {0}).absence().reason, Reason::unsupported);
}

TEST_F(HalDmp, TransportTroubleIsTriedAgainAFewTimes) {
    device_.serve = [](const Device::Request&) { return Device::Reply{{5}}; };
    device_.connect_errors = {DV_HDC_NO_SESSION, DV_HDC_DEVICE_NOT_READY};
    EXPECT_TRUE(ask(DV_DMP_TEMPERATURE, {}));
    device_.connect_errors = {20, 20, 20, 20, 20, 20};
    const auto reply = ask(DV_DMP_TEMPERATURE, {});
    EXPECT_EQ(reply.absence().error, DV_E_NOT_LISTENING);
    EXPECT_EQ(device_.connect_errors.size(), 3U) << "three attempts";
    device_.connect_errors = {};
    device_.send_errors = {DV_HDC_TRANSMIT_TIMEOUT, DV_HDC_TRANSMIT_TIMEOUT};
    device_.peek_errors = {DV_HDC_RECEIVE_TIMEOUT, DV_HDC_RECEIVE_TIMEOUT};
    EXPECT_TRUE(ask(DV_DMP_TEMPERATURE, {}));
    device_.send_errors = {DV_HDC_PERMISSION};
    EXPECT_EQ(ask(DV_DMP_TEMPERATURE, {}).absence().reason, Reason::denied);
}

TEST_F(HalDmp, TheDeadlineBoundsTheAttempts) {
    device_.connect_errors = std::vector<std::int32_t>(1000, 17);
    const TimePoint begin = Steady::now();
    const auto reply = ask(DV_DMP_TEMPERATURE, {}, 0, 150ms);
    EXPECT_FALSE(reply);
    EXPECT_LT(Steady::now() - begin, 1s);
}

TEST_F(HalDmp, NoNodeNoService) {
    nodes_.opening = [](const std::string& path) -> std::optional<int> {
        return path.ends_with("hisi_hdc") ? std::optional<int>(EACCES) : std::nullopt;
    };
    EXPECT_EQ(ask(DV_DMP_TEMPERATURE, {}).absence().reason, Reason::denied);
}

} // namespace

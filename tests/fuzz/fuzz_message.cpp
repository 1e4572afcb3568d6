// SPDX-License-Identifier: Apache-2.0
// What stands in the socket's packets, one message a run and no server in between: a call as the
// server reads it, a reply as davsim's client and as the HAL take it. The first byte picks which.
#include "hal/dsock.hpp"
#include "kmod-sim/server/call_message.hpp"

#include <fuzzer/FuzzedDataProvider.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

namespace {

namespace hal = asc::hal;
using Bytes = std::span<const std::uint8_t>;

void require(bool holds) {
    if (!holds)
        std::abort();
}

// Memory of the caller: what lies around the room offered must stay as it is.
struct Memory {
    static constexpr std::size_t kRoom = 96;
    std::array<std::uint8_t, 32> before, after;
    std::array<std::uint8_t, kRoom> read_only, offered;

    Memory() {
        before.fill(0xA1);
        read_only.fill(0xA2);
        offered.fill(0xA3);
        after.fill(0xA4);
    }
    void check(bool written) const {
        const auto all = [](const auto& bytes, std::uint8_t value) {
            return std::ranges::all_of(bytes, [&](std::uint8_t byte) { return byte == value; });
        };
        require(all(before, 0xA1) && all(read_only, 0xA2) && all(after, 0xA4));
        require(written || all(offered, 0xA3));
    }
};

// Addresses in the input are offsets into Memory, so that they can hit: 0 is the room offered.
std::vector<std::uint8_t> reply_payload(FuzzedDataProvider& fuzz, const Memory& memory) {
    std::vector<std::uint8_t> payload;
    const auto put = [&](const void* bytes, std::size_t size) {
        const auto* first = static_cast<const std::uint8_t*>(bytes);
        payload.insert(payload.end(), first, first + size);
    };
    const auto count = fuzz.ConsumeIntegralInRange<std::uint32_t>(0, 4);
    const dsock_reply head{fuzz.ConsumeIntegral<std::int32_t>(),
                           fuzz.ConsumeBool() ? count : fuzz.ConsumeIntegral<std::uint32_t>()};
    put(&head, sizeof(head));
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto base = reinterpret_cast<std::uint64_t>(memory.offered.data());
        const dsock_write write{base +
                                    static_cast<std::uint64_t>(fuzz.ConsumeIntegral<std::int8_t>()),
                                fuzz.ConsumeBool() ? fuzz.ConsumeIntegral<std::uint8_t>()
                                                   : fuzz.ConsumeIntegral<std::uint32_t>(),
                                0};
        put(&write, sizeof(write));
    }
    const std::vector<std::uint8_t> rest = fuzz.ConsumeRemainingBytes<std::uint8_t>();
    put(rest.data(), rest.size());
    return payload;
}

void call_of_a_client(Bytes payload) {
    static asc::sim::Window memory;
    dsock_call call{};
    if (asc::server::read_call(payload, call, memory) != nullptr)
        return;
    require(call.range_count <= DV_RANGES_MAX);
    // What was taken can be read, and no byte beyond it.
    const abi_memory access = memory.access();
    for (std::uint32_t i = 0; i < call.range_count; ++i) {
        dsock_range range{};
        std::memcpy(&range, payload.data() + sizeof(call) + i * sizeof(range), sizeof(range));
        std::array<std::uint8_t, 64> bytes{};
        const auto length = std::min<std::uint32_t>(range.length, bytes.size());
        access.read(access.context, bytes.data(), range.address, length);
        access.read(access.context, bytes.data(), range.address + range.length, 1);
        access.write(access.context, range.address, bytes.data(), length);
    }
}

void reply_to_davsim(FuzzedDataProvider& fuzz) {
    Memory memory;
    const std::vector<std::uint8_t> payload = reply_payload(fuzz, memory);
    const dv_range offered[] = {
        {reinterpret_cast<std::uint64_t>(memory.read_only.data()), Memory::kRoom, DV_RANGE_IN},
        {reinterpret_cast<std::uint64_t>(memory.offered.data()), Memory::kRoom, DV_RANGE_OUT}};
    std::int32_t result = 0;
    memory.check(asc::server::apply_reply(payload, offered, result));
}

// A whole packet for the HAL, right up to its payload or not.
void packet_to_hal(FuzzedDataProvider& fuzz) {
    std::array<int, 2> pair{};
    require(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.data()) == 0);
    hal::DsockClient client;
    client.attach(hal::Descriptor(pair[0]));
    const hal::Descriptor peer(pair[1]);
    Memory memory;
    hal::Call call;
    call.number = DV_IO('M', 7);
    call.argument = memory.offered.data();
    call.add_range(memory.read_only.data(), Memory::kRoom, DV_RANGE_IN);
    call.add_range(memory.offered.data(), Memory::kRoom, DV_RANGE_OUT);
    call.state = hal::Call::State::running;
    require(client.post(call, 1, 1, 0));
    client.flush();
    std::array<std::uint8_t, 512> asked{};
    require(recv(peer.get(), asked.data(), asked.size(), 0) > 0);
    dsock_header header{DSOCK_MAGIC, DSOCK_REPLY, 0, 0, call.id};
    const bool right = fuzz.ConsumeBool();
    if (!right) {
        header.type = fuzz.ConsumeIntegralInRange<std::uint16_t>(0, 13);
        header.flags = fuzz.ConsumeIntegralInRange<std::uint16_t>(0, 2);
        header.call_id = fuzz.ConsumeIntegralInRange<std::uint32_t>(0, 3);
        header.length = fuzz.ConsumeIntegral<std::uint32_t>();
    }
    std::vector<std::uint8_t> packet = reply_payload(fuzz, memory);
    if (right)
        header.length = static_cast<std::uint32_t>(packet.size());
    const auto* first = reinterpret_cast<const std::uint8_t*>(&header);
    packet.insert(packet.begin(), first, first + sizeof(header));
    require(send(peer.get(), packet.data(), packet.size(), MSG_NOSIGNAL | MSG_DONTWAIT) > 0);
    std::vector<hal::Call*> ended;
    client.receive(ended, false);
    const bool done = call.state == hal::Call::State::done;
    memory.check(done);
    // An answer is taken, the connection is over, or a late answer was left alone.
    require(ended.empty() || ended.front() == &call);
    require(!done || client.broken().empty());
    if (!done && ended.empty())
        client.forget(call);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0)
        return 0;
    FuzzedDataProvider fuzz(data + 1, size - 1);
    switch (data[0] % 4) {
    case 0:
    case 1:
        call_of_a_client(Bytes(data + 1, size - 1));
        break;
    case 2:
        reply_to_davsim(fuzz);
        break;
    default:
        packet_to_hal(fuzz);
        break;
    }
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Calls of the driver's interface for the tests of abi/: each is laid out in a memory of its own,
// so that it can be parked, repeated, and made with hostile memory.
#pragma once

#include "tests/conformance/abi_machine.hpp"

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace asc::test {

inline constexpr std::uint64_t kArgument = 0x10000, kInput = 0x20000, kOutput = 0x30000,
                               kData = 0x40000;

template <class T> std::vector<std::uint8_t> bytes_of(const T& value) {
    const auto* from = reinterpret_cast<const std::uint8_t*>(&value);
    return {from, from + sizeof(value)};
}

template <class T> T value_at(const std::vector<std::uint8_t>& bytes, std::size_t offset = 0) {
    T value{};
    if (offset + sizeof(T) <= bytes.size())
        std::memcpy(&value, bytes.data() + offset, sizeof(T));
    return value;
}

// One call and the memory it reaches.
struct Shot {
    AbiMachine* machine = nullptr;
    sim_client* client = nullptr;
    std::uint32_t number = 0, thread = 1;
    UserMemory memory;
    AbiMachine::Call call;

    bool begin() { return machine->begin(call, client, number, kArgument, memory, thread); }
    // The result of a call that must not wait.
    int run() { return begin() ? call.result : -1000; }
    bool resume() { return machine->resume(call); }
    int interrupt() { return abi_interrupt(machine->model(), &call.request); }
    const std::vector<std::uint8_t>& at(std::uint64_t address) {
        static const std::vector<std::uint8_t> none;
        auto* range = memory.find(address, 0);
        return range == nullptr ? none : range->bytes;
    }
};

inline std::unique_ptr<Shot> flat_shot(AbiMachine& machine, sim_client* client,
                                       std::uint32_t number, std::vector<std::uint8_t> argument) {
    auto shot = std::make_unique<Shot>();
    shot->machine = &machine;
    shot->client = client;
    shot->number = number;
    shot->memory.add(kArgument, std::move(argument));
    return shot;
}

inline std::unique_ptr<Shot> urd_shot(AbiMachine& machine, sim_client* client,
                                      std::uint32_t main_command, std::uint32_t sub_command,
                                      std::vector<std::uint8_t> input, std::uint32_t output_length,
                                      std::uint32_t device = 0) {
    dv_urd urd{};
    urd.device_id = device;
    urd.main_command = main_command;
    urd.sub_command = sub_command;
    urd.input = input.empty() ? 0 : kInput;
    urd.input_len = static_cast<std::uint32_t>(input.size());
    urd.output = output_length == 0 ? 0 : kOutput;
    urd.output_len = output_length;
    auto shot = flat_shot(machine, client, DV_IOCTL_URD, bytes_of(urd));
    if (!input.empty())
        shot->memory.add(kInput, std::move(input), true, false);
    if (output_length != 0)
        shot->memory.add(kOutput, std::vector<std::uint8_t>(output_length, 0xA5), false, true);
    return shot;
}

inline std::unique_ptr<Shot> udis_shot(AbiMachine& machine, sim_client* client,
                                       std::uint32_t module, const std::string& name,
                                       std::uint32_t device = 0) {
    dv_udis_get get{};
    get.module = module;
    std::memcpy(get.name, name.data(), name.size());
    get.room = DV_UDIS_DATA_MAX;
    get.data = kData;
    auto shot = urd_shot(machine, client, DV_MAIN_BASIC, DV_BASIC_UDIS_GET, bytes_of(get),
                         sizeof(dv_udis_reply), device);
    shot->memory.add(kData, std::vector<std::uint8_t>(DV_UDIS_DATA_MAX, 0xA5), false, true);
    return shot;
}

// ---- HDC ----

struct HdcSession {
    int result = 0;
    std::int32_t session = -1, alloc_index = 0;
};

inline HdcSession hdc_connect(AbiMachine& machine, sim_client* client, std::int32_t device = 0,
                              std::int32_t service = 0) {
    dv_hdc_connect connect{};
    connect.peer_pid = -1;
    connect.device_id = device;
    connect.service = service;
    std::vector<std::uint8_t> argument = bytes_of(connect);
    argument.resize(DV_HDC_ARGUMENT_SIZE);
    auto shot = flat_shot(machine, client, DV_IO('H', 0x13), argument);
    HdcSession made;
    made.result = shot->run();
    made.session = value_at<std::int32_t>(shot->at(kArgument), 28);
    made.alloc_index = value_at<std::int32_t>(shot->at(kArgument), 36);
    return made;
}

template <class Argument>
std::unique_ptr<Shot> hdc_shot(AbiMachine& machine, sim_client* client, std::uint32_t operation,
                               const Argument& argument) {
    std::vector<std::uint8_t> bytes = bytes_of(argument);
    bytes.resize(DV_HDC_ARGUMENT_SIZE);
    return flat_shot(machine, client, DV_IO('H', operation), bytes);
}

inline std::unique_ptr<Shot> send_shot(AbiMachine& machine, sim_client* client,
                                       const HdcSession& session, std::vector<std::uint8_t> data,
                                       std::int32_t wait = DV_HDC_WAIT_NEVER,
                                       std::int32_t timeout_ms = 0) {
    dv_hdc_send send{};
    send.session = session.session;
    send.source = kData;
    send.length = static_cast<std::int32_t>(data.size());
    send.wait = wait;
    send.timeout_ms = timeout_ms;
    auto shot = hdc_shot(machine, client, 0x15, send);
    shot->memory.add(kData, std::move(data), true, false);
    return shot;
}

inline std::unique_ptr<Shot> peek_shot(AbiMachine& machine, sim_client* client,
                                       const HdcSession& session,
                                       std::int32_t wait = DV_HDC_WAIT_NEVER,
                                       std::int32_t timeout_ms = 0, std::int32_t group = 0) {
    dv_hdc_peek peek{};
    peek.session = session.session;
    peek.wait = wait;
    peek.timeout_ms = timeout_ms;
    peek.group = group;
    peek.alloc_index = session.alloc_index;
    return hdc_shot(machine, client, 0x16, peek);
}

inline std::unique_ptr<Shot> receive_shot(AbiMachine& machine, sim_client* client,
                                          const HdcSession& session, std::int32_t room = 4126,
                                          std::int32_t count = 1) {
    dv_hdc_receive receive{};
    receive.session = session.session;
    receive.destination = kData;
    receive.room = room;
    receive.count = count;
    auto shot = hdc_shot(machine, client, 0x17, receive);
    if (room > 0)
        shot->memory.add(kData, std::vector<std::uint8_t>(static_cast<std::size_t>(room), 0xA5),
                         false, true);
    return shot;
}

inline int hdc_close(AbiMachine& machine, sim_client* client, const HdcSession& session) {
    dv_hdc_close close{};
    close.session = session.session;
    close.alloc_index = session.alloc_index;
    return hdc_shot(machine, client, 0x14, close)->run();
}

inline std::vector<std::uint8_t> dmp_packet(std::uint16_t opcode, std::uint8_t operation,
                                            const std::vector<std::uint8_t>& payload = {},
                                            std::uint32_t offset = 0, bool last = true) {
    dv_dmp_packet packet{};
    packet.message_id = 0x1122334455667788;
    packet.data_len = static_cast<std::uint16_t>(sizeof(dv_dmp_request) + payload.size());
    dv_dmp_request request{};
    request.lun = last ? DV_DMP_LAST_SLICE : 0;
    request.operation = operation;
    request.opcode = opcode;
    request.offset = offset;
    request.length = static_cast<std::uint32_t>(payload.size());
    std::vector<std::uint8_t> bytes = bytes_of(packet);
    const std::vector<std::uint8_t> head = bytes_of(request);
    bytes.insert(bytes.end(), head.begin(), head.end());
    bytes.insert(bytes.end(), payload.begin(), payload.end());
    return bytes;
}

struct DmpAnswer {
    int sent = 0, received = 0; // of the ioctls
    bool came = false;          // there was a datagram
    std::uint16_t error = 0, opcode = 0;
    std::uint32_t total = 0;
    std::vector<std::uint8_t> payload;
};

inline DmpAnswer dmp_receive_answer(AbiMachine& machine, sim_client* client,
                                    const HdcSession& session) {
    DmpAnswer answer;
    auto receive = receive_shot(machine, client, session);
    answer.received = receive->run();
    const auto length = value_at<std::uint32_t>(receive->at(kArgument), 56);
    if (answer.received != 0 || length < 42)
        return answer;
    answer.came = true;
    const auto& data = receive->at(kData);
    answer.error = value_at<std::uint16_t>(data, 30);
    answer.opcode = value_at<std::uint16_t>(data, 32);
    answer.total = value_at<std::uint32_t>(data, 34);
    answer.payload.assign(data.begin() + 42, data.begin() + length);
    return answer;
}

// A request of one packet on an open session.
inline DmpAnswer dmp(AbiMachine& machine, sim_client* client, const HdcSession& session,
                     std::uint16_t opcode, std::uint8_t operation,
                     const std::vector<std::uint8_t>& payload = {}, std::uint32_t offset = 0,
                     bool last = true) {
    const int sent =
        send_shot(machine, client, session, dmp_packet(opcode, operation, payload, offset, last))
            ->run();
    DmpAnswer answer;
    if (sent == 0)
        answer = dmp_receive_answer(machine, client, session);
    answer.sent = sent;
    return answer;
}

} // namespace asc::test

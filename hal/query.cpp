// SPDX-License-Identifier: Apache-2.0
#include "hal/query.hpp"

#include "hal/dmp.hpp"

#include <algorithm>
#include <cstdio>

namespace asc::hal {

namespace {

std::uint64_t to_address(const void* pointer) {
    return reinterpret_cast<std::uint64_t>(pointer);
}

std::string in_seconds(std::chrono::milliseconds time) {
    char text[32];
    std::snprintf(text, sizeof(text), "%g s", static_cast<double>(time.count()) / 1000.0);
    return text;
}

} // namespace

void UrdQuery::prepare(Node urd, std::uint32_t main, std::uint32_t sub, std::uint32_t device,
                       const void* in, std::size_t in_length, void* output,
                       std::size_t out_length) {
    if (in_length != 0)
        std::memcpy(input, in, std::min(in_length, sizeof(input)));
    envelope = {};
    envelope.device_id = device;
    envelope.main_command = main;
    envelope.sub_command = sub;
    envelope.input = in_length != 0 ? to_address(input) : 0;
    envelope.input_len = static_cast<std::uint32_t>(in_length);
    envelope.output = out_length != 0 ? to_address(output) : 0;
    envelope.output_len = static_cast<std::uint32_t>(out_length);
    call.node = urd;
    call.number = DV_IOCTL_URD;
    call.argument = &envelope;
    // The order of marshal.h.
    call.add_range(&envelope, sizeof(envelope), DV_RANGE_IN);
    call.add_range(input, in_length, DV_RANGE_IN);
    call.add_range(output, out_length, DV_RANGE_OUT);
}

void UdisQuery::prepare(Node node, std::uint32_t device, std::uint32_t module,
                        std::string_view name) {
    dv_udis_get get{};
    get.module = module;
    std::memcpy(get.name, name.data(), std::min(name.size(), sizeof(get.name) - 1));
    get.room = DV_UDIS_DATA_MAX;
    get.data = to_address(bytes);
    reply = {};
    urd.prepare(node, DV_MAIN_BASIC, DV_BASIC_UDIS_GET, device, &get, sizeof(get), &reply,
                sizeof(reply));
    urd.call.add_range(bytes, sizeof(bytes), DV_RANGE_OUT);
}

Absence absence_of_call(const Call& call, const Channel& channel,
                        std::chrono::milliseconds timeout) {
    switch (call.state) {
    case Call::State::done:
        return absence_of_result(call.result);
    case Call::State::timeout:
        return {Reason::timeout, 0, "no answer within " + in_seconds(timeout)};
    case Call::State::stopped:
        return {Reason::timeout, 0, "stopped before the answer came"};
    case Call::State::broken:
        return {Reason::failed, 0, channel.broken()};
    case Call::State::idle:
    case Call::State::running:
        break;
    }
    return {Reason::unknown, 0, "not asked"};
}

Question::Question(Channel& channel, const Nodes& nodes, const DeviceIds& ids,
                   std::chrono::milliseconds timeout, TimePoint deadline)
    : group(deadline, static_cast<std::uint32_t>(ids.logical_id) + 1), channel_(channel),
      nodes_(nodes), ids_(ids), timeout_(timeout) {}

Question::~Question() = default;

void Question::dmp(const DmpRequest& request, DmpHandler handler) {
    if (!dmp_)
        dmp_ = std::make_unique<DmpChain>(*this);
    dmp_->ask(request, std::move(handler));
}

Absence Question::absence(const Call& call) {
    return absence_of_call(call, channel_, timeout_);
}

Reading<std::span<const std::uint8_t>> Question::udis_answer(const UdisQuery& query,
                                                             std::size_t length) {
    const Call& call = query.urd.call;
    if (call.state != Call::State::done || call.result != 0)
        return absence(call);
    if (!query.sane() || (length != 0 && query.data().size() != length))
        return Absence{Reason::failed, 0,
                       "the driver's answer has " + std::to_string(query.reply.length) +
                           " bytes instead of " + std::to_string(length)};
    return query.data();
}

} // namespace asc::hal

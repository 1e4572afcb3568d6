// SPDX-License-Identifier: Apache-2.0
// Fault events: the blocking read, the history, texts (driver-abi.md 9).
#include "hal/driver_impl.hpp"

#include <algorithm>
#include <cerrno>

namespace asc::hal {

namespace {

constexpr std::uint32_t kEventLane = 0xE0;              // beside the devices' lanes
constexpr auto kSlice = std::chrono::milliseconds(500); // how long a blocked read keeps `stop`

bool matches(const Event& event, const EventFilter& filter, int physical_id) {
    return (!filter.event_id || *filter.event_id == event.id) &&
           (!filter.severity || *filter.severity == event.severity) &&
           (filter.device < 0 || physical_id == event.physical_id);
}

} // namespace

// The subscription takes everything and the filter is applied here: the driver keeps the filter of
// a thread's first read for good.
Reading<Event> Driver::next_event(const EventFilter& filter, std::chrono::milliseconds limit,
                                  const std::atomic<bool>* stop) {
    impl_->enter();
    int physical_id = -1;
    for (const DeviceIds& ids : impl_->devices)
        if (ids.logical_id == filter.device)
            physical_id = ids.physical_id;
    if (filter.device >= 0 && physical_id < 0)
        return Absence{Reason::lost, 0, "no device " + std::to_string(filter.device)};
    const TimePoint end = impl_->now_plus(limit);
    for (;;) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(end - Steady::now());
        // The first read only registers, so it does not wait.
        const auto wait = impl_->subscribed ? std::clamp(left, std::chrono::milliseconds(0), kSlice)
                                            : std::chrono::milliseconds(0);
        dv_event_read read{};
        read.source = DV_EVENT_SOURCE_HAL;
        read.timeout_ms = static_cast<std::int32_t>(wait.count());
        read.device_id = -1;
        dv_event wire{};
        UrdQuery query{};
        query.prepare(impl_->nodes.urd, DV_MAIN_BASIC, DV_BASIC_EVENT_READ, 0, &read, sizeof(read),
                      &wire, sizeof(wire));
        query.call.number = DV_IO(DV_MAIN_BASIC, DV_BASIC_EVENT_READ);
        query.call.pinned = true;
        query.call.lane = kEventLane;
        impl_->channel->call(query.call, impl_->now_plus(wait + impl_->options.timeout), stop);
        if (query.call.state != Call::State::done)
            return absence_of_call(query.call, *impl_->channel, impl_->options.timeout);
        impl_->subscribed = true;
        const std::int32_t result = query.call.result;
        if (result == 0) {
            Event event = event_from_wire(wire);
            if (matches(event, filter, physical_id))
                return event;
            continue;
        }
        if (result == DV_E_OCCUPIED) {
            impl_->subscribed = false;
            return Absence{Reason::failed, result,
                           "the driver has no place left for another subscriber"};
        }
        if (result != -ETIMEDOUT && result != DV_E_TIMEOUT && result != DV_E_NO_EVENT &&
            result != -EINTR) {
            impl_->subscribed = false;
            return absence_of_result(result);
        }
        if (stop != nullptr && stop->load(std::memory_order_relaxed))
            return Absence{Reason::timeout, 0, "stopped"};
        if (Steady::now() >= end)
            return Absence{Reason::timeout, 0, "no event"};
    }
}

Reading<std::vector<Event>> Driver::event_history(const DeviceIds& device) {
    impl_->enter();
    // Every record that the driver keeps; unused ones stay zero.
    std::vector<dv_event> records(DV_EVENT_HISTORY_MAX);
    const auto id = static_cast<std::int32_t>(device.logical_id);
    UrdQuery query{};
    query.prepare(impl_->nodes.urd, DV_MAIN_BASIC, DV_BASIC_EVENT_HISTORY, 0, &id, sizeof(id),
                  records.data(), records.size() * sizeof(dv_event));
    impl_->channel->call(query.call, impl_->now_plus(impl_->options.timeout));
    if (query.call.state != Call::State::done || query.call.result != 0)
        return absence_of_call(query.call, *impl_->channel, impl_->options.timeout);
    std::vector<Event> events;
    for (const dv_event& record : records) {
        if (record.event_id == 0)
            break;
        events.push_back(event_from_wire(record));
    }
    return events;
}

Reading<std::string> Driver::event_text(const DeviceIds& device, std::uint32_t event_id) {
    impl_->enter();
    char text[256] = {};
    const dv_event_text_query input{static_cast<std::uint32_t>(device.logical_id), event_id};
    UrdQuery query{};
    query.prepare(impl_->nodes.urd, DV_MAIN_BASIC, DV_BASIC_EVENT_STRING, 0, &input, sizeof(input),
                  text, sizeof(text));
    impl_->channel->call(query.call, impl_->now_plus(impl_->options.timeout));
    if (query.call.state != Call::State::done || query.call.result != 0)
        return absence_of_call(query.call, *impl_->channel, impl_->options.timeout);
    return text_from_wire(text, sizeof(text));
}

} // namespace asc::hal

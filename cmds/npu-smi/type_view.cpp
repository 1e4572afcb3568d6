// SPDX-License-Identifier: Apache-2.0
// Asks the driver for one `info -t` type and shows it.
#include "cmds/npu-smi/info.hpp"
#include "cmds/npu-smi/types.hpp"

#include <fmt/format.h>

#include <memory>

namespace asc::cmds::npu_smi {

using hal::DeviceIds;
using hal::DeviceSnapshot;

namespace {

struct Sample {
    std::vector<DeviceSnapshot> devices;
    std::vector<TypeRow> rows;
};

// Addresses of uncorrectable errors belong to a device that is not well.
void add_addresses(const Session& session, std::vector<DeviceSnapshot>& devices) {
    for (DeviceSnapshot& device : devices) {
        if (device.state != hal::DeviceState::ok || !device.error_codes ||
            device.error_codes->empty())
            continue;
        auto details = session.driver.snapshot(std::span(&device.ids, 1), hal::Ask::ecc_records);
        if (!details.empty())
            device.double_bit_records = std::move(details.front().double_bit_records);
    }
}

int show_type(const Session& session, const Type& type) {
    const auto ids = selected_devices(session);
    if (!ids) {
        session.streams.error(ids.error().text);
        return ids.error().status;
    }
    const auto take = [&]() -> std::expected<Answer, Failure> {
        const auto sample = std::make_shared<Sample>();
        sample->devices = session.driver.snapshot(*ids, type.ask | hal::Ask::identity);
        if (&type == &kHealth)
            add_addresses(session, sample->devices);
        for (const DeviceSnapshot& device : sample->devices)
            sample->rows.push_back({device, session.backend()});
        Answer answer;
        answer.records = type_records(type, sample->rows);
        if (supported_by_none(answer.records, kIdFields))
            return std::unexpected(
                Failure{npu_smi_status::not_supported,
                        fmt::format("This device does not support querying {}.", type.name)});
        answer.table = [sample, &session, &type] {
            return type_text(type, sample->rows, session.arguments.has("chip"),
                             session.streams.style.charset);
        };
        answer.whole = !any_incomplete(sample->devices);
        return answer;
    };
    return show(session, {type_fields(type), take});
}

} // namespace

int info_type(const Session& session, std::string_view name) {
    if (name == "topo")
        return info_topo(session);
    if (name == "proc" || name == "proc-mem")
        return info_processes(session,
                              name == "proc" ? ProcessLayout::full : ProcessLayout::vendor);
    return show_type(session, *find_type(name)); // the option table lets no other name through
}

int health(const Session& session) {
    return show_type(session, kHealth);
}

} // namespace asc::cmds::npu_smi

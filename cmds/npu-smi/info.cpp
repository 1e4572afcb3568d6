// SPDX-License-Identifier: Apache-2.0
#include "cmds/npu-smi/info.hpp"

#include "cmds/common/files.hpp"
#include "cmds/common/times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace asc::cmds::npu_smi {

using hal::Ask;
using hal::DeviceIds;
using hal::DeviceSnapshot;

namespace {

// Asks the devices that have something to explain for the details, and only those: the common case
// stays at one round.
void add_details(const Session& session, std::vector<DeviceSnapshot>& devices) {
    std::vector<DeviceIds> ids;
    std::vector<DeviceSnapshot*> places;
    for (DeviceSnapshot& device : devices)
        if (device.state == hal::DeviceState::ok && needs_records(device)) {
            ids.push_back(device.ids);
            places.push_back(&device);
        }
    if (ids.empty())
        return;
    std::vector<DeviceSnapshot> details = session.driver.snapshot(ids, Ask::ecc_records);
    for (std::size_t i = 0; i < places.size() && i < details.size(); ++i) {
        places[i]->single_bit_records = std::move(details[i].single_bit_records);
        places[i]->double_bit_records = std::move(details[i].double_bit_records);
    }
}

// The first sample of a series is an earlier look as well: errors that came since have grown.
void learn(std::vector<std::optional<Earlier>>& earlier, const Overview& overview) {
    for (std::size_t i = 0; i < earlier.size() && i < overview.devices.size(); ++i) {
        const DeviceSnapshot& device = overview.devices[i];
        if (!device.ecc || earlier[i])
            continue;
        earlier[i] = Earlier{device.ecc->single_bit_lifetime,
                             device.ecc->double_bit_lifetime,
                             {},
                             local_text(now_ms())};
    }
}

int save(const Session& session, std::span<const DeviceIds> ids) {
    const std::vector<DeviceSnapshot> devices = session.driver.snapshot(ids, Ask::overview);
    const std::string path(session.arguments.text("save"));
    const Baseline baseline = make_baseline(devices, session.backend(), now_ms());
    if (const auto written = write_file(path, baseline_text(baseline)); !written) {
        session.streams.error(written.error());
        return npu_smi_status::file;
    }
    session.streams.notice(fmt::format("state of {} devices saved in {}", devices.size(), path));
    return any_incomplete(devices) ? npu_smi_status::partial : npu_smi_status::ok;
}

int fail(const Session& session, const Failure& failure) {
    session.streams.error(failure.text);
    return failure.status;
}

} // namespace

std::expected<std::optional<Baseline>, Failure> load_baseline(const Session& session) {
    if (!session.arguments.has("compare"))
        return std::nullopt;
    const std::string path(session.arguments.text("compare"));
    const auto text = read_file(path);
    if (!text)
        return std::unexpected(Failure{npu_smi_status::file, text.error()});
    auto baseline = parse_baseline(*text);
    if (!baseline)
        return std::unexpected(
            Failure{npu_smi_status::file,
                    fmt::format("{}: {}; write a new one with npu-smi info --save FILE", path,
                                baseline.error())});
    return std::move(*baseline);
}

Overview take_overview(const Session& session, std::span<const DeviceIds> ids,
                       std::vector<std::optional<Earlier>> earlier) {
    Overview overview;
    overview.backend = session.backend();
    overview.devices = session.driver.snapshot(ids, Ask::overview);
    overview.earlier = std::move(earlier);
    overview.earlier.resize(overview.devices.size());
    add_details(session, overview.devices);
    std::vector<Subject> subjects;
    for (std::size_t i = 0; i < overview.devices.size(); ++i) {
        const DeviceSnapshot& device = overview.devices[i];
        Subject subject{&device, {}, overview.earlier[i]};
        if (device.state == hal::DeviceState::ok && needs_holders(device, subject.earlier))
            subject.holders = session.driver.holders(device.ids);
        subjects.push_back(std::move(subject));
    }
    overview.findings =
        find_all(subjects, {session.device_now_ms() / 1000, session.backend().next_argument});
    return overview;
}

int info(const Session& session) {
    const auto ids = selected_devices(session);
    if (!ids)
        return fail(session, ids.error());
    if (session.arguments.has("save"))
        return save(session, *ids);
    const auto baseline = load_baseline(session);
    if (!baseline)
        return fail(session, baseline.error());
    std::vector<std::optional<Earlier>> earlier(ids->size());
    if (*baseline)
        std::ranges::transform(*ids, earlier.begin(), [&](const DeviceIds& device) {
            return earlier_of(**baseline, device);
        });
    const bool one = session.arguments.has("device") || session.arguments.has("physical");
    const auto take = [&]() -> std::expected<Answer, Failure> {
        const auto overview = std::make_shared<Overview>(take_overview(session, *ids, earlier));
        if (*baseline) {
            overview->compared_with = std::string(session.arguments.text("compare"));
            overview->changes = compare(**baseline, overview->devices);
        } else {
            learn(earlier, *overview);
        }
        Answer answer;
        answer.records = overview_records(*overview);
        answer.more = [overview] { return overview_more(*overview); };
        answer.table = [overview, one, &session] {
            const Style& style = session.streams.style;
            return one ? one_card_view(*overview, style)
                       : driver_table(*overview, style) + "\n" + limits_block(*overview, style);
        };
        answer.whole = !any_incomplete(overview->devices);
        return answer;
    };
    return show(session, {overview_fields(), take});
}

} // namespace asc::cmds::npu_smi

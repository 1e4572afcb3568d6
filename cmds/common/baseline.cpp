// SPDX-License-Identifier: Apache-2.0
#include "cmds/common/baseline.hpp"

#include "cmds/common/records.hpp"
#include "cmds/common/selection.hpp"
#include "cmds/common/text.hpp"
#include "cmds/common/times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <type_traits>

namespace asc::cmds {

using hal::DeviceSnapshot;

namespace {

template <class T> Json json_of(const std::optional<T>& value) {
    return value ? Json(*value) : Json();
}

// The numbers of a device under their names, for writing, reading and comparing alike.
template <class Device, class Visit> void visit_numbers(Device& device, Visit visit) {
    visit("hbm_total_mib", device.hbm_total_mib);
    visit("hbm_used_mib", device.hbm_used_mib);
    visit("processes", device.processes);
    visit("single_bit", device.single_bit);
    visit("double_bit", device.double_bit);
    visit("single_bit_lifetime", device.single_bit_lifetime);
    visit("double_bit_lifetime", device.double_bit_lifetime);
    visit("pages_offlined", device.pages_offlined);
    visit("oom_count", device.oom_count);
}

SavedDevice saved_of(const DeviceSnapshot& device) {
    SavedDevice saved;
    saved.ids = device.ids;
    saved.name = device.chip_name.optional();
    saved.firmware_version = device.firmware_version.optional();
    saved.hbm_total_mib = device.hbm_total_mib.optional();
    saved.hbm_used_mib = device.hbm_used_mib.optional();
    if (device.processes)
        saved.processes = static_cast<std::uint64_t>(
            std::ranges::count_if(*device.processes, [](const hal::ProcessInfo& process) {
                return !process.alive || *process.alive;
            }));
    if (device.ecc) {
        saved.single_bit = device.ecc->single_bit;
        saved.double_bit = device.ecc->double_bit;
        saved.single_bit_lifetime = device.ecc->single_bit_lifetime;
        saved.double_bit_lifetime = device.ecc->double_bit_lifetime;
        saved.pages_offlined =
            device.ecc->pages_isolated_single + device.ecc->pages_isolated_double;
    }
    saved.oom_count = device.oom_count.optional();
    return saved;
}

struct Reader {
    const Json& object;
    std::string path;
    std::string error; // the first

    void fail(std::string_view name, std::string_view what) {
        if (error.empty())
            error = fmt::format("{}{} {}", path, name, what);
    }
    const Json* member(std::string_view name) {
        const auto found = object.find(std::string(name));
        if (found != object.end())
            return &*found;
        fail(name, "is missing");
        return nullptr;
    }
    std::string text(std::string_view name) {
        const Json* value = member(name);
        if (value != nullptr && !value->is_string())
            fail(name, "is no text");
        return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
    }
    std::optional<std::string> maybe_text(std::string_view name) {
        const Json* value = member(name);
        return value == nullptr || value->is_null() ? std::nullopt
                                                    : std::optional<std::string>(text(name));
    }
    std::optional<std::uint64_t> number(std::string_view name, std::uint64_t most) {
        const Json* value = member(name);
        if (value == nullptr || value->is_null())
            return std::nullopt;
        if (!value->is_number_unsigned() || value->get<std::uint64_t>() > most) {
            fail(name, "is no whole number in range");
            return std::nullopt;
        }
        return value->get<std::uint64_t>();
    }
};

std::expected<SavedDevice, std::string> parse_device(const Json& object, std::size_t index) {
    const std::string path = fmt::format("devices[{}].", index);
    if (!object.is_object())
        return std::unexpected(fmt::format("devices[{}] is no object", index));
    Reader reader{object, path, {}};
    SavedDevice device;
    const auto id = [&](std::string_view name) {
        const std::optional<std::uint64_t> number = reader.number(name, 1U << 20);
        return number ? static_cast<int>(*number) : -1;
    };
    device.ids.npu_id = id("npu_id");
    device.ids.chip_id = id("chip_id");
    device.ids.bus_id = reader.text("bus_id");
    device.ids.serial = reader.text("serial");
    device.name = reader.maybe_text("name");
    device.firmware_version = reader.maybe_text("firmware_version");
    visit_numbers(device, [&](std::string_view name, auto& place) {
        using Number = typename std::remove_reference_t<decltype(place)>::value_type;
        if (const auto number = reader.number(name, std::numeric_limits<Number>::max()))
            place = static_cast<Number>(*number);
    });
    if (!reader.error.empty())
        return std::unexpected(reader.error);
    return device;
}

} // namespace

Baseline make_baseline(std::span<const DeviceSnapshot> devices, const hal::BackendInfo& backend,
                       std::int64_t now) {
    Baseline baseline{now, backend.driver_version, backend.name, {}};
    for (const DeviceSnapshot& device : devices)
        baseline.devices.push_back(saved_of(device));
    return baseline;
}

std::string baseline_text(const Baseline& baseline) {
    Json devices = Json::array();
    for (const SavedDevice& device : baseline.devices) {
        Json one{{"npu_id", device.ids.npu_id},
                 {"chip_id", device.ids.chip_id},
                 {"bus_id", valid_utf8(device.ids.bus_id)},
                 {"serial", valid_utf8(device.ids.serial)},
                 {"name", device.name ? Json(valid_utf8(*device.name)) : Json()},
                 {"firmware_version",
                  device.firmware_version ? Json(valid_utf8(*device.firmware_version)) : Json()}};
        visit_numbers(device,
                      [&](const char* name, const auto& value) { one[name] = json_of(value); });
        devices.push_back(std::move(one));
    }
    return json_text(Json{{"schema", kBaselineSchema},
                          {"saved_at_ms", baseline.saved_at_ms},
                          {"driver_version", valid_utf8(baseline.driver_version)},
                          {"backend", valid_utf8(baseline.backend)},
                          {"devices", std::move(devices)}},
                     false);
}

std::expected<Baseline, std::string> parse_baseline(std::string_view text) {
    const Json document = Json::parse(text, nullptr, false);
    if (document.is_discarded() || !document.is_object())
        return std::unexpected(std::string("is no JSON object"));
    Reader reader{document, {}, {}};
    if (const std::string schema = reader.text("schema"); schema != kBaselineSchema)
        return std::unexpected(reader.error.empty()
                                   ? fmt::format("schema is '{}', this program reads '{}'",
                                                 printable(schema), kBaselineSchema)
                                   : reader.error);
    Baseline baseline;
    baseline.saved_at_ms =
        static_cast<std::int64_t>(reader.number("saved_at_ms", 1ULL << 53).value_or(0));
    baseline.driver_version = reader.text("driver_version");
    baseline.backend = reader.text("backend");
    const Json* devices = reader.member("devices");
    if (devices != nullptr && !devices->is_array())
        reader.fail("devices", "is no list");
    if (!reader.error.empty())
        return std::unexpected(reader.error);
    for (std::size_t i = 0; i < devices->size(); ++i) {
        auto device = parse_device((*devices)[i], i);
        if (!device)
            return std::unexpected(device.error());
        baseline.devices.push_back(std::move(*device));
    }
    return baseline;
}

const SavedDevice* find_saved(const Baseline& baseline, const hal::DeviceIds& ids) {
    for (const SavedDevice& device : baseline.devices)
        if (!ids.serial.empty() && device.ids.serial == ids.serial &&
            device.ids.chip_id == ids.chip_id)
            return &device;
    for (const SavedDevice& device : baseline.devices)
        if (!ids.bus_id.empty() && device.ids.bus_id == ids.bus_id &&
            (ids.serial.empty() || device.ids.serial.empty()))
            return &device;
    return nullptr;
}

std::optional<Earlier> earlier_of(const Baseline& baseline, const hal::DeviceIds& ids) {
    const SavedDevice* saved = find_saved(baseline, ids);
    if (saved == nullptr)
        return std::nullopt;
    Earlier earlier{saved->single_bit_lifetime, saved->double_bit_lifetime, {}, {}};
    if (saved->processes == 0U)
        earlier.idle_mib = saved->hbm_used_mib;
    earlier.when = local_text(baseline.saved_at_ms);
    return earlier;
}

std::vector<Change> compare(const Baseline& baseline, std::span<const DeviceSnapshot> now) {
    std::vector<Change> changes;
    std::vector<const SavedDevice*> seen;
    for (const DeviceSnapshot& device : now) {
        const SavedDevice* before = find_saved(baseline, device.ids);
        seen.push_back(before);
        if (before == nullptr) {
            changes.push_back({device.ids, "device", "absent", "present"});
            continue;
        }
        const SavedDevice after = saved_of(device);
        // A value that is missing on one side is no change of the value.
        if (before->firmware_version && after.firmware_version &&
            before->firmware_version != after.firmware_version)
            changes.push_back({device.ids, "firmware_version", *before->firmware_version,
                               *after.firmware_version});
        std::vector<Json> old_numbers;
        visit_numbers(*before, [&](const char*, const auto& value) {
            old_numbers.push_back(json_of(value));
        });
        std::size_t i = 0;
        visit_numbers(after, [&](const char* name, const auto& value) {
            const Json& old = old_numbers[i++];
            if (value && !old.is_null() && old != Json(*value))
                changes.push_back({device.ids, name, old, *value});
        });
    }
    for (const SavedDevice& device : baseline.devices)
        if (std::ranges::find(seen, &device) == seen.end())
            changes.push_back({device.ids, "device", "present", "absent"});
    return changes;
}

Json change_json(const Change& change) {
    return sanitised(Json{{"npu_id", change.device.npu_id},
                          {"chip_id", change.device.chip_id},
                          {"field", change.field},
                          {"before", change.before},
                          {"after", change.after}});
}

std::string change_text(const Change& change) {
    const auto text = [](const Json& value) {
        return value.is_string() ? value.get<std::string>() : value.dump();
    };
    return fmt::format("{} {}: {} before, {} now", device_name(change.device), change.field,
                       text(change.before), text(change.after));
}

} // namespace asc::cmds

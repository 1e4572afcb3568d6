// SPDX-License-Identifier: Apache-2.0
#include "cmds/common/selection.hpp"

#include "cmds/common/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace asc::cmds {

namespace {

std::optional<int> whole_number(std::string_view text) {
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || number < 0)
        return std::nullopt;
    return number;
}

std::string lower(std::string_view text) {
    std::string out(text);
    std::ranges::transform(out, out.begin(), [](char c) {
        return static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
    });
    return out;
}

bool hexadecimal(std::string_view text, std::size_t least, std::size_t most) {
    return text.size() >= least && text.size() <= most &&
           text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string numbers_there_are(std::span<const hal::DeviceIds> devices, Numbers numbers) {
    std::vector<int> ids;
    for (const hal::DeviceIds& ids_of : devices)
        ids.push_back(numbers == Numbers::card ? ids_of.npu_id : ids_of.logical_id);
    std::ranges::sort(ids);
    ids.erase(std::ranges::unique(ids).begin(), ids.end());
    std::string text;
    for (std::size_t i = 0; i < ids.size();) {
        std::size_t end = i;
        while (end + 1 < ids.size() && ids[end + 1] == ids[end] + 1)
            ++end;
        if (!text.empty())
            text += ", ";
        text += end > i ? fmt::format("{}-{}", ids[i], ids[end]) : fmt::format("{}", ids[i]);
        i = end + 1;
    }
    return text;
}

} // namespace

std::string normal_bus_id(std::string_view text) {
    std::string id = lower(text);
    const std::size_t dot = id.rfind('.');
    const std::size_t device = id.rfind(':', dot);
    if (dot == std::string::npos || device == std::string::npos)
        return {};
    const std::string_view all = id;
    const std::string_view head = all.substr(0, device);
    const std::size_t colon = head.find(':');
    const std::string_view domain =
        colon == std::string_view::npos ? "0000" : head.substr(0, colon);
    const std::string_view bus = colon == std::string_view::npos ? head : head.substr(colon + 1);
    const std::string_view slot = all.substr(device + 1, dot - device - 1);
    const std::string_view function = all.substr(dot + 1);
    if (!hexadecimal(domain, 1, 8) || !hexadecimal(bus, 1, 2) || !hexadecimal(slot, 1, 2) ||
        !hexadecimal(function, 1, 1))
        return {};
    return fmt::format("{:0>4}:{:0>2}:{:0>2}.{}", domain, bus, slot, function);
}

std::expected<std::vector<hal::DeviceIds>, std::string>
select_devices(std::span<const hal::DeviceIds> devices, const Selection& selection,
               Numbers numbers) {
    std::vector<hal::DeviceIds> found(devices.begin(), devices.end());
    const auto keep = [&](auto wanted) {
        std::erase_if(found, [&](auto& d) { return !wanted(d); });
    };
    const std::string& name = selection.device;
    if (name != "all") {
        const std::string bus_id = normal_bus_id(name);
        if (const std::optional<int> number = whole_number(name))
            keep([&](const hal::DeviceIds& ids) {
                return (numbers == Numbers::card ? ids.npu_id : ids.logical_id) == *number;
            });
        else if (!bus_id.empty())
            keep([&](const hal::DeviceIds& ids) { return normal_bus_id(ids.bus_id) == bus_id; });
        else
            keep([&](const hal::DeviceIds& ids) {
                return !ids.serial.empty() && ids.serial == name;
            });
        if (found.empty())
            return std::unexpected(
                fmt::format("no NPU '{}'; there are {} (or a bus id, a serial number, 'all')",
                            printable(name), numbers_there_are(devices, numbers)));
    }
    if (selection.chip)
        keep([&](const hal::DeviceIds& ids) { return ids.chip_id == *selection.chip; });
    if (selection.chip && found.empty())
        return std::unexpected(
            fmt::format("no chip {} on NPU {}", *selection.chip, printable(name)));
    if (selection.physical)
        keep([&](const hal::DeviceIds& ids) { return ids.physical_id == *selection.physical; });
    if (selection.physical && found.empty())
        return std::unexpected(fmt::format("no device with the physical id {}{}",
                                           *selection.physical,
                                           name == "all" ? "" : " on that NPU"));
    return found;
}

std::string device_name(const hal::DeviceIds& ids) {
    return ids.chips_on_card > 1 ? fmt::format("NPU {} chip {}", ids.npu_id, ids.chip_id)
                                 : fmt::format("NPU {}", ids.npu_id);
}

std::string device_options(const hal::DeviceIds& ids) {
    return ids.chips_on_card > 1 ? fmt::format("-i {} -c {}", ids.npu_id, ids.chip_id)
                                 : fmt::format("-i {}", ids.npu_id);
}

} // namespace asc::cmds

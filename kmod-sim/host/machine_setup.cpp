// SPDX-License-Identifier: Apache-2.0
// The start state of a machine: devices of the profile, their error history, scripted residents.
#include "kmod-sim/host/machine_state.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

namespace asc::sim {

namespace {

std::uint32_t fill_records(const std::vector<EccRecord>& from, sim_record* to,
                           std::uint64_t now_seconds) {
    const std::size_t skip = from.size() > SIM_RECORDS_MAX ? from.size() - SIM_RECORDS_MAX : 0;
    std::uint32_t count = 0;
    for (std::size_t i = skip; i < from.size(); ++i, ++count) {
        const std::uint64_t time = now_seconds - std::min(now_seconds, from[i].age_seconds);
        to[count].address = from[i].address;
        to[count].count = from[i].count;
        to[count].time = static_cast<std::int32_t>(
            std::min<std::uint64_t>(time, std::numeric_limits<std::int32_t>::max()));
    }
    return count;
}

sim_ident scripted_ident(const ResidentProfile& resident, std::uint32_t number) {
    sim_ident ident = self_identity();
    ident.pid = ident.ns_pid = kScriptedPid + number;
    ident.start_time = 0;
    ident.cookie = ident.pid;
    ident.flags = DS_PROCESS_SCRIPTED;
    std::memset(ident.name, 0, sizeof(ident.name));
    resident.name.copy(ident.name, sizeof(ident.name) - 1);
    return ident;
}

std::string of_resident(const ResidentProfile& resident, const std::string& what, int error) {
    return "resident '" + resident.name + "' of device " + std::to_string(resident.device) + ": " +
           what + ": " + std::strerror(error);
}

// What the holder process of the server does, call by call (server/holder.cpp).
std::expected<void, std::string> play(Machine& machine, const ResidentProfile& resident,
                                      std::uint32_t number) {
    const sim_ident ident = scripted_ident(resident, number);
    const auto control = machine.open(DV_NODE_IS_MANAGER, 0, ident);
    if (!control)
        return std::unexpected(of_resident(resident, "open the control node", control.error()));
    const auto node = machine.open(DV_NODE_IS_DEVICE, resident.device, ident);
    if (!node)
        return std::unexpected(of_resident(resident, "open the device", node.error()));
    dv_bind bind{};
    std::strcpy(bind.module_name, DS_MODULE_NAME);
    ds_alloc alloc{};
    alloc.size = sizeof(alloc);
    alloc.device_id = resident.device;
    alloc.bytes = resident.mib << 20U;
    alloc.flags = DS_ALLOC_CONTEXT;
    const auto ask = [&](std::uint32_t ioctl_number, void* argument) {
        return machine
            .call(*control, ioctl_number, reinterpret_cast<std::uint64_t>(argument), ident.pid,
                  own_memory(), std::chrono::steady_clock::now())
            .result;
    };
    if (const int result = ask(DV_IOCTL_BIND, &bind); result != 0)
        return std::unexpected(of_resident(resident, "bind", std::abs(result)));
    if (const int result = ask(DS_ALLOC, &alloc); result != 0)
        return std::unexpected(of_resident(
            resident, "hold " + std::to_string(resident.mib) + " MiB", std::abs(result)));
    if (!resident.dead)
        return {};
    const auto rule = machine.add_rule(zombie_rule(ident.pid));
    if (!rule)
        return std::unexpected(of_resident(resident, rule.error(), EINVAL));
    machine.release(*control);
    machine.release(*node);
    machine.clear_rule(*rule);
    return {};
}

} // namespace

std::string zombie_rule(std::uint32_t pid) {
    return "zombie client=" + std::to_string(pid);
}

std::expected<void, std::string> Machine::State::add_device(const DeviceProfile& device) {
    const std::uint64_t now_seconds = sim_wall_ms(model) / 1000;
    sim_ecc ecc{};
    ecc.single_now = device.ecc_single;
    ecc.double_now = device.ecc_double;
    ecc.single_lifetime = device.ecc_single_lifetime;
    ecc.double_lifetime = device.ecc_double_lifetime;
    const auto pages = static_cast<std::uint32_t>(device.isolated_pages.size());
    (device.isolated_by_double ? ecc.isolated_double : ecc.isolated_single) = pages;
    ecc.single_record_count = fill_records(device.single_records, ecc.single_record, now_seconds);
    ecc.double_record_count = fill_records(device.double_records, ecc.double_record, now_seconds);
    const int result =
        sim_add_device(model, &device.config, &ecc, device.isolated_pages.data(), pages);
    settle();
    if (result < 0)
        return std::unexpected("device " + std::to_string(device.config.device_id) +
                               " cannot be added: " + std::strerror(-result));
    return {};
}

std::expected<std::unique_ptr<Machine>, std::string>
Machine::create(const Profile& profile, const MachineOptions& options) {
    Blank what;
    what.driver_version = profile.driver_version;
    what.profile = profile.name;
    what.old_abi = profile.old_abi || options.old_abi;
    std::uint32_t slots = 0;
    for (const DeviceProfile& device : profile.devices)
        slots = std::max(slots, device.config.device_id + 1);
    what.device_slots = std::min<std::uint32_t>(slots + kSpareDevices, SIM_DEVICES_MAX);
    auto machine = blank(what, options);
    if (!machine)
        return machine;
    for (const DeviceProfile& device : profile.devices)
        if (auto added = (*machine)->add_device(device); !added)
            return std::unexpected(added.error());
    if (options.scripted_residents) {
        for (std::uint32_t i = 0; i < profile.residents.size(); ++i)
            if (auto played = play(**machine, profile.residents[i], i); !played)
                return std::unexpected(played.error());
        (*machine)->residents_settled();
    }
    for (const std::string& rule : options.rules)
        if (auto added = (*machine)->add_rule(rule); !added)
            return std::unexpected("rule '" + rule + "': " + added.error());
    return machine;
}

} // namespace asc::sim

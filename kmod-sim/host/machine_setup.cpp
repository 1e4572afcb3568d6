// SPDX-License-Identifier: Apache-2.0
// The start state of a machine: devices of the profile, their error history, scripted residents.
#include "kmod-sim/host/machine_state.hpp"
#include "kmod-sim/host/state_file.hpp"

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

std::string of_resident(const ResidentProfile& resident, const std::string& what, int error) {
    return "resident '" + resident.name + "' of device " + std::to_string(resident.device) + ": " +
           what + ": " + std::strerror(error);
}

// An open control node bound to the extension, and the open device node.
struct Files {
    std::uint32_t control = 0, node = 0;
};

int ask(Machine& machine, const Files& files, const sim_ident& ident, std::uint32_t number,
        void* argument) {
    return machine
        .call(files.control, number, reinterpret_cast<std::uint64_t>(argument), ident.pid,
              own_memory(), std::chrono::steady_clock::now())
        .result;
}

// The calls of the holder process, in its order (server/holder.cpp).
std::expected<Files, std::string> open_files(Machine& machine, const ResidentProfile& resident,
                                             const sim_ident& ident) {
    const auto control = machine.open(DV_NODE_IS_MANAGER, 0, ident);
    if (!control)
        return std::unexpected(of_resident(resident, "open the control node", control.error()));
    const auto node = machine.open(DV_NODE_IS_DEVICE, resident.device, ident);
    if (!node)
        return std::unexpected(of_resident(resident, "open the device", node.error()));
    const Files files{*control, *node};
    dv_bind bind{};
    std::strcpy(bind.module_name, DS_MODULE_NAME);
    if (const int result = ask(machine, files, ident, DV_IOCTL_BIND, &bind); result != 0)
        return std::unexpected(of_resident(resident, "bind", std::abs(result)));
    return files;
}

std::expected<void, std::string> play(Machine& machine, const ResidentProfile& resident,
                                      std::uint32_t number) {
    const sim_ident ident = scripted_identity(resident.name, number);
    const auto files = open_files(machine, resident, ident);
    if (!files)
        return std::unexpected(files.error());
    ds_alloc alloc{};
    alloc.size = sizeof(alloc);
    alloc.device_id = resident.device;
    alloc.bytes = resident.mib << 20U;
    alloc.flags = DS_ALLOC_CONTEXT;
    if (const int result = ask(machine, *files, ident, DS_ALLOC, &alloc); result != 0)
        return std::unexpected(of_resident(
            resident, "hold " + std::to_string(resident.mib) + " MiB", std::abs(result)));
    if (!resident.dead)
        return {};
    const auto rule = machine.add_rule(zombie_rule(ident.pid));
    if (!rule)
        return std::unexpected(of_resident(resident, rule.error(), EINVAL));
    machine.release(files->control);
    machine.release(files->node);
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

bool Machine::adopt_owner(std::uint32_t device, std::uint32_t owner, std::uint32_t pid) {
    return with_sim([&](::sim& model) {
        const sim_client* control = nullptr;
        for (std::uint32_t slot = 0; slot < model.limits.client_count; ++slot) {
            const sim_client& client = model.client[slot];
            if (client.ordinal != 0 && client.ident.pid == pid &&
                client.node == DV_NODE_IS_MANAGER && client.module == DV_MOD_DAVSIM)
                control = &client;
        }
        if (control == nullptr || device >= model.limits.device_count || owner >= SIM_OWNERS_MAX ||
            model.device[device].owner[owner].used == 0)
            return false;
        auto& place = model.device[device];
        sim_owner& adopted = place.owner[owner];
        adopted.ended = 0;
        adopted.scripted = (control->ident.flags & DS_PROCESS_SCRIPTED) != 0 ? 1 : 0;
        adopted.pid = control->ident.pid;
        adopted.ns_pid = control->ident.ns_pid;
        adopted.uid = control->ident.uid;
        adopted.start_time = control->ident.start_time;
        adopted.pid_namespace = control->ident.pid_namespace;
        for (std::uint32_t i = 0; i < place.extent_count; ++i)
            if (place.extent[i].owner == owner)
                place.extent[i].client = control->ordinal;
        sim_touch(&model);
        return true;
    });
}

std::expected<void, std::string> adopt_scripted(LoadedState& state) {
    for (std::uint32_t i = 0; i < state.owners.size(); ++i) {
        const SavedOwner& owner = state.owners[i];
        const ResidentProfile resident{owner.device, owner.bytes >> 20U, owner.name, false};
        const sim_ident ident = scripted_identity(resident.name, i);
        const auto files = open_files(*state.machine, resident, ident);
        if (!files)
            return std::unexpected(files.error());
        if (!state.machine->adopt_owner(owner.device, owner.owner, ident.pid))
            return std::unexpected(of_resident(resident, "adopt its memory", ESRCH));
    }
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

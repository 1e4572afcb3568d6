// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/abi_machine.hpp"

#include <algorithm>
#include <stdexcept>

namespace asc::test {

UserMemory::Range& UserMemory::add(std::uint64_t address, std::vector<std::uint8_t> bytes,
                                   bool readable, bool writable) {
    ranges_.push_back({address, std::move(bytes), readable, writable});
    return ranges_.back();
}

UserMemory::Range* UserMemory::find(std::uint64_t address, std::uint64_t length) {
    for (Range& range : ranges_)
        if (address >= range.address && address - range.address <= range.bytes.size() &&
            length <= range.bytes.size() - (address - range.address))
            return &range;
    return nullptr;
}

abi_memory UserMemory::access() {
    return {&UserMemory::read, &UserMemory::write, this};
}

int UserMemory::read(void* context, void* to, std::uint64_t address, std::uint32_t length) {
    auto& memory = *static_cast<UserMemory*>(context);
    const Range* range = memory.find(address, length);
    if (range == nullptr || !range->readable)
        return -1;
    ++memory.reads;
    memory.read_log.emplace_back(address, length);
    std::memcpy(to, range->bytes.data() + (address - range->address), length);
    return 0;
}

int UserMemory::write(void* context, std::uint64_t address, const void* from,
                      std::uint32_t length) {
    auto& memory = *static_cast<UserMemory*>(context);
    Range* range = memory.find(address, length);
    if (range == nullptr || !range->writable)
        return -1;
    ++memory.writes;
    memory.write_log.emplace_back(address, length);
    std::memcpy(range->bytes.data() + (address - range->address), from, length);
    return 0;
}

AbiMachine::AbiMachine(const asc::sim::Profile& profile, const MachineSetup& setup) {
    sim_config config{};
    config.limits.client_count = setup.client_limit;
    config.limits.device_count = setup.device_slots;
    for (const auto& device : profile.devices)
        config.limits.device_count =
            std::max(config.limits.device_count, device.config.device_id + 1);
    config.seed = setup.seed;
    config.wall_ms = setup.wall_ms;
    config.clock_kind = setup.virtual_clock ? DS_CLOCK_VIRTUAL : DS_CLOCK_REAL;
    config.old_abi = setup.old_abi || profile.old_abi ? 1 : 0;
    config.host_pid = 1;
    config.host_pid_namespace = 1;
    config.driver_version = "25.2.0";
    config.profile = "test";
    config.host = "test";
    const std::size_t size = sim_arena_size(&config.limits, abi_extra_size());
    if (size == 0)
        throw std::invalid_argument("limits out of range");
    arena_.reset(static_cast<std::byte*>(::operator new (size, std::align_val_t{64})));
    std::memset(arena_.get(), 0xA5, size); // the model must not rely on zeros
    if (sim_init(&model_, arena_.get(), size, &config, abi_extra_size()) != 0)
        throw std::runtime_error("sim_init");
    abi_init(model_);
    for (const auto& device : profile.devices) {
        auto ecc = std::make_unique<sim_ecc>();
        const auto now = static_cast<std::int64_t>(setup.wall_ms / 1000);
        const auto records = [&](const auto& from, sim_record* to, std::uint32_t& count) {
            for (const auto& record : from) {
                to[count].address = record.address;
                to[count].count = record.count;
                to[count++].time =
                    static_cast<std::int32_t>(now - static_cast<std::int64_t>(record.age_seconds));
            }
        };
        ecc->single_now = device.ecc_single;
        ecc->double_now = device.ecc_double;
        ecc->single_lifetime = device.ecc_single_lifetime;
        ecc->double_lifetime = device.ecc_double_lifetime;
        const auto pages = static_cast<std::uint32_t>(device.isolated_pages.size());
        (device.isolated_by_double ? ecc->isolated_double : ecc->isolated_single) = pages;
        records(device.single_records, ecc->single_record, ecc->single_record_count);
        records(device.double_records, ecc->double_record, ecc->double_record_count);
        if (sim_add_device(model_, &device.config, ecc.get(), device.isolated_pages.data(),
                           pages) != 0)
            throw std::runtime_error("sim_add_device");
    }
    sim_settle(model_);
}

sim_client* AbiMachine::open(std::uint32_t node, std::uint32_t index, const sim_ident& ident) {
    sim_client* client = nullptr;
    sim_open(model_, node, index, &ident, &client);
    sim_settle(model_);
    return client;
}

void AbiMachine::close(sim_client* client) {
    abi_release(model_, client);
    sim_release(model_, client);
    sim_settle(model_);
}

bool AbiMachine::execute(Call& call) {
    call.parked = abi_execute(model_, &call.request) == ABI_PARKED;
    sim_settle(model_);
    if (call.parked) {
        parked_.push_back(&call);
        return false;
    }
    const abi_memory memory = call.memory->access();
    call.result = abi_scatter(&call.request, &memory);
    return true;
}

bool AbiMachine::begin(Call& call, sim_client* client, std::uint32_t number, std::uint64_t argument,
                       UserMemory& memory, std::uint32_t thread) {
    abi_request& request = call.request;
    request.client = client;
    request.number = number;
    request.argument = argument;
    request.thread = thread;
    request.big_in = request.big_out = nullptr;
    request.big_in_size = request.big_out_size = 0;
    call.memory = &memory;
    const abi_memory access = memory.access();
    int gathered = abi_gather(model_, &request, &access);
    if (gathered == ABI_NEED_ROOM) {
        // At most what the wire allows: the host bounds it.
        if (request.in_need > (4U << 20) || request.out_need > (4U << 20))
            throw std::runtime_error("a call asks for more room than the wire allows");
        call.big_in.assign(request.in_need, 0xA5);
        call.big_out.assign(request.out_need, 0xA5);
        request.big_in = call.big_in.data();
        request.big_out = call.big_out.data();
        request.big_in_size = request.in_need;
        request.big_out_size = request.out_need;
        gathered = abi_gather(model_, &request, &access);
    }
    if (gathered != ABI_GATHERED) {
        call.result = gathered == ABI_REFUSED ? request.result : -ENOMEM;
        return true;
    }
    return execute(call);
}

bool AbiMachine::resume(Call& call) {
    for (std::uint64_t at = 0; const std::uint32_t ticket = sim_next_ready(model_, &at);) {
        const auto found = std::ranges::find_if(
            parked_, [&](const Call* parked) { return parked->request.ticket == ticket; });
        if (found == parked_.end())
            continue;
        Call& next = **found;
        parked_.erase(found);
        execute(next);
    }
    return !call.parked;
}

int AbiMachine::run(sim_client* client, std::uint32_t number, std::uint64_t argument,
                    UserMemory& memory, std::uint32_t thread) {
    auto call = std::make_unique<Call>();
    if (!begin(*call, client, number, argument, memory, thread))
        throw std::runtime_error("a call was parked that must not be");
    return call->result;
}

int AbiMachine::bind(sim_client* client, const std::string& module) {
    dv_bind bind{};
    std::memcpy(bind.module_name, module.data(), module.size());
    return ask(client, DV_IOCTL_BIND, bind);
}

sim_client* AbiMachine::open_bound(const std::string& module, const sim_ident& ident) {
    sim_client* client = open(DV_NODE_IS_MANAGER, 0, ident);
    return client != nullptr && bind(client, module) == 0 ? client : nullptr;
}

void AbiMachine::advance(std::uint64_t ns) {
    const std::uint64_t to = model_->now_ns + ns;
    std::uint64_t next = 0;
    do {
        next = sim_step(model_, to);
        sim_settle(model_);
    } while (next <= to && model_->now_ns < to);
}

int AbiMachine::add_rule(const std::string& text) {
    fi_error error{};
    const int id = fi_add(&model_->rules, text.data(), static_cast<std::uint32_t>(text.size()),
                          model_->now_ns, &error);
    if (id <= 0)
        throw std::invalid_argument("rule '" + text + "': " + error.text);
    return id;
}

std::vector<ds_journal_record> AbiMachine::journal() {
    std::vector<ds_journal_record> all;
    std::uint64_t cursor = 0, lost = 0;
    ds_journal_record record{};
    while (sim_journal_read(model_, &cursor, &lost, &record, 1) == 1)
        all.push_back(record);
    return all;
}

sim_ident AbiMachine::ident(std::uint32_t pid, std::uint32_t caller, std::uint32_t environment) {
    sim_ident who{};
    who.pid = who.ns_pid = pid;
    who.caller = caller;
    who.environment = environment;
    who.start_time = 1000 + pid;
    who.pid_namespace = who.mount_namespace = 1;
    who.visible = ~0ULL;
    who.cookie = pid;
    std::strcpy(who.name, "test");
    return who;
}

} // namespace asc::test

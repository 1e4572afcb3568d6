// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/abi_program.hpp"

#include <algorithm>
#include <string>

namespace asc::fuzz {

namespace {

sim_device_config device(std::uint32_t id) {
    sim_device_config config{};
    config.device_id = config.physical_id = config.card = id;
    config.chips_on_card = 1;
    config.pci_device = 0xD802;
    std::strcpy(config.serial, "SN");
    std::strcpy(config.chip_type, "Ascend");
    std::strcpy(config.chip_name, id == 0 ? "910B" : "310P");
    std::strcpy(config.firmware_version, "1.2.3");
    config.ai_core_count = 24;
    config.vector_core_count = 48;
    config.ai_cpu_count = 6;
    config.control_cpu_count = 1;
    config.hbm_mib = 64;
    config.baseline_known = 1;
    config.context_mib = 1;
    config.power_dw = config.power_idle_dw = 900;
    config.temperature_c = config.temperature_idle_c = 45;
    config.flash_count = 1;
    config.reset_ms = 40;
    config.boot_step_ms = 10;
    config.scrub_ms = 1000;
    config.page_threshold = 4;
    config.thermal_limit_c = 95;
    config.hbm_hot_c = 95;
    config.hbm_fatal_c = 105;
    return config;
}

// One arena for all programs: fresh memory costs more than the calls.
std::byte* arena_of(std::size_t bytes) {
    static std::vector<std::byte> room;
    room.resize(bytes + 64);
    void* place = room.data();
    std::size_t space = room.size();
    return static_cast<std::byte*>(std::align(64, bytes, place, space));
}

} // namespace

Program::Program(const std::uint8_t* data, std::size_t size) : fuzz_(data, size) {
    sim_config config{};
    config.limits = {2, 24};
    config.seed = 1;
    config.wall_ms = 1780000000000ULL;
    config.clock_kind = DS_CLOCK_VIRTUAL;
    config.old_abi = fuzz_.ConsumeIntegralInRange<unsigned>(0, 15) == 0;
    config.host_pid = 1;
    config.host_pid_namespace = 1;
    config.driver_version = config.profile = config.host = "fuzz";
    const std::size_t bytes = sim_arena_size(&config.limits, abi_extra_size());
    require(sim_init(&model_, arena_of(bytes), bytes, &config, abi_extra_size()) == 0);
    abi_init(model_);
    for (std::uint32_t id = 0; id < 2; ++id) {
        const sim_device_config made = device(id);
        require(sim_add_device(model_, &made, nullptr, nullptr, 0) == 0);
    }
}

void Program::settle() {
    sim_settle(model_);
}

void Program::open() {
    sim_ident who{};
    who.pid = who.ns_pid = 1 + fuzz_.ConsumeIntegralInRange<std::uint32_t>(0, 3);
    who.caller = fuzz_.PickValueInArray<std::uint32_t>(
        {DV_ACC_ROOT | DS_ACC_SIM_OWNER, DV_ACC_ROOT, DV_ACC_USER, DV_ACC_LIMIT_USER, 0});
    who.environment = fuzz_.PickValueInArray<std::uint32_t>(
        {DV_ACC_ENV_PHYSICAL, DV_ACC_ENV_CONTAINER, DV_ACC_ENV_ADMIN_CONTAINER, DV_ACC_ENV_VM});
    who.pid_namespace = who.mount_namespace = 1 + fuzz_.ConsumeIntegralInRange<std::uint32_t>(0, 1);
    who.visible = fuzz_.PickValueInArray<std::uint64_t>({~0ULL, 1, 2, 0});
    std::strcpy(who.name, "fuzz");
    sim_client* client = nullptr;
    if (sim_open(model_, fuzz_.ConsumeIntegralInRange<std::uint32_t>(0, 4),
                 fuzz_.ConsumeIntegralInRange<std::uint32_t>(0, 2), &who, &client) == 0)
        clients_.push_back(client);
    settle();
}

void Program::close(std::size_t at) {
    sim_client* client = clients_[at];
    std::erase_if(parked_, [&](const auto& pending) { return pending->request.client == client; });
    abi_release(model_, client);
    sim_release(model_, client);
    clients_.erase(clients_.begin() + static_cast<std::ptrdiff_t>(at));
    settle();
}

void Program::start(std::unique_ptr<HostileMemory> memory, std::uint32_t number,
                    std::uint64_t argument) {
    auto pending = std::make_unique<Pending>();
    abi_request& request = pending->request;
    std::memset(static_cast<void*>(&request), 0xA5, sizeof(request));
    request.client = any();
    request.number = number;
    request.argument = argument;
    request.thread = fuzz_.ConsumeIntegralInRange<std::uint32_t>(1, 3);
    request.big_in = request.big_out = nullptr;
    request.big_in_size = request.big_out_size = 0;
    memory->arm(fuzz_.ConsumeIntegral<std::uint8_t>(),
                fuzz_.ConsumeBool() ? 0 : fuzz_.ConsumeIntegralInRange<unsigned>(0, 4),
                fuzz_.ConsumeBool() ? 0 : fuzz_.ConsumeIntegralInRange<unsigned>(0, 3));
    pending->memory = std::move(memory);
    const abi_memory access = pending->memory->access();
    int outcome = abi_gather(model_, &request, &access);
    for (int again = 0; outcome == ABI_NEED_ROOM && again < 3; ++again) {
        require(request.in_need <= (1U << 20) && request.out_need <= (2U << 20));
        pending->big_in.resize(request.in_need);
        pending->big_out.resize(request.out_need);
        request.big_in = pending->big_in.data();
        request.big_out = pending->big_out.data();
        request.big_in_size = request.in_need;
        request.big_out_size = request.out_need;
        outcome = abi_gather(model_, &request, &access);
    }
    char name[FI_NAME_MAX];
    abi_command_name(&request, name);
    require(std::memchr(name, 0, sizeof(name)) != nullptr);
    if (outcome != ABI_GATHERED) {
        require(outcome == ABI_NEED_ROOM || request.result != 0);
        return;
    }
    require(request.scope != DV_SCOPE_NONE);
    require(!(request.scope & DV_SCOPE_DEVICE) || request.device == FI_ANY ||
            request.device < model_->limits.device_count);
    if (abi_execute(model_, &request) == ABI_PARKED) {
        require(request.ticket != 0);
        parked_.push_back(std::move(pending));
    } else {
        finish(*pending);
    }
    settle();
}

void Program::finish(Pending& pending) {
    const abi_memory access = pending.memory->access();
    const bool hdc = pending.request.client->node == DV_NODE_IS_HDC;
    const int result = abi_scatter(&pending.request, &access);
    require(pending.request.ticket == 0);
    require(result >= -512 && result <= 0xFFFF);
    require(!hdc || (result <= 0 && result != -4));
}

void Program::urd_argument(HostileMemory& memory, const dv_command_info& info) {
    dv_urd urd{};
    urd.device_id = fuzz_.PickValueInArray<std::uint32_t>({0, 1, 2, 0xFFFFFFFF});
    urd.main_command = info.kind == DV_KIND_UDIS ? 0x45 : info.number >> 8;
    urd.sub_command = info.kind == DV_KIND_UDIS ? 56 : info.number & 0xFF;
    urd.input = fuzz_.PickValueInArray<std::uint64_t>({kInput, kInput, kInput, 0, kEnd - 2});
    urd.input_len = info.in_len;
    urd.output = fuzz_.PickValueInArray<std::uint64_t>({kOutput, kOutput, kOutput, 0, kEnd - 2});
    urd.output_len = info.kind == DV_KIND_UDIS ? 16
                     : info.out_len >= DV_LEN_ANY
                         ? fuzz_.ConsumeIntegralInRange<std::uint32_t>(0, 5000)
                         : info.out_len;
    if (fuzz_.ConsumeIntegralInRange<unsigned>(0, 7) == 0) {
        urd.filter = kData;
        urd.filter_len = fuzz_.ConsumeIntegralInRange<std::uint32_t>(0, 300);
    }
    if (fuzz_.ConsumeIntegralInRange<unsigned>(0, 7) == 0)
        urd.input_len = fuzz_.ConsumeIntegral<std::uint32_t>();
    if (fuzz_.ConsumeIntegralInRange<unsigned>(0, 7) == 0)
        urd.output_len = fuzz_.ConsumeIntegral<std::uint32_t>();
    memory.put(kArgument, &urd, sizeof(urd));
    std::vector<std::uint8_t> input = fuzz_.ConsumeBytes<std::uint8_t>(std::min(info.in_len, 64U));
    if (info.kind == DV_KIND_UDIS) {
        dv_udis_get get{};
        get.module = info.module;
        std::string name = info.name;
        for (char& c : name)
            if (c == '#')
                c = static_cast<char>('0' + fuzz_.ConsumeIntegralInRange<int>(0, 9));
        std::memcpy(get.name, name.data(), std::min(name.size(), sizeof(get.name)));
        get.room = fuzz_.PickValueInArray<std::uint32_t>({208, 0, 4, 0xFFFFFFFF});
        get.data = fuzz_.PickValueInArray<std::uint64_t>({kData, 0, kEnd - 1, ~0ULL});
        memory.put(kInput, &get, sizeof(get));
    } else {
        memory.put(kInput, input.data(), input.size());
    }
}

void Program::hdc_argument(HostileMemory& memory) {
    union dv_hdc_argument argument;
    std::memset(&argument, 0, sizeof(argument));
    argument.head.device_id = fuzz_.PickValueInArray<std::int32_t>({0, 1, 2, -1});
    // session and alloc_index stand at several places; any of them may be meant
    const std::int32_t session = fuzz_.PickValueInArray<std::int32_t>({0, 1, 2, 136, 391, 392, -1});
    for (const std::size_t offset : {24U, 28U, 32U})
        std::memcpy(argument.bytes + offset, &session, 4);
    if (fuzz_.ConsumeBool()) {
        argument.connect.service = 0;
        argument.send.source = kData;
        argument.send.length = fuzz_.ConsumeIntegralInRange<std::int32_t>(-1, 5000);
        argument.send.wait = fuzz_.ConsumeIntegralInRange<std::int32_t>(0, 3);
        argument.send.timeout_ms = fuzz_.ConsumeIntegralInRange<std::int32_t>(-1, 100);
    }
    const std::int32_t count = fuzz_.ConsumeIntegralInRange<std::int32_t>(0, 9);
    std::memcpy(argument.bytes + 60, &count, 4);
    const std::int32_t index = fuzz_.ConsumeIntegralInRange<std::int32_t>(0, 5);
    for (const std::size_t offset : {36U, 48U, 52U})
        std::memcpy(argument.bytes + offset, &index, 4);
    memory.put(kArgument, &argument, sizeof(argument));
    // a DMP packet
    dv_dmp_packet packet{};
    dv_dmp_request request{};
    const dv_command_info& function = *dv_command(
        fuzz_.ConsumeIntegralInRange<unsigned>(DV_CMD_DMP_HEALTH, DV_CMD_DMP_PCIE_ERRORS_CLEAR));
    request.opcode = static_cast<std::uint16_t>(function.number);
    request.lun = fuzz_.ConsumeBool() ? DV_DMP_LAST_SLICE : 0;
    request.operation = fuzz_.PickValueInArray<std::uint8_t>({0, 1, 3});
    request.offset = fuzz_.PickValueInArray<std::uint32_t>({0, 1, 4054, 8108, 0xFFFFFFFF});
    packet.data_len = static_cast<std::uint16_t>(
        fuzz_.ConsumeBool() ? argument.send.length - 30 : fuzz_.ConsumeIntegral<std::uint16_t>());
    std::vector<std::uint8_t> payload = fuzz_.ConsumeBytes<std::uint8_t>(16);
    memory.put(kData, &packet, sizeof(packet));
    memory.put(kData + 30, &request, sizeof(request));
    memory.put(kData + 42, payload.data(), payload.size());
}

// A command of the table with an argument of about the right form, or anything.
std::uint32_t Program::number_and_argument(HostileMemory& memory) {
    const dv_command_info& info =
        *dv_command(fuzz_.ConsumeIntegralInRange<unsigned>(1, DV_CMD_COUNT - 1));
    if (info.kind == DV_KIND_URD || info.kind == DV_KIND_UDIS) {
        urd_argument(memory, info);
        return fuzz_.ConsumeBool() || info.kind == DV_KIND_UDIS ? DV_IOCTL_URD : info.number;
    }
    if (info.kind == DV_KIND_DMP || info.module == DV_MOD_HDC) {
        hdc_argument(memory);
        return info.kind == DV_KIND_DMP
                   ? fuzz_.PickValueInArray<std::uint32_t>(
                         {DV_IO('H', 0x15), DV_IO('H', 0x16), DV_IO('H', 0x17), DV_IO('H', 0x13)})
                   : info.number;
    }
    std::vector<std::uint8_t> argument =
        fuzz_.ConsumeBytes<std::uint8_t>(std::min(info.in_len, 600U));
    argument.resize(std::max<std::size_t>(argument.size(), 32));
    if (info.module == DV_MOD_DAVSIM && fuzz_.ConsumeIntegralInRange<unsigned>(0, 7) != 0)
        std::memcpy(argument.data(), &info.in_len, 4);
    if (info.pointers == DV_PTR_UDA_LIST)
        std::memcpy(argument.data() + 8, &kData, 8);
    memory.put(kArgument, argument.data(), argument.size());
    return info.number;
}

void Program::call() {
    auto memory = std::make_unique<HostileMemory>();
    const std::uint32_t number = number_and_argument(*memory);
    start(
        std::move(memory),
        fuzz_.ConsumeIntegralInRange<unsigned>(0, 31) == 0 ? fuzz_.ConsumeIntegral<std::uint32_t>()
                                                           : number,
        fuzz_.ConsumeIntegralInRange<unsigned>(0, 31) == 0 ? fuzz_.ConsumeIntegral<std::uint64_t>()
                                                           : kArgument);
}

void Program::bind() {
    static constexpr const char* kNames[] = {"uda", "DEVMNG", "URD", "DMS", "davsim", "SVM", "x"};
    dv_bind argument{};
    const std::string name =
        kNames[fuzz_.ConsumeIntegralInRange<std::size_t>(0, std::size(kNames) - 1)];
    std::memcpy(argument.module_name, name.data(), name.size());
    auto memory = std::make_unique<HostileMemory>();
    memory->put(kArgument, &argument, sizeof(argument));
    start(std::move(memory), DV_IOCTL_BIND, kArgument);
}

void Program::rule() {
    static constexpr const char* kRules[] = {
        "zombie",
        "lost dev=1 times=1",
        "surface cmd=* mode=never interruptible=yes times=2",
        "surface cmd=* mode=delay ms=5 times=4",
        "surface cmd=dmp.* mode=delay ms=3 times=4",
        "surface cmd=dmp.* mode=never times=2",
        "surface cmd=hdc.* mode=err code=4 force=yes times=2",
        "surface cmd=udis.* mode=err errno=EIO force=yes times=2",
        "surface cmd=* mode=deny force=yes times=2",
        "ecc bits=2 random dev=0",
        "surface cmd=devmng.* mode=never interruptible=no times=1",
    };
    const std::string text =
        fuzz_.ConsumeBool()
            ? kRules[fuzz_.ConsumeIntegralInRange<std::size_t>(0, std::size(kRules) - 1)]
            : fuzz_.ConsumeRandomLengthString(80);
    fi_error error;
    fi_add(&model_->rules, text.data(), static_cast<std::uint32_t>(text.size()), model_->now_ns,
           &error);
}

void Program::interrupt() {
    const std::size_t at = fuzz_.ConsumeIntegralInRange<std::size_t>(0, parked_.size() - 1);
    if (abi_interrupt(model_, &parked_[at]->request)) {
        require(parked_[at]->request.ticket == 0 && parked_[at]->request.piece_count == 0);
        parked_.erase(parked_.begin() + static_cast<std::ptrdiff_t>(at));
    }
    settle();
}

void Program::resume() {
    std::uint64_t when = 0;
    for (int i = 0; i < 50; ++i) {
        const std::uint32_t ticket = sim_next_ready(model_, &when);
        if (ticket == 0)
            return;
        require(when <= model_->now_ns);
        const auto found = std::ranges::find_if(
            parked_, [&](const auto& pending) { return pending->request.ticket == ticket; });
        if (found == parked_.end())
            continue;
        if (abi_execute(model_, &(*found)->request) == ABI_DONE) {
            finish(**found);
            parked_.erase(found);
        }
        settle();
    }
}

void Program::check() {
    const hdc_state& hdc = *hdc_of(model_);
    require(hdc.free_count <= HDC_CHUNKS);
    require(model_->ticket_count <= SIM_TICKETS_MAX);
    for (const hdc_session& session : hdc.session)
        require(session.queued <= HDC_QUEUE_MAX &&
                (session.first == HDC_NONE) == (session.queued == 0));
    for (std::uint32_t id = 0; id < model_->limits.device_count; ++id)
        require(model_->device[id].used_pages <= model_->device[id].total_pages);
}

void Program::run() {
    open();
    for (int step = 0; step < 400 && fuzz_.remaining_bytes() > 0; ++step) {
        switch (clients_.empty() ? 0 : fuzz_.ConsumeIntegralInRange<unsigned>(0, 15)) {
        case 0:
            open();
            break;
        case 1:
            close(fuzz_.ConsumeIntegralInRange<std::size_t>(0, clients_.size() - 1));
            break;
        case 2:
        case 3:
            bind();
            break;
        case 4:
            rule();
            break;
        case 5:
            fi_clear(&model_->rules, 0);
            break;
        case 6: {
            const std::uint64_t to = model_->now_ns + fuzz_.PickValueInArray<std::uint64_t>(
                                                          {1, 1000000, 50000000, 2000000000});
            while (model_->now_ns < to && sim_step(model_, to) <= to)
                settle();
            settle();
            break;
        }
        case 7:
            resume();
            break;
        case 8:
            if (!parked_.empty())
                interrupt();
            break;
        default:
            call();
            break;
        }
        check();
    }
    while (!clients_.empty())
        close(clients_.size() - 1);
    check();
    require(model_->ticket_count == 0);
    require(hdc_of(model_)->free_count == HDC_CHUNKS);
    for (const hdc_session& session : hdc_of(model_)->session)
        require(!session.open);
}

void Program::open_all() {
    sim_ident who{};
    who.pid = who.ns_pid = 1;
    who.caller = DV_ACC_ROOT | DS_ACC_SIM_OWNER;
    who.environment = DV_ACC_ENV_PHYSICAL;
    who.pid_namespace = who.mount_namespace = 1;
    who.visible = ~0ULL;
    std::strcpy(who.name, "fuzz");
    for (const char* name : {"uda", "DEVMNG", "davsim", model_->old_abi ? "DMS" : "URD", ""}) {
        sim_client* client = nullptr;
        const std::uint32_t node = *name == 0 ? DV_NODE_IS_HDC : DV_NODE_IS_MANAGER;
        require(sim_open(model_, node, 0, &who, &client) == 0);
        clients_.push_back(client);
        if (*name == 0)
            continue;
        dv_bind argument{};
        std::strcpy(argument.module_name, name);
        auto memory = std::make_unique<HostileMemory>();
        memory->put(kArgument, &argument, sizeof(argument));
        abi_request request{};
        request.client = client;
        request.number = DV_IOCTL_BIND;
        request.argument = kArgument;
        const abi_memory access = memory->access();
        // The older generation knows fewer modules.
        if (abi_gather(model_, &request, &access) == ABI_GATHERED) {
            require(abi_execute(model_, &request) == ABI_DONE);
            require(abi_scatter(&request, &access) == 0 || model_->old_abi);
        }
    }
}

void Program::run_one(const std::uint8_t* data, std::size_t size) {
    std::destroy_at(&fuzz_);
    std::construct_at(&fuzz_, data, size);
    call();
    resume();
    for (std::size_t tries = parked_.size(); tries-- > 0;)
        if (abi_interrupt(model_, &parked_[tries]->request))
            parked_.erase(parked_.begin() + static_cast<std::ptrdiff_t>(tries));
    settle();
    check();
}

} // namespace asc::fuzz

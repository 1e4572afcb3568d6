// SPDX-License-Identifier: Apache-2.0
#include "kmod-sim/host/machine.hpp"

#include "kmod-sim/host/machine_state.hpp"

#include <cerrno>
#include <cstring>

namespace asc::sim {

namespace {

// Virtual time starts here, so that the same calls give the same bytes: 2026-01-01T00:00:00Z.
constexpr std::uint64_t kVirtualEpochMs = 1767225600000ULL;

std::uint64_t steady_ns() {
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                          std::chrono::steady_clock::now().time_since_epoch())
                                          .count());
}

std::uint64_t system_ms() {
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                          std::chrono::system_clock::now().time_since_epoch())
                                          .count());
}

} // namespace

Machine::Call::Call() = default;
Machine::Call::~Call() = default;

// ---- Machine::State: everything below runs under the lock ----

std::uint64_t Machine::State::present() const {
    return options.clock == Clock::real ? steady_ns() - start_ns : model->now_ns;
}

void Machine::State::settle() {
    sim_settle(model);
    collect();
}

std::uint64_t Machine::State::pass(std::uint64_t to) {
    while (true) { // one step does a bounded number of deadlines
        const std::uint64_t next = sim_step(model, to);
        settle();
        if (next > to)
            return next;
    }
}

void Machine::State::collect() {
    bool woken = false;
    std::uint64_t ready_ns = 0;
    while (const std::uint32_t ticket = sim_next_ready(model, &ready_ns)) {
        const auto found = parked.find(ticket);
        if (found == parked.end())
            continue;
        ready.push_back(found->second);
        found->second->ready = true;
        parked.erase(found);
        woken = true;
    }
    if (woken)
        changed.notify_all();
}

std::unique_ptr<Machine::Call::Request> Machine::State::take_request() {
    if (spare.empty())
        return std::make_unique<Call::Request>();
    auto request = std::move(spare.back());
    spare.pop_back();
    return request;
}

void Machine::State::give_back(std::unique_ptr<Call::Request> request) {
    if (request && spare.size() < kSpareRequests && request->big_in.empty() &&
        request->big_out.empty())
        spare.push_back(std::move(request));
}

sim_client* Machine::State::client(std::uint32_t ordinal) const {
    const auto found = clients.find(ordinal);
    return found == clients.end() ? nullptr : found->second;
}

int Machine::State::gather(Call::Request& request, const abi_memory& memory) {
    abi_request& wire = request.wire;
    wire.big_in = wire.big_out = nullptr;
    wire.big_in_size = wire.big_out_size = 0;
    int outcome = abi_gather(model, &wire, &memory);
    if (outcome != ABI_NEED_ROOM)
        return outcome;
    if (wire.in_need > kRoomMax || wire.out_need > kRoomMax) {
        wire.result = -ENOMEM;
        return ABI_REFUSED;
    }
    request.big_in.resize(wire.in_need);
    request.big_out.resize(wire.out_need);
    wire.big_in = request.big_in.data();
    wire.big_in_size = wire.in_need;
    wire.big_out = request.big_out.data();
    wire.big_out_size = wire.out_need;
    return abi_gather(model, &wire, &memory);
}

bool Machine::State::execute(Call::Request& request) {
    const int outcome = abi_execute(model, &request.wire);
    if (outcome == ABI_PARKED && request.wire.ticket != 0) {
        request.ready = false;
        parked[request.wire.ticket] = &request;
        settle();
        return false;
    }
    settle();
    return true;
}

void Machine::State::forget(Call::Request& request) {
    std::erase_if(parked, [&](const auto& entry) { return entry.second == &request; });
    std::erase(ready, &request);
}

// ---- life ----

Machine::Machine(std::unique_ptr<State> state) : state_(std::move(state)) {}
Machine::~Machine() = default;

Machine::Lock::Lock(Machine& machine) : machine_(machine) {
    machine_.state_->mutex.lock();
}
Machine::Lock::~Lock() {
    machine_.state_->mutex.unlock();
}
::sim& Machine::Lock::sim() const {
    return *machine_.state_->model;
}

std::expected<std::unique_ptr<Machine>, std::string> Machine::blank(const Blank& what,
                                                                    const MachineOptions& options) {
    auto state = std::make_unique<State>();
    state->options = options;
    state->limits = {what.device_slots, options.client_limit};
    const std::size_t size = sim_arena_size(&state->limits, abi_extra_size());
    if (size == 0)
        return std::unexpected("no machine of " + std::to_string(what.device_slots) +
                               " device slots and " + std::to_string(options.client_limit) +
                               " open files: at most " + std::to_string(SIM_DEVICES_MAX) +
                               " slots");
    state->arena.reset(static_cast<std::byte*>(
        ::operator new (size, std::align_val_t{kArenaAlignment}, std::nothrow)));
    if (!state->arena)
        return std::unexpected("no memory for a machine of " + std::to_string(size) + " bytes");
    std::memset(state->arena.get(), 0, size);

    const sim_ident self = self_identity();
    state->start_ns = steady_ns() - what.now_ns; // may wrap around, and back in present()
    sim_config config{};
    config.limits = state->limits;
    config.seed = options.seed;
    config.now_ns = what.now_ns;
    config.wall_ms = options.wall_ms != 0           ? options.wall_ms
                     : options.clock == Clock::real ? system_ms()
                                                    : kVirtualEpochMs;
    config.clock_kind = options.clock == Clock::real ? DS_CLOCK_REAL : DS_CLOCK_VIRTUAL;
    config.old_abi = what.old_abi ? 1 : 0;
    config.host_pid = self.pid;
    config.host_pid_namespace = self.pid_namespace;
    config.driver_version = what.driver_version.c_str();
    config.profile = what.profile.c_str();
    config.host = options.host.c_str();
    if (const int result =
            sim_init(&state->model, state->arena.get(), size, &config, abi_extra_size());
        result < 0)
        return std::unexpected("the device model refuses its limits: " +
                               std::string(std::strerror(-result)));
    abi_init(state->model);
    return std::unique_ptr<Machine>(new Machine(std::move(state)));
}

std::expected<std::uint32_t, int> Machine::open(std::uint32_t node, std::uint32_t index,
                                                const sim_ident& ident) {
    const std::scoped_lock lock(state_->mutex);
    state_->pass(state_->present());
    sim_client* client = nullptr;
    const int result = sim_open(state_->model, node, index, &ident, &client);
    state_->settle();
    if (result < 0)
        return std::unexpected(-result);
    state_->clients[client->ordinal] = client;
    return client->ordinal;
}

void Machine::release(std::uint32_t ordinal) {
    const std::scoped_lock lock(state_->mutex);
    sim_client* client = state_->client(ordinal);
    if (client == nullptr)
        return;
    state_->pass(state_->present());
    // The file's parked calls end now, whether or not they may be interrupted.
    for (auto entry = state_->parked.begin(); entry != state_->parked.end();) {
        Call::Request* request = entry->second;
        if (request->wire.client != client) {
            ++entry;
            continue;
        }
        abi_interrupt(state_->model, &request->wire);
        request->gone = request->ready = true;
        state_->ready.push_back(request);
        entry = state_->parked.erase(entry);
    }
    for (Call::Request* request : state_->ready)
        request->gone = request->gone || request->wire.client == client;
    abi_release(state_->model, client);
    sim_release(state_->model, client);
    state_->clients.erase(ordinal);
    state_->settle();
    state_->changed.notify_all();
}

// ---- calls ----

CallResult Machine::call(std::uint32_t ordinal, std::uint32_t number, std::uint64_t argument,
                         std::uint32_t thread, const abi_memory& memory, Deadline deadline) {
    State& state = *state_;
    std::unique_lock lock(state.mutex);
    auto request = state.take_request();
    const auto end = [&](CallResult result) {
        state.give_back(std::move(request));
        return result;
    };
    abi_request& wire = request->wire;
    wire.client = state.client(ordinal);
    if (wire.client == nullptr)
        return end({-EBADF, false});
    wire.number = number;
    wire.argument = argument;
    wire.thread = thread;
    request->owner = nullptr;
    request->gone = false;
    state.pass(state.present());
    if (state.gather(*request, memory) == ABI_REFUSED)
        return end({wire.result, false});
    while (!state.execute(*request)) {
        while (!request->ready) {
            std::uint64_t due = SIM_NEVER;
            if (state.options.clock == Clock::real)
                due = state.pass(state.present());
            if (request->ready)
                break;
            if (deadline && std::chrono::steady_clock::now() >= *deadline) {
                abi_interrupt(state.model, &wire);
                state.forget(*request);
                sim_unpark(state.model, wire.ticket);
                return end({-ETIMEDOUT, true});
            }
            if (due == SIM_NEVER && !deadline) {
                state.changed.wait(lock);
                continue;
            }
            auto until = deadline.value_or(std::chrono::steady_clock::time_point::max());
            if (due != SIM_NEVER) {
                const auto then = std::chrono::steady_clock::time_point(
                    std::chrono::nanoseconds(state.start_ns + due));
                until = std::min(until, then);
            }
            state.changed.wait_until(lock, until);
        }
        std::erase(state.ready, request.get());
        if (request->gone)
            return end({-EBADF, false});
    }
    lock.unlock();
    const int result = abi_scatter(&wire, &memory);
    lock.lock();
    return end({result, false});
}

bool Machine::begin(Call& call) {
    State& state = *state_;
    std::unique_lock lock(state.mutex);
    call.request_ = state.take_request();
    Call::Request& request = *call.request_;
    request.owner = &call;
    request.gone = false;
    abi_request& wire = request.wire;
    wire.client = state.client(call.ordinal);
    const auto end = [&](int result) {
        call.result = result;
        call.parked_ = false;
        state.give_back(std::move(call.request_));
        return true;
    };
    call.name[0] = 0;
    call.command = DV_CMD_UNKNOWN;
    call.device = FI_ANY;
    call.module = DV_MOD_NONE;
    if (wire.client == nullptr)
        return end(-EBADF);
    call.module = wire.client->node == DV_NODE_IS_HDC ? static_cast<std::uint16_t>(DV_MOD_HDC)
                                                      : wire.client->module;
    wire.number = call.number;
    wire.argument = call.argument;
    wire.thread = call.thread;
    state.pass(state.present());
    const abi_memory memory = call.memory.access();
    const int gathered = state.gather(request, memory);
    call.command = wire.command;
    call.device = wire.device;
    abi_command_name(&wire, call.name);
    if (gathered == ABI_REFUSED)
        return end(wire.result);
    call.memory.drop_contents();
    call.parked_ = !state.execute(request);
    if (call.parked_)
        return false;
    return end(abi_scatter(&wire, &memory));
}

Machine::Call* Machine::next_finished() {
    State& state = *state_;
    const std::scoped_lock lock(state.mutex);
    // In-process callers of the same machine take their own; they stay in the list.
    for (std::size_t i = 0; i < state.ready.size();) {
        Call::Request* request = state.ready[i];
        if (request->owner == nullptr) {
            ++i;
            continue;
        }
        state.ready.erase(state.ready.begin() + static_cast<std::ptrdiff_t>(i));
        Call& call = *request->owner;
        if (request->gone) {
            call.result = -EBADF;
        } else {
            if (!state.execute(*request))
                continue; // parked again; what it woke stands behind
            const abi_memory memory = call.memory.access();
            call.result = abi_scatter(&request->wire, &memory);
        }
        call.parked_ = false;
        state.give_back(std::move(call.request_));
        return &call;
    }
    return nullptr;
}

bool Machine::cancel(Call& call) {
    State& state = *state_;
    const std::scoped_lock lock(state.mutex);
    if (!call.parked_ || call.request_->ready || !abi_interrupt(state.model, &call.request_->wire))
        return false; // it finishes by itself, or may not be interrupted
    state.forget(*call.request_);
    sim_unpark(state.model, call.request_->wire.ticket);
    call.result = call.request_->wire.result;
    call.parked_ = false;
    state.give_back(std::move(call.request_));
    state.settle();
    return true;
}

void Machine::abandon(Call& call) {
    State& state = *state_;
    const std::scoped_lock lock(state.mutex);
    if (!call.parked_)
        return;
    if (!call.request_->gone && !call.request_->ready) {
        abi_interrupt(state.model, &call.request_->wire);
        sim_unpark(state.model, call.request_->wire.ticket);
    }
    state.forget(*call.request_);
    call.parked_ = false;
    state.give_back(std::move(call.request_));
    state.settle();
}

std::vector<std::uint32_t> Machine::readable(std::span<const std::uint32_t> ordinals) {
    std::vector<std::uint32_t> found;
    const std::scoped_lock lock(state_->mutex);
    for (const std::uint32_t ordinal : ordinals) {
        const sim_client* client = state_->client(ordinal);
        if (client != nullptr && abi_readable(state_->model, client) != 0)
            found.push_back(ordinal);
    }
    return found;
}

// ---- time and control ----

Clock Machine::clock() const {
    return state_->options.clock;
}

std::uint64_t Machine::now_ns() {
    const std::scoped_lock lock(state_->mutex);
    return state_->present();
}

std::uint64_t Machine::wall_ms() {
    const std::scoped_lock lock(state_->mutex);
    state_->pass(state_->present());
    return sim_wall_ms(state_->model);
}

std::uint64_t Machine::step() {
    const std::scoped_lock lock(state_->mutex);
    const std::uint64_t next = state_->pass(state_->present());
    return state_->options.clock == Clock::real ? next : SIM_NEVER;
}

bool Machine::advance(std::uint64_t ns) {
    const std::scoped_lock lock(state_->mutex);
    if (state_->options.clock == Clock::real || state_->model->now_ns + ns < ns)
        return false;
    state_->pass(state_->model->now_ns + ns);
    return true;
}

std::expected<std::uint32_t, std::string> Machine::add_rule(std::string_view text) {
    const std::scoped_lock lock(state_->mutex);
    state_->pass(state_->present());
    fi_error error{};
    const int id = text.size() < DS_TEXT_MAX ? fi_add(&state_->model->rules, text.data(),
                                                      static_cast<std::uint32_t>(text.size()),
                                                      state_->model->now_ns, &error)
                                             : -1;
    if (text.size() >= DS_TEXT_MAX)
        return std::unexpected("longer than " + std::to_string(DS_TEXT_MAX - 1) + " characters");
    if (id <= 0) {
        error.text[DS_TEXT_MAX - 1] = 0;
        const std::string where =
            id == -1 ? "at character " + std::to_string(error.position + 1) + ": " : "";
        return std::unexpected(where + error.text);
    }
    state_->pass(state_->present());
    return static_cast<std::uint32_t>(id);
}

void Machine::clear_rule(std::uint32_t id) {
    const std::scoped_lock lock(state_->mutex);
    fi_clear(&state_->model->rules, id);
}

std::expected<void, std::string> Machine::add_device(const DeviceProfile& device) {
    const std::scoped_lock lock(state_->mutex);
    state_->pass(state_->present());
    return state_->add_device(device);
}

void Machine::residents_settled() {
    const std::scoped_lock lock(state_->mutex);
    sim_residents_settled(state_->model);
    state_->settle();
}

int Machine::hotplug(std::uint32_t device, std::uint32_t operation) {
    const std::scoped_lock lock(state_->mutex);
    state_->pass(state_->present());
    const int result = sim_hotplug(state_->model, device, operation);
    state_->settle();
    return result;
}

std::size_t Machine::read_journal(std::uint64_t& cursor, std::uint64_t& lost,
                                  std::span<ds_journal_record> room) {
    const std::scoped_lock lock(state_->mutex);
    const ::sim& model = *state_->model;
    const std::uint64_t oldest =
        model.journal_head > SIM_JOURNAL_MAX ? model.journal_head - SIM_JOURNAL_MAX : 0;
    lost = cursor < oldest ? oldest - cursor : 0;
    cursor = std::max(cursor, oldest);
    std::size_t count = 0;
    for (; count < room.size() && cursor < model.journal_head; ++count, ++cursor)
        room[count] = model.journal[cursor % SIM_JOURNAL_MAX];
    return count;
}

const std::string& Machine::host() const {
    return state_->options.host;
}

} // namespace asc::sim

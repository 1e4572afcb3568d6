// SPDX-License-Identifier: Apache-2.0
// Calls go straight to the machine. Those that it parks wait here, any number side by side, and
// write nothing any more once they are given up.
#include "hal/inproc_channel.hpp"

#include "kmod-sim/host/machine.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <thread>

namespace asc::hal {

namespace {

constexpr auto kLongestNap = std::chrono::milliseconds(20);

class InprocChannel final : public Channel {
  public:
    InprocChannel(std::shared_ptr<sim::Machine> machine, const sim_ident& identity)
        : machine_(std::move(machine)), identity_(identity) {}
    ~InprocChannel() override {
        for (const auto& job : running_)
            machine_->abandon(job->call);
        for (const std::uint32_t ordinal : open_) // in the order of their opening
            machine_->release(ordinal);
    }

    void close(Node node) override {
        if (node > 0 && open_.erase(static_cast<std::uint32_t>(node)) != 0)
            machine_->release(static_cast<std::uint32_t>(node));
    }

    Files files() const override { return Files::own; }

  protected:
    bool start(Call& call) override {
        if (call.op == Call::Op::open) {
            const auto opened = machine_->open(call.number, call.index, identity_);
            call.node = opened ? static_cast<Node>(*opened) : -1;
            if (opened)
                open_.insert(*opened);
            end(call, opened ? 0 : -opened.error());
            return true;
        }
        std::unique_ptr<Job> job = take();
        job->asked = &call;
        sim::Machine::Call& wire = job->call;
        wire.ordinal = static_cast<std::uint32_t>(call.node);
        wire.number = call.number;
        wire.thread = static_cast<std::uint32_t>(process_);
        wire.argument = reinterpret_cast<std::uint64_t>(call.argument);
        wire.context = job.get();
        wire.memory.clear();
        for (std::size_t i = 0; i < call.range_count; ++i) {
            const Range& range = call.ranges[i];
            const auto* bytes = static_cast<const std::uint8_t*>(range.address);
            wire.memory.add(reinterpret_cast<std::uint64_t>(range.address), range.length,
                            range.direction,
                            (range.direction & DV_RANGE_IN) != 0
                                ? std::span<const std::uint8_t>(bytes, range.length)
                                : std::span<const std::uint8_t>());
        }
        if (machine_->begin(wire))
            finish(std::move(job));
        else
            running_.push_back(std::move(job));
        return true;
    }

    void wait(TimePoint until) override {
        const std::uint64_t due = machine_->step();
        while (sim::Machine::Call* done = machine_->next_finished()) {
            auto found = std::find_if(running_.begin(), running_.end(),
                                      [&](const auto& job) { return &job->call == done; });
            if (found == running_.end())
                continue;
            std::unique_ptr<Job> job = std::move(*found);
            running_.erase(found);
            finish(std::move(job));
        }
        if (!ended_.empty())
            return;
        // Other threads may advance a virtual clock meanwhile, so the nap is short.
        auto nap = std::min<Steady::duration>(kLongestNap, until - Steady::now());
        if (due != SIM_NEVER)
            nap = std::min<Steady::duration>(
                nap, std::chrono::nanoseconds(due - std::min(due, machine_->now_ns())));
        if (nap > Steady::duration::zero())
            std::this_thread::sleep_for(nap);
    }

    void forget(Call& call) override {
        const auto found = std::find_if(running_.begin(), running_.end(),
                                        [&](const auto& job) { return job->asked == &call; });
        if (found == running_.end())
            return;
        machine_->abandon((*found)->call);
        running_.erase(found);
    }

  private:
    struct Job {
        sim::Machine::Call call;
        Call* asked = nullptr;
    };

    std::unique_ptr<Job> take() {
        if (spare_.empty())
            return std::make_unique<Job>();
        auto job = std::move(spare_.back());
        spare_.pop_back();
        return job;
    }

    void finish(std::unique_ptr<Job> job) {
        for (const auto& write : job->call.memory.writes())
            std::memcpy(reinterpret_cast<void*>(write.address),
                        job->call.memory.written().data() + write.offset, write.length);
        end(*job->asked, job->call.result);
        spare_.push_back(std::move(job));
    }

    std::shared_ptr<sim::Machine> machine_;
    sim_ident identity_;
    std::set<std::uint32_t> open_; // ordinals
    std::vector<std::unique_ptr<Job>> running_, spare_;
};

// The machines that are shared, by the profile they were made of.
struct Shared {
    std::weak_ptr<sim::Machine> machine;
    bool as_root = false;
};

std::mutex shared_mutex;
std::map<std::string, Shared, std::less<>>& shared_machines() {
    static std::map<std::string, Shared, std::less<>> machines;
    return machines;
}

std::expected<std::unique_ptr<sim::Machine>, ConnectError>
make_machine(const std::string& profile, const sim::MachineOptions& options) {
    auto loaded = sim::load_profile(profile);
    if (!loaded)
        return std::unexpected(ConnectError{ConnectError::Kind::bad_backend, 0,
                                            "backend inproc:" + profile + ": " + loaded.error()});
    auto machine = sim::Machine::create(*loaded, options);
    if (!machine)
        return std::unexpected(ConnectError{ConnectError::Kind::failed, 0,
                                            "backend inproc:" + profile + ": " + machine.error()});
    return std::move(*machine);
}

void raise_rights(sim_ident& identity, bool as_root) {
    if (as_root)
        identity.caller |= DV_ACC_ROOT;
}

class Handle final : public InprocHandle {
  public:
    Handle(std::shared_ptr<sim::Machine> machine, const MachineSetup& setup)
        : machine_(std::move(machine)), setup_(setup) {}
    ~Handle() override {
        const std::scoped_lock lock(shared_mutex);
        shared_machines().erase(setup_.profile);
    }

    std::unique_ptr<Channel> channel_as(const std::string& name) override {
        sim_ident identity = sim::scripted_identity(name, kFirstNumber + given_++);
        raise_rights(identity, setup_.as_root);
        return std::make_unique<InprocChannel>(machine_, identity);
    }

  private:
    static constexpr std::uint32_t kFirstNumber = 1024; // behind those of the profile's residents
    std::shared_ptr<sim::Machine> machine_;
    MachineSetup setup_;
    std::uint32_t given_ = 0;
};

} // namespace

std::expected<std::unique_ptr<Channel>, ConnectError>
make_inproc_channel(const std::string& profile) {
    sim_ident identity = sim::self_identity();
    {
        const std::scoped_lock lock(shared_mutex);
        const auto found = shared_machines().find(profile);
        if (found != shared_machines().end()) {
            raise_rights(identity, found->second.as_root);
            return std::make_unique<InprocChannel>(found->second.machine.lock(), identity);
        }
    }
    auto machine = make_machine(profile, {});
    if (!machine)
        return std::unexpected(std::move(machine.error()));
    return std::make_unique<InprocChannel>(std::move(*machine), identity);
}

std::expected<std::unique_ptr<InprocHandle>, ConnectError>
share_inproc_machine(const MachineSetup& setup) {
    sim::MachineOptions options;
    options.seed = setup.seed;
    options.clock = setup.virtual_clock ? sim::Clock::virtual_time : sim::Clock::real;
    auto machine = make_machine(setup.profile, options);
    if (!machine)
        return std::unexpected(std::move(machine.error()));
    const std::shared_ptr<sim::Machine> shared = std::move(*machine);
    const std::scoped_lock lock(shared_mutex);
    if (!shared_machines().try_emplace(setup.profile, Shared{shared, setup.as_root}).second)
        return std::unexpected(ConnectError{ConnectError::Kind::busy, 0,
                                            "backend inproc:" + setup.profile +
                                                ": this program has a machine of it already"});
    return std::make_unique<Handle>(shared, setup);
}

} // namespace asc::hal

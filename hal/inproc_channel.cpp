// SPDX-License-Identifier: Apache-2.0
// Calls go straight to the machine. Those that it parks wait here, any number side by side, and
// write nothing any more once they are given up.
#include "hal/inproc_channel.hpp"

#include "kmod-sim/host/machine.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <thread>

namespace asc::hal {

namespace {

constexpr auto kLongestNap = std::chrono::milliseconds(20);

class InprocChannel final : public Channel {
  public:
    explicit InprocChannel(std::unique_ptr<sim::Machine> machine)
        : machine_(std::move(machine)), identity_(sim::self_identity()) {}
    ~InprocChannel() override {
        for (const auto& job : running_)
            machine_->abandon(job->call);
    }

    void close(Node node) override {
        if (node > 0)
            machine_->release(static_cast<std::uint32_t>(node));
    }

    Files files() const override { return Files::own; }

  protected:
    bool start(Call& call) override {
        if (call.op == Call::Op::open) {
            const auto opened = machine_->open(call.number, call.index, identity_);
            call.node = opened ? static_cast<Node>(*opened) : -1;
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

    std::unique_ptr<sim::Machine> machine_;
    sim_ident identity_;
    std::vector<std::unique_ptr<Job>> running_, spare_;
};

} // namespace

std::expected<std::unique_ptr<Channel>, ConnectError>
make_inproc_channel(const std::string& profile) {
    auto loaded = sim::load_profile(profile);
    if (!loaded)
        return std::unexpected(ConnectError{ConnectError::Kind::bad_backend, 0,
                                            "backend inproc:" + profile + ": " + loaded.error()});
    auto machine = sim::Machine::create(*loaded, {});
    if (!machine)
        return std::unexpected(ConnectError{ConnectError::Kind::failed, 0,
                                            "backend inproc:" + profile + ": " + machine.error()});
    return std::make_unique<InprocChannel>(std::move(*machine));
}

} // namespace asc::hal

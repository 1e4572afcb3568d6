// SPDX-License-Identifier: Apache-2.0
#include "faultinject/scenario/stage.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <thread>

namespace asc::faultinject {

namespace {

using namespace std::chrono_literals;

constexpr std::string_view kHolder = "asc-hold";
constexpr std::string_view kHolderReady = "holding";

// What makes the output of commands the same everywhere.
constexpr std::pair<const char*, const char*> kPlain[] = {
    {"NO_COLOR", "1"}, {"LC_ALL", "C.UTF-8"}, {"TZ", "UTC"}};

std::unexpected<std::string> no_process(const std::string& name) {
    return std::unexpected("'" + name + "' does not run any more");
}

// ---- processes ----

class ProcessStage final : public Stage {
  public:
    explicit ProcessStage(Variables variables) : variables_(std::move(variables)) {
        variables_.insert(variables_.end(), std::begin(kPlain), std::end(kPlain));
    }

    std::expected<Finished, std::string> run(const std::vector<std::string>& words,
                                             std::chrono::milliseconds limit,
                                             const std::function<void()>& meanwhile) override {
        auto process = Process::start(words, variables_);
        if (!process)
            return std::unexpected(process.error());
        return process->finish(limit, meanwhile);
    }

    std::expected<void, std::string> start(const std::string& name,
                                           const std::vector<std::string>& words,
                                           std::chrono::milliseconds limit) override {
        auto process = Process::start(words, variables_);
        if (!process)
            return std::unexpected(process.error());
        if (words.front() == kHolder)
            if (auto ready = process->wait_for(std::string(kHolderReady), limit); !ready)
                return ready;
        running_.insert_or_assign(name, std::move(*process));
        return {};
    }

    std::expected<void, std::string> kill(const std::string& name, int signal) override {
        const auto found = running_.find(name);
        if (found == running_.end() || !found->second.running())
            return no_process(name);
        found->second.signal(signal);
        if (signal == SIGSTOP || signal == SIGCONT)
            return {};
        // When it is gone the driver has heard of it.
        if (found->second.finish(10s).timed_out)
            return std::unexpected("'" + name + "' did not end within 10 s and was killed");
        running_.erase(found);
        return {};
    }

    std::expected<Finished, std::string> wait(const std::string& name,
                                              std::chrono::milliseconds limit) override {
        const auto found = running_.find(name);
        if (found == running_.end())
            return no_process(name);
        Finished finished = found->second.finish(limit);
        running_.erase(found);
        return finished;
    }

  private:
    Variables variables_;
    std::map<std::string, Process> running_;
};

// ---- inside this program ----

// Standard files in memory as long as it lives.
class Redirected {
  public:
    Redirected() : out_(File::in_memory("stdout")), error_(File::in_memory("stderr")) {
        flush();
        const File nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
        const int to[] = {nothing.get(), out_.get(), error_.get()};
        for (int fd = 0; fd < 3; ++fd) {
            saved_[fd] = File(fcntl(fd, F_DUPFD_CLOEXEC, 10));
            dup2(to[fd], fd);
        }
    }
    ~Redirected() {
        flush();
        for (int fd = 0; fd < 3; ++fd)
            if (saved_[fd].get() >= 0)
                dup2(saved_[fd].get(), fd);
    }
    Redirected(const Redirected&) = delete;
    Redirected& operator=(const Redirected&) = delete;

    Finished finished(int status) {
        flush();
        Finished out;
        out.status = status & 0xFF;
        out.out = out_.content();
        out.error = error_.content();
        return out;
    }

  private:
    static void flush() {
        std::fflush(stdout);
        std::fflush(stderr);
    }
    File out_, error_;
    File saved_[3];
};

// Calls `meanwhile` from a thread of its own, and ends this program when the time is over: what
// runs inside it cannot be stopped.
class Watch {
  public:
    Watch(std::chrono::milliseconds limit, const std::function<void()>& meanwhile)
        : thread_([this, limit, &meanwhile] {
              const auto end = std::chrono::steady_clock::now() + limit;
              while (!over_.load()) {
                  if (std::chrono::steady_clock::now() > end)
                      std::_Exit(kHungStatus);
                  if (meanwhile)
                      meanwhile();
                  std::this_thread::sleep_for(1ms);
              }
          }) {}
    ~Watch() {
        over_ = true;
        thread_.join();
    }

  private:
    std::atomic<bool> over_{false};
    std::thread thread_;
};

struct Hold {
    int device = -1;
    std::uint64_t mib = 0;
};

// What asc-hold is asked for, as far as it can be replayed.
std::optional<Hold> hold_of(const std::vector<std::string>& words) {
    Hold hold;
    if (words.front() != kHolder || words.size() != 5)
        return std::nullopt;
    for (std::size_t i = 1; i < words.size(); i += 2) {
        const std::string& value = words[i + 1];
        const char* end = value.data() + value.size();
        std::from_chars_result parsed{};
        if (words[i] == "--device")
            parsed = std::from_chars(value.data(), end, hold.device);
        else if (words[i] == "--mib")
            parsed = std::from_chars(value.data(), end, hold.mib);
        else
            return std::nullopt;
        if (parsed.ec != std::errc{} || parsed.ptr != end)
            return std::nullopt;
    }
    return hold;
}

class InprocStage final : public Stage {
  public:
    InprocStage(const hal::SharedMachine& machine, FindApplet find)
        : machine_(machine), find_(std::move(find)) {
        setenv("ASC_DEVICE", machine_.backend().c_str(), 1);
        for (const auto& [name, value] : kPlain)
            setenv(name, value, 1);
    }

    std::expected<Finished, std::string> run(const std::vector<std::string>& words,
                                             std::chrono::milliseconds limit,
                                             const std::function<void()>& meanwhile) override {
        const Applet applet = find_(words.front());
        if (applet == nullptr)
            return std::unexpected(words.front() + " is no command of this program");
        std::vector<std::string> arguments = words;
        std::vector<char*> argv;
        for (std::string& word : arguments)
            argv.push_back(word.data());
        argv.push_back(nullptr);
        Redirected files;
        const Watch watch(limit, meanwhile);
        return files.finished(applet(static_cast<int>(words.size()), argv.data()));
    }

    std::expected<void, std::string> start(const std::string& name,
                                           const std::vector<std::string>& words,
                                           std::chrono::milliseconds) override {
        const auto hold = hold_of(words);
        if (!hold)
            return std::unexpected("only 'asc-hold --device N --mib M' can be replayed");
        auto driver = machine_.connect_as(std::string(kHolder), {});
        if (!driver)
            return std::unexpected(driver.error().text);
        for (const hal::DeviceIds& ids : driver->devices()) {
            if (ids.logical_id != hold->device)
                continue;
            const auto address = driver->hold_memory(ids, hold->mib << 20U);
            if (!address)
                return std::unexpected(address.absence().detail);
            running_.insert_or_assign(name, std::move(*driver));
            return {};
        }
        return std::unexpected("there is no device " + std::to_string(hold->device));
    }

    std::expected<void, std::string> kill(const std::string& name, int signal) override {
        if (signal == SIGSTOP || signal == SIGCONT)
            return {}; // who only holds does the same when it is stopped
        return running_.erase(name) != 0 ? std::expected<void, std::string>{} : no_process(name);
    }

    std::expected<Finished, std::string> wait(const std::string& name,
                                              std::chrono::milliseconds) override {
        return std::unexpected("'" + name + "' is replayed and does not end by itself");
    }

  private:
    const hal::SharedMachine& machine_;
    FindApplet find_;
    std::map<std::string, hal::Driver> running_;
};

} // namespace

std::unique_ptr<Stage> make_process_stage(Variables variables) {
    return std::make_unique<ProcessStage>(std::move(variables));
}

std::unique_ptr<Stage> make_inproc_stage(const hal::SharedMachine& machine, FindApplet find) {
    return std::make_unique<InprocStage>(machine, std::move(find));
}

std::string inproc_obstacle(const Scenario& scenario, const FindApplet& find) {
    for (const Step& step : scenario.steps) {
        const std::string who = "step " + std::to_string(step.index + 1);
        switch (step.kind) {
        case Step::Kind::run:
        case Step::Kind::settle:
            if (find(step.words.front()) == nullptr || step.words.front().starts_with("davsim"))
                return who + " runs " + step.words.front() + ", which needs a process of its own";
            break;
        case Step::Kind::start:
            if (!hold_of(step.words))
                return who + " starts a process that cannot be replayed";
            break;
        case Step::Kind::wait:
            return who + " waits for a process";
        default:
            break;
        }
    }
    return {};
}

} // namespace asc::faultinject

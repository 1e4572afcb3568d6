// SPDX-License-Identifier: Apache-2.0
#include "kmod-sim/server/residents.hpp"

#include "kmod-sim/server/holder.hpp"
#include "kmod-sim/server/log.hpp"
#include "kmod-sim/server/server.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

namespace asc::server {

namespace {

using Steady = std::chrono::steady_clock;
constexpr auto kSettleLimit = std::chrono::seconds(30);
constexpr int kTurnMs = 1000; // longest turn of the loop while something is waited for

int open_pidfd(pid_t pid) {
    return static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
}

} // namespace

Resident Resident::from(const sim::ResidentProfile& profile) {
    return {profile.device, profile.mib, profile.name, profile.dead, -1};
}

std::expected<Residents::Item*, std::string> Residents::start(const Resident& resident) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return std::unexpected(std::string("pipe: ") + std::strerror(errno));
    Descriptor report(ends[0]), child_end(ends[1]);
    // Everything that needs memory is made before the fork.
    const HolderArguments arguments(server_.listening_path_, resident, getpid());
    const pid_t pid = fork();
    if (pid < 0)
        return std::unexpected(std::string("fork: ") + std::strerror(errno));
    if (pid == 0)
        become_holder(arguments, child_end.get());
    Item item;
    item.pid = pid;
    item.pidfd = Descriptor(open_pidfd(pid));
    item.report = std::move(report);
    items_.push_back(std::move(item));
    Item& placed = items_.back();
    if (!placed.pidfd) {
        const int error = errno;
        end(placed);
        return std::unexpected(std::string("pidfd_open: ") + std::strerror(error));
    }
    loop_.add(placed.report.get(), EPOLLIN, [this, &placed](std::uint32_t) {
        char block[512];
        const ssize_t got = ::read(placed.report.get(), block, sizeof(block));
        if (got > 0) {
            placed.said.append(block, static_cast<std::size_t>(got));
            return;
        }
        placed.said_all = true;
        loop_.remove(placed.report.get());
        placed.report.reset();
    });
    loop_.add(placed.pidfd.get(), EPOLLIN, [this, &placed](std::uint32_t) { end(placed); });
    return &placed;
}

// Ends the process if it has not ended by itself, reaps it and forgets it.
void Residents::end(Item& item) {
    kill(item.pid, SIGKILL);
    while (waitpid(item.pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    if (item.report)
        loop_.remove(item.report.get());
    if (item.pidfd)
        loop_.remove(item.pidfd.get());
    items_.remove_if([&](const Item& other) { return &other == &item; });
}

void Residents::end_all() {
    while (!items_.empty())
        end(items_.front());
}

bool Residents::is_resident(std::uint32_t pid) const {
    for (const Item& item : items_)
        if (static_cast<std::uint32_t>(item.pid) == pid)
            return true;
    return false;
}

std::vector<pid_t> Residents::pids() const {
    std::vector<pid_t> pids;
    for (const Item& item : items_)
        pids.push_back(item.pid);
    return pids;
}

std::expected<void, std::string> Residents::wait_for_report(Item& item, const std::string& who) {
    const auto limit = Steady::now() + kSettleLimit;
    const auto pid = static_cast<std::uint32_t>(item.pid);
    while (is_resident(pid) && !item.said_all) {
        if (Steady::now() > limit)
            return std::unexpected(who + ": has not settled within 30 s");
        if (const int error = server_.turn(kTurnMs))
            return std::unexpected(who + ": " + std::strerror(error));
    }
    if (!is_resident(pid))
        return std::unexpected(who + ": its process ended before it held the memory");
    if (item.said != kHolderSettled)
        return std::unexpected(who + ": " + (item.said.empty() ? "said nothing" : item.said));
    return {};
}

// Kills it the way an owner dies whose memory is never reclaimed, and takes the rule back.
std::expected<void, std::string> Residents::let_die(Item& item, const std::string& who) {
    const auto pid = static_cast<std::uint32_t>(item.pid);
    const auto rule = server_.machine_->add_rule(sim::zombie_rule(pid));
    if (!rule)
        return std::unexpected(who + ": " + rule.error());
    end(item);
    const auto limit = Steady::now() + kSettleLimit;
    while (server_.lives_of_pid_.contains(pid)) {
        if (Steady::now() > limit)
            return std::unexpected(who + ": its open files are still there after 30 s");
        if (const int error = server_.turn(kTurnMs))
            return std::unexpected(who + ": " + std::strerror(error));
    }
    server_.machine_->clear_rule(*rule);
    return {};
}

// Gives the memory of a loaded state to the process that stands for its owner.
std::expected<void, std::string> Residents::adopt_owner(const Item& item, const Resident& resident,
                                                        const std::string& who) {
    const auto pid = static_cast<std::uint32_t>(item.pid);
    if (!server_.machine_->adopt_owner(resident.device, static_cast<std::uint32_t>(resident.owner),
                                       pid))
        return std::unexpected(who + ": the loaded memory has no such owner");
    return {};
}

std::expected<void, std::string> Residents::settle(const Resident& resident) {
    const std::string who =
        "resident '" + resident.name + "' of device " + std::to_string(resident.device);
    auto item = start(resident);
    if (!item)
        return std::unexpected(who + ": " + item.error());
    if (auto settled = wait_for_report(**item, who); !settled)
        return settled;
    if (resident.owner >= 0)
        return adopt_owner(**item, resident, who);
    return resident.dead ? let_die(**item, who) : std::expected<void, std::string>{};
}

} // namespace asc::server

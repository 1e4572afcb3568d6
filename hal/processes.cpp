// SPDX-License-Identifier: Apache-2.0
#include "hal/processes.hpp"

#include <algorithm>

namespace asc::hal {

namespace {

constexpr std::uint64_t kPageKib = 64; // the simulator gives memory in whole pages

class Composer {
  public:
    Composer(const ProcessAnswers& answers, const Reading<std::uint64_t>& total_mib,
             const Proc& proc, const std::function<Reading<bool>(std::int64_t)>& holds_node)
        : answers_(answers), total_mib_(total_mib), proc_(proc), holds_node_(holds_node),
          foreign_(!answers.simulator && proc.foreign_namespace()) {}

    ProcessList compose() {
        ProcessList list;
        if (!answers_.pids) {
            list.processes = answers_.pids.absence();
            list.held_bytes = answers_.pids.absence();
            return list;
        }
        list.full = answers_.pids->size() >= DV_PROCESS_LIST_MAX;
        std::vector<ProcessInfo> processes;
        for (const std::int64_t pid : *answers_.pids) {
            const SimProcess* extra = extension_of(pid);
            ProcessInfo info = describe(pid, extra);
            if (const auto bytes = answers_.bytes.find(pid); bytes != answers_.bytes.end())
                info.bytes = bytes->second;
            const auto vanished = answers_.vanished.find(pid);
            if (vanished != answers_.vanished.end() && vanished->second && extra == nullptr)
                continue; // it ended between the list and the question
            hold(info, extra);
            processes.push_back(std::move(info));
        }
        // What has no id in our namespace is in the extension alone.
        if (answers_.extension)
            for (const SimProcess& extra : *answers_.extension) {
                if (extra.resolvable && listed(extra.caller_pid))
                    continue;
                ProcessInfo info =
                    describe(extra.resolvable ? extra.caller_pid : extra.host_pid, &extra);
                info.bytes = process_bytes_from_wire(extra.bytes, total_mib_);
                hold(info, &extra);
                processes.push_back(std::move(info));
            }
        list.processes = std::move(processes);
        list.held_bytes =
            trouble_ ? Reading<std::uint64_t>(*trouble_) : Reading<std::uint64_t>(held_);
        return list;
    }

  private:
    bool listed(std::int64_t pid) const {
        return std::find(answers_.pids->begin(), answers_.pids->end(), pid) != answers_.pids->end();
    }

    const SimProcess* extension_of(std::int64_t pid) const {
        if (answers_.extension)
            for (const SimProcess& extra : *answers_.extension)
                if (extra.resolvable && extra.caller_pid == pid)
                    return &extra;
        return nullptr;
    }

    ProcessInfo describe(std::int64_t pid, const SimProcess* extra) const {
        ProcessInfo info;
        info.pid = pid;
        info.resolvable = extra != nullptr ? extra->resolvable : !foreign_;
        if (extra != nullptr) {
            info.host_pid = extra->host_pid;
            info.uid = extra->uid;
            if (extra->start_ticks != 0)
                set_start(info, extra->start_ticks);
        } else if (info.resolvable && !answers_.simulator) {
            info.host_pid = pid; // the initial namespace
        }
        const bool scripted = extra != nullptr && extra->scripted;
        if (!info.resolvable || scripted) {
            const Absence why = scripted
                                    ? Absence{Reason::unknown, 0, "replayed, never was a process"}
                                    : Absence{Reason::unresolvable, 0, "of another pid namespace"};
            info.state = why;
            info.parent_pid = why;
            info.alive = why;
            info.name = why;
            if (extra != nullptr && !extra->name.empty() && (scripted || extra->ended))
                info.name = extra->name;
            // Replayed ones live exactly as long as their handle.
            if (scripted)
                info.alive = !extra->ended;
            else if (extra != nullptr && extra->ended)
                info.alive = false;
            return info;
        }
        look_up(info, extra);
        return info;
    }

    void set_start(ProcessInfo& info, std::uint64_t ticks) const {
        info.start_ticks = ticks;
        if (const std::int64_t boot = proc_.boot_time_s(); boot > 0)
            info.start_unix_ms =
                boot * 1000 + static_cast<std::int64_t>(ticks) * 1000 / Proc::ticks_per_second();
    }

    // A process of our namespace, told from a later one with the same id by its start.
    void look_up(ProcessInfo& info, const SimProcess* extra) const {
        ProcStat stat;
        const Proc::Found found = proc_.stat(info.pid, stat);
        if (found == Proc::Found::unreadable) {
            const Absence why{Reason::denied, 0, "the process may not be looked at"};
            info.alive = why;
            info.state = why;
            info.parent_pid = why;
            info.name = extra != nullptr && !extra->name.empty() ? Reading<std::string>(extra->name)
                                                                 : Reading<std::string>(why);
            return;
        }
        const bool start_known = extra != nullptr && extra->start_ticks != 0;
        const bool same =
            found == Proc::Found::yes && (!start_known || stat.start_ticks == extra->start_ticks);
        if (!same) {
            const Absence why{Reason::unknown, 0, "the process has ended"};
            info.alive = false;
            info.state = why;
            info.parent_pid = why;
            info.name = extra != nullptr && !extra->name.empty() ? Reading<std::string>(extra->name)
                                                                 : Reading<std::string>(why);
            return;
        }
        info.state = std::string(1, stat.state);
        info.parent_pid = stat.parent;
        const auto name = proc_.name(info.pid);
        info.name = name ? Reading<std::string>(*name)
                         : Reading<std::string>(Reason::unknown, 0, "the process has ended");
        // A leader that has ended while threads of it run on still is the process.
        const bool over =
            stat.state == 'X' || stat.state == 'x' || (stat.state == 'Z' && stat.threads <= 1);
        if (start_known || over) {
            info.alive = !over;
        } else {
            set_start(info, stat.start_ticks);
            const Reading<bool> holds = holds_node_(info.pid);
            info.alive = holds && *holds
                             ? Reading<bool>(true)
                             : Reading<bool>(Reason::unknown, 0, "this driver tells no start time");
        }
        if (!info.uid)
            if (const auto uid = proc_.uid(info.pid))
                info.uid = *uid;
    }

    // Adds what this process, or a handle it left to others, keeps.
    void hold(const ProcessInfo& info, const SimProcess* extra) {
        const bool holds = extra != nullptr ? !extra->ended : !info.alive || *info.alive;
        if (!holds)
            return;
        if (extra == nullptr && !info.alive)
            note({Reason::unknown, 0, "it cannot be told whether the owners live"});
        else if (info.bytes)
            held_ += *info.bytes;
        else
            note(info.bytes.absence());
    }
    void note(const Absence& absence) {
        if (!trouble_)
            trouble_ = absence;
    }

    const ProcessAnswers& answers_;
    const Reading<std::uint64_t>& total_mib_;
    const Proc& proc_;
    const std::function<Reading<bool>(std::int64_t)>& holds_node_;
    bool foreign_;
    std::uint64_t held_ = 0;
    std::optional<Absence> trouble_;
};

} // namespace

ProcessList compose_processes(const ProcessAnswers& answers,
                              const Reading<std::uint64_t>& total_mib, const Proc& proc,
                              const std::function<Reading<bool>(std::int64_t)>& holds_node) {
    return Composer(answers, total_mib, proc, holds_node).compose();
}

Reading<std::uint64_t> unowned_mib(const Reading<Hbm>& hbm, const Reading<SimDevice>& sim,
                                   const ProcessList& list, bool& disagrees) {
    disagrees = false;
    if (!hbm)
        return hbm.absence();
    if (!sim)
        return sim.absence();
    if (!sim->baseline_kib)
        return Absence{Reason::unknown, 0, "no idle baseline is known"};
    if (list.full || !sim->processes_known)
        return Absence{Reason::list_full, 0,
                       "the driver's process list is full: there may be owners that it does not "
                       "name"};
    if (!list.held_bytes)
        return list.held_bytes.absence();
    const std::uint64_t held_kib = *list.held_bytes >> 10;
    const std::uint64_t accounted = *sim->baseline_kib + held_kib;
    // Pages are whole, what was asked for is not: that much may lie between.
    const std::uint64_t tolerance = kPageKib * (sim->allocations + sim->owners) + 1024;
    const std::uint64_t sum = hbm->used_kib > accounted ? hbm->used_kib - accounted : 0;
    const std::uint64_t apart =
        sum > sim->unowned_kib ? sum - sim->unowned_kib : sim->unowned_kib - sum;
    if (apart > tolerance || accounted > hbm->used_kib + tolerance) {
        disagrees = true;
        return Absence{Reason::failed, 0,
                       "used " + std::to_string(hbm->used_kib >> 10) + " MiB less baseline " +
                           std::to_string(*sim->baseline_kib >> 10) + " and held " +
                           std::to_string(held_kib >> 10) + " does not give the " +
                           std::to_string(sim->unowned_kib >> 10) +
                           " MiB that the driver counts as left behind"};
    }
    return sim->unowned_kib >> 10;
}

} // namespace asc::hal

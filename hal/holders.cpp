// SPDX-License-Identifier: Apache-2.0
// Who keeps a device busy. What cannot be told is unknown, never "nobody".
#include "hal/holders.hpp"

#include "hal/channel_chardev.hpp"
#include "hal/driver_impl.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace asc::hal {

namespace {

const Absence kNeedRoot{Reason::denied, 0, "holders unknown (need root)"};

struct Entry { // ds_holder
    std::uint64_t cookie;
    std::int64_t pid;
    std::uint64_t start_ticks;
    std::uint32_t flags;
};

std::string node_name(std::uint32_t flags, const DeviceIds& device) {
    if ((flags & DS_HOLDER_NODE) != 0)
        return "/dev/davinci" + std::to_string(device.physical_id);
    return (flags & DS_HOLDER_MEMORY) != 0 ? "/dev/davinci_manager" : "/dev/hisi_hdc";
}

void add_holder(std::vector<Holder>& holders, const Proc& proc, std::int64_t pid,
                std::uint32_t flags, const DeviceIds& device, const std::string& name = {}) {
    const auto same = std::find_if(holders.begin(), holders.end(),
                                   [&](const Holder& holder) { return holder.pid == pid; });
    Holder& holder = same == holders.end() ? holders.emplace_back() : *same;
    const bool first = holder.pid == 0;
    holder.pid = pid;
    holder.memory = holder.memory || (flags & DS_HOLDER_MEMORY) != 0;
    if (first || (flags & DS_HOLDER_NODE) != 0)
        holder.node = node_name(flags, device);
    if (!first)
        return;
    ProcStat stat;
    if (name.empty() && proc.stat(pid, stat) == Proc::Found::yes) {
        holder.state = std::string(1, stat.state);
        holder.daemon = stat.parent == 1 && stat.terminal == 0;
        holder.name = proc.name(pid).value_or("");
        holder.command_line = proc.command_line(pid).value_or("");
    } else {
        holder.name = name;
    }
}

class Search {
  public:
    Search(Driver::Impl& driver, const DeviceIds& device)
        : driver_(driver), device_(device), proc_(driver.options.proc_root) {
        skip_.insert(getpid());
        if (driver.channel->helper_pid() != 0)
            skip_.insert(driver.channel->helper_pid());
    }

    Reading<std::vector<Holder>> run() {
        std::vector<Entry> entries;
        if (driver_.is_simulator()) {
            auto listed = list();
            if (!listed)
                return listed.absence();
            entries = *listed;
        }
        switch (driver_.channel->files()) {
        case Channel::Files::sockets:
            return by_sockets(entries);
        case Channel::Files::own:
            return by_list(entries);
        case Channel::Files::nodes:
            break;
        }
        return by_nodes(entries);
    }

  private:
    Reading<std::vector<Entry>> list() {
        std::vector<Entry> entries;
        ds_holder_list page{};
        do {
            page.size = sizeof(page);
            page.device_id = static_cast<std::uint32_t>(device_.logical_id);
            page.count = page.total = page.reserved = 0;
            const Reading<ds_holder_list> answer =
                driver_.flat(driver_.nodes.davsim, DS_HOLDER_LIST, page, driver_.options.timeout);
            if (!answer)
                return answer.absence();
            for (std::uint32_t i = 0; i < std::min<std::uint32_t>(answer->count, DS_HOLDER_PAGE);
                 ++i)
                entries.push_back({answer->entry[i].cookie, answer->entry[i].host_pid,
                                   answer->entry[i].start_time, answer->entry[i].flags});
            page.cursor = answer->cursor;
        } while (page.cursor != 0 && entries.size() < 65536);
        return entries;
    }

    // The server names its ends of the handles; who has the other ends may be several processes,
    // children among them that inherited one.
    Reading<std::vector<Holder>> by_sockets(const std::vector<Entry>& entries) {
        std::vector<Holder> holders;
        if (entries.empty())
            return holders;
        std::vector<std::uint64_t> ends;
        for (const Entry& entry : entries)
            ends.push_back(entry.cookie);
        const auto peers = peers_of_sockets(ends);
        if (!peers)
            return peers.absence();
        std::set<std::uint64_t> wanted;
        for (const auto& [end, peer] : *peers)
            if (peer != 0)
                wanted.insert(peer);
        const OpenFiles files = find_open_files(proc_, skip_, wanted, 0);
        const OpenFiles own = own_files(wanted);
        for (const Entry& entry : entries) {
            const std::uint64_t peer = peers->at(entry.cookie);
            if (peer == 0)
                continue; // closed: the server is about to see it
            bool found = false;
            for (const auto& [pid, sockets] : files.sockets)
                if (sockets.contains(peer)) {
                    found = true;
                    add_holder(holders, proc_, pid, entry.flags, device_);
                }
            for (const auto& [pid, sockets] : own.sockets)
                found = found || sockets.contains(peer);
            if (found)
                continue;
            if (files.unreadable)
                return kNeedRoot;
            return Absence{Reason::unknown, 0,
                           "a process that is not seen here (another pid namespace) holds the "
                           "device"};
        }
        return holders;
    }

    OpenFiles own_files(const std::set<std::uint64_t>& wanted) const {
        std::set<std::int64_t> others;
        for (const std::int64_t pid : proc_.pids())
            if (!skip_.contains(pid))
                others.insert(pid);
        return find_open_files(proc_, others, wanted, 0);
    }

    Reading<std::vector<Holder>> by_nodes(const std::vector<Entry>& entries) {
        std::vector<Holder> holders;
        const std::string path = node_path(driver_.options.dev_root, DV_NODE_IS_DEVICE,
                                           static_cast<std::uint32_t>(device_.physical_id));
        struct stat status {};
        if (stat(path.c_str(), &status) != 0 || !S_ISCHR(status.st_mode))
            return Absence{Reason::unknown, 0, path + " cannot be looked at"};
        const OpenFiles files = find_open_files(proc_, skip_, {}, status.st_rdev);
        for (const auto& [pid, open] : files.nodes)
            add_holder(holders, proc_, pid, DS_HOLDER_NODE, device_);
        for (const Entry& entry : entries)
            if (!skip_.contains(entry.pid) && entry.pid != 0)
                add_holder(holders, proc_, entry.pid, entry.flags, device_);
        if (files.unreadable)
            return kNeedRoot;
        return holders;
    }

    // In-process the list is all there is; replayed owners are no processes of this machine.
    Reading<std::vector<Holder>> by_list(const std::vector<Entry>& entries) {
        std::vector<Holder> holders;
        ds_process_list page{};
        page.size = sizeof(page);
        page.device_id = static_cast<std::uint32_t>(device_.logical_id);
        const Reading<ds_process_list> processes =
            driver_.flat(driver_.nodes.davsim, DS_PROCESS_LIST, page, driver_.options.timeout);
        for (const Entry& entry : entries) {
            if (skip_.contains(entry.pid))
                continue;
            std::string name;
            if (processes)
                for (std::uint32_t i = 0;
                     i < std::min<std::uint32_t>(processes->count, DS_PROCESS_PAGE); ++i) {
                    const SimProcess process = process_from_wire(processes->entry[i]);
                    if (process.host_pid == entry.pid && process.scripted)
                        name = process.name;
                }
            add_holder(holders, proc_, entry.pid, entry.flags, device_, name);
        }
        return holders;
    }

    Driver::Impl& driver_;
    const DeviceIds& device_;
    Proc proc_;
    std::set<std::int64_t> skip_;
};

} // namespace

Reading<std::vector<Holder>> Driver::holders(const DeviceIds& device) {
    impl_->enter();
    return Search(*impl_, device).run();
}

} // namespace asc::hal

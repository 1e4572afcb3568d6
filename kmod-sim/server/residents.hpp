// SPDX-License-Identifier: Apache-2.0
// The processes that a profile (or a loaded state) names: each is a real one, this program run
// again as a holder under the resident's name, a client of the socket as any other.
#pragma once

#include "kmod-sim/host/profile.hpp"
#include "kmod-sim/server/descriptor.hpp"

#include <sys/types.h>

#include <cstdint>
#include <expected>
#include <list>
#include <string>
#include <vector>

namespace asc::server {

class Loop;
class Server;

struct Resident {
    std::uint32_t device = 0;
    std::uint64_t mib = 0;
    std::string name;
    bool dead = false; // is started, then killed under a zombie rule
    // The owner's place on the device when a state was loaded: the memory is there already and
    // becomes this process'. -1: it allocates.
    int owner = -1;

    static Resident from(const sim::ResidentProfile& profile);
};

class Residents {
  public:
    Residents(Server& server, Loop& loop) : server_(server), loop_(loop) {}
    ~Residents() { end_all(); }
    Residents(const Residents&) = delete;
    Residents& operator=(const Residents&) = delete;

    // Starts one and turns the loop until it has settled.
    std::expected<void, std::string> settle(const Resident& resident);
    // Kills and reaps all.
    void end_all();
    bool is_resident(std::uint32_t pid) const;
    std::size_t count() const { return items_.size(); }
    std::vector<pid_t> pids() const;

  private:
    struct Item {
        pid_t pid = -1;
        Descriptor pidfd, report;
        std::string said;
        bool said_all = false;
    };
    std::expected<Item*, std::string> start(const Resident& resident);
    std::expected<void, std::string> wait_for_report(Item& item, const std::string& who);
    std::expected<void, std::string> let_die(Item& item, const std::string& who);
    std::expected<void, std::string> adopt_owner(const Item& item, const Resident& resident,
                                                 const std::string& who);
    void end(Item& item);

    Server& server_;
    Loop& loop_;
    std::list<Item> items_;
};

// The holder's own side: what the child does (davsimd --holder). Does not return before its end.
int holder_main(char** argv);

} // namespace asc::server

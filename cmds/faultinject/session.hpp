// SPDX-License-Identifier: Apache-2.0
// What a verb of faultinject has to work with.
#pragma once

#include "cmds/common/options.hpp"
#include "cmds/common/records.hpp"
#include "cmds/common/statuses.hpp"
#include "cmds/common/streams.hpp"
#include "hal/driver.hpp"

#include <expected>
#include <functional>
#include <string>

namespace asc::cmds::faultinject {

struct Session {
    const Arguments& arguments;
    Streams& streams;

    int fail(int status, const std::string& text) const;
    // Says what is wrong and how the verb is used.
    int usage(const std::string& text) const;
};

// A simulator to talk to, or the exit status when there is none (it has been said why).
std::expected<hal::Driver, int> connect(const Session& session);

// The records in the format and with the fields that are asked for; once, or as --watch says. The
// exit status.
int show(const Session& session, const hal::BackendInfo* backend,
         const std::function<std::expected<Records, hal::Absence>()>& take);

// Status of an absence, when it is what keeps a verb from its work.
int status_of_absence(const hal::Absence& absence);

// ---- the verbs ----
int list_rules(const Session& session);
int add_rule(const Session& session);
int clear_rules(const Session& session);
int run_scenarios(const Session& session);

} // namespace asc::cmds::faultinject

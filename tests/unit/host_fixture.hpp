// SPDX-License-Identifier: Apache-2.0
// What the tests of the hosts share: small machines and calls on them.
#pragma once

#include "kmod-sim/host/machine.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>

namespace asc::test {

inline sim::Profile profile_of(const std::string& text) {
    auto profile = sim::parse_profile(text, "test.toml");
    EXPECT_TRUE(profile) << profile.error();
    return profile ? *profile : sim::Profile{};
}

inline std::unique_ptr<sim::Machine> machine_of(const sim::Profile& profile,
                                                sim::MachineOptions options = {}) {
    auto machine = sim::Machine::create(profile, options);
    EXPECT_TRUE(machine) << machine.error();
    return machine ? std::move(*machine) : nullptr;
}

// A process of its own for each number; the real one's rights.
inline sim_ident process(std::uint32_t pid) {
    sim_ident ident = sim::self_identity();
    ident.pid = ident.ns_pid = pid;
    ident.start_time = pid * 10ULL;
    std::memset(ident.name, 0, sizeof(ident.name));
    std::strcpy(ident.name, "worker");
    return ident;
}

inline int call(sim::Machine& machine, std::uint32_t ordinal, std::uint32_t number,
                void* argument) {
    return machine
        .call(ordinal, number, reinterpret_cast<std::uint64_t>(argument), 1, sim::own_memory(),
              std::chrono::steady_clock::now() + std::chrono::seconds(20))
        .result;
}

// An open control node bound to a module.
inline std::uint32_t bound(sim::Machine& machine, const char* module, const sim_ident& ident) {
    const auto file = machine.open(DV_NODE_IS_MANAGER, 0, ident);
    EXPECT_TRUE(file);
    dv_bind bind{};
    std::strcpy(bind.module_name, module);
    EXPECT_EQ(call(machine, *file, DV_IOCTL_BIND, &bind), 0);
    return *file;
}

// Allocates on a bound extension; the result of the call.
inline int hold(sim::Machine& machine, std::uint32_t extension, std::uint32_t device,
                std::uint64_t mib, ds_alloc* out = nullptr) {
    ds_alloc alloc{};
    alloc.size = sizeof(alloc);
    alloc.device_id = device;
    alloc.bytes = mib << 20U;
    alloc.flags = DS_ALLOC_CONTEXT;
    const int result = call(machine, extension, DS_ALLOC, &alloc);
    if (out != nullptr)
        *out = alloc;
    return result;
}

inline ds_device facts(sim::Machine& machine, std::uint32_t extension, std::uint32_t device) {
    ds_device facts{};
    facts.size = sizeof(facts);
    facts.device_id = device;
    EXPECT_EQ(call(machine, extension, DS_DEVICE, &facts), 0);
    return facts;
}

} // namespace asc::test

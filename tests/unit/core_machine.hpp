// SPDX-License-Identifier: Apache-2.0
// A device model in an arena of its own, in virtual time, for the tests of kmod-sim/core.
#pragma once

#include "kmod-sim/host/model.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

namespace asc::test {

constexpr std::uint64_t kMib = 1ULL << 20U;
constexpr std::uint64_t kMs = 1000000ULL;
constexpr std::uint64_t kSecond = 1000 * kMs;
constexpr std::uint64_t kWallMs = 1767225600000ULL;

// A device with 1 GiB of HBM, no baseline, free contexts, and firmware that keeps isolated pages.
inline sim_device_config device_config(std::uint32_t id) {
    sim_device_config config{};
    config.device_id = id;
    config.physical_id = id;
    config.hbm_mib = 1024;
    config.power_dw = 2800;
    config.power_idle_dw = 850;
    config.temperature_c = 52;
    config.temperature_idle_c = 41;
    config.hbm_temperature_c = 50;
    config.hbm_temperature_idle_c = 42;
    config.voltage_mv = 900;
    config.ai_core_mhz = 1800;
    config.ai_core_rated_mhz = 1800;
    config.load_ai_core = 70;
    config.load_hbm_bandwidth = 40;
    config.reset_ms = 2000;
    config.boot_step_ms = 300;
    std::strcpy(config.firmware_version, "1.76.22.3.310");
    return config;
}

inline sim_ident process(std::uint32_t pid) {
    sim_ident ident{};
    ident.pid = pid;
    ident.ns_pid = pid;
    ident.start_time = 1000 + pid;
    ident.pid_namespace = 1;
    ident.mount_namespace = 1;
    ident.visible = ~0ULL;
    std::strcpy(ident.name, "tester");
    return ident;
}

class Arena {
  public:
    explicit Arena(std::uint32_t devices = 4, std::uint64_t seed = 1, std::uint32_t clients = 32,
                   bool fill = true) {
        sim_config config{};
        config.limits = {devices, clients};
        config.seed = seed;
        config.wall_ms = kWallMs;
        config.clock_kind = DS_CLOCK_VIRTUAL;
        config.host_pid_namespace = 1;
        config.driver_version = "25.0";
        config.profile = "test";
        config.host = "test";
        const std::size_t size = sim_arena_size(&config.limits, 0);
        memory_ = std::make_unique<std::uint64_t[]>(size / 8);
        if (sim_init(&model, memory_.get(), size, &config, 0) != 0)
            throw std::bad_alloc();
        for (std::uint32_t id = 0; fill && id < devices; ++id)
            EXPECT_EQ(0, add(device_config(id)));
    }

    int add(const sim_device_config& config, const std::vector<std::uint32_t>& isolated = {}) {
        return sim_add_device(model, &config, nullptr, isolated.data(),
                              static_cast<std::uint32_t>(isolated.size()));
    }

    struct sim_device& device(std::uint32_t id) {
        return model->device[id];
    }

    sim_client* open(const sim_ident& ident, std::uint32_t node = DV_NODE_IS_MANAGER,
                     std::uint32_t index = 0) {
        sim_client* client = nullptr;
        EXPECT_EQ(0, sim_open(model, node, index, &ident, &client));
        return client;
    }

    // Result of the allocation; address and handle are in last_address and last_handle.
    int alloc(sim_client* client, std::uint32_t id, std::uint64_t bytes, std::uint32_t flags = 0) {
        return sim_alloc(model, client, id, bytes, flags, &last_handle, &last_address);
    }

    // Time up to `now`, however many steps it takes; the next deadline.
    std::uint64_t pass(std::uint64_t now) {
        std::uint64_t next = sim_step(model, now);
        while (next <= now)
            next = sim_step(model, now);
        sim_settle(model);
        return next;
    }

    std::uint32_t rule(std::string_view text) {
        const int id = fi_add(&model->rules, text.data(), static_cast<std::uint32_t>(text.size()),
                              model->now_ns, &error_);
        EXPECT_GT(id, 0) << error_.text;
        pass(model->now_ns);
        return static_cast<std::uint32_t>(id);
    }

    void clear_rule(std::uint32_t id) {
        EXPECT_EQ(1U, fi_clear(&model->rules, id));
        sim_settle(model);
    }

    std::vector<ds_journal_record> journal() {
        std::vector<ds_journal_record> records(SIM_JOURNAL_MAX + 1);
        std::uint64_t cursor = 0, lost = 0;
        records.resize(sim_journal_read(model, &cursor, &lost, records.data(),
                                        static_cast<std::uint32_t>(records.size())));
        return records;
    }

    std::vector<ds_journal_record> journal(std::uint16_t kind, std::uint32_t id) {
        std::vector<ds_journal_record> found;
        for (const ds_journal_record& record : journal())
            if (record.kind == kind && record.device_id == id)
                found.push_back(record);
        return found;
    }

    ::sim* model = nullptr;
    std::uint32_t last_handle = 0;
    std::uint64_t last_address = 0;

  private:
    std::unique_ptr<std::uint64_t[]> memory_;
    fi_error error_{};
};

// Pages, owners and counts of a device agree with its extents.
inline void expect_consistent(const struct sim_device& device) {
    std::uint64_t used = device.baseline_pages;
    std::vector<std::uint64_t> bytes(SIM_OWNERS_MAX);
    std::vector<bool> context(SIM_OWNERS_MAX);
    std::uint64_t end = 0;
    for (std::uint32_t i = 0; i < device.extent_count; ++i) {
        const sim_extent& extent = device.extent[i];
        used += extent.page_count;
        bytes[extent.owner] += extent.page_count * SIM_PAGE_SIZE;
        if (extent.context)
            context[extent.owner] = true;
        EXPECT_NE(0U, extent.handle);
        if (extent.page_count != 0) {
            EXPECT_GE(extent.first_page, end) << "extents overlap or are out of order";
            EXPECT_GE(extent.first_page, device.baseline_pages);
            end = std::uint64_t{extent.first_page} + extent.page_count;
            EXPECT_LE(end, device.total_pages);
            for (std::uint32_t p = 0; p < device.page_count; ++p)
                EXPECT_TRUE(device.page[p].state == SIM_PAGE_GOOD ||
                            device.page[p].number < extent.first_page ||
                            device.page[p].number >= end)
                    << "page " << device.page[p].number << " was handed out";
        }
    }
    EXPECT_EQ(used, device.used_pages);
    for (std::uint32_t i = 0; i < SIM_OWNERS_MAX; ++i) {
        EXPECT_EQ(bytes[i], device.owner[i].bytes) << "owner " << i;
        EXPECT_EQ(context[i], device.owner[i].context != 0) << "owner " << i;
        EXPECT_EQ(bytes[i] != 0 || context[i], device.owner[i].used != 0) << "owner " << i;
    }
}

} // namespace asc::test

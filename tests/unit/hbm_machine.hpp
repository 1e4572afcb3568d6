// SPDX-License-Identifier: Apache-2.0
// A small machine of the device model for tests of what HBM holds: virtual time, one client.
#pragma once

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast" // headers of C code
#include "kmod-sim/core/div.h"
#include "kmod-sim/host/model.hpp"
extern "C" {
#pragma GCC diagnostic ignored "-Wshadow"
#include "kmod-sim/core/ecc.h"
}
#pragma GCC diagnostic pop

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kSecond = 1'000 * kMs;
constexpr std::uint64_t kWallStart = 1'780'000'000'000; // ms since the epoch at time 0

struct MachineSpec {
    std::uint32_t devices = 2;
    std::uint32_t hbm_mib = 64; // 1024 pages
    std::uint32_t scrub_ms = 1000;
    std::uint32_t page_threshold = 8;
    std::uint64_t seed = 42;
    const char* firmware = "1.76.22.3.310";
};

class HbmMachine {
  public:
    explicit HbmMachine(const MachineSpec& spec = {}) {
        sim_config config{};
        config.limits = {spec.devices, 16};
        config.seed = spec.seed;
        config.wall_ms = kWallStart;
        config.clock_kind = DS_CLOCK_VIRTUAL;
        config.driver_version = "test";
        config.profile = "test";
        config.host = "test";
        const std::size_t size = sim_arena_size(&config.limits, 0);
        arena_ = std::make_unique<std::uint64_t[]>(size / 8 + 1);
        EXPECT_EQ(sim_init(&sim_, arena_.get(), size, &config, 0), 0);
        for (std::uint32_t id = 0; id < spec.devices; ++id) {
            sim_device_config device{};
            device.device_id = id;
            device.hbm_mib = spec.hbm_mib;
            device.scrub_ms = spec.scrub_ms;
            device.page_threshold = spec.page_threshold;
            device.reset_ms = 4000;
            device.power_limit_dw = 3500;
            std::strncpy(device.firmware_version, spec.firmware,
                         sizeof device.firmware_version - 1);
            EXPECT_EQ(sim_add_device(sim_, &device, nullptr, nullptr, 0), 0);
        }
        client_ = open(4242, "python3");
    }

    sim* get() { return sim_; }
    struct sim_device& device(std::uint32_t id = 0) {
        return sim_->device[id];
    }
    sim_ecc& ecc(std::uint32_t id = 0) { return sim_->device[id].ecc; }
    sim_client* client() { return client_; }

    sim_client* open(std::uint32_t pid, const char* name) {
        sim_ident ident{};
        ident.pid = pid;
        ident.start_time = pid;
        ident.visible = ~0ULL;
        std::strncpy(ident.name, name, sizeof ident.name - 1);
        sim_client* out = nullptr;
        EXPECT_EQ(sim_open(sim_, DV_NODE_IS_MANAGER, 0, &ident, &out), 0);
        return out;
    }

    // Address of a new allocation.
    std::uint64_t alloc(std::uint64_t bytes, std::uint32_t id = 0, sim_client* by = nullptr,
                        std::uint32_t* handle = nullptr) {
        std::uint64_t address = 0;
        std::uint32_t own = 0;
        EXPECT_EQ(
            sim_alloc(sim_, by ? by : client_, id, bytes, 0, handle ? handle : &own, &address), 0);
        return address;
    }

    int access(std::uint32_t kind, std::uint64_t address, std::uint64_t count = 1,
               std::uint64_t value = 0, std::uint32_t id = 0) {
        last = {};
        last.device_id = id;
        last.address = address;
        last.count = count;
        last.value = value;
        last.store = kind;
        return sim_access(sim_, client_, id, &last);
    }
    int load(std::uint64_t address, std::uint64_t count = 1, std::uint32_t id = 0) {
        return access(DS_ACCESS_LOAD, address, count, 0, id);
    }
    int store(std::uint64_t address, std::uint64_t value, std::uint64_t count = 1) {
        return access(DS_ACCESS_STORE, address, count, value);
    }
    int raw(std::uint64_t address) { return access(DS_ACCESS_RAW, address); }

    int flip(std::uint64_t address, std::initializer_list<int> bits, std::uint32_t id = 0) {
        std::vector<std::uint8_t> list;
        for (const int bit : bits)
            list.push_back(static_cast<std::uint8_t>(bit));
        return sim_flip(sim_, id, address, list.data(), static_cast<std::uint32_t>(list.size()));
    }

    int rule(std::string_view text) {
        fi_error error{};
        const int id = fi_add(&sim_->rules, text.data(), static_cast<std::uint32_t>(text.size()),
                              sim_->now_ns, &error);
        EXPECT_GT(id, 0) << text << ": " << error.text;
        return id;
    }

    std::uint64_t step(std::uint64_t to_ns) {
        std::uint64_t next = sim_step(sim_, to_ns);
        while (next <= to_ns)
            next = sim_step(sim_, to_ns);
        sim_settle(sim_);
        return next;
    }

    std::vector<sim_event> events(std::uint32_t event_id) {
        sim_settle(sim_);
        std::vector<sim_event> out;
        for (std::uint64_t i = 0; i < sim_->history_head; ++i)
            if (const sim_event* event = sim_history(sim_, i); event && event->event_id == event_id)
                out.push_back(*event);
        return out;
    }

    bool active(std::uint32_t event_id, std::uint32_t id = 0) {
        for (std::uint32_t slot = 0; slot < device(id).fault_count; ++slot)
            if (device(id).fault[slot].event_id == event_id)
                return true;
        return false;
    }

    std::vector<ds_journal_record> journal(std::uint16_t kind) {
        std::vector<ds_journal_record> out;
        ds_journal_record record[16];
        std::uint64_t cursor = 0, lost = 0;
        while (const std::uint32_t count = sim_journal_read(sim_, &cursor, &lost, record, 16))
            for (std::uint32_t i = 0; i < count; ++i)
                if (record[i].kind == kind)
                    out.push_back(record[i]);
        return out;
    }

    // Ends what the client holds and resets the device.
    void reset(std::uint32_t id = 0) {
        sim_release(sim_, client_);
        ASSERT_EQ(sim_reset(sim_, id, nullptr), 0);
        step(sim_->now_ns + 5 * kSecond);
        client_ = open(4242, "python3");
        ASSERT_EQ(device(id).state, DS_STATE_OK);
    }

    ds_access last{}; // of the last access

  private:
    std::unique_ptr<std::uint64_t[]> arena_;
    sim* sim_ = nullptr;
    sim_client* client_ = nullptr;
};

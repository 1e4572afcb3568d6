// SPDX-License-Identifier: Apache-2.0
// The state file: what is saved loads and is the same; what is damaged is refused by name.
#include "kmod-sim/host/state_file.hpp"
#include "tests/unit/host_fixture.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace asc::sim {
namespace {

using nlohmann::json;
using test::bound;
using test::facts;
using test::hold;
using test::machine_of;
using test::process;
using test::profile_of;
using testing::HasSubstr;

// A machine with something in every table: owners alive and dead, damaged and stored words, pages,
// faults, records, rules in use, a device that resets, one that is lost, one that is gone.
std::unique_ptr<Machine> machine_in_trouble() {
    MachineOptions options;
    options.clock = Clock::virtual_time;
    options.seed = 7;
    const auto profile = load_profile("handbook");
    auto machine = machine_of(*profile, options);
    const auto file = bound(*machine, DS_MODULE_NAME, process(77));
    ds_alloc alloc{};
    EXPECT_EQ(hold(*machine, file, 5, 64, &alloc), 0);
    ds_access access{};
    access.size = sizeof(access);
    access.device_id = 5;
    access.address = alloc.address;
    access.count = 1000;
    access.value = 0x1122334455667788ULL;
    access.store = 1;
    EXPECT_EQ(test::call(*machine, file, DS_ACCESS, &access), 0);
    machine->with_sim([&](::sim& model) {
        const std::uint8_t one[] = {5}, two[] = {5, 66};
        EXPECT_EQ(sim_flip(&model, 5, alloc.address + 80, one, 1), 0);
        EXPECT_EQ(sim_flip(&model, 5, alloc.address + 800, two, 2), 0);
        EXPECT_EQ(sim_flip(&model, 6, 4096, one, 1), 0);
        sim_settle(&model);
    });
    access.store = 0;
    access.count = 50;
    test::call(*machine, file, DS_ACCESS, &access);
    access.count = 200;
    EXPECT_EQ(test::call(*machine, file, DS_ACCESS, &access), -EIO);
    EXPECT_TRUE(machine->add_rule("ecc bits=1 random rate=0.5 dev=3"));
    EXPECT_TRUE(machine->add_rule("surface cmd=davsim.device mode=err errno=EIO interval=3"));
    EXPECT_TRUE(machine->add_rule("lost dev=7"));
    for (int i = 0; i < 5; ++i) {
        ds_device device{};
        device.size = sizeof(device);
        test::call(*machine, file, DS_DEVICE, &device);
    }
    machine->advance(2500000000);
    EXPECT_EQ(machine->hotplug(4, DS_HOTPLUG_REMOVE), 0);
    machine->with_sim([](::sim& model) {
        sim_client* nobody = nullptr;
        EXPECT_EQ(sim_reset(&model, 6, nobody), 0);
        sim_settle(&model);
    });
    machine->advance(10000000);
    return machine;
}

// What names the run and not the machine: the processes and open files.
void forget_processes(json& state) {
    for (json& device : state["device"]) {
        for (json& owner : device["owner"])
            for (const char* key : {"pid", "ns_pid", "start_time", "pid_namespace", "scripted"})
                owner.erase(key);
        for (json& extent : device["extent"])
            extent.erase("client");
        device.erase("journal_sequence");
    }
    state["machine"].erase("next_ordinal");
    state["machine"].erase("next_ticket");
    state["machine"].erase("journal_head");
    state["machine"].erase("journal_system_sequence");
    state.erase("journal");
}

TEST(State, WhatIsLoadedIsWhatWasSaved) {
    const auto machine = machine_in_trouble();
    const std::string text = save_state(*machine);
    auto loaded = load_state(text, {});
    ASSERT_TRUE(loaded) << loaded.error();
    EXPECT_EQ(save_state(*loaded->machine), text);
    // Again with somebody standing for the live owners.
    ASSERT_EQ(loaded->owners.size(), 4U); // three residents and the worker
    const auto adopted = adopt_scripted(*loaded);
    ASSERT_TRUE(adopted) << adopted.error();
    json before = json::parse(text), after = json::parse(save_state(*loaded->machine));
    forget_processes(before);
    forget_processes(after);
    EXPECT_EQ(json::diff(before, after), json::array());
}

TEST(State, EveryTableWasFilled) {
    const auto machine = machine_in_trouble();
    const json state = json::parse(save_state(*machine));
    std::set<std::string> filled;
    for (const json& device : state["device"])
        for (const char* table : {"owner", "extent", "word", "fill", "page", "fault"})
            if (!device[table].empty())
                filled.insert(table);
    EXPECT_THAT(filled,
                testing::UnorderedElementsAre("owner", "extent", "word", "fill", "page", "fault"));
    EXPECT_FALSE(state["history"].empty());
    EXPECT_EQ(state["rules"]["rule"].size(), 3U);
    EXPECT_EQ(state["device"][7]["state"], DS_STATE_LOST);
    EXPECT_EQ(state["device"][6]["state"], DS_STATE_RESETTING);
    EXPECT_EQ(state["device"][4]["state"], DS_STATE_ABSENT);
}

TEST(State, ALoadedMachineGoesOnAsTheSavedOne) {
    const auto machine = machine_in_trouble();
    auto loaded = load_state(save_state(*machine), {});
    ASSERT_TRUE(loaded) << loaded.error();
    machine->advance(3000000000);
    loaded->machine->advance(3000000000);
    EXPECT_EQ(save_state(*machine), save_state(*loaded->machine));
}

TEST(State, MemoryOfADeadOwnerIsStillThereAndThatOfAnAdoptedOneIsFreed) {
    const auto machine = machine_in_trouble();
    auto loaded = load_state(save_state(*machine), {});
    ASSERT_TRUE(loaded) << loaded.error();
    ASSERT_TRUE(adopt_scripted(*loaded));
    Machine& again = *loaded->machine;
    const auto file = bound(again, DS_MODULE_NAME, process(5));
    again.clear_rule(0);
    EXPECT_EQ(facts(again, file, 2).hbm_unowned_kib, 65536U << 10U);
    EXPECT_EQ(facts(again, file, 0).hbm_unowned_kib, 0U);
    EXPECT_EQ(facts(again, file, 0).hbm_used_kib, 32768U << 10U);
    // The end of the process that stands for it gives its memory back.
    std::vector<std::uint32_t> files = again.with_sim([](::sim& model) {
        std::vector<std::uint32_t> found;
        for (std::uint32_t i = 0; i < model.limits.client_count; ++i)
            if (model.client[i].ordinal != 0 &&
                (model.client[i].ident.flags & DS_PROCESS_SCRIPTED) != 0)
                found.push_back(model.client[i].ordinal);
        return found;
    });
    for (const std::uint32_t ordinal : files)
        again.release(ordinal);
    EXPECT_EQ(facts(again, file, 0).hbm_used_kib, 0U);
    EXPECT_EQ(facts(again, file, 2).hbm_used_kib, 65536U << 10U);
}

TEST(State, NamesOfAnyBytesSurvive) {
    const auto machine = machine_of(profile_of("[[device]]\n"));
    sim_ident ident = process(9);
    std::memcpy(ident.name,
                "\xf8\x01"
                "B\x1b[2J\xc3",
                9);
    const auto file = bound(*machine, DS_MODULE_NAME, ident);
    ASSERT_EQ(hold(*machine, file, 0, 10), 0);
    auto loaded = load_state(save_state(*machine), {});
    ASSERT_TRUE(loaded) << loaded.error();
    ASSERT_EQ(loaded->owners.size(), 1U);
    EXPECT_EQ(loaded->owners[0].name, ident.name);
}

TEST(State, CutAnywhereItIsRefused) {
    const auto machine = machine_of(profile_of("[[device]]\n"));
    const std::string text = save_state(*machine);
    for (std::size_t length = 0; length + 2 < text.size(); ++length) // the last are "}\n"
        ASSERT_FALSE(load_state(std::string_view(text).substr(0, length), {})) << length;
    ASSERT_TRUE(load_state(text, {}));
}

// Every number of the file replaced by numbers that are too large or negative, every text by a
// number, every field taken away: refused under the field's own path, or as a contradiction.
class Damage {
  public:
    explicit Damage(json root) : root_(std::move(root)) { walk(root_, ""); }
    std::size_t tried = 0;

  private:
    void refused(const std::string& path, const char* how) {
        ++tried;
        const auto loaded = load_state(root_.dump(), {});
        ASSERT_FALSE(loaded) << path << " " << how;
        EXPECT_THAT(loaded.error(), HasSubstr("expected ")) << path;
        EXPECT_THAT(loaded.error(), HasSubstr(path)) << how;
    }
    void walk(json& at, const std::string& path) {
        if (at.is_array()) {
            for (std::size_t i = 0; i < at.size(); ++i)
                walk(at[i], path + "[" + std::to_string(i) + "]");
            return;
        }
        if (at.is_object()) {
            std::vector<std::string> keys;
            for (const auto& [key, value] : at.items())
                keys.push_back(key);
            for (const std::string& key : keys) {
                const std::string inner = path.empty() ? key : path + "." + key;
                walk(at[key], inner);
                const json kept = at[key];
                at.erase(key);
                refused(inner, "taken away");
                at[key] = kept;
            }
            at["stranger"] = 1;
            refused(path.empty() ? "stranger" : path + ".stranger", "added");
            at.erase("stranger");
            return;
        }
        const json kept = at;
        for (const json& other : {json("text\x01"), json(), json(1.5), json(-1e30), json::array(),
                                  json(std::string(5000, 'x'))}) {
            if (other.is_string() && kept.is_string() && other.get<std::string>().size() < 5000)
                continue;
            at = other;
            refused(path, other.dump().substr(0, 20).c_str());
        }
        at = kept;
    }

    json root_;
};

TEST(State, EveryDamagedFieldIsRefusedByName) {
    const auto machine =
        machine_of(profile_of("[[device]]\n"
                              "[device.ecc]\nsingle = 1\nisolated_pages = [9]\n"
                              "single_records = [{address = 64, age = 5}]\n"
                              "[[resident]]\ndevice = 0\nmib = 64\nname = \"x\"\n"));
    ASSERT_TRUE(machine->add_rule("lost dev=0 after=100"));
    json root = json::parse(save_state(*machine));
    // One of each is enough.
    root["journal"].erase(root["journal"].begin() + 1, root["journal"].end());
    root["machine"]["journal_head"] = 1;
    root["machine"]["journal_read"] = 0;
    ASSERT_TRUE(load_state(root.dump(), {})) << load_state(root.dump(), {}).error();
    const Damage damage(root);
    EXPECT_GT(damage.tried, 800U);
}

TEST(State, ContradictionsBetweenFieldsAreRefused) {
    const auto machine = machine_in_trouble();
    const json good = json::parse(save_state(*machine));
    const struct {
        const char *pointer, *path;
        json value;
    } cases[] = {
        {"/device/0/total_pages", "device[0].total_pages", 1000},
        {"/device/0/used_pages", "device[0].used_pages", 1},
        {"/device/0/owner/0/bytes", "device[0].owner of place 0.bytes", 65536},
        {"/device/0/owner/0/context", "device[0].owner of place 0.context", 0},
        {"/device/0/owner/0/place", "device[0].extent[0].owner", 5},
        {"/device/0/extent/0/owner", "device[0].extent[0].owner", 3},
        {"/device/0/extent/1/first_page", "device[0].extent[1].page_count", 1048575},
        {"/device/0/extent/1/page_count", "device[0].extent[1].page_count", 7},
        {"/device/3/word/0/address", "device[3].word[0].address", 5},
        {"/device/5/fill/0/end", "device[5].fill[0].end", 0},
        {"/device/5/page/0/number", "device[5].page[0].number", 4000000000U},
        {"/device/1/pages_isolated", "device[1].pages_isolated", 0},
        {"/device/1/device_id", "device[1].device_id", 0},
        {"/device/1/device_id", "device[1].device_id", 60},
        {"/device/0/sensors/power_mw", "device[0].sensors.power_mw", 1},
        {"/device/0/config/chip", "device[0].config.chip", 3},
        {"/rules/rule/0/id", "rules.rule[0].id", 4000000000U},
        {"/rules/rule/1/id", "rules.rule[1].id", 1},
        {"/rules/rule/0/text", "rules.rule[0].text", "lost"},
        {"/rules/rule/1/skipped", "rules.rule[1].skipped", 3},
        {"/rules/rule/0/phase", "rules.rule[0].phase", 4000000000U},
        {"/history/0/device", "history", 60},
        {"/machine/device_slots", "device", 3},
        {"/machine/history_head", "history", 0},
        {"/format", "format", "something else"},
        {"/version", "version", 2},
    };
    for (const auto& c : cases) {
        json bad = good;
        ASSERT_TRUE(bad.contains(json::json_pointer(c.pointer))) << c.pointer;
        bad[json::json_pointer(c.pointer)] = c.value;
        const auto loaded = load_state(bad.dump(), {});
        ASSERT_FALSE(loaded) << c.pointer;
        EXPECT_THAT(loaded.error(), HasSubstr(std::string(c.path) + ": expected ")) << c.pointer;
    }
    json twice = good;
    twice["device"][0]["extent"][1]["handle"] = twice["device"][0]["extent"][0]["handle"];
    ASSERT_FALSE(load_state(twice.dump(), {}));
    for (const char* text : {"", "5", "[]", "null", "{", "{}"})
        EXPECT_FALSE(load_state(text, {})) << text;
}

TEST(State, TheClockOfTheFileHoldsUnlessAnotherIsAskedFor) {
    const std::string text = save_state(*machine_in_trouble());
    MachineOptions options;
    options.clock = Clock::real;
    EXPECT_EQ(load_state(text, options)->machine->clock(), Clock::virtual_time);
    auto real = load_state(text, options, true);
    ASSERT_TRUE(real);
    EXPECT_EQ(real->machine->clock(), Clock::real);
    // The wall clock of a machine in real time is the present one.
    const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
                         std::chrono::system_clock::now().time_since_epoch())
                         .count();
    EXPECT_NEAR(static_cast<double>(real->machine->wall_ms()), static_cast<double>(now), 5000);
}

// A struct that grows has a field that the state file must name (kmod-sim/host/state_fields.hpp)
// and then this list its new size.
TEST(State, NoStructHasGrownUnnoticed) {
    EXPECT_EQ(sizeof(sim_device_config), 444U);
    EXPECT_EQ(sizeof(sim_owner), 64U);
    EXPECT_EQ(sizeof(sim_extent), 32U);
    EXPECT_EQ(sizeof(sim_ecc), 2080U);
    EXPECT_EQ(sizeof(sim_word), 32U);
    EXPECT_EQ(sizeof(sim_fill), 24U);
    EXPECT_EQ(sizeof(sim_page), 8U);
    EXPECT_EQ(sizeof(sim_sensors), 32U);
    EXPECT_EQ(sizeof(sim_fault), 56U);
    EXPECT_EQ(sizeof(sim_event), 64U);
    EXPECT_EQ(sizeof(ds_journal_record), 48U);
    EXPECT_EQ(sizeof(fi_rule), 472U);
    EXPECT_EQ(sizeof(struct ::sim_device), 100640U);
    EXPECT_EQ(sizeof(::sim), 537432U);
}

} // namespace
} // namespace asc::sim

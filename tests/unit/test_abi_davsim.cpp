// SPDX-License-Identifier: Apache-2.0
// The simulator's extension: sizes and reserved fields, lists in pages, rules, clock, journal.
#include "tests/unit/abi_calls.hpp"

#include <gtest/gtest.h>

#include <set>

namespace asc::test {
namespace {

constexpr const char* kTwo = R"(
[[device]]
context_mib = 16
baseline_mib = 100
power_limit_w = 350
oom_count = 7
serial = "SN-1"
[[device]]
id = 1
bus_id = "0000:02:00.0"
baseline_known = false
power_limit_w = 0
)";

class AbiDavsim : public ::testing::Test {
  protected:
    AbiDavsim() : machine(profile_of(kTwo), {.client_limit = 256}) {
        file = machine.open_bound("davsim", AbiMachine::ident(4321));
    }
    template <class T> static std::unique_ptr<T> sized() {
        auto made = std::make_unique<T>();
        made->size = sizeof(T);
        return made;
    }
    int alloc(sim_client* client, std::uint32_t device, std::uint64_t mib,
              std::uint32_t flags = 0) {
        ds_alloc argument{};
        argument.size = sizeof(argument);
        argument.device_id = device;
        argument.bytes = mib << 20U;
        argument.flags = flags;
        const int result = machine.ask(client, DS_ALLOC, argument);
        last = argument;
        return result;
    }

    AbiMachine machine;
    sim_client* file = nullptr;
    ds_alloc last{};
};

// A struct of another version is refused, whatever else it holds.
TEST_F(AbiDavsim, TheSizeFieldMustBeRight) {
    for (unsigned id = 1; id < DV_CMD_COUNT; ++id) {
        const dv_command_info& info = *dv_command(id);
        if (info.kind != DV_KIND_IOCTL || info.module != DV_MOD_DAVSIM)
            continue;
        for (const std::uint32_t size : {0U, info.in_len - 4, info.in_len + 4}) {
            std::vector<std::uint8_t> argument(info.in_len);
            std::memcpy(argument.data(), &size, 4);
            EXPECT_EQ(flat_shot(machine, file, info.number, argument)->run(), -EINVAL)
                << info.name << " " << size;
        }
    }
    EXPECT_EQ(flat_shot(machine, file, DV_IOC(3, 'S', 99, 8), std::vector<std::uint8_t>(8))->run(),
              -EOPNOTSUPP);
}

TEST_F(AbiDavsim, ReservedFieldsMustBeZero) {
    const auto refused = [&](std::uint32_t number, std::size_t size, std::size_t offset) {
        std::vector<std::uint8_t> argument(size);
        const auto length = static_cast<std::uint32_t>(size);
        std::memcpy(argument.data(), &length, 4);
        argument[offset] = 1;
        return flat_shot(machine, file, number, argument)->run() == -EINVAL;
    };
    EXPECT_TRUE(refused(DS_INFO, sizeof(ds_info), offsetof(ds_info, reserved) + 27));
    EXPECT_TRUE(refused(DS_DEVICE, sizeof(ds_device), offsetof(ds_device, reserved)));
    EXPECT_TRUE(
        refused(DS_PROCESS_LIST, sizeof(ds_process_list), offsetof(ds_process_list, reserved)));
    EXPECT_TRUE(
        refused(DS_HOLDER_LIST, sizeof(ds_holder_list), offsetof(ds_holder_list, reserved)));
    EXPECT_TRUE(refused(DS_FREE, sizeof(ds_free), offsetof(ds_free, reserved)));
    EXPECT_TRUE(refused(DS_CLOCK, sizeof(ds_clock), offsetof(ds_clock, reserved)));
    EXPECT_TRUE(refused(DS_HOTPLUG, sizeof(ds_hotplug), offsetof(ds_hotplug, reserved)));
    EXPECT_TRUE(refused(DS_ALLOC, sizeof(ds_alloc), offsetof(ds_alloc, flags) + 3));
    EXPECT_TRUE(refused(DS_HOTPLUG, sizeof(ds_hotplug), offsetof(ds_hotplug, operation) + 1));
    EXPECT_TRUE(refused(DS_CLOCK, sizeof(ds_clock), offsetof(ds_clock, operation) + 1));
}

TEST_F(AbiDavsim, DeviceFactsSayWhatIsKnown) {
    ASSERT_EQ(alloc(file, 0, 64, DS_ALLOC_CONTEXT), 0);
    auto facts = sized<ds_device>();
    ASSERT_EQ(machine.ask(file, DS_DEVICE, *facts), 0);
    EXPECT_EQ(facts->known,
              DS_KNOWN_BASELINE | DS_KNOWN_POWER_LIMIT | DS_KNOWN_OOM_COUNT | DS_KNOWN_PROCESSES);
    EXPECT_EQ(facts->hbm_total_kib, 65536ULL << 10U);
    EXPECT_EQ(facts->hbm_baseline_kib, 100ULL << 10U);
    EXPECT_EQ(facts->hbm_used_kib, (100ULL + 64 + 16) << 10U);
    EXPECT_EQ(facts->power_limit_dw, 3500U);
    EXPECT_EQ(facts->oom_count, 7U);
    EXPECT_EQ(facts->owner_count, 1U);
    EXPECT_EQ(facts->context_kib, 16U << 10U);
    EXPECT_STREQ(facts->serial, "SN-1");
    facts->device_id = 1;
    *facts = ds_device{};
    facts->size = sizeof(*facts);
    facts->device_id = 1;
    ASSERT_EQ(machine.ask(file, DS_DEVICE, *facts), 0);
    EXPECT_EQ(facts->known, DS_KNOWN_OOM_COUNT | DS_KNOWN_PROCESSES);
    EXPECT_EQ(facts->hbm_baseline_kib, 0U); // unknown, and it says so
}

TEST_F(AbiDavsim, ALostDeviceStillHasFactsAndOwners) {
    ASSERT_EQ(alloc(file, 0, 64), 0);
    const ds_alloc held = last;
    ASSERT_EQ(sim_hotplug(machine.model(), 0, DS_HOTPLUG_LOSE), 0);
    auto facts = sized<ds_device>();
    ASSERT_EQ(machine.ask(file, DS_DEVICE, *facts), 0);
    EXPECT_EQ(facts->state, DS_STATE_LOST);
    auto list = sized<ds_process_list>();
    ASSERT_EQ(machine.ask(file, DS_PROCESS_LIST, *list), 0);
    EXPECT_EQ(list->total, 1U);
    EXPECT_EQ(alloc(file, 0, 1), -ENODEV);
    auto access = sized<ds_access>();
    access->address = held.address;
    access->count = 1;
    EXPECT_EQ(machine.ask(file, DS_ACCESS, *access), -ENODEV);
}

TEST_F(AbiDavsim, ProcessesComeInPages) {
    for (std::uint32_t pid = 100; pid < 100 + 70; ++pid) {
        sim_client* owner = machine.open_bound("davsim", AbiMachine::ident(pid));
        ASSERT_EQ(alloc(owner, 0, 1), 0);
    }
    std::set<std::uint32_t> pids;
    auto list = sized<ds_process_list>();
    unsigned pages = 0;
    do {
        ASSERT_EQ(machine.ask(file, DS_PROCESS_LIST, *list), 0);
        EXPECT_EQ(list->total, 70U);
        for (std::uint32_t i = 0; i < list->count; ++i) {
            EXPECT_TRUE(pids.insert(list->entry[i].host_pid).second);
            EXPECT_EQ(list->entry[i].bytes, 1U << 20U);
            EXPECT_STREQ(list->entry[i].name, "test");
        }
        ++pages;
    } while (list->cursor != 0 && pages < 10);
    EXPECT_EQ(pages, 3U);
    EXPECT_EQ(pids.size(), 70U);
    list->cursor = 0xFFFFFFFF;
    EXPECT_EQ(machine.ask(file, DS_PROCESS_LIST, *list), -EINVAL);
}

TEST_F(AbiDavsim, HoldersAreOpenFilesThatKeepTheDeviceBusy) {
    const auto flags_of = [&](std::uint32_t device) {
        std::map<std::uint32_t, std::uint32_t> found;
        auto list = sized<ds_holder_list>();
        list->device_id = device;
        do {
            EXPECT_EQ(machine.ask(file, DS_HOLDER_LIST, *list), 0);
            for (std::uint32_t i = 0; i < list->count; ++i)
                found[list->entry[i].host_pid] |= list->entry[i].flags;
        } while (list->cursor != 0);
        return found;
    };
    EXPECT_TRUE(flags_of(0).empty());
    machine.open(DV_NODE_IS_DEVICE, 0, AbiMachine::ident(1));
    ASSERT_EQ(alloc(machine.open_bound("davsim", AbiMachine::ident(2)), 0, 4), 0);
    ASSERT_EQ(alloc(machine.open_bound("davsim", AbiMachine::ident(3)), 0, 0, DS_ALLOC_CONTEXT), 0);
    sim_client* hdc = machine.open(DV_NODE_IS_HDC, 0, AbiMachine::ident(4));
    ASSERT_EQ(hdc_connect(machine, hdc, 0).result, 0);
    const std::map<std::uint32_t, std::uint32_t> expected{
        {1, DS_HOLDER_NODE}, {2, DS_HOLDER_MEMORY}, {3, DS_HOLDER_MEMORY}, {4, DS_HOLDER_SESSION}};
    EXPECT_EQ(flags_of(0), expected);
    EXPECT_TRUE(flags_of(1).empty());
    for (std::uint32_t pid = 100; pid < 100 + 80; ++pid)
        machine.open(DV_NODE_IS_DEVICE, 1, AbiMachine::ident(pid));
    EXPECT_EQ(flags_of(1).size(), 80U);
}

TEST_F(AbiDavsim, MemoryIsTheOpenFilesOwn) {
    ASSERT_EQ(alloc(file, 0, 4), 0);
    const ds_alloc mine = last;
    sim_client* other = machine.open_bound("davsim", AbiMachine::ident(2));
    auto access = sized<ds_access>();
    access->address = mine.address;
    access->count = 1;
    access->store = DS_ACCESS_STORE;
    access->value = 0x1234;
    EXPECT_EQ(machine.ask(other, DS_ACCESS, *access), -EFAULT);
    EXPECT_EQ(machine.ask(file, DS_ACCESS, *access), 0);
    access->store = DS_ACCESS_LOAD;
    access->value = 0;
    EXPECT_EQ(machine.ask(file, DS_ACCESS, *access), 0);
    EXPECT_EQ(access->value, 0x1234U);
    access->store = 3;
    EXPECT_EQ(machine.ask(file, DS_ACCESS, *access), -EINVAL);
    ds_free release{sizeof(release), 0, mine.handle, 0};
    EXPECT_EQ(machine.ask(other, DS_FREE, release), -ENOENT);
    EXPECT_EQ(machine.ask(file, DS_FREE, release), 0);
    EXPECT_EQ(machine.ask(file, DS_FREE, release), -ENOENT);
    EXPECT_EQ(alloc(file, 0, 1ULL << 20U), -ENOMEM);
}

TEST_F(AbiDavsim, AnUncorrectableLoadTellsWhere) {
    ASSERT_EQ(alloc(file, 0, 4), 0);
    const std::uint8_t bits[] = {3, 9};
    ASSERT_EQ(sim_flip(machine.model(), 0, last.address + 64, bits, 2), 0);
    auto access = sized<ds_access>();
    access->address = last.address;
    access->count = 16;
    EXPECT_EQ(machine.ask(file, DS_ACCESS, *access), -EIO);
    EXPECT_EQ(access->bad_address, last.address + 64);
}

TEST_F(AbiDavsim, ABadRuleIsExplained) {
    auto rule = sized<ds_rule_add>();
    const std::string text = "surface cmd=devmng.device_status mode=sometimes";
    rule->length = static_cast<std::uint32_t>(text.size());
    std::memcpy(rule->text, text.data(), text.size());
    EXPECT_EQ(machine.ask(file, DS_RULE_ADD, *rule), -EINVAL);
    EXPECT_EQ(rule->id, 0U);
    EXPECT_GT(rule->error_position, 0U);
    EXPECT_LT(rule->error_position, text.size());
    EXPECT_NE(rule->error[0], 0);
    EXPECT_NE(std::memchr(rule->error, 0, sizeof(rule->error)), nullptr);
    rule->length = DS_TEXT_MAX + 1;
    EXPECT_EQ(machine.ask(file, DS_RULE_ADD, *rule), -EINVAL);
}

TEST_F(AbiDavsim, RulesAreListedWithTheirHits) {
    machine.add_rule("zombie client=77");
    machine.add_rule("surface cmd=devmng.device_status mode=err errno=EIO times=2");
    sim_client* devmng = machine.open_bound("DEVMNG", AbiMachine::ident(1));
    EXPECT_EQ(flat_shot(machine, devmng, DV_IO('M', 7), {0, 0, 0, 0})->run(), -EIO);
    auto rule = sized<ds_rule_get>();
    rule->id = 2;
    ASSERT_EQ(machine.ask(file, DS_RULE_GET, *rule), 0);
    EXPECT_EQ(rule->id, 2U);
    EXPECT_EQ(rule->hits, 1U);
    EXPECT_EQ(rule->remaining, 1U);
    EXPECT_EQ(std::string(rule->text, rule->length),
              "surface cmd=devmng.device_status mode=err errno=EIO times=2");
    rule->id = 3;
    EXPECT_EQ(machine.ask(file, DS_RULE_GET, *rule), -ENOENT);
    ds_rule_clear clear{sizeof(clear), 9};
    EXPECT_EQ(machine.ask(file, DS_RULE_CLEAR, clear), -ENOENT);
    clear.id = 0;
    EXPECT_EQ(machine.ask(file, DS_RULE_CLEAR, clear), 0);
    EXPECT_EQ(machine.ask(file, DS_RULE_CLEAR, clear), 0); // all of none
    rule->id = 0;
    EXPECT_EQ(machine.ask(file, DS_RULE_GET, *rule), -ENOENT);
}

TEST_F(AbiDavsim, TheClockMovesInVirtualTimeAlone) {
    auto clock = sized<ds_clock>();
    clock->operation = DS_CLOCK_ADVANCE;
    clock->advance_ns = 5000000;
    ASSERT_EQ(machine.ask(file, DS_CLOCK, *clock), 0);
    EXPECT_EQ(clock->now_ns, 5000000U);
    EXPECT_EQ(clock->wall_ms, 1780000000005U);
    clock->advance_ns = ~0ULL - 10;
    EXPECT_EQ(machine.ask(file, DS_CLOCK, *clock), -EINVAL);

    AbiMachine real(profile_of(kTwo), {.virtual_clock = false});
    sim_client* other = real.open_bound("davsim", AbiMachine::ident(1));
    auto again = sized<ds_clock>();
    again->operation = DS_CLOCK_ADVANCE;
    again->advance_ns = 1;
    EXPECT_EQ(real.ask(other, DS_CLOCK, *again), -EINVAL);
}

TEST_F(AbiDavsim, TheJournalComesInPagesAndInOrder) {
    for (int i = 0; i < 50; ++i) {
        ds_rule_clear clear{sizeof(clear), 0};
        ASSERT_EQ(machine.ask(file, DS_RULE_CLEAR, clear), 0);
    }
    auto page = sized<ds_journal_read>();
    std::vector<ds_journal_record> all;
    do {
        ASSERT_EQ(machine.ask(file, DS_JOURNAL_READ, *page), 0);
        EXPECT_EQ(page->lost, 0U);
        all.insert(all.end(), page->record, page->record + page->count);
    } while (page->count != 0);
    std::size_t clears = 0;
    std::map<std::uint32_t, std::uint64_t> sequence;
    for (const auto& record : all) {
        EXPECT_EQ(record.sequence, ++sequence[record.device_id]);
        clears += record.kind == DS_J_CALL && record.command == DV_CMD_SIM_RULE_CLEAR ? 1 : 0;
    }
    EXPECT_EQ(clears, 50U);
    EXPECT_EQ(all.size(), machine.journal().size());
}

TEST_F(AbiDavsim, QueriesLeaveNoTraceInTheJournal) {
    const std::size_t before = machine.journal().size();
    auto info = sized<ds_info>();
    ASSERT_EQ(machine.ask(file, DS_INFO, *info), 0);
    auto facts = sized<ds_device>();
    ASSERT_EQ(machine.ask(file, DS_DEVICE, *facts), 0);
    auto clock = sized<ds_clock>(); // of a command that can change things
    ASSERT_EQ(machine.ask(file, DS_CLOCK, *clock), 0);
    EXPECT_EQ(machine.journal().size(), before);
    clock->operation = DS_CLOCK_ADVANCE;
    ASSERT_EQ(machine.ask(file, DS_CLOCK, *clock), 0);
    EXPECT_EQ(machine.journal().size(), before + 2); // the call and the clock
}

} // namespace
} // namespace asc::test

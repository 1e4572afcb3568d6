// SPDX-License-Identifier: Apache-2.0
// Allocation: extents, contexts, out of memory, pages that stay out, table limits, words.
#include "tests/unit/core_machine.hpp"

namespace asc::test {
namespace {

TEST(CoreMemory, FirstFitReusesTheFirstGapThatIsLargeEnough) {
    Arena machine;
    sim_client* client = machine.open(process(100));
    ASSERT_EQ(0, machine.alloc(client, 0, 10 * kMib));
    const std::uint32_t first = machine.last_handle;
    EXPECT_EQ(0U, machine.last_address);
    ASSERT_EQ(0, machine.alloc(client, 0, 1));
    EXPECT_EQ(10 * kMib, machine.last_address);
    ASSERT_EQ(0, machine.alloc(client, 0, 5 * kMib));
    EXPECT_EQ(10 * kMib + SIM_PAGE_SIZE, machine.last_address) << "one byte takes a whole page";
    ASSERT_EQ(0, sim_free(machine.model, client, 0, first));
    ASSERT_EQ(0, machine.alloc(client, 0, 11 * kMib));
    EXPECT_EQ(15 * kMib + SIM_PAGE_SIZE, machine.last_address) << "too large for the gap";
    ASSERT_EQ(0, machine.alloc(client, 0, 4 * kMib));
    EXPECT_EQ(0U, machine.last_address);
    EXPECT_EQ(20 * kMib + SIM_PAGE_SIZE, sim_hbm_used_bytes(&machine.device(0)));
    EXPECT_EQ(0U, sim_hbm_used_bytes(&machine.device(1)));
    expect_consistent(machine.device(0));
}

TEST(CoreMemory, BaselineIsUsedFromTheStartAndNeverHandedOut) {
    Arena machine(1, 1, 8, false);
    sim_device_config config = device_config(0);
    config.baseline_mib = 100;
    ASSERT_EQ(0, machine.add(config));
    sim_client* client = machine.open(process(100));
    EXPECT_EQ(100 * kMib, sim_hbm_used_bytes(&machine.device(0)));
    EXPECT_EQ(1024 * kMib, sim_hbm_total_bytes(&machine.device(0)));
    EXPECT_EQ(-SIM_ENOMEM, machine.alloc(client, 0, 925 * kMib));
    ASSERT_EQ(0, machine.alloc(client, 0, 924 * kMib));
    EXPECT_EQ(100 * kMib, machine.last_address);
    EXPECT_EQ(0U, sim_hbm_unowned_bytes(&machine.device(0)));
    expect_consistent(machine.device(0));
}

TEST(CoreMemory, OutOfMemoryIsCountedOnThatDeviceAndChangesNothingElse) {
    Arena machine;
    sim_client* client = machine.open(process(100));
    ASSERT_EQ(0, machine.alloc(client, 0, 1000 * kMib));
    EXPECT_EQ(-SIM_ENOMEM, machine.alloc(client, 0, 25 * kMib));
    EXPECT_EQ(-SIM_ENOMEM, machine.alloc(client, 0, ~0ULL));
    EXPECT_EQ(2U, machine.device(0).oom_count);
    EXPECT_EQ(0U, machine.device(1).oom_count);
    const auto records = machine.journal(DS_J_OOM, 0);
    ASSERT_EQ(2U, records.size());
    EXPECT_EQ(25 * kMib, records[0].a);
    EXPECT_EQ(client->ordinal, records[0].client);
    sim_client* other = machine.open(process(200));
    EXPECT_EQ(-SIM_ENOMEM, machine.alloc(other, 0, 25 * kMib, DS_ALLOC_CONTEXT));
    EXPECT_EQ(1U, sim_owner_count(&machine.device(0))) << "the refused process owns nothing";
    EXPECT_EQ(1000 * kMib, sim_hbm_used_bytes(&machine.device(0)));
    expect_consistent(machine.device(0));
}

TEST(CoreMemory, IsolatedAndPendingPagesAreNeverHandedOut) {
    Arena machine(1, 1, 8, false);
    ASSERT_EQ(0, machine.add(device_config(0), {3, 64, 65, 16000}));
    struct sim_device& device = machine.device(0);
    device.page[device.page_count++] = {16383, SIM_PAGE_PENDING, 2, 0};
    ++device.pages_pending;
    sim_client* client = machine.open(process(100));
    ASSERT_EQ(0, machine.alloc(client, 0, 4 * SIM_PAGE_SIZE));
    EXPECT_EQ(4 * SIM_PAGE_SIZE, machine.last_address) << "pages 0 to 2 are too few before page 3";
    ASSERT_EQ(0, machine.alloc(client, 0, 3 * SIM_PAGE_SIZE));
    EXPECT_EQ(0U, machine.last_address);
    std::uint64_t pages = 7;
    for (const std::uint64_t size : {15000ULL, 100ULL, 10ULL, 1ULL}) // down to the last page
        while (machine.alloc(client, 0, size * SIM_PAGE_SIZE) == 0)
            pages += size;
    EXPECT_EQ(16384U - 5U, pages);
    expect_consistent(device);
}

TEST(CoreMemory, AContextIsChargedOnceAProcessAndDevice) {
    Arena machine(2, 1, 8, false);
    for (std::uint32_t id = 0; id < 2; ++id) {
        sim_device_config config = device_config(id);
        config.context_mib = 30;
        ASSERT_EQ(0, machine.add(config));
    }
    sim_client* first = machine.open(process(100));
    sim_client* second = machine.open(process(100));
    sim_client* stranger = machine.open(process(200));
    ASSERT_EQ(0, machine.alloc(first, 0, 0, DS_ALLOC_CONTEXT));
    const std::uint32_t context = machine.last_handle;
    EXPECT_EQ(30 * kMib, sim_hbm_used_bytes(&machine.device(0)));
    ASSERT_EQ(0, machine.alloc(first, 0, 0, DS_ALLOC_CONTEXT));
    EXPECT_EQ(context, machine.last_handle);
    ASSERT_EQ(0, machine.alloc(second, 0, 10 * kMib, DS_ALLOC_CONTEXT));
    EXPECT_EQ(40 * kMib, sim_hbm_used_bytes(&machine.device(0)));
    EXPECT_EQ(1U, sim_owner_count(&machine.device(0)));
    ASSERT_EQ(0, machine.alloc(stranger, 0, 0, DS_ALLOC_CONTEXT));
    EXPECT_EQ(70 * kMib, sim_hbm_used_bytes(&machine.device(0)));
    ASSERT_EQ(0, machine.alloc(first, 1, 0, DS_ALLOC_CONTEXT));
    EXPECT_EQ(30 * kMib, sim_hbm_used_bytes(&machine.device(1)));
    EXPECT_EQ(-SIM_ENOENT, sim_free(machine.model, second, 0, context)) << "another open file's";
    ASSERT_EQ(0, sim_free(machine.model, first, 0, context));
    EXPECT_EQ(40 * kMib, sim_hbm_used_bytes(&machine.device(0)));
    sim_release(machine.model, second);
    EXPECT_EQ(30 * kMib, sim_hbm_used_bytes(&machine.device(0)));
    EXPECT_EQ(1U, sim_owner_count(&machine.device(0)));
    expect_consistent(machine.device(0));
}

TEST(CoreMemory, AContextWithoutCostStillMakesAnOwner) {
    Arena machine;
    sim_client* client = machine.open(process(100));
    ASSERT_EQ(0, machine.alloc(client, 2, 0, DS_ALLOC_CONTEXT));
    const std::uint32_t owner = sim_next_owner(&machine.device(2), 0);
    ASSERT_LT(owner, static_cast<std::uint32_t>(SIM_OWNERS_MAX));
    EXPECT_EQ(100U, machine.device(2).owner[owner].pid);
    EXPECT_EQ(0U, machine.device(2).owner[owner].bytes);
    EXPECT_STREQ("tester", machine.device(2).owner[owner].name);
    EXPECT_EQ(static_cast<std::uint32_t>(SIM_OWNERS_MAX),
              sim_next_owner(&machine.device(2), owner + 1));
    ASSERT_EQ(0, machine.alloc(client, 2, 64 * kMib));
    EXPECT_EQ(0U, machine.last_address);
    expect_consistent(machine.device(2));
    sim_release(machine.model, client);
    EXPECT_EQ(0U, sim_owner_count(&machine.device(2)));
    expect_consistent(machine.device(2));
}

TEST(CoreMemory, AMemoryRequestThatFailsTakesItsContextBack) {
    Arena machine(1, 1, 8, false);
    sim_device_config config = device_config(0);
    config.context_mib = 30;
    ASSERT_EQ(0, machine.add(config));
    sim_client* client = machine.open(process(100));
    EXPECT_EQ(-SIM_ENOMEM, machine.alloc(client, 0, 1000 * kMib, DS_ALLOC_CONTEXT));
    EXPECT_EQ(0U, sim_hbm_used_bytes(&machine.device(0)));
    EXPECT_EQ(1U, machine.device(0).oom_count);
    EXPECT_TRUE(machine.journal(DS_J_ALLOC, 0).empty());
    expect_consistent(machine.device(0));
}

TEST(CoreMemory, RefusesWhatMakesNoSense) {
    Arena machine;
    sim_ident blind = process(100);
    blind.visible = 1U;
    sim_client* client = machine.open(blind);
    EXPECT_EQ(-SIM_EINVAL, machine.alloc(client, 0, 0));
    EXPECT_EQ(-SIM_EINVAL, machine.alloc(client, 0, 1, 2));
    EXPECT_EQ(-SIM_EACCES, machine.alloc(client, 1, 1));
    EXPECT_EQ(-SIM_ENODEV, machine.alloc(client, 4, 1));
    EXPECT_EQ(-SIM_ENOENT, sim_free(machine.model, client, 0, 0));
    EXPECT_EQ(-SIM_ENOENT, sim_free(machine.model, client, 0, 77));
}

TEST(CoreMemory, FullTablesAreErrorsAndNoOutOfMemory) {
    Arena machine(1, 1, 256);
    sim_client* client = machine.open(process(1));
    for (std::uint32_t i = 0; i < SIM_EXTENTS_MAX; ++i)
        ASSERT_EQ(0, machine.alloc(client, 0, 1)) << i;
    EXPECT_EQ(-SIM_ENOSPC, machine.alloc(client, 0, 1));
    EXPECT_EQ(-SIM_ENOSPC, machine.alloc(client, 0, 0, DS_ALLOC_CONTEXT));
    expect_consistent(machine.device(0));
    sim_release(machine.model, client);
    EXPECT_EQ(0U, sim_hbm_used_bytes(&machine.device(0)));

    for (std::uint32_t i = 0; i < SIM_OWNERS_MAX; ++i) {
        EXPECT_EQ(i <= SIM_WIRE_PROCESSES, sim_processes_known(&machine.device(0)) != 0) << i;
        ASSERT_EQ(0, machine.alloc(machine.open(process(10 + i)), 0, 1));
    }
    EXPECT_EQ(-SIM_ENOSPC, machine.alloc(machine.open(process(5000)), 0, 1));
    EXPECT_EQ(0U, machine.device(0).oom_count);
    expect_consistent(machine.device(0));
}

TEST(CoreMemory, HandlesAreNotReusedAndNotShared) {
    Arena machine;
    sim_client* client = machine.open(process(1));
    sim_client* other = machine.open(process(2));
    ASSERT_EQ(0, machine.alloc(client, 0, 1));
    const std::uint32_t handle = machine.last_handle;
    EXPECT_EQ(-SIM_ENOENT, sim_free(machine.model, other, 0, handle));
    ASSERT_EQ(0, sim_free(machine.model, client, 0, handle));
    EXPECT_EQ(-SIM_ENOENT, sim_free(machine.model, client, 0, handle));
    ASSERT_EQ(0, machine.alloc(client, 0, 1));
    EXPECT_NE(handle, machine.last_handle);
}

TEST(CoreMemory, WordsOfOneselfAreStoredAndLoadedOthersAreNot) {
    Arena machine;
    sim_client* client = machine.open(process(1));
    sim_client* other = machine.open(process(2));
    ASSERT_EQ(0, machine.alloc(client, 0, SIM_PAGE_SIZE));
    ds_access access{};
    access.address = machine.last_address;
    access.count = SIM_PAGE_SIZE / 8;
    access.value = 0x0123456789ABCDEFULL;
    access.store = DS_ACCESS_STORE;
    ASSERT_EQ(0, sim_access(machine.model, client, 0, &access));
    access = {};
    access.address = machine.last_address + 64;
    access.count = 1;
    ASSERT_EQ(0, sim_access(machine.model, client, 0, &access));
    EXPECT_EQ(0x0123456789ABCDEFULL, access.value);
    EXPECT_EQ(-SIM_EFAULT, sim_access(machine.model, other, 0, &access));
    access.count = SIM_PAGE_SIZE / 8;
    EXPECT_EQ(-SIM_EFAULT, sim_access(machine.model, client, 0, &access)) << "past the end";
    access.count = 0;
    EXPECT_EQ(-SIM_EINVAL, sim_access(machine.model, client, 0, &access));
    access.count = 1;
    access.address += 4;
    EXPECT_EQ(-SIM_EINVAL, sim_access(machine.model, client, 0, &access));
}

TEST(CoreMemory, ARawLookShowsTheFlippedBitsALoadMendsThem) {
    Arena machine;
    sim_client* client = machine.open(process(1));
    ASSERT_EQ(0, machine.alloc(client, 0, SIM_PAGE_SIZE));
    ds_access access{};
    access.address = machine.last_address;
    access.count = 1;
    access.value = 0xF0;
    access.store = DS_ACCESS_STORE;
    ASSERT_EQ(0, sim_access(machine.model, client, 0, &access));
    const std::uint8_t bits[] = {0, 65};
    ASSERT_EQ(0, sim_flip(machine.model, 0, access.address, bits, 1));
    access.store = DS_ACCESS_RAW;
    ASSERT_EQ(0, sim_access(machine.model, client, 0, &access));
    EXPECT_EQ(0xF1U, access.value);
    EXPECT_EQ(secded_encode(0xF0), access.corrected);
    access.store = DS_ACCESS_LOAD;
    ASSERT_EQ(0, sim_access(machine.model, client, 0, &access));
    EXPECT_EQ(0xF0U, access.value);
    EXPECT_EQ(1U, access.corrected);
    ASSERT_EQ(0, sim_flip(machine.model, 0, access.address, bits + 1, 1)); // now two
    access.store = DS_ACCESS_RAW;
    ASSERT_EQ(0, sim_access(machine.model, client, 0, &access));
    EXPECT_EQ(secded_encode(0xF0) ^ 2U, access.corrected);
    access.store = DS_ACCESS_LOAD;
    EXPECT_EQ(-SIM_EIO, sim_access(machine.model, client, 0, &access));
    EXPECT_EQ(access.address, access.bad_address);
    access.store = 3;
    EXPECT_EQ(-SIM_EINVAL, sim_access(machine.model, client, 0, &access));
}

} // namespace
} // namespace asc::test

// SPDX-License-Identifier: Apache-2.0
// Pages taken out of use: by load, by scrubber, by too many errors; what a reset does to them.
#include "tests/unit/hbm_machine.hpp"

#include <algorithm>
#include <random>
#include <set>

namespace {

constexpr std::uint32_t page(std::uint64_t address) {
    return static_cast<std::uint32_t>(address >> SIM_PAGE_SHIFT);
}

TEST(HotIsolation, TakesThePageFromUnderItsOwner) {
    HbmMachine m;
    std::uint32_t handle = 0;
    const std::uint64_t at = m.alloc(3 * SIM_PAGE_SIZE, 0, nullptr, &handle);
    const std::uint64_t used = sim_hbm_used_bytes(&m.device());
    const std::uint64_t bad = at + SIM_PAGE_SIZE + 80;
    ASSERT_EQ(m.flip(bad, {1, 65}), 0);
    ASSERT_EQ(m.load(at, 3 * 8192), -SIM_EIO);
    EXPECT_EQ(m.last.bad_address, bad);
    const auto events = m.events(DV_EV_HBM_ISOLATED);
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].pid, 4242u);
    EXPECT_EQ(events[0].device, 0u);
    EXPECT_EQ(events[0].assertion, DV_ASSERTION_OCCURRENCE);
    EXPECT_EQ(events[0].severity, DV_SEVERITY_MINOR);
    EXPECT_STREQ(events[0].info, "0x0000000000010050");
    EXPECT_TRUE(m.events(DV_EV_HBM_ISOLATION_FAILED).empty());
    EXPECT_EQ(sim_page_state(&m.device(), page(bad)), SIM_PAGE_ISOLATED);
    EXPECT_EQ(m.device().pages_isolated, 1u);
    EXPECT_EQ(m.device().pages_pending, 0u);
    EXPECT_EQ(m.ecc().isolated_double, 1u);
    EXPECT_EQ(m.ecc().isolated_single, 0u);
    EXPECT_EQ(m.device().word_count, 0u);
    // All of the page is gone, the rest stays.
    EXPECT_EQ(m.load(at + SIM_PAGE_SIZE), -SIM_EIO);
    EXPECT_EQ(m.last.bad_address, at + SIM_PAGE_SIZE);
    EXPECT_EQ(m.load(at + 2 * SIM_PAGE_SIZE - 8, 2), -SIM_EIO);
    EXPECT_EQ(m.store(at + SIM_PAGE_SIZE + 8, 1), -SIM_EIO);
    EXPECT_EQ(m.store(at, 1, 2 * 8192), -SIM_EIO);
    EXPECT_EQ(m.device().fill_count, 0u) << "nothing was stored in part";
    EXPECT_EQ(m.load(at, 8192), 0);
    EXPECT_EQ(m.load(at + 2 * SIM_PAGE_SIZE, 8192), 0);
    EXPECT_EQ(sim_hbm_used_bytes(&m.device()), used) << "the owner keeps what it holds";
    EXPECT_EQ(m.ecc().double_now, 1u);
    EXPECT_EQ(m.flip(bad, {3}), -SIM_EFAULT) << "out of use";
    EXPECT_EQ(sim_page_isolate(m.get(), &m.device(), page(bad), 1), 0) << "it is";
    EXPECT_EQ(m.ecc().isolated_double + m.ecc().isolated_single, 1u);
    const auto records = m.journal(DS_J_PAGE);
    ASSERT_EQ(records.size(), 1u);
    EXPECT_EQ(records[0].device_id, 0u);
    EXPECT_EQ(records[0].code, static_cast<std::uint32_t>(SIM_PAGE_ISOLATED));
    EXPECT_EQ(records[0].a, at + SIM_PAGE_SIZE);
    EXPECT_EQ(records[0].b, 2u);
    const auto ecc_records = m.journal(DS_J_ECC);
    ASSERT_EQ(ecc_records.size(), 1u);
    EXPECT_EQ(ecc_records[0].code, 2u);
    EXPECT_EQ(ecc_records[0].a, bad);
    // Nobody gets the page again.
    ASSERT_EQ(sim_free(m.get(), m.client(), 0, handle), 0);
    const std::uint64_t again = m.alloc(3 * SIM_PAGE_SIZE);
    EXPECT_GT(page(again), page(bad));
    EXPECT_FALSE(sim_page_usable(&m.device(), page(bad)));
    EXPECT_EQ(m.device(1).page_count, 0u);
}

TEST(HotIsolation, MayFail) {
    HbmMachine m;
    m.rule("isolation-fails client=python3 dev=0 times=1");
    const std::uint64_t at = m.alloc(SIM_PAGE_SIZE), other = m.alloc(SIM_PAGE_SIZE);
    ASSERT_EQ(m.flip(at + 8, {1, 2}), 0);
    ASSERT_EQ(m.load(at + 8), -SIM_EIO);
    const auto events = m.events(DV_EV_HBM_ISOLATION_FAILED);
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].pid, 4242u);
    EXPECT_EQ(events[0].severity, DV_SEVERITY_CRITICAL);
    EXPECT_TRUE(m.events(DV_EV_HBM_ISOLATED).empty());
    EXPECT_EQ(sim_page_state(&m.device(), page(at)), SIM_PAGE_PENDING);
    EXPECT_EQ(m.device().pages_pending, 1u);
    EXPECT_EQ(m.ecc().isolated_double, 0u);
    ASSERT_EQ(m.journal(DS_J_FAULT).size(), 1u);
    EXPECT_EQ(m.journal(DS_J_FAULT)[0].b, at + 8);
    // The next load meets the same word: counted once, tried once, though the rule is used up.
    ASSERT_EQ(m.load(at + 8), -SIM_EIO);
    EXPECT_EQ(m.ecc().double_now, 1u);
    EXPECT_EQ(sim_page_state(&m.device(), page(at)), SIM_PAGE_PENDING);
    EXPECT_EQ(m.load(at), 0) << "other words of the page are read";
    // Another word is another try.
    ASSERT_EQ(m.flip(other, {1, 2}), 0);
    ASSERT_EQ(m.load(other), -SIM_EIO);
    EXPECT_EQ(sim_page_state(&m.device(), page(other)), SIM_PAGE_ISOLATED);
}

TEST(HotIsolation, FailsForTheNamedOwnerAlone) {
    HbmMachine m;
    const std::uint64_t mine = m.alloc(SIM_PAGE_SIZE);
    m.alloc(SIM_PAGE_SIZE, 0, m.open(77, "other"));
    m.rule("isolation-fails client=other");
    ASSERT_EQ(m.flip(mine, {1, 2}), 0);
    ASSERT_EQ(m.load(mine), -SIM_EIO);
    EXPECT_TRUE(m.active(DV_EV_HBM_ISOLATED));
    EXPECT_FALSE(m.active(DV_EV_HBM_ISOLATION_FAILED));
}

TEST(HotIsolation, IsMetBehindAPageWithCountedErrors) {
    HbmMachine m;
    const std::uint64_t at = m.alloc(3 * SIM_PAGE_SIZE);
    ASSERT_EQ(m.flip(at, {1}), 0);
    ASSERT_EQ(m.flip(at + SIM_PAGE_SIZE, {1, 2}), 0);
    ASSERT_EQ(m.load(at, 3 * 8192), -SIM_EIO);
    ASSERT_EQ(m.device().page_count, 2u);
    ASSERT_EQ(m.load(at, 3 * 8192), -SIM_EIO);
    EXPECT_EQ(m.last.bad_address, at + SIM_PAGE_SIZE);
    EXPECT_EQ(m.last.corrected, 1u);
}

TEST(HotIsolation, FailsWhenTheTableIsFull) {
    HbmMachine m;
    std::vector<std::uint32_t> all(SIM_PAGES_MAX);
    for (std::uint32_t i = 0; i < SIM_PAGES_MAX; ++i)
        all[i] = 500 + i;
    ASSERT_EQ(sim_page_restore(m.get(), &m.device(), all.data(), SIM_PAGES_MAX), 0);
    const std::uint64_t at = m.alloc(SIM_PAGE_SIZE);
    ASSERT_EQ(m.flip(at, {1, 2}), 0);
    EXPECT_EQ(m.load(at), -SIM_EIO);
    EXPECT_TRUE(m.active(DV_EV_HBM_ISOLATION_FAILED));
    EXPECT_EQ(sim_page_isolate(m.get(), &m.device(), page(at), 2), -SIM_ENOSPC);
    EXPECT_EQ(sim_page_isolate(m.get(), &m.device(), 1024, 2), -SIM_EINVAL);
}

TEST(Scrubber, DoubleFlipMakesThePagePending) {
    HbmMachine m;
    const std::uint64_t at = m.alloc(SIM_PAGE_SIZE);
    ASSERT_EQ(m.flip(at, {1, 2}), 0);
    m.step(kSecond);
    const auto events = m.events(DV_EV_HBM_SCRUB_DOUBLE);
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].pid, 0u);
    EXPECT_EQ(sim_page_state(&m.device(), page(at)), SIM_PAGE_PENDING);
    EXPECT_EQ(m.device().pages_pending, 1u);
    EXPECT_EQ(m.ecc().double_now, 1u);
    m.step(10 * kSecond);
    EXPECT_EQ(m.ecc().double_now, 1u) << "counted once until it changes";
    EXPECT_EQ(m.events(DV_EV_HBM_SCRUB_DOUBLE).size(), 1u);
    // A load that meets it now isolates the page without another count.
    ASSERT_EQ(m.load(at), -SIM_EIO);
    EXPECT_EQ(sim_page_state(&m.device(), page(at)), SIM_PAGE_ISOLATED);
    EXPECT_EQ(m.device().pages_pending, 0u);
    EXPECT_EQ(m.device().pages_isolated, 1u);
    EXPECT_EQ(m.ecc().double_now, 1u);
    EXPECT_TRUE(m.active(DV_EV_HBM_ISOLATED));
}

TEST(Scrubber, ChangedDoubleIsFoundAgain) {
    HbmMachine m;
    ASSERT_EQ(m.flip(8, {1, 2}), 0);
    m.step(kSecond);
    ASSERT_EQ(m.flip(8, {3, 4}), 0);
    m.step(2 * kSecond);
    EXPECT_EQ(m.ecc().double_now, 2u);
    EXPECT_EQ(m.ecc().double_record[0].count, 2u);
}

TEST(PageThreshold, RetiresThePageAndItsOwnerReadsOn) {
    MachineSpec spec;
    spec.page_threshold = 3;
    HbmMachine m(spec);
    const std::uint64_t at = m.alloc(2 * SIM_PAGE_SIZE);
    ASSERT_EQ(m.store(at, 7, 3), 0);
    ASSERT_EQ(m.flip(at, {1}), 0);
    ASSERT_EQ(m.flip(at + 8, {1}), 0);
    ASSERT_EQ(m.flip(at + SIM_PAGE_SIZE, {1}), 0);
    ASSERT_EQ(m.load(at, 2 * 8192), 0);
    ASSERT_EQ(m.load(at, 2 * 8192), 0) << "the same errors again count no further";
    EXPECT_EQ(sim_page_state(&m.device(), page(at)), SIM_PAGE_GOOD);
    EXPECT_TRUE(sim_page_usable(&m.device(), page(at)));
    ASSERT_EQ(m.flip(at + 16, {1}), 0);
    m.step(kSecond); // the scrubber finds the third
    EXPECT_EQ(sim_page_state(&m.device(), page(at)), SIM_PAGE_ISOLATED);
    EXPECT_EQ(sim_page_state(&m.device(), page(at) + 1), SIM_PAGE_GOOD);
    EXPECT_EQ(m.ecc().isolated_single, 1u);
    EXPECT_EQ(m.ecc().isolated_double, 0u);
    EXPECT_EQ(m.device().pages_pending, 0u);
    const auto events = m.events(DV_EV_HBM_SINGLE_LIMIT);
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].assertion, DV_ASSERTION_ONE_OFF);
    ASSERT_EQ(m.load(at), 0);
    EXPECT_EQ(m.last.value, 7u);
    EXPECT_EQ(m.load(at, 2 * 8192), 0);
    EXPECT_EQ(m.device().fault_count, 0u) << "no alarm for corrected errors";
}

TEST(PageThreshold, ThirdErrorOfALoadRetiresOnTheWay) {
    MachineSpec spec;
    spec.page_threshold = 2;
    HbmMachine m(spec);
    const std::uint64_t at = m.alloc(2 * SIM_PAGE_SIZE);
    for (const std::uint64_t word : {0, 1, 2, 8192, 8193})
        ASSERT_EQ(m.flip(at + 8 * word, {1}), 0);
    ASSERT_EQ(m.load(at, 2 * 8192), 0);
    EXPECT_EQ(m.ecc().isolated_single, 2u);
    EXPECT_EQ(m.ecc().single_now, 4u) << "the third word of the first page went with it";
}

TEST(PageTable, ForgetsCountsBeforeItRefuses) {
    MachineSpec spec;
    spec.page_threshold = 100;
    HbmMachine m(spec);
    const std::uint64_t at = m.alloc(600 * SIM_PAGE_SIZE);
    const auto corrected = [&](std::uint64_t number, int errors) {
        for (int i = 0; i < errors; ++i) {
            const std::uint64_t word = at + number * SIM_PAGE_SIZE + 8 * static_cast<unsigned>(i);
            ASSERT_EQ(m.flip(word, {1}), 0);
            ASSERT_EQ(m.load(word), 0);
            ASSERT_EQ(m.flip(word, {1}), 0); // and back
        }
    };
    corrected(0, 3);
    for (std::uint64_t i = 1; i < SIM_PAGES_MAX + 20; ++i)
        corrected(i, 1);
    EXPECT_EQ(m.device().page_count, static_cast<std::uint32_t>(SIM_PAGES_MAX));
    EXPECT_EQ(m.device().page[0].number, page(at));
    EXPECT_EQ(m.device().page[0].corrected, 3u) << "the worst page is kept";
    ASSERT_EQ(m.flip(at + 590 * SIM_PAGE_SIZE, {1, 2}), 0);
    ASSERT_EQ(m.load(at + 590 * SIM_PAGE_SIZE), -SIM_EIO);
    EXPECT_EQ(sim_page_state(&m.device(), page(at) + 590), SIM_PAGE_ISOLATED);
    for (std::uint32_t i = 1; i < m.device().page_count; ++i)
        ASSERT_LT(m.device().page[i - 1].number, m.device().page[i].number);
}

TEST(Rows, SixteenAndSixtyFourIsolatedPages) {
    HbmMachine m;
    const std::uint64_t at = m.alloc(100 * SIM_PAGE_SIZE);
    for (std::uint64_t i = 0; i < 64; ++i) {
        EXPECT_EQ(m.active(DV_EV_HBM_ROWS_16), i >= 16) << i;
        EXPECT_FALSE(m.active(DV_EV_HBM_ROWS_64)) << i;
        ASSERT_EQ(m.flip(at + i * SIM_PAGE_SIZE, {1, 2}), 0);
        ASSERT_EQ(m.load(at + i * SIM_PAGE_SIZE), -SIM_EIO);
    }
    EXPECT_TRUE(m.active(DV_EV_HBM_ROWS_64));
    ASSERT_EQ(m.events(DV_EV_HBM_ROWS_16).size(), 1u);
    EXPECT_EQ(m.events(DV_EV_HBM_ROWS_16)[0].pid, 0u);
    ASSERT_EQ(m.events(DV_EV_HBM_ROWS_64).size(), 1u);
    EXPECT_EQ(m.events(DV_EV_HBM_ROWS_64)[0].severity, DV_SEVERITY_CRITICAL);
    EXPECT_EQ(sim_health(&m.device()), static_cast<std::uint32_t>(DV_SEVERITY_CRITICAL));
    m.reset(); // they stand as the pages do
    EXPECT_TRUE(m.active(DV_EV_HBM_ROWS_16));
    EXPECT_TRUE(m.active(DV_EV_HBM_ROWS_64));
    EXPECT_FALSE(m.active(DV_EV_HBM_ISOLATED));
    EXPECT_EQ(m.device().pages_isolated, 64u);
}

TEST(Restore, ProfilePagesAreOutWithoutAnotherCount) {
    HbmMachine m;
    m.ecc(1).isolated_single = 1;
    m.ecc(1).isolated_double = 1;
    const std::uint32_t pages[] = {9, 3, 9};
    ASSERT_EQ(sim_page_restore(m.get(), &m.device(1), pages, 3), 0);
    EXPECT_EQ(m.device(1).pages_isolated, 2u);
    EXPECT_EQ(m.ecc(1).isolated_single, 1u);
    EXPECT_EQ(m.ecc(1).isolated_double, 1u);
    ASSERT_EQ(m.device(1).page_count, 2u);
    EXPECT_EQ(m.device(1).page[0].number, 3u);
    EXPECT_EQ(m.device(1).page[0].cause, 2u);
    EXPECT_EQ(m.device(1).page[1].cause, 1u);
    const std::uint32_t none[] = {1024};
    EXPECT_EQ(sim_page_restore(m.get(), &m.device(1), none, 1), -SIM_EINVAL);
}

// ---- reset ----

TEST(EccReset, ClearsWhatIsSinceResetAndIsolatesPending) {
    HbmMachine m;
    m.rule("isolation-fails times=1");
    const std::uint64_t at = m.alloc(4 * SIM_PAGE_SIZE);
    ASSERT_EQ(m.store(at, 5), 0);
    ASSERT_EQ(m.flip(at, {1}), 0);
    ASSERT_EQ(m.flip(at + SIM_PAGE_SIZE, {1, 2}), 0);
    ASSERT_EQ(m.load(at, 3 * 8192), -SIM_EIO);
    ASSERT_EQ(m.device().pages_pending, 1u);
    ASSERT_TRUE(m.active(DV_EV_HBM_ISOLATION_FAILED));
    EXPECT_EQ(sim_health(&m.device()), static_cast<std::uint32_t>(DV_SEVERITY_CRITICAL));
    m.reset();
    EXPECT_EQ(m.device().pages_pending, 0u);
    EXPECT_EQ(m.device().pages_isolated, 1u);
    EXPECT_EQ(m.ecc().isolated_double, 1u);
    EXPECT_EQ(m.ecc().single_now, 0u);
    EXPECT_EQ(m.ecc().double_now, 0u);
    EXPECT_EQ(m.ecc().single_lifetime, 1u);
    EXPECT_EQ(m.ecc().double_lifetime, 1u);
    EXPECT_EQ(m.ecc().double_record_count, 1u) << "records carry their time and stay";
    EXPECT_EQ(m.device().word_count, 0u);
    EXPECT_EQ(m.device().fill_count, 0u);
    EXPECT_EQ(m.device().fault_count, 0u);
    EXPECT_EQ(sim_health(&m.device()), 0u);
    m.step(m.get()->now_ns + 10 * kSecond);
    EXPECT_EQ(m.ecc().single_now + m.ecc().double_now, 0u);
    EXPECT_EQ(m.device().pages_isolated, 1u) << ".310 keeps it out";
}

TEST(EccReset, OldFirmwareHandsPagesBackAndTheirErrorsComeAgain) {
    MachineSpec spec;
    spec.firmware = "1.76.22.3.220";
    spec.page_threshold = 1;
    HbmMachine m(spec);
    const std::uint64_t at = m.alloc(4 * SIM_PAGE_SIZE);
    ASSERT_EQ(m.flip(at, {1}), 0);
    ASSERT_EQ(m.flip(at + SIM_PAGE_SIZE, {1, 2}), 0);
    ASSERT_EQ(m.flip(at + 2 * SIM_PAGE_SIZE, {1, 2}), 0);
    ASSERT_EQ(m.load(at, 2 * 8192), -SIM_EIO);
    m.step(kSecond); // the third page becomes pending
    ASSERT_EQ(m.device().pages_isolated, 2u);
    ASSERT_EQ(m.device().pages_pending, 1u);
    sim_release(m.get(), m.client());
    ASSERT_EQ(sim_reset(m.get(), 0, nullptr), 0);
    EXPECT_EQ(m.ecc().isolated_single, 0u) << "back in the pool";
    EXPECT_EQ(m.ecc().isolated_double, 1u) << "the pending one is isolated now";
    EXPECT_EQ(m.device().pages_isolated, 1u);
    EXPECT_TRUE(sim_page_usable(&m.device(), page(at)));
    EXPECT_EQ(m.ecc().single_now + m.ecc().double_now, 0u);
    m.step(m.get()->now_ns + 10 * kSecond);
    EXPECT_EQ(m.ecc().single_now, 1u) << "found again after the reset";
    EXPECT_EQ(m.ecc().double_now, 1u);
    EXPECT_EQ(m.ecc().isolated_single, 1u);
    EXPECT_EQ(sim_page_state(&m.device(), page(at)), SIM_PAGE_ISOLATED);
    EXPECT_EQ(sim_page_state(&m.device(), page(at) + 1), SIM_PAGE_PENDING);
}

TEST(EccReset, WhichFirmwareHasTheBug) {
    const struct {
        const char* version;
        bool returns;
    } cases[] = {
        {"1.76.22.3.220", true},
        {"1.76.22.3.219", true},
        {"1.76.22.3.221", false},
        {"1.76.22.3.310", false},
        {"1.76.22.3.999", false},
        {"1.76.22.3.220.1", false},
        {"1.76.22.3", true},
        {"1.76.23.0.1", false},
        {"1.75.99.9.999", true},
        {"7.1.0.3.220", false},
        {"0.9", true},
        {"", false},
        {"unknown", false},
        {"99999999999999999999.1", false},
    };
    for (const auto& c : cases)
        EXPECT_EQ(sim_ecc_returns_pages(c.version) != 0, c.returns) << c.version;
}

} // namespace

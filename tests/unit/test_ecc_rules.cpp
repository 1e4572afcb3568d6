// SPDX-License-Identifier: Apache-2.0
// Rules of kind ecc on the running model: when they flip, where, how many bits, and the same on
// every run.
#include "tests/unit/hbm_machine.hpp"

#include <bit>
#include <map>
#include <set>

namespace {

int flipped_bits(const sim_word& word) {
    return std::popcount(word.flipped_data) + std::popcount(word.flipped_check);
}

std::vector<std::uint64_t> times(const std::vector<ds_journal_record>& records) {
    std::vector<std::uint64_t> out;
    for (const ds_journal_record& record : records)
        out.push_back(record.time_ns);
    return out;
}

MachineSpec without_scrubbing() {
    MachineSpec spec;
    spec.scrub_ms = 0;
    return spec;
}

TEST(EccRule, FlipsTheBitsAskedForAtTheAddress) {
    for (int bits = 1; bits <= 72; ++bits) {
        HbmMachine m(without_scrubbing());
        m.rule("ecc dev=1 addr=0x1238 bits=" + std::to_string(bits));
        m.step(0);
        ASSERT_EQ(m.device(1).word_count, 1u);
        EXPECT_EQ(m.device(1).word[0].address, 0x1238u);
        EXPECT_EQ(flipped_bits(m.device(1).word[0]), bits);
        EXPECT_EQ(m.device(0).word_count, 0u);
        m.step(100 * kSecond);
        EXPECT_EQ(flipped_bits(m.device(1).word[0]), bits) << "once";
    }
}

TEST(EccRule, EveryBitIsChosenAtTimes) {
    HbmMachine m(without_scrubbing());
    m.rule("ecc dev=0 addr=0 bits=1 rate=1000 times=4000");
    std::map<int, int> seen;
    std::uint64_t data = 0;
    unsigned check = 0;
    for (std::uint64_t tick = 0; tick < 4000; ++tick) {
        m.step(tick * kMs);
        std::uint64_t now_data = 0;
        unsigned now_check = 0;
        if (m.device().word_count) {
            now_data = m.device().word[0].flipped_data;
            now_check = m.device().word[0].flipped_check;
        }
        ASSERT_EQ(std::popcount(data ^ now_data) + std::popcount(check ^ now_check), 1);
        ++seen[data != now_data ? std::countr_zero(data ^ now_data)
                                : 64 + std::countr_zero(check ^ now_check)];
        data = now_data;
        check = now_check;
    }
    ASSERT_EQ(seen.size(), 72u);
    for (const auto& [bit, count] : seen) // mean 55.6, standard deviation 7.4
        EXPECT_TRUE(count > 15 && count < 100) << "bit " << bit << ": " << count;
}

TEST(EccRule, PageGivesAWordOfThatPage) {
    HbmMachine m(without_scrubbing());
    m.rule("ecc dev=0 page=77 bits=2 times=50");
    m.step(0);
    EXPECT_GT(m.device().word_count, 40u);
    for (std::uint32_t i = 0; i < m.device().word_count; ++i)
        EXPECT_EQ(m.device().word[i].address >> SIM_PAGE_SHIFT, 77u);
}

TEST(EccRule, RandomPlacesAreSpreadOverTheDevice) {
    HbmMachine m(without_scrubbing());
    std::vector<std::uint32_t> isolated;
    for (std::uint32_t i = 0; i < 512; ++i)
        isolated.push_back(2 * i);
    ASSERT_EQ(sim_page_restore(m.get(), &m.device(), isolated.data(), 512), 0);
    m.rule("ecc dev=0 bits=1 times=1000");
    m.step(0);
    EXPECT_GT(m.device().word_count, 995u);
    std::map<std::uint64_t, int> per_eighth;
    for (std::uint32_t i = 0; i < m.device().word_count; ++i) {
        const std::uint64_t number = m.device().word[i].address >> SIM_PAGE_SHIFT;
        EXPECT_EQ(number % 2, 1u) << "isolated pages are out";
        ++per_eighth[number / 128];
    }
    ASSERT_EQ(per_eighth.size(), 8u);
    for (const auto& [eighth, count] : per_eighth) // mean 125, standard deviation 10.5
        EXPECT_TRUE(count > 60 && count < 190) << eighth << ": " << count;
}

TEST(EccRule, RandomPrefersMemoryThatALoadCanMeet) {
    HbmMachine m(without_scrubbing());
    std::uint32_t gap = 0;
    const std::uint64_t a = m.alloc(3 * SIM_PAGE_SIZE);
    m.alloc(9 * SIM_PAGE_SIZE, 0, nullptr, &gap);
    const std::uint64_t b = m.alloc(SIM_PAGE_SIZE + 80); // ten words of a second page
    ASSERT_EQ(sim_free(m.get(), m.client(), 0, gap), 0);
    m.rule("ecc dev=0 bits=1 times=300");
    m.step(0);
    std::map<std::uint64_t, int> pages;
    for (std::uint32_t i = 0; i < m.device().word_count; ++i) {
        const std::uint64_t at = m.device().word[i].address;
        EXPECT_TRUE((at >= a && at < a + 3 * SIM_PAGE_SIZE) ||
                    (at >= b && at < b + SIM_PAGE_SIZE + 80))
            << std::hex << at;
        ++pages[at >> SIM_PAGE_SHIFT];
    }
    EXPECT_EQ(pages.size(), 5u);
    EXPECT_GT(m.journal(DS_J_FAULT).size(), 299u);
}

TEST(EccRule, RandomFindsTheLastGoodPage) {
    MachineSpec spec = without_scrubbing();
    spec.hbm_mib = 32; // 512 pages
    HbmMachine m(spec);
    std::vector<std::uint32_t> isolated;
    for (std::uint32_t i = 0; i < 512; ++i)
        if (i != 300)
            isolated.push_back(i);
    ASSERT_EQ(sim_page_restore(m.get(), &m.device(), isolated.data(), 511), 0);
    m.rule("ecc dev=0 bits=1");
    m.step(0);
    ASSERT_EQ(m.device().word_count, 1u);
    EXPECT_EQ(m.device().word[0].address >> SIM_PAGE_SHIFT, 300u);
}

TEST(EccRule, NextTimeIsOfTheEarliestRuleOfTheDevice) {
    HbmMachine m(without_scrubbing());
    m.rule("ecc dev=0 bits=1 after=5s");
    m.rule("ecc dev=1 bits=1 after=1s");
    m.rule("ecc dev=0 bits=1 after=3s");
    m.rule("ecc dev=9 bits=1 after=2s rate=1"); // its ticks must pass, whoever does it
    m.rule("lost dev=0 after=500ms");
    EXPECT_EQ(sim_ecc_next(m.get(), &m.device(0)), 2 * kSecond);
    EXPECT_EQ(sim_ecc_next(m.get(), &m.device(1)), 1 * kSecond);
    fi_clear(&m.get()->rules, 4);
    EXPECT_EQ(sim_ecc_next(m.get(), &m.device(0)), 3 * kSecond);
}

TEST(EccRule, HitsNothingWhereThereIsNothing) {
    HbmMachine m(without_scrubbing());
    ASSERT_EQ(sim_page_isolate(m.get(), &m.device(), 5, 2), 0);
    m.rule("ecc dev=0 bits=1 addr=0x10000000");
    m.rule("ecc dev=0 bits=1 page=5");
    m.rule("ecc dev=9 bits=1 addr=0");
    m.step(kSecond);
    EXPECT_EQ(m.device().word_count, 0u);
    const auto records = m.journal(DS_J_FAULT);
    ASSERT_EQ(records.size(), 2u);
    for (const ds_journal_record& record : records)
        EXPECT_EQ(record.b, SIM_NEVER) << "the journal says that nothing was hit";
}

TEST(EccRule, RateIsKeptInOneLongStep) {
    HbmMachine m;
    m.step(kSecond / 2);
    m.rule("ecc dev=0 bits=1 rate=3 for=2s after=1s");
    m.step(100 * kSecond);
    EXPECT_EQ(times(m.journal(DS_J_FAULT)),
              (std::vector<std::uint64_t>{1500000000, 1833333333, 2166666666, 2500000000,
                                          2833333333, 3166666666}));
    EXPECT_EQ(m.ecc().single_now, 6u) << "the scrubber found each";
    EXPECT_EQ(m.device().word_count, 0u);
}

TEST(EccRule, SameSeedSameJournalWhateverTheSteps) {
    const auto run = [](std::uint64_t seed, std::uint64_t step) {
        MachineSpec spec;
        spec.seed = seed;
        spec.devices = 4;
        HbmMachine m(spec);
        m.alloc(10 * SIM_PAGE_SIZE, 2);
        m.rule("ecc bits=2 rate=2.5 probability=50");
        m.rule("ecc bits=1 dev=2 random rate=7 for=5s");
        m.rule("ecc bits=1 page=3 dev=1 times=2 after=1500ms");
        for (std::uint64_t now = step; now <= 20 * kSecond; now += step)
            m.step(now);
        std::vector<ds_journal_record> all;
        for (const std::uint16_t kind : {DS_J_FAULT, DS_J_ECC, DS_J_PAGE})
            for (const ds_journal_record& record : m.journal(kind))
                all.push_back(record);
        return all;
    };
    const auto equal = [](const auto& a, const auto& b) {
        return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0;
    };
    const auto first = run(1, kSecond);
    ASSERT_GT(first.size(), 60u);
    EXPECT_TRUE(equal(first, run(1, kSecond)));
    EXPECT_TRUE(equal(first, run(1, 20 * kSecond))) << "one step";
    EXPECT_TRUE(equal(first, run(1, 10 * kMs))) << "many steps";
    EXPECT_FALSE(equal(first, run(2, kSecond)));
}

TEST(EccRule, WithoutDeviceEachFiringPicksOne) {
    MachineSpec spec = without_scrubbing();
    spec.devices = 4;
    HbmMachine m(spec);
    ASSERT_EQ(sim_hotplug(m.get(), 1, DS_HOTPLUG_LOSE), 0);
    m.rule("ecc bits=1 rate=10 times=300");
    m.step(40 * kSecond);
    EXPECT_EQ(m.journal(DS_J_FAULT).size(), 300u);
    for (const std::uint32_t id : {0, 2, 3}) // mean 100, standard deviation 8.2
        EXPECT_TRUE(m.device(id).word_count > 50 && m.device(id).word_count < 150)
            << id << ": " << m.device(id).word_count;
    EXPECT_EQ(m.device(1).word_count, 0u) << "a lost one is not picked";
}

TEST(EccRule, OneThatComesOnceWaitsForItsDevice) {
    HbmMachine m(without_scrubbing());
    ASSERT_EQ(sim_hotplug(m.get(), 0, DS_HOTPLUG_LOSE), 0);
    m.rule("ecc bits=1 dev=0 addr=8");
    m.step(10 * kSecond);
    EXPECT_EQ(m.device().word_count, 0u);
    ASSERT_EQ(sim_hotplug(m.get(), 0, DS_HOTPLUG_RESTORE), 0);
    m.step(11 * kSecond);
    EXPECT_EQ(m.device().word_count, 1u);
}

TEST(EccRule, TicksOfARatePassByALostDevice) {
    for (const std::uint32_t devices : {1U, 2U}) {
        MachineSpec spec = without_scrubbing();
        spec.devices = devices;
        HbmMachine m(spec);
        m.rule("ecc bits=1 dev=0 rate=1 for=20s");
        m.step(4 * kSecond); // 0 to 4
        EXPECT_EQ(m.journal(DS_J_FAULT).size(), 5u);
        ASSERT_EQ(sim_hotplug(m.get(), 0, DS_HOTPLUG_LOSE), 0);
        m.step(10 * kSecond + 1);
        ASSERT_EQ(sim_hotplug(m.get(), 0, DS_HOTPLUG_RESTORE), 0);
        m.step(12 * kSecond);
        const auto seen = times(m.journal(DS_J_FAULT));
        ASSERT_EQ(seen.size(), 7u) << "none is made up for";
        EXPECT_EQ(seen[5], 11 * kSecond);
        EXPECT_EQ(seen[6], 12 * kSecond);
    }
}

TEST(EccRule, WaitsForALoad) {
    HbmMachine m(without_scrubbing());
    m.rule("ecc bits=1 dev=0 addr=8 when=hbm_used>10");
    m.step(kSecond);
    EXPECT_EQ(m.device().word_count, 0u);
    m.alloc(16ULL << 20); // a quarter
    m.step(kSecond + 99 * kMs);
    EXPECT_EQ(m.device().word_count, 0u);
    m.step(kSecond + 100 * kMs);
    EXPECT_EQ(m.device().word_count, 1u);
    m.step(9 * kSecond);
    EXPECT_EQ(m.journal(DS_J_FAULT).size(), 1u);
}

TEST(EccRule, FullTableIsSurvived) {
    HbmMachine m(without_scrubbing());
    m.rule("ecc bits=1 dev=0 times=1500");
    m.step(0);
    EXPECT_EQ(m.device().word_count, static_cast<std::uint32_t>(SIM_WORDS_MAX));
    EXPECT_EQ(m.journal(DS_J_FAULT).back().b, SIM_NEVER);
}

} // namespace

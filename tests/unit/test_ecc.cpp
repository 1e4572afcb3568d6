// SPDX-License-Identifier: Apache-2.0
// Words of HBM: what they hold, what flips do to loads, to the scrubber and to the counters.
#include "tests/unit/hbm_machine.hpp"

#include <map>
#include <random>

namespace {

TEST(HbmContent, IsAFunctionOfSeedDeviceAndAddress) {
    HbmMachine a, b;
    MachineSpec other_seed;
    other_seed.seed = 43;
    HbmMachine c(other_seed);
    int equal_device = 0, equal_seed = 0, equal_next = 0;
    for (std::uint64_t address = 0; address < 8192; address += 8) {
        const std::uint64_t value = sim_word_content(a.get(), &a.device(), address);
        EXPECT_EQ(value, sim_word_content(b.get(), &b.device(), address));
        equal_device += value == sim_word_content(a.get(), &a.device(1), address);
        equal_seed += value == sim_word_content(c.get(), &c.device(), address);
        equal_next += value == sim_word_content(a.get(), &a.device(), address + 8);
    }
    EXPECT_EQ(equal_device + equal_seed + equal_next, 0);
}

TEST(HbmContent, LoadGivesWhatWasStored) {
    HbmMachine m;
    const std::uint64_t at = m.alloc(SIM_PAGE_SIZE);
    ASSERT_EQ(m.load(at + 16), 0);
    const std::uint64_t before = m.last.value;
    EXPECT_EQ(before, sim_word_content(m.get(), &m.device(), at + 16));
    ASSERT_EQ(m.store(at + 8, 0x1122334455667788), 0);
    ASSERT_EQ(m.load(at + 8), 0);
    EXPECT_EQ(m.last.value, 0x1122334455667788u);
    EXPECT_EQ(m.last.corrected, 0u);
    ASSERT_EQ(m.load(at + 16), 0);
    EXPECT_EQ(m.last.value, before) << "its neighbour is as it was";
    ASSERT_EQ(m.raw(at + 8), 0);
    EXPECT_EQ(m.last.value, 0x1122334455667788u);
    EXPECT_EQ(m.last.corrected, secded_encode(0x1122334455667788));
}

// Random stores into 256 words, compared with an array.
TEST(HbmContent, OverlappingStoresAreAsInAnArray) {
    HbmMachine m;
    const std::uint64_t at = m.alloc(SIM_PAGE_SIZE);
    std::vector<std::uint64_t> expected(256);
    for (std::size_t i = 0; i < expected.size(); ++i)
        expected[i] = sim_word_content(m.get(), &m.device(), at + 8 * i);
    std::mt19937 random(3);
    for (int round = 0; round < 3000; ++round) {
        const std::size_t first = random() % 256, count = 1 + random() % (256 - first);
        const std::uint64_t value = random() % 3; // equal neighbours must merge
        ASSERT_EQ(m.store(at + 8 * first, value, count), 0);
        std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(first), count, value);
        for (std::size_t i = 0; i < expected.size(); ++i)
            ASSERT_EQ(sim_word_content(m.get(), &m.device(), at + 8 * i), expected[i])
                << "round " << round << ", word " << i;
        const struct sim_device& device = m.device();
        for (std::uint32_t i = 0; i < device.fill_count; ++i) {
            ASSERT_LT(device.fill[i].first, device.fill[i].end);
            if (i > 0) {
                ASSERT_LE(device.fill[i - 1].end, device.fill[i].first);
                ASSERT_FALSE(device.fill[i - 1].end == device.fill[i].first &&
                             device.fill[i - 1].value == device.fill[i].value)
                    << "equal neighbours are one range";
            }
        }
    }
}

TEST(HbmContent, FullTableOfStoresIsAnErrorWithoutEffect) {
    HbmMachine m;
    std::uint32_t freed = 0;
    const std::uint64_t old = m.alloc(SIM_PAGE_SIZE, 0, nullptr, &freed);
    const std::uint64_t at = m.alloc(SIM_PAGE_SIZE);
    ASSERT_EQ(m.store(old, 9), 0);
    for (std::uint64_t i = 0; i < SIM_FILLS_MAX - 1; ++i)
        ASSERT_EQ(m.store(at + 16 * i, i), 0);
    ASSERT_EQ(m.device().fill_count, static_cast<std::uint32_t>(SIM_FILLS_MAX));
    const std::uint64_t next = at + 16 * (SIM_FILLS_MAX - 1);
    ASSERT_EQ(m.flip(next, {3}), 0);
    EXPECT_EQ(m.store(next, 7), -SIM_ENOSPC);
    EXPECT_EQ(m.device().word_count, 1u) << "the damage stands";
    EXPECT_EQ(m.store(at, 5, 8192), 0) << "a store over many ranges needs no more room";
    EXPECT_EQ(m.device().fill_count, 2u);
    for (std::uint64_t i = 0; i < SIM_FILLS_MAX / 2 - 1; ++i)
        ASSERT_EQ(m.store(at + 16 * i + 8, 100 + i), 0);
    EXPECT_GT(m.device().fill_count, static_cast<std::uint32_t>(SIM_FILLS_MAX - 4));
    // Ranges of freed memory make room.
    ASSERT_EQ(sim_free(m.get(), m.client(), 0, freed), 0);
    while (m.device().fill_count < SIM_FILLS_MAX)
        ASSERT_EQ(m.store(at + 8 * (8191 - 2 * (SIM_FILLS_MAX - m.device().fill_count)),
                          m.device().fill_count),
                  0);
    EXPECT_EQ(m.store(at + 8 * 6000, 0xABC), -SIM_ENOSPC) << "splits one range in three";
    EXPECT_EQ(m.store(at, 0xABC), 0) << "one range went, one came";
}

TEST(HbmContent, FreedMemoryIsForgottenWhenRoomIsNeeded) {
    HbmMachine m;
    std::uint32_t freed = 0;
    const std::uint64_t first = m.alloc(SIM_PAGE_SIZE);
    const std::uint64_t old = m.alloc(SIM_PAGE_SIZE, 0, nullptr, &freed);
    const std::uint64_t behind = m.alloc(SIM_PAGE_SIZE);
    ASSERT_EQ(m.store(first + SIM_PAGE_SIZE - 8, 1), 0); // touch the freed page from both sides
    ASSERT_EQ(m.store(behind, 1), 0);
    for (std::uint64_t i = 0; i < SIM_FILLS_MAX - 2; ++i)
        ASSERT_EQ(m.store(old + 16 * i + 16, i + 10), 0);
    ASSERT_EQ(m.device().fill_count, static_cast<std::uint32_t>(SIM_FILLS_MAX));
    EXPECT_EQ(m.store(first, 9), -SIM_ENOSPC) << "all of it is held";
    ASSERT_EQ(sim_free(m.get(), m.client(), 0, freed), 0);
    EXPECT_EQ(m.store(first, 9), 0);
    EXPECT_EQ(m.device().fill_count, 3u);
    ASSERT_EQ(m.load(first + SIM_PAGE_SIZE - 8), 0);
    EXPECT_EQ(m.last.value, 1u);
    ASSERT_EQ(m.load(behind), 0);
    EXPECT_EQ(m.last.value, 1u);
}

TEST(HbmAccess, BadPlaces) {
    HbmMachine m;
    const std::uint64_t at = m.alloc(2 * SIM_PAGE_SIZE);
    EXPECT_EQ(m.load(at + 4), -SIM_EINVAL);
    EXPECT_EQ(m.load(at, 0), -SIM_EINVAL);
    EXPECT_EQ(m.load(at, 2 * 8192 + 1), -SIM_EFAULT);
    EXPECT_EQ(m.load(at, ~0ULL), -SIM_EFAULT);
    EXPECT_EQ(m.load(at + 2 * SIM_PAGE_SIZE), -SIM_EFAULT);
    EXPECT_EQ(m.store(64ULL << 20, 1), -SIM_EFAULT);
    EXPECT_EQ(m.load(at, 2 * 8192), 0);
    // The functions under it check for themselves: a DMA has no client to be checked.
    sim_read read{};
    EXPECT_EQ(sim_ecc_read(m.get(), &m.device(), at + 1, 1, 0, &read), -SIM_EINVAL);
    EXPECT_EQ(sim_ecc_read(m.get(), &m.device(), 64ULL << 20, 1, 0, &read), -SIM_EFAULT);
    EXPECT_EQ(sim_ecc_read(m.get(), &m.device(), 128ULL << 20, 1, 0, &read), -SIM_EFAULT);
    EXPECT_EQ(sim_ecc_write(m.get(), &m.device(), 128ULL << 20, 1, 0), -SIM_EFAULT);
    EXPECT_EQ(sim_ecc_read(m.get(), &m.device(), 8, ~0ULL, 0, &read), -SIM_EFAULT);
    EXPECT_EQ(sim_ecc_write(m.get(), &m.device(), 8, ~0ULL, 0), -SIM_EFAULT);
    EXPECT_EQ(sim_ecc_write(m.get(), &m.device(), 8, 0, 0), -SIM_EINVAL);
    EXPECT_EQ(sim_ecc_write(m.get(), &m.device(), 8, (64ULL << 20) / 8, 0), -SIM_EFAULT);
    EXPECT_EQ(sim_ecc_write(m.get(), &m.device(), 0, (64ULL << 20) / 8, 0), 0);
    EXPECT_EQ(sim_ecc_read(m.get(), &m.device(), 0, (64ULL << 20) / 8, 0, &read), 0);
}

TEST(HbmFlip, BadArguments) {
    HbmMachine m;
    EXPECT_EQ(m.flip(8, {0}, 2), -SIM_ENODEV);
    EXPECT_EQ(m.flip(4, {0}), -SIM_EINVAL);
    EXPECT_EQ(m.flip(64ULL << 20, {0}), -SIM_EINVAL);
    EXPECT_EQ(m.flip((64ULL << 20) - 8, {0}), 0);
    EXPECT_EQ(m.flip(8, {72}), -SIM_EINVAL);
    EXPECT_EQ(m.flip(8, {}), -SIM_EINVAL);
    EXPECT_EQ(m.device().word_count, 1u);
}

TEST(HbmFlip, TwiceIsNothing) {
    HbmMachine m;
    ASSERT_EQ(m.flip(8, {5, 70}), 0);
    ASSERT_EQ(m.flip(8, {70}), 0);
    EXPECT_EQ(m.device().word_count, 1u);
    ASSERT_EQ(m.flip(8, {5}), 0);
    EXPECT_EQ(m.device().word_count, 0u);
    ASSERT_EQ(m.flip(8, {65, 5, 65, 5}), 0);
    EXPECT_EQ(m.device().word_count, 0u);
}

TEST(HbmFlip, TableOfDamagedWordsIsBounded) {
    HbmMachine m;
    for (std::uint64_t i = 0; i < SIM_WORDS_MAX; ++i) // out of order
        ASSERT_EQ(m.flip(8 * ((i * 389) % SIM_WORDS_MAX), {1}), 0);
    EXPECT_EQ(m.flip(1 << 20, {1}), -SIM_ENOSPC);
    EXPECT_EQ(m.flip(0, {2}), 0) << "a word that is there already takes no room";
    for (std::uint32_t i = 1; i < m.device().word_count; ++i)
        ASSERT_LT(m.device().word[i - 1].address, m.device().word[i].address);
}

TEST(HbmLoad, All72SingleFlipsAreCorrectedAndCountedOnce) {
    MachineSpec spec;
    spec.page_threshold = 1000;
    HbmMachine m(spec);
    const std::uint64_t at = m.alloc(SIM_PAGE_SIZE), value = 0x0123456789ABCDEF;
    ASSERT_EQ(m.alloc(SIM_PAGE_SIZE, 1), at);
    for (int bit = 0; bit < 72; ++bit) {
        const std::uint64_t word = at + 8 * static_cast<std::uint64_t>(bit);
        ASSERT_EQ(m.store(word, value), 0);
        ASSERT_EQ(m.flip(word, {bit}), 0);
        ASSERT_EQ(m.raw(word), 0);
        EXPECT_EQ(m.last.value, bit < 64 ? value ^ (1ULL << bit) : value);
        EXPECT_EQ(m.last.corrected ^ secded_encode(value), bit < 64 ? 0U : 1U << (bit - 64));
        EXPECT_EQ(m.ecc().single_now, static_cast<std::uint32_t>(bit)) << "raw does not decode";
        for (int again = 0; again < 3; ++again) {
            ASSERT_EQ(m.load(word), 0) << bit;
            EXPECT_EQ(m.last.value, value) << bit;
            EXPECT_EQ(m.last.corrected, 1u);
        }
        EXPECT_EQ(m.ecc().single_now, static_cast<std::uint32_t>(bit + 1));
        ASSERT_EQ(m.load(word, 1, 1), 0) << "the same address of the other card";
    }
    EXPECT_EQ(m.ecc().single_lifetime, 72u);
    EXPECT_EQ(m.ecc().double_now, 0u);
    EXPECT_EQ(m.ecc(1).single_now, 0u);
    EXPECT_EQ(m.ecc(1).single_lifetime, 0u);
    ASSERT_EQ(m.load(at, 8192), 0);
    EXPECT_EQ(m.last.corrected, 72u);
    m.step(10 * kSecond); // the scrubber knows of them
    EXPECT_EQ(m.ecc().single_now, 72u);
    EXPECT_EQ(m.device().word_count, 0u) << "and has written them back";
    ASSERT_EQ(m.load(at, 8192), 0);
    EXPECT_EQ(m.last.corrected, 0u);
    const auto records = m.journal(DS_J_ECC);
    ASSERT_EQ(records.size(), 72u);
    for (unsigned bit = 0; bit < 72; ++bit) {
        EXPECT_EQ(records[bit].code, 1u) << bit;
        EXPECT_EQ(records[bit].device_id, 0u);
        EXPECT_EQ(records[bit].a, at + 8 * bit);
        EXPECT_EQ(records[bit].b, bit < 64 ? secded_encode(1ULL << bit) : 1U << (bit - 64));
    }
}

TEST(HbmLoad, All2556DoubleFlipsAreDetected) {
    HbmMachine m;
    m.rule("isolation-fails"); // the page stays in use
    const std::uint64_t at = m.alloc(SIM_PAGE_SIZE), value = 0xFEDCBA9876543210;
    std::uint32_t pairs = 0;
    for (int a = 0; a < 72; ++a) {
        for (int b = a + 1; b < 72; ++b) {
            ASSERT_EQ(m.store(at, value), 0);
            ASSERT_EQ(m.flip(at, {a, b}), 0);
            ASSERT_EQ(m.load(at), -SIM_EIO) << a << ", " << b;
            ASSERT_EQ(m.last.bad_address, at);
            ASSERT_EQ(m.load(at, 100), -SIM_EIO);
            ASSERT_EQ(m.ecc().double_now, ++pairs) << "counted once";
        }
    }
    EXPECT_EQ(pairs, 2556u);
    EXPECT_EQ(m.ecc().single_now, 0u);
    ASSERT_EQ(m.store(at, value), 0);
    ASSERT_EQ(m.load(at), 0) << "a store ends the damage";
    EXPECT_EQ(m.last.value, value);
}

TEST(HbmLoad, AllTripleFlipsDoAsTheDecoderDoes) {
    MachineSpec spec;
    spec.page_threshold = 0;
    HbmMachine m(spec);
    m.rule("isolation-fails");
    const std::uint64_t at = m.alloc(SIM_PAGE_SIZE), value = 0x00FF00FF12345678;
    std::uint32_t corrected = 0, detected = 0, wrong = 0;
    for (int a = 0; a < 72; ++a) {
        for (int b = a + 1; b < 72; ++b) {
            for (int c = b + 1; c < 72; ++c) {
                ASSERT_EQ(m.store(at, value), 0);
                ASSERT_EQ(m.flip(at, {a, b, c}), 0);
                ASSERT_EQ(m.raw(at), 0);
                std::uint64_t delivered = m.last.value;
                std::uint8_t syndrome = 0;
                const secded_result result = secded_decode(
                    &delivered, static_cast<std::uint8_t>(m.last.corrected), &syndrome);
                const int loaded = m.load(at);
                ASSERT_EQ(loaded, result == SECDED_DETECTED ? -SIM_EIO : 0);
                if (loaded == 0) {
                    ASSERT_EQ(m.last.value, delivered);
                    wrong += delivered != value;
                }
                (result == SECDED_DETECTED ? detected : corrected) += 1;
            }
        }
    }
    EXPECT_EQ(corrected + detected, 59640u);
    EXPECT_GT(wrong, 20000u) << "most triples are corrected into a wrong word";
    EXPECT_EQ(m.ecc().single_now, corrected) << "the hardware takes them for single flips";
    EXPECT_EQ(m.ecc().double_now, detected);
}

TEST(HbmLoad, StopsAtTheFirstUncorrectableWord) {
    HbmMachine m;
    const std::uint64_t at = m.alloc(4 * SIM_PAGE_SIZE);
    ASSERT_EQ(m.flip(at + 8, {1}), 0);
    ASSERT_EQ(m.flip(at + SIM_PAGE_SIZE, {1, 2}), 0);
    ASSERT_EQ(m.flip(at + 2 * SIM_PAGE_SIZE, {1}), 0);
    ASSERT_EQ(m.flip(at + 3 * SIM_PAGE_SIZE, {1, 2}), 0);
    EXPECT_EQ(m.load(at, 4 * 8192), -SIM_EIO);
    EXPECT_EQ(m.last.bad_address, at + SIM_PAGE_SIZE);
    EXPECT_EQ(m.last.corrected, 1u);
    EXPECT_EQ(m.ecc().single_now, 1u);
    EXPECT_EQ(m.ecc().double_now, 1u);
}

TEST(HbmLoad, ChangedWordCountsAgain) {
    HbmMachine m;
    const std::uint64_t at = m.alloc(SIM_PAGE_SIZE);
    ASSERT_EQ(m.flip(at, {1}), 0);
    ASSERT_EQ(m.load(at), 0);
    ASSERT_EQ(m.store(at, 5), 0);
    ASSERT_EQ(m.flip(at, {1}), 0);
    ASSERT_EQ(m.load(at), 0);
    EXPECT_EQ(m.ecc().single_now, 2u);
    EXPECT_EQ(m.ecc().single_record_count, 1u);
    EXPECT_EQ(m.ecc().single_record[0].count, 2u);
}

// ---- scrubber ----

TEST(HbmScrub, PassesComeAtWholePeriodsAndOnlyWithWork) {
    HbmMachine m;
    EXPECT_EQ(sim_ecc_next(m.get(), &m.device()), SIM_NEVER);
    m.step(1500 * kMs);
    ASSERT_EQ(m.flip(64, {7}), 0);
    EXPECT_EQ(sim_ecc_next(m.get(), &m.device()), 2 * kSecond);
    m.step(2 * kSecond - 1);
    EXPECT_EQ(m.ecc().single_now, 0u);
    m.step(2 * kSecond);
    EXPECT_EQ(m.ecc().single_now, 1u);
    EXPECT_EQ(m.device().word_count, 0u);
    EXPECT_EQ(sim_ecc_next(m.get(), &m.device()), SIM_NEVER);
    ASSERT_EQ(m.flip(64, {7}), 0); // at the time of a pass: the next one finds it
    EXPECT_EQ(sim_ecc_next(m.get(), &m.device()), 3 * kSecond);
}

TEST(HbmScrub, ErrorsCarryTheTimeOfThePass) {
    HbmMachine m;
    ASSERT_EQ(m.flip(64, {7}), 0);
    m.step(90 * kSecond); // one step far too late
    ASSERT_EQ(m.ecc().single_record_count, 1u);
    EXPECT_EQ(m.ecc().single_record[0].time, static_cast<std::int32_t>(kWallStart / 1000 + 1));
    ASSERT_EQ(m.journal(DS_J_ECC).size(), 1u);
    EXPECT_EQ(m.journal(DS_J_ECC)[0].time_ns, kSecond);
}

TEST(HbmScrub, OffWithoutPeriod) {
    MachineSpec spec;
    spec.scrub_ms = 0;
    HbmMachine m(spec);
    ASSERT_EQ(m.flip(64, {7}), 0);
    EXPECT_EQ(sim_ecc_next(m.get(), &m.device()), SIM_NEVER);
    m.step(100 * kSecond);
    EXPECT_EQ(m.ecc().single_now, 0u);
}

TEST(HbmScrub, MiscorrectedWordBecomesAGoodWrongOne) {
    HbmMachine m;
    const std::uint64_t at = m.alloc(SIM_PAGE_SIZE), value = 77;
    ASSERT_EQ(m.store(at, value), 0);
    // Columns 0x07 and 0x0B and 0x13 add up to 0x1F, the column of data bit 56.
    ASSERT_EQ(m.flip(at, {0, 1, 2}), 0);
    m.step(kSecond);
    EXPECT_EQ(m.ecc().single_now, 1u);
    const auto records = m.journal(DS_J_ECC);
    ASSERT_EQ(records.size(), 1u);
    EXPECT_EQ(records[0].code, 3u) << "the journal knows better than the hardware";
    EXPECT_EQ(records[0].a, at);
    EXPECT_EQ(records[0].b, 0x1Fu);
    const std::uint64_t wrong = value ^ 7 ^ (1ULL << 56);
    ASSERT_EQ(m.load(at), 0);
    EXPECT_EQ(m.last.value, wrong);
    EXPECT_EQ(m.last.corrected, 0u);
    ASSERT_EQ(m.raw(at), 0);
    EXPECT_EQ(m.last.corrected, secded_encode(wrong));
    EXPECT_EQ(m.ecc().single_now, 1u);
    // The journal notes a change that nothing detects, once.
    ASSERT_EQ(m.store(at, value), 0);
    ASSERT_EQ(m.flip(at, {0, 1, 2, 56}), 0);
    ASSERT_EQ(m.load(at), 0);
    ASSERT_EQ(m.load(at), 0);
    EXPECT_EQ(m.last.value, wrong);
    EXPECT_EQ(m.ecc().single_now, 1u);
    EXPECT_EQ(m.journal(DS_J_ECC).size(), 2u);
    EXPECT_EQ(m.journal(DS_J_ECC)[1].code, 3u);
    EXPECT_EQ(m.journal(DS_J_ECC)[1].b, 0u);
}

TEST(HbmScrub, RestsWhileTheDeviceIsLost) {
    HbmMachine m;
    ASSERT_EQ(m.flip(64, {7}), 0);
    ASSERT_EQ(sim_hotplug(m.get(), 0, DS_HOTPLUG_LOSE), 0);
    m.step(10 * kSecond);
    EXPECT_EQ(m.ecc().single_now, 0u);
    ASSERT_EQ(sim_hotplug(m.get(), 0, DS_HOTPLUG_RESTORE), 0);
    m.step(11 * kSecond);
    EXPECT_EQ(m.ecc().single_now, 1u);
}

// ---- counters and records ----

TEST(HbmRecords, KeepThe64LastAddresses) {
    MachineSpec spec;
    spec.page_threshold = 0;
    HbmMachine m(spec);
    const std::uint64_t at = m.alloc(SIM_PAGE_SIZE);
    const auto hit = [&](std::uint64_t word, std::uint64_t second) {
        m.step(second * kSecond);
        ASSERT_EQ(m.store(at + 8 * word, 1), 0);
        ASSERT_EQ(m.flip(at + 8 * word, {3}), 0);
        ASSERT_EQ(m.load(at + 8 * word), 0);
    };
    for (std::uint64_t word = 0; word < 64; ++word)
        hit(word, word + 1);
    const auto record = [&](std::uint32_t i) { return m.ecc().single_record[i]; };
    ASSERT_EQ(m.ecc().single_record_count, 64u);
    EXPECT_EQ(record(0).address, at);
    EXPECT_EQ(record(0).time, static_cast<std::int32_t>(kWallStart / 1000 + 1));
    hit(0, 100); // seen again: counted up and the newest
    ASSERT_EQ(m.ecc().single_record_count, 64u);
    EXPECT_EQ(record(63).address, at);
    EXPECT_EQ(record(63).count, 2u);
    EXPECT_EQ(record(63).time, static_cast<std::int32_t>(kWallStart / 1000 + 100));
    EXPECT_EQ(record(0).address, at + 8);
    hit(64, 101); // a new one pushes the oldest out
    ASSERT_EQ(m.ecc().single_record_count, 64u);
    EXPECT_EQ(record(63).address, at + 8 * 64);
    EXPECT_EQ(record(63).count, 1u);
    EXPECT_EQ(record(62).address, at);
    EXPECT_EQ(record(0).address, at + 16);
    EXPECT_EQ(m.ecc().single_now, 66u);
    EXPECT_EQ(m.ecc().double_record_count, 0u);
}

TEST(HbmRecords, ClearTakesWhatIsSinceReset) {
    HbmMachine m;
    m.rule("isolation-fails");
    const std::uint64_t at = m.alloc(SIM_PAGE_SIZE);
    ASSERT_EQ(m.flip(at, {3}), 0);
    ASSERT_EQ(m.flip(at + 8, {3, 4}), 0);
    ASSERT_EQ(m.load(at, 2), -SIM_EIO);
    ASSERT_EQ(m.ecc().single_now, 1u);
    ASSERT_EQ(m.ecc().double_now, 1u);
    ASSERT_EQ(m.ecc().double_record_count, 1u);
    sim_ecc_clear(m.get(), &m.device());
    EXPECT_EQ(m.ecc().single_now, 0u);
    EXPECT_EQ(m.ecc().double_now, 0u);
    EXPECT_EQ(m.ecc().single_record_count, 0u);
    EXPECT_EQ(m.ecc().double_record_count, 0u);
    EXPECT_EQ(m.ecc().single_record[0].address, 0u);
    EXPECT_EQ(m.ecc().single_lifetime, 1u);
    EXPECT_EQ(m.ecc().double_lifetime, 1u);
    ASSERT_EQ(m.load(at, 2), -SIM_EIO);
    EXPECT_EQ(m.ecc().double_now, 0u) << "an old error is not found anew";
}

TEST(HbmRecords, CountersStopAtTheirEnd) {
    HbmMachine m;
    m.ecc().single_now = m.ecc().single_lifetime = 0xFFFFFFFF;
    const std::uint64_t at = m.alloc(SIM_PAGE_SIZE);
    ASSERT_EQ(m.flip(at, {3}), 0);
    ASSERT_EQ(m.load(at), 0);
    EXPECT_EQ(m.ecc().single_now, 0xFFFFFFFFu);
    EXPECT_EQ(m.ecc().single_lifetime, 0xFFFFFFFFu);
}

} // namespace

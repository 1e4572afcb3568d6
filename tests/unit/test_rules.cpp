// SPDX-License-Identifier: Apache-2.0
// The rule engine: which rule fires when.
#include "faultinject/core/rules.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t kSecond = 1'000'000'000;

class Rules : public testing::Test {
  protected:
    Rules() { fi_init(set_.get(), 42); }

    int add(std::string_view text, std::uint64_t now = 0) {
        return fi_add(set_.get(), text.data(), static_cast<std::uint32_t>(text.size()), now,
                      error_.get());
    }

    // One character a call: 'x' fires, '.' does not.
    std::string calls(int count, fi_kind kind = FI_ZOMBIE) {
        std::string out;
        for (int i = 0; i < count; ++i)
            out += fi_fire(set_.get(), kind, &query_) ? 'x' : '.';
        return out;
    }

    // Times of all firings of a timed kind up to `end`, found as a host does: from deadline to
    // deadline.
    std::vector<std::uint64_t> firings(fi_kind kind, std::uint64_t end) {
        std::vector<std::uint64_t> out;
        for (std::uint64_t now = query_.now_ns; now <= end; now = fi_next_time(set_.get(), now)) {
            query_.now_ns = now;
            for (std::uint32_t slot = 0; fi_fire_timed(set_.get(), kind, &query_, &slot);)
                out.push_back(now);
        }
        return out;
    }

    const fi_rule& rule(std::uint32_t id) { return *fi_get(set_.get(), id); }

    std::unique_ptr<fi_set> set_ = std::make_unique<fi_set>();
    std::unique_ptr<fi_error> error_ = std::make_unique<fi_error>();
    fi_query query_{0, 2, 4242, "python3", "udis.soc_max_temp", nullptr};
};

TEST_F(Rules, NoRuleSetIsInactive) {
    EXPECT_FALSE(fi_active(set_.get()));
    EXPECT_EQ(calls(3), "...");
    ASSERT_GT(add("zombie"), 0);
    EXPECT_TRUE(fi_active(set_.get()));
    EXPECT_EQ(fi_clear(set_.get(), 0), 1u);
    EXPECT_FALSE(fi_active(set_.get()));
}

TEST_F(Rules, FiresAlwaysUnlessToldOtherwise) {
    ASSERT_EQ(add("zombie"), 1);
    EXPECT_EQ(calls(5), "xxxxx");
    EXPECT_EQ(rule(1).matches, 5u);
    EXPECT_EQ(rule(1).hits, 5u);
    EXPECT_EQ(fi_remaining(&rule(1)), FI_UNLIMITED);
}

TEST_F(Rules, CountingTests) {
    const struct {
        const char *text, *fired;
    } cases[] = {
        {"zombie times=2", "xx........"},
        {"zombie interval=3", "..x..x..x."},
        {"zombie space=4", "....xxxxxx"},
        {"zombie space=2 interval=3", "....x..x.."},
        {"zombie space=2 interval=3 times=1", "....x....."},
        {"zombie interval=2 times=3", ".x.x.x...."},
        {"zombie nth=4", "...x......"},
        {"zombie nth=1", "x........."},
        {"zombie probability=0", ".........."},
        {"zombie probability=100 times=1", "x........."},
        {"zombie probability=0 times=1", ".........."},
    };
    for (const auto& c : cases) {
        fi_init(set_.get(), 42);
        ASSERT_GT(add(c.text), 0) << c.text << ": " << error_->text;
        EXPECT_EQ(calls(10), c.fired) << c.text;
    }
}

TEST_F(Rules, ExhaustedRulesStayListedAndStopCounting) {
    ASSERT_EQ(add("zombie times=2"), 1);
    EXPECT_EQ(fi_remaining(&rule(1)), 2u);
    calls(1);
    EXPECT_EQ(fi_remaining(&rule(1)), 1u);
    calls(9);
    EXPECT_EQ(fi_remaining(&rule(1)), 0u);
    EXPECT_EQ(rule(1).hits, 2u);
    EXPECT_EQ(rule(1).matches, 2u) << "times is tested before a match is counted";
    EXPECT_STREQ(rule(1).text, "zombie times=2");
    ASSERT_EQ(add("zombie nth=2"), 2);
    EXPECT_EQ(fi_remaining(&rule(2)), 1u);
    calls(2);
    EXPECT_EQ(fi_remaining(&rule(2)), 0u);
}

TEST_F(Rules, FirstRuleThatFiresWins) {
    ASSERT_EQ(add("zombie interval=2"), 1);
    ASSERT_EQ(add("zombie times=3"), 2);
    std::string ids;
    for (int i = 0; i < 6; ++i) {
        const fi_rule* fired = fi_fire(set_.get(), FI_ZOMBIE, &query_);
        ids += fired ? std::to_string(fired->id) : ".";
    }
    EXPECT_EQ(ids, "212121");
    EXPECT_EQ(rule(2).matches, 3u) << "a rule behind one that fires sees no match";
}

TEST_F(Rules, KindsAreApart) {
    ASSERT_GT(add("zombie"), 0);
    EXPECT_EQ(calls(2, FI_SURFACE), "..");
    EXPECT_EQ(calls(2, FI_ISOLATION_FAILS), "..");
    EXPECT_EQ(rule(1).matches, 0u);
}

TEST_F(Rules, Filters) {
    const struct {
        const char* text;
        bool meets;
    } cases[] = {
        {"zombie dev=2", true},
        {"zombie dev=3", false},
        {"zombie client=4242", true},
        {"zombie client=4243", false},
        {"zombie client=python3", true},
        {"zombie client=python", false},
        {"zombie client=python33", false},
        {"zombie dev=2 client=python3", true},
        {"zombie dev=2 client=bash", false},
        {"surface cmd=udis.soc_max_temp mode=never", true},
        {"surface cmd=udis.hbm_temp mode=never", false},
        {"surface cmd=udis.* mode=never", true},
        {"surface cmd=udis.soc* mode=never", true},
        {"surface cmd=* mode=never", true},
        {"surface cmd=urd.* mode=never", false},
        {"surface cmd=udis.soc_max_temp mode=never dev=2 client=4242", true},
    };
    for (const auto& c : cases) {
        fi_init(set_.get(), 42);
        ASSERT_GT(add(c.text), 0) << c.text << ": " << error_->text;
        EXPECT_EQ(calls(1, static_cast<fi_kind>(rule(1).kind)), c.meets ? "x" : ".") << c.text;
        EXPECT_EQ(rule(1).matches, c.meets ? 1u : 0u) << c.text;
    }
}

TEST_F(Rules, WhatDoesNotApplyMeetsNoFilter) {
    query_ = {0, FI_ANY, FI_ANY, nullptr, nullptr, nullptr};
    for (const char* text : {"zombie dev=2", "zombie client=1", "zombie client=python3",
                             "isolation-fails when=aicore<100"}) {
        fi_init(set_.get(), 42);
        ASSERT_GT(add(text), 0);
        EXPECT_EQ(calls(1, static_cast<fi_kind>(rule(1).kind)), ".") << text;
    }
    fi_init(set_.get(), 42);
    ASSERT_GT(add("zombie"), 0);
    EXPECT_EQ(calls(1), "x");
}

TEST_F(Rules, NamesOfFifteenCharactersAreComparedWhole) {
    const char full[16] = "fifteen_letters";
    query_.client_name = full;
    ASSERT_EQ(add("zombie client=fifteen_letters"), 1);
    EXPECT_EQ(calls(1), "x");
    query_.client_name = "fifteen_letterz";
    EXPECT_EQ(calls(1), ".");
}

TEST_F(Rules, Window) {
    ASSERT_EQ(add("zombie after=2s for=3s", 10 * kSecond), 1);
    std::string fired;
    for (std::uint64_t now : {10 * kSecond, 12 * kSecond - 1, 12 * kSecond, 15 * kSecond - 1,
                              15 * kSecond, 100 * kSecond}) {
        query_.now_ns = now;
        fired += calls(1);
    }
    EXPECT_EQ(fired, "..xx..");
    EXPECT_EQ(rule(1).matches, 2u) << "matches count inside the window alone";
}

TEST_F(Rules, WindowThatOverflowsStaysOpen) {
    ASSERT_EQ(add("zombie after=1s for=31s", FI_TIME_NEVER - 2 * kSecond), 1);
    query_.now_ns = FI_TIME_NEVER - kSecond;
    EXPECT_EQ(calls(1), "x");
}

TEST_F(Rules, LoadConditions) {
    std::uint32_t load[FI_LOAD_COUNT] = {};
    query_.load = load;
    ASSERT_EQ(add("zombie when=hbm_bw>80"), 1);
    load[FI_LOAD_HBM_BW] = 80;
    EXPECT_EQ(calls(1), ".");
    load[FI_LOAD_HBM_BW] = 81;
    EXPECT_EQ(calls(1), "x");
    fi_init(set_.get(), 42);
    ASSERT_EQ(add("zombie when=power<280.5"), 1);
    load[FI_LOAD_POWER] = 2805; // deciwatt
    EXPECT_EQ(calls(1), ".");
    load[FI_LOAD_POWER] = 2804;
    EXPECT_EQ(calls(1), "x");
    query_.load = nullptr;
    EXPECT_EQ(calls(1), ".") << "an unknown load fulfils no condition";
}

TEST_F(Rules, ProbabilityIsMetAndRepeatable) {
    ASSERT_EQ(add("zombie probability=12.5"), 1);
    const std::string first = calls(20000);
    const double hits = static_cast<double>(rule(1).hits);
    // Six standard deviations of a binomial: sqrt(20000 * 1/8 * 7/8).
    EXPECT_NEAR(hits, 2500.0, 6 * std::sqrt(20000 * 0.125 * 0.875));
    fi_init(set_.get(), 42);
    ASSERT_EQ(add("zombie probability=12.5"), 1);
    EXPECT_EQ(calls(20000), first);
    fi_init(set_.get(), 43);
    ASSERT_EQ(add("zombie probability=12.5"), 1);
    EXPECT_NE(calls(20000), first);
}

TEST_F(Rules, ChanceOfOneRuleDoesNotHangOnOthers) {
    ASSERT_EQ(add("zombie probability=50"), 1);
    const std::string alone = calls(200);
    fi_init(set_.get(), 42);
    ASSERT_EQ(add("zombie probability=50"), 1);
    ASSERT_EQ(add("surface cmd=* mode=never probability=50"), 2);
    std::string beside;
    for (int i = 0; i < 200; ++i) {
        calls(3, FI_SURFACE);
        beside += calls(1);
    }
    EXPECT_EQ(beside, alone);
}

// Computed with another program from the definition (splitmix64's finaliser over the three parts).
TEST_F(Rules, RandomIsTheSameOnEveryHost) {
    EXPECT_EQ(fi_random(0, 0, 0), 0x238275bc38fcbe91ULL);
    EXPECT_EQ(fi_random(1, 1, 1), 0x7970e130d0c7742fULL);
    EXPECT_EQ(fi_random(1, 1, 2), 0x952f980476b17683ULL);
    EXPECT_EQ(fi_random(1, 2, 1), 0x0d022233fa9dedcbULL);
    EXPECT_EQ(fi_random(2, 1, 1), 0xc4b72f8ce414b6daULL);
    EXPECT_EQ(fi_random(~0ULL, 64, 1ULL << 40), 0x5eca4a52eb71fb58ULL);
}

TEST_F(Rules, IdsAreNeverReused) {
    EXPECT_EQ(add("zombie"), 1);
    EXPECT_EQ(add("zombie dev=1"), 2);
    EXPECT_EQ(add("zombie dev=2"), 3);
    EXPECT_EQ(fi_clear(set_.get(), 2), 1u);
    EXPECT_EQ(fi_clear(set_.get(), 2), 0u);
    EXPECT_EQ(fi_get(set_.get(), 1)->id, 1u);
    EXPECT_EQ(fi_get(set_.get(), 2)->id, 3u);
    EXPECT_STREQ(fi_get(set_.get(), 2)->text, "zombie dev=2");
    EXPECT_EQ(fi_get(set_.get(), 4), nullptr);
    EXPECT_EQ(add("zombie dev=3"), 4);
    EXPECT_EQ(fi_clear(set_.get(), 0), 3u);
    EXPECT_EQ(fi_get(set_.get(), 0), nullptr);
    EXPECT_EQ(add("zombie"), 5);
}

TEST_F(Rules, FullTableAndBadTextAreToldApart) {
    for (int i = 1; i <= FI_RULES_MAX; ++i)
        ASSERT_EQ(add("zombie"), i);
    EXPECT_EQ(add("zombie"), -2);
    EXPECT_NE(std::string_view(error_->text).find("64 rules"), std::string_view::npos)
        << error_->text;
    EXPECT_EQ(set_->count, static_cast<std::uint32_t>(FI_RULES_MAX));
    fi_clear(set_.get(), 7);
    EXPECT_EQ(add("zombi"), -1);
    EXPECT_EQ(set_->count, FI_RULES_MAX - 1u) << "a bad text takes no slot";
    EXPECT_EQ(add("zombie"), FI_RULES_MAX + 1);
}

// ---- rules that act in time ----

TEST_F(Rules, TimedRulesDoNotFireForCalls) {
    ASSERT_GT(add("lost dev=2"), 0);
    ASSERT_GT(add("zombie"), 0);
    std::uint32_t slot = 0;
    const fi_rule* fired = fi_fire_timed(set_.get(), FI_LOST, &query_, &slot);
    ASSERT_NE(fired, nullptr);
    EXPECT_EQ(fired->id, 1u);
    EXPECT_EQ(fi_fire_timed(set_.get(), FI_LOST, &query_, &slot), nullptr);
    EXPECT_EQ(fi_remaining(&rule(1)), 0u);
    EXPECT_EQ(fi_next_time(set_.get(), 0), FI_TIME_NEVER);
    EXPECT_EQ(rule(2).matches, 0u);
}

TEST_F(Rules, TimedRuleWaitsForItsStart) {
    ASSERT_EQ(add("lost dev=2 after=1.5s", 1 * kSecond), 1);
    EXPECT_EQ(fi_next_time(set_.get(), 1 * kSecond), 5 * kSecond / 2);
    query_.now_ns = kSecond;
    EXPECT_EQ(firings(FI_LOST, 10 * kSecond), (std::vector<std::uint64_t>{5 * kSecond / 2}));
}

TEST_F(Rules, TimedRuleOfAnotherDeviceKeepsItsTick) {
    ASSERT_EQ(add("lost dev=5"), 1);
    std::uint32_t slot = 0;
    EXPECT_EQ(fi_fire_timed(set_.get(), FI_LOST, &query_, &slot), nullptr);
    EXPECT_EQ(fi_remaining(&rule(1)), 1u);
    slot = 0;
    query_.device = 5;
    EXPECT_NE(fi_fire_timed(set_.get(), FI_LOST, &query_, &slot), nullptr);
}

TEST_F(Rules, WithoutRateAllTicksAreAtOnce) {
    ASSERT_EQ(add("ecc bits=1 dev=2 times=3 after=1s"), 1);
    EXPECT_EQ(firings(FI_ECC, 10 * kSecond), (std::vector<std::uint64_t>(3, kSecond)));
    EXPECT_EQ(fi_remaining(&rule(1)), 0u);
    ASSERT_EQ(add("ecc bits=1 dev=2 probability=0 times=3", 10 * kSecond), 2);
    query_.now_ns = 10 * kSecond;
    EXPECT_TRUE(firings(FI_ECC, 20 * kSecond).empty());
    EXPECT_EQ(fi_remaining(&rule(2)), 0u) << "its tries are over";
    EXPECT_EQ(rule(2).matches, 3u);
}

TEST_F(Rules, RateIsExactForever) {
    for (const std::uint64_t rate_mhz : {1000ULL, 3000ULL, 7ULL, 333ULL, 999999ULL, 1000000ULL}) {
        fi_init(set_.get(), 42);
        const std::string text = "ecc bits=1 dev=2 rate=" + std::to_string(rate_mhz / 1000) + "." +
                                 std::to_string(1000 + rate_mhz % 1000).substr(1);
        ASSERT_EQ(add(text, 5), 1) << text << error_->text;
        query_.now_ns = 5;
        std::uint64_t now = 5;
        for (std::uint64_t k = 0; k < 20000; ++k) {
            std::uint32_t slot = 0;
            query_.now_ns = now;
            ASSERT_NE(fi_fire_timed(set_.get(), FI_ECC, &query_, &slot), nullptr);
            ASSERT_EQ(fi_fire_timed(set_.get(), FI_ECC, &query_, &slot), nullptr);
            now = fi_next_time(set_.get(), now);
            const auto exact = static_cast<std::uint64_t>(static_cast<Wide>(k + 1) *
                                                          1'000'000'000'000ULL / rate_mhz);
            ASSERT_EQ(now, 5 + exact) << text << ", tick " << k + 1;
        }
    }
}

TEST_F(Rules, RateEndsWithForOrTimes) {
    ASSERT_EQ(add("ecc bits=1 dev=2 rate=2 for=3s after=1s"), 1);
    EXPECT_EQ(firings(FI_ECC, 100 * kSecond),
              (std::vector<std::uint64_t>{1000000000, 1500000000, 2000000000, 2500000000,
                                          3000000000, 3500000000}));
    EXPECT_EQ(fi_remaining(&rule(1)), 0u);
    EXPECT_EQ(fi_next_time(set_.get(), 0), FI_TIME_NEVER);
    ASSERT_EQ(add("ecc bits=1 dev=2 rate=0.5 times=2", 4 * kSecond), 2);
    query_.now_ns = 4 * kSecond;
    EXPECT_EQ(firings(FI_ECC, 100 * kSecond),
              (std::vector<std::uint64_t>{4 * kSecond, 6 * kSecond}));
}

TEST_F(Rules, TicksCountAsMatches) {
    ASSERT_EQ(add("ecc bits=1 dev=2 rate=1 space=1 interval=2 times=2"), 1);
    EXPECT_EQ(firings(FI_ECC, 100 * kSecond),
              (std::vector<std::uint64_t>{2 * kSecond, 4 * kSecond}));
    ASSERT_EQ(add("ecc bits=1 dev=2 rate=1 nth=3", 50 * kSecond), 2);
    query_.now_ns = 50 * kSecond;
    EXPECT_EQ(firings(FI_ECC, 100 * kSecond), (std::vector<std::uint64_t>{52 * kSecond}));
    EXPECT_EQ(fi_remaining(&rule(2)), 0u);
}

TEST_F(Rules, TimedConditionIsLookedAtEveryTenthOfASecond) {
    std::uint32_t load[FI_LOAD_COUNT] = {};
    query_.load = load;
    ASSERT_EQ(add("lost dev=2 when=hbm_bw>80"), 1);
    EXPECT_TRUE(firings(FI_LOST, kSecond / 2).empty());
    EXPECT_EQ(rule(1).matches, 0u);
    load[FI_LOAD_HBM_BW] = 90;
    query_.now_ns = fi_next_time(set_.get(), kSecond / 2);
    EXPECT_EQ(query_.now_ns, 600'000'000u);
    EXPECT_EQ(firings(FI_LOST, kSecond), (std::vector<std::uint64_t>{600'000'000}));
    EXPECT_EQ(fi_remaining(&rule(1)), 0u);
}

TEST_F(Rules, SkippedTicksAreNoMatches) {
    ASSERT_EQ(add("ecc bits=1 rate=1"), 1);
    ASSERT_TRUE(fi_due(set_.get(), FI_ECC, 0, 0));
    EXPECT_FALSE(fi_due(set_.get(), FI_LOST, 0, 0));
    EXPECT_FALSE(fi_due(set_.get(), FI_ECC, 1, 0));
    EXPECT_FALSE(fi_due(set_.get(), FI_ECC, 0xFFFFFFFF, 0));
    fi_skip(set_.get(), 0);
    EXPECT_EQ(rule(1).matches, 0u);
    EXPECT_EQ(rule(1).ticks, 1u);
    EXPECT_FALSE(fi_due(set_.get(), FI_ECC, 0, kSecond - 1));
    EXPECT_TRUE(fi_due(set_.get(), FI_ECC, 0, kSecond));
}

} // namespace

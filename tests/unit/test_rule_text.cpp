// SPDX-License-Identifier: Apache-2.0
// The grammar of rules: what is read, what is refused, where, and in which words.
#include "faultinject/core/internal.h"
#include "faultinject/core/rules.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

// Text that ends where the next page cannot be read, without a NUL.
class GuardedText {
  public:
    GuardedText()
        : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))),
          base_(static_cast<char*>(mmap(nullptr, 2 * page_, PROT_READ | PROT_WRITE,
                                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
        if (base_ == MAP_FAILED || mprotect(base_ + page_, page_, PROT_NONE) != 0)
            std::abort();
    }
    GuardedText(const GuardedText&) = delete;
    GuardedText& operator=(const GuardedText&) = delete;
    ~GuardedText() { munmap(base_, 2 * page_); }

    const char* put(std::string_view text) {
        char* at = base_ + page_ - text.size();
        if (!text.empty())
            std::memcpy(at, text.data(), text.size());
        return at;
    }

  private:
    std::size_t page_;
    char* base_;
};

class RuleText : public testing::Test {
  protected:
    int parse(std::string_view text) {
        std::memset(rule_.get(), 0xA5, sizeof(fi_rule)); // nothing may be left as it was
        return fi_parse(guarded_.put(text), static_cast<std::uint32_t>(text.size()), rule_.get(),
                        error_.get());
    }

    void good(std::string_view text) {
        ASSERT_EQ(parse(text), 0) << text << ": at " << error_->position << ": " << error_->text;
        EXPECT_EQ(std::string_view(rule_->text), text);
        EXPECT_EQ(rule_->text_length, text.size());
    }

    // `mark` is the text with a '^' in front of the character that is wrong.
    void bad(std::string_view mark, std::initializer_list<std::string_view> words) {
        std::string text(mark);
        const std::size_t position = text.find('^');
        ASSERT_NE(position, std::string::npos) << mark;
        text.erase(position, 1);
        ASSERT_EQ(parse(text), -1) << text;
        EXPECT_EQ(error_->position, position) << text << ": " << error_->text;
        const std::string_view message(error_->text, strnlen(error_->text, sizeof error_->text));
        EXPECT_LT(message.size(), sizeof error_->text) << "the message ends";
        for (const std::string_view word : words)
            EXPECT_NE(message.find(word), std::string_view::npos)
                << text << " -> " << message << "; missing: " << word;
    }

    GuardedText guarded_;
    std::unique_ptr<fi_rule> rule_ = std::make_unique<fi_rule>();
    std::unique_ptr<fi_error> error_ = std::make_unique<fi_error>();
};

TEST_F(RuleText, Defaults) {
    good("zombie");
    EXPECT_EQ(rule_->kind, FI_ZOMBIE);
    EXPECT_EQ(rule_->device, FI_ANY);
    EXPECT_EQ(rule_->client_pid, FI_ANY);
    EXPECT_STREQ(rule_->client_name, "");
    EXPECT_STREQ(rule_->command, "");
    EXPECT_EQ(rule_->probability_ppm, 1000000u);
    EXPECT_EQ(rule_->interval, 1u);
    EXPECT_EQ(rule_->times, FI_UNLIMITED);
    EXPECT_EQ(rule_->space, 0u);
    EXPECT_EQ(rule_->nth, 0u);
    EXPECT_EQ(rule_->after_ns, 0u);
    EXPECT_EQ(rule_->for_ns, 0u);
    EXPECT_EQ(rule_->when_compare, FI_WHEN_NONE);
    EXPECT_EQ(rule_->matches, 0u);
    EXPECT_EQ(rule_->hits, 0u);
}

TEST_F(RuleText, CommonKeys) {
    good("zombie dev=63 client=1234 probability=12.5 interval=2 times=3 space=4 after=300ms for=5m "
         "when=temperature>85");
    EXPECT_EQ(rule_->device, 63u);
    EXPECT_EQ(rule_->client_pid, 1234u);
    EXPECT_EQ(rule_->probability_ppm, 125000u);
    EXPECT_EQ(rule_->interval, 2u);
    EXPECT_EQ(rule_->times, 3u);
    EXPECT_EQ(rule_->space, 4u);
    EXPECT_EQ(rule_->after_ns, 300'000'000u);
    EXPECT_EQ(rule_->for_ns, 300'000'000'000u);
    EXPECT_EQ(rule_->when_load, FI_LOAD_TEMPERATURE);
    EXPECT_EQ(rule_->when_compare, FI_WHEN_GREATER);
    EXPECT_EQ(rule_->when_value, 85u);
    good("  zombie   client=python3  ");
    EXPECT_STREQ(rule_->client_name, "python3");
    EXPECT_EQ(rule_->client_pid, FI_ANY);
    good("zombie client=123abc");
    EXPECT_STREQ(rule_->client_name, "123abc");
    good("zombie nth=9 when=power<280.5");
    EXPECT_EQ(rule_->nth, 9u);
    EXPECT_EQ(rule_->when_load, FI_LOAD_POWER);
    EXPECT_EQ(rule_->when_compare, FI_WHEN_LESS);
    EXPECT_EQ(rule_->when_value, 2805u);
}

TEST_F(RuleText, Times) {
    const struct {
        const char* text;
        std::uint64_t ns;
    } cases[] = {
        {"2", 2000000000},
        {"2s", 2000000000},
        {"1.5s", 1500000000},
        {"0.25", 250000000},
        {"300ms", 300000000},
        {"0.000001ms", 1},
        {"10us", 10000},
        {"7ns", 7},
        {"5m", 300000000000},
        {"1.5m", 90000000000},
        {"1h", 3600000000000},
        {"0.5h", 1800000000000},
        {"0.000000001", 1},
        {"0", 0},
        {"1000000000", 1000000000000000000},
        {"16666666m", 999999960000000000},
    };
    for (const auto& c : cases) {
        good(std::string("zombie after=") + c.text);
        EXPECT_EQ(rule_->after_ns, c.ns) << c.text;
    }
}

TEST_F(RuleText, Ecc) {
    good("ecc bits=2 addr=0x12340 dev=1");
    EXPECT_EQ(rule_->kind, FI_ECC);
    EXPECT_EQ(rule_->ecc_bits, 2u);
    EXPECT_EQ(rule_->ecc_place, FI_PLACE_ADDRESS);
    EXPECT_EQ(rule_->ecc_address, 0x12340u);
    EXPECT_EQ(rule_->times, 1u);
    EXPECT_EQ(rule_->period_ns, 0u);
    good("ecc page=77 dev=0 bits=72 times=5");
    EXPECT_EQ(rule_->ecc_place, FI_PLACE_PAGE);
    EXPECT_EQ(rule_->ecc_address, 77u);
    EXPECT_EQ(rule_->times, 5u);
    good("ecc bits=1 random rate=0.5 for=10s");
    EXPECT_EQ(rule_->ecc_place, FI_PLACE_RANDOM);
    EXPECT_EQ(rule_->ecc_rate_mhz, 500u);
    EXPECT_EQ(rule_->period_ns, 2'000'000'000u);
    EXPECT_EQ(rule_->times, FI_UNLIMITED);
    good("ecc bits=1");
    EXPECT_EQ(rule_->ecc_place, FI_PLACE_RANDOM);
    good("ecc bits=1 rate=1000 interval=3 space=1");
    good("ecc bits=1 when=hbm_used>50 interval=3");
    EXPECT_EQ(rule_->times, 1u);
}

TEST_F(RuleText, Surface) {
    good("surface mode=err cmd=udis.soc_max_temp errno=EIO");
    EXPECT_EQ(rule_->mode, FI_MODE_ERR);
    EXPECT_EQ(rule_->error, -5);
    EXPECT_STREQ(rule_->command, "udis.soc_max_temp");
    good("surface cmd=hdc.connect code=18 mode=err");
    EXPECT_EQ(rule_->error, 18);
    good("surface cmd=dmp.ecc_now code=0xfffe mode=err");
    EXPECT_EQ(rule_->error, 0xfffe);
    good("surface cmd=udis.* mode=deny");
    EXPECT_EQ(rule_->error, -13);
    good("surface cmd=urd.health mode=delay ms=250");
    EXPECT_EQ(rule_->delay_ms, 250u);
    EXPECT_EQ(rule_->uninterruptible, 0);
    good("surface cmd=urd.health mode=never interruptible=no");
    EXPECT_EQ(rule_->mode, FI_MODE_NEVER);
    EXPECT_EQ(rule_->uninterruptible, 1);
    good("surface cmd=urd.health mode=never interruptible=yes");
    EXPECT_EQ(rule_->uninterruptible, 0);
}

TEST_F(RuleText, LostAndIsolation) {
    good("lost dev=3 after=2s for=5s");
    EXPECT_EQ(rule_->kind, FI_LOST);
    EXPECT_EQ(rule_->times, 1u);
    good("isolation-fails dev=3 times=1 client=python3");
    EXPECT_EQ(rule_->kind, FI_ISOLATION_FAILS);
}

TEST_F(RuleText, NameOfTheFault) {
    bad("^", {"zombie", "lost", "ecc", "surface", "isolation-fails"});
    bad("^   ", {"zombie"});
    bad("^zombi dev=2", {"\"zombi\"", "did you mean zombie?"});
    bad("^dev=2", {"starts with the name of a fault", "\"dev=2\""});
    bad("^Zombie", {"zombie"});
    bad("^zombie,lost", {"\"zombie,lost\""});
    EXPECT_EQ(fi_parse(nullptr, 0, rule_.get(), error_.get()), -1);
}

TEST_F(RuleText, Keys) {
    bad("zombie ^foo=1", {"zombie knows no key \"foo\"", "dev", "client", "times"});
    bad("zombie dev=1 ^dev=1", {"dev", "twice"});
    bad("ecc bits=1 random ^random", {"random", "twice"});
    bad("zombie ^bits=2", {"zombie does not take \"bits\"", "client"});
    bad("ecc bits=1 ^cmd=urd.health", {"ecc does not take \"cmd\"", "bits", "addr"});
    bad("lost dev=1 ^client=1", {"lost does not take \"client\""});
    bad("zombie dev^", {"write dev=N"});
    bad("zombie dev^=", {"write dev=N"});
    bad("ecc bits=1 random^=1", {"write random"});
    bad("zombie ^=1", {"no key \"\""});
    bad("zombie ^lost", {"no key \"lost\""});
}

TEST_F(RuleText, Numbers) {
    bad("zombie dev=^64", {"dev=", "0 to 63", "\"64\""});
    bad("zombie dev=^-1", {"0 to 63"});
    bad("zombie dev=^+1", {"0 to 63"});
    bad("zombie dev=1^x", {"0 to 63", "\"1x\""});
    bad("zombie dev=0x^", {"0 to 63"});
    bad("zombie dev=0x^g", {"0 to 63"});
    bad("zombie dev=1^a", {"0 to 63"});
    good("zombie dev=0X2F");
    EXPECT_EQ(rule_->device, 0x2Fu);
    good("zombie dev=0x2f");
    EXPECT_EQ(rule_->device, 0x2Fu);
    bad("zombie dev=1^=1", {}); // the first '=' parts, "1=1" is the value
}

TEST_F(RuleText, NumberBounds) {
    bad("zombie times=^0", {"times=", "1 to 4294967294"});
    bad("zombie times=^4294967295", {"1 to 4294967294"});
    bad("zombie times=^18446744073709551616", {"1 to 4294967294"});
    bad("zombie times=^99999999999999999999999999999999999999999999", {"...", "4294967294"});
    bad("zombie interval=^0", {"1 to"});
    bad("zombie nth=^0", {"1 to"});
    bad("zombie client=^0", {"1 to 2147483647"});
    bad("zombie client=^2147483648", {"1 to 2147483647"});
    bad("zombie client=abcdefghijklmno^p", {"at most 15 characters"});
    bad("zombie probability=^100.0001", {"percentage from 0 to 100"});
    bad("zombie probability=1.2345^6", {"four decimals"});
    bad("zombie probability=^.5", {"percentage"});
    bad("zombie probability=5.^", {"percentage"});
    bad("zombie probability=5.1^.2", {"percentage"});
    bad("zombie probability=50^%", {"percentage"});
    bad("ecc bits=^0", {"1 to 72"});
    bad("ecc bits=^73", {"1 to 72"});
    bad("ecc bits=1 dev=0 addr=^0x11", {"multiple of 8"});
    bad("ecc bits=1 dev=0 addr=^0x10000000000000000", {"addr="});
    bad("ecc bits=1 dev=0 page=^4294967295", {"0 to 4294967294"});
    bad("ecc bits=1 rate=^0", {"0.001"});
    bad("ecc bits=1 rate=^1001", {"0.001 to 1000"});
    bad("ecc bits=1 rate=0.000^1", {"three decimals"});
    bad("surface cmd=urd.health mode=delay ms=^0", {"1 to 4294967295"});
    bad("surface cmd=urd.health mode=err code=^0", {"1 to 2147483647"});
}

TEST_F(RuleText, TimesRefused) {
    bad("zombie after=2^d", {"units ns us ms s m h", "\"2d\""});
    bad("zombie after=^s", {"units"});
    bad("zombie after=1^s2s", {}); // "1s2" is no number
    bad("zombie after=^-1", {"time"});
    bad("zombie for=^0", {"above 0"});
    bad("zombie for=^1000000001", {"31 years"});
    bad("zombie for=^277778h", {"31 years"});
    bad("zombie after=0^.5ns", {"finer than 1 ns"});
    bad("zombie after=0.000000000^1", {});
}

TEST_F(RuleText, Conditions) {
    bad("zombie when=^hbm>5",
        {"hbm_bw", "hbm_used", "aicore", "temperature", "power", "\"hbm>5\""});
    bad("zombie when=hbm_bw^", {"> or <"});
    bad("zombie when=^hbm_bw=5", {"> or <"});
    bad("zombie when=hbm_bw>^", {"percentage from 0 to 100"});
    bad("zombie when=hbm_bw>^101", {"percentage from 0 to 100"});
    bad("zombie when=hbm_bw>5^.5", {"percentage from 0 to 100"});
    bad("zombie when=power>1.2^5", {"one decimal"});
    bad("zombie when=temperature>^1001", {"degrees"});
}

TEST_F(RuleText, WhatHoldsBetweenKeys) {
    bad("lost^", {"lost needs dev="});
    bad("ecc random^", {"ecc needs bits="});
    bad("surface mode=never^", {"surface needs cmd="});
    bad("surface cmd=urd.health^", {"surface needs mode="});
    bad("surface^", {"needs cmd="});
    bad("zombie nth=2 ^times=3", {"nth"});
    bad("zombie ^interval=3 nth=2", {"nth"});
    bad("ecc bits=1 ^interval=2", {"rate=", "when="});
    bad("lost dev=1 ^nth=2", {"rate=", "when="});
    bad("ecc bits=1 dev=1 addr=8 ^page=1", {"only one of addr= page= random"});
    bad("ecc bits=1 random ^addr=8 dev=1", {"only one of"});
    bad("ecc bits=1 ^addr=8", {"addr= needs dev="});
    bad("ecc bits=1 ^page=8", {"page= needs dev="});
}

TEST_F(RuleText, SurfaceModes) {
    bad("surface cmd=urd.health mode=^error", {"err deny delay never", "\"error\""});
    bad("surface cmd=urd.health mode=err^", {"errno=NAME or code=N"});
    bad("surface cmd=urd.health mode=err errno=EIO ^code=16", {"not both"});
    bad("surface cmd=urd.health mode=err errno=^EWHAT", {"EIO", "EACCES", "EINTR", "\"EWHAT\""});
    bad("surface cmd=urd.health mode=err errno=EIO ^ms=3", {"mode=delay only"});
    bad("surface cmd=urd.health mode=err errno=EIO ^interruptible=no", {"mode=never"});
    bad("surface cmd=urd.health mode=deny ^errno=EIO", {"mode=err only"});
    bad("surface cmd=urd.health mode=delay^", {"needs ms="});
    bad("surface cmd=urd.health mode=never ^ms=5", {"mode=delay only"});
    bad("surface cmd=urd.health mode=never ^force=yes", {"mode=err and mode=deny"});
    bad("surface cmd=urd.health mode=never interruptible=^maybe", {"yes or no"});
}

TEST_F(RuleText, Commands) {
    bad("surface mode=never cmd=^udis.soc_tmp", {"\"udis.soc_tmp\"", "near:", "udis.soc_max_temp"});
    bad("surface mode=never cmd=^urd.heath", {"urd.health"});
    bad("surface mode=never cmd=^nothing_like_it_at_all", {"names look as"});
    bad("surface mode=never cmd=^soc_max_temp", {"udis.soc_max_temp"});
    bad("surface mode=never cmd=^udi.*", {"no command"});
    bad("surface mode=never cmd=udis^*temp", {"at the end"});
    bad("surface mode=never cmd=^urd.healthy", {"urd.health"});
    bad("surface mode=never cmd=" + std::string(31, 'a') + "^aa", {"at most 31 characters"});
    good("surface mode=never cmd=*");
    good("surface mode=never cmd=udis.single_ecc7");
    good("surface mode=never cmd=udis.multi_ecc15");
    good("surface mode=never cmd=udis.multi_ecc#");
    good("surface mode=never cmd=udis.000004d2mem");
    bad("surface mode=never cmd=^udis.single_ecca", {"udis.single_ecc#"});
    bad("surface mode=never cmd=^udis.multi_ecc155", {"udis.multi_ecc#"});
    bad("surface mode=never cmd=^udis.00000xd2mem", {"udis.########mem"});
}

TEST_F(RuleText, IllegalErrorsNeedForce) {
    bad("surface cmd=udis.soc_max_temp mode=err errno=^EFAULT",
        {"\"EFAULT\" is no error of udis.soc_max_temp", "EACCES ENODEV EIO", "force=yes"});
    good("surface cmd=udis.soc_max_temp mode=err errno=EFAULT force=yes");
    EXPECT_EQ(rule_->error, -14);
    bad("surface cmd=udis.soc_max_temp mode=err errno=^EFAULT force=no", {"is no error of"});
    bad("surface cmd=udis.soc_max_temp mode=err code=^5", {"\"5\" is no error of"});
    bad("surface cmd=hdc.connect mode=^deny", {"hdc.connect", "9 12 17 18 20"});
    good("surface cmd=hdc.connect mode=deny force=yes");
    good("surface cmd=hdc.send mode=deny");
    good("surface cmd=dmp.* mode=deny");
    bad("surface cmd=davsim.info mode=^deny", {"\"deny\" is no error of davsim.info"});
    bad("surface cmd=* mode=err errno=^EIO", {"manager.bind"});
    good("surface cmd=udis.* mode=err errno=ENODEV");
}

// Every command has a rule for each of its errors, and commands.def names no error that rules do
// not know.
TEST_F(RuleText, EveryCommandAndEveryLegalError) {
    unsigned pairs = 0;
    for (unsigned id = 1; id < DV_CMD_COUNT; ++id) {
        const dv_command_info* info = dv_command(id);
        const std::string name =
            (info->kind == DV_KIND_UDIS ? std::string("udis.") : std::string()) + info->name;
        ASSERT_LT(name.size(), static_cast<std::size_t>(FI_NAME_MAX)) << name;
        good("surface mode=never cmd=" + name);
        std::istringstream errors(info->errors);
        for (std::string error; errors >> error; ++pairs) {
            const bool number = error[0] >= '0' && error[0] <= '9';
            good("surface mode=err cmd=" + name + (number ? " code=" : " errno=") + error);
        }
    }
    EXPECT_GT(pairs, 500u);
}

TEST_F(RuleText, OneLineOfPrintableAscii) {
    bad("zombie^\n", {"0x0a"});
    bad("zombie^\tdev=1", {"0x09"});
    bad("zombie d^\x7f"
        "ev=1",
        {"0x7f"});
    bad("zombie client=^\xc3\xa9", {"0xc3"});
    const std::string with_nul("zombie\0dev=1", 12);
    ASSERT_EQ(parse(with_nul), -1);
    EXPECT_EQ(error_->position, 6u);
    EXPECT_NE(std::string_view(error_->text).find("0x00"), std::string_view::npos);
}

TEST_F(RuleText, Length) {
    std::string text = "zombie dev=1";
    text.resize(DS_TEXT_MAX - 1, ' ');
    good(text);
    text.push_back(' ');
    ASSERT_EQ(parse(text), -1);
    EXPECT_EQ(error_->position, static_cast<std::uint32_t>(DS_TEXT_MAX - 1));
    EXPECT_NE(std::string_view(error_->text).find("255"), std::string_view::npos) << error_->text;
    // A length that cannot be true is not read either: there is one byte.
    EXPECT_EQ(fi_parse(guarded_.put("z"), 0xFFFFFFFF, rule_.get(), error_.get()), -1);
}

// Every start of good texts and every change of one byte: no read behind the end (the guard page
// would stop the test), and always a rule or a message with a position inside the text.
TEST_F(RuleText, EveryPrefixAndEveryChangedByte) {
    const char* const texts[] = {
        "ecc bits=2 addr=0x12340 dev=1 times=2 after=1.5s",
        "surface mode=err cmd=udis.single_ecc# errno=EIO client=python3 force=yes",
        "zombie dev=1 probability=12.5 when=power>280.5 for=300ms",
    };
    unsigned accepted = 0, refused = 0;
    const auto check = [&](std::string_view text) {
        if (parse(text) == 0) {
            ++accepted;
            return;
        }
        ++refused;
        ASSERT_LE(error_->position, text.size()) << text;
        ASSERT_NE(error_->text[0], '\0') << text;
        ASSERT_EQ(error_->text[sizeof error_->text - 1], '\0') << text;
    };
    for (const std::string text : texts) {
        good(text);
        for (std::size_t length = 0; length < text.size(); ++length)
            check(std::string_view(text).substr(0, length));
        for (std::size_t at = 0; at < text.size(); ++at) {
            for (int byte = 0; byte < 256; ++byte) {
                std::string changed = text;
                changed[at] = static_cast<char>(byte);
                check(changed);
            }
        }
    }
    EXPECT_GT(accepted, 100u);
    EXPECT_GT(refused, 10000u);
}

// ---- parts ----

TEST(CommandMatch, AgreesWithTheWiresOwnSearch) {
    // Keys of 16 bytes: what dv_find_udis finds, a rule with the table's key matches, and only
    // that.
    const std::vector<std::string> names = {
        "single_ecc0",  "single_ecc7",  "single_ecc15", "single_ecc",  "single_ecca",
        "single_ecc1a", "multi_ecc0",   "multi_ecc123", "multi_time1", "000004d2mem",
        "000004D2mem",  "0000004d2mem", "soc_max_temp", "soc_max_tem", "soc_max_temp2",
        "hbm_temp",     "aic0_freq"};
    for (unsigned id = 1; id < DV_CMD_COUNT; ++id) {
        const dv_command_info* info = dv_command(id);
        if (info->kind != DV_KIND_UDIS)
            continue;
        for (const std::string& name : names) {
            const bool found = dv_find_udis(info->module, name.c_str()) == info;
            EXPECT_EQ(fi_command_matches(info->name, name.c_str()) != 0, found)
                << info->name << " and " << name;
            EXPECT_EQ(fi_command_matches(name.c_str(), info->name) != 0, found)
                << name << " and " << info->name;
        }
    }
}

TEST(CommandMatch, Stars) {
    EXPECT_TRUE(fi_command_matches("*", ""));
    EXPECT_TRUE(fi_command_matches("*", "urd.health"));
    EXPECT_TRUE(fi_command_matches("urd.*", "urd."));
    EXPECT_FALSE(fi_command_matches("urd.*", "urd"));
    EXPECT_FALSE(fi_command_matches("", "urd"));
    EXPECT_TRUE(fi_command_matches("", ""));
    EXPECT_FALSE(fi_command_matches("urd", "*")) << "only the pattern may have a star";
}

TEST(Divide, EqualsTheOperator) {
    std::mt19937_64 random(7);
    for (int i = 0; i < 200000; ++i) {
        const std::uint64_t a = random() >> (random() & 63);
        const auto b = static_cast<std::uint32_t>(random() >> (32 + (random() & 31)));
        if (b == 0)
            continue;
        std::uint32_t rest = 0;
        ASSERT_EQ(fi_divide(a, b, &rest), a / b) << a << " / " << b;
        ASSERT_EQ(rest, a % b) << a << " % " << b;
    }
}

TEST(Distance, CountsEdits) {
    const auto distance = [](const char* a, const char* b) {
        const fi_span span{a, 0, static_cast<std::uint32_t>(std::strlen(a))};
        return fi_distance(&span, b);
    };
    EXPECT_EQ(distance("", ""), 0u);
    EXPECT_EQ(distance("", "abc"), 3u);
    EXPECT_EQ(distance("kitten", "sitting"), 3u);
    EXPECT_EQ(distance("flaw", "lawn"), 2u);
    EXPECT_EQ(distance("xyabc", "abc"), 2u);
    EXPECT_EQ(distance("abc", "abcxy"), 2u);
    EXPECT_EQ(distance("axbyc", "abc"), 2u);
    EXPECT_EQ(distance("mem7", "mem#"), 0u) << "a digit for its mark";
    EXPECT_EQ(distance("memx", "mem#"), 1u);
    EXPECT_EQ(distance("same", "same"), 0u);
    EXPECT_EQ(distance("12345678901234567890123456789012345678901", "x"), 99u);
}

} // namespace

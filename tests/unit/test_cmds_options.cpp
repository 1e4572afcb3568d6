// SPDX-License-Identifier: Apache-2.0
// Option tables: parsing, complaints, help, manual page, completion.
#include "cmds/common/options.hpp"
#include "cmds/npu-smi/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace asc::cmds;
using testing::HasSubstr;

namespace {

using Words = std::vector<std::string>;

std::expected<Arguments, std::string> parse(const Words& words) {
    return parse_arguments(npu_smi::program(), words);
}

std::string complaint(const Words& words) {
    const auto arguments = parse(words);
    return arguments ? "(no complaint)" : arguments.error();
}

} // namespace

TEST(Options, TakesTheVendorsSpellings) {
    const auto arguments = parse({"info", "-t", "ecc", "-i", "1", "-c", "0"});
    ASSERT_TRUE(arguments.has_value()) << arguments.error();
    EXPECT_EQ(arguments->verb->name, "info");
    EXPECT_EQ(arguments->text("type"), "ecc");
    EXPECT_EQ(arguments->text("device"), "1");
    EXPECT_EQ(arguments->whole("chip"), 0);
    EXPECT_FALSE(arguments->whole("physical").has_value());
    EXPECT_TRUE(parse({"info", "-i1", "-tecc"}).has_value());
    EXPECT_TRUE(parse({"info", "--device=all", "--type", "ecc"}).has_value());
}

TEST(Options, FindsTheLongestVerb) {
    EXPECT_EQ(parse({"info", "watch", "-s", "pt"})->verb->name, "info watch");
    EXPECT_EQ(parse({"info", "proc"})->verb->name, "info proc");
    EXPECT_EQ(parse({"info"})->verb->name, "info");
    EXPECT_EQ(parse({"--help"})->verb, nullptr);
    EXPECT_TRUE(parse({"info", "-h"})->has("help"));
}

TEST(Options, ComplainsByName) {
    EXPECT_THAT(complaint({}), HasSubstr("no command"));
    EXPECT_THAT(complaint({"inof"}), HasSubstr("did you mean 'info'"));
    EXPECT_THAT(complaint({"frobnicate"}), testing::Not(HasSubstr("did you mean")));
    EXPECT_THAT(complaint({"info", "--watc", "1"}), HasSubstr("'--watc'; did you mean '--watch'"));
    EXPECT_THAT(complaint({"info", "-Z"}), HasSubstr("unknown option"));
    EXPECT_THAT(complaint({"info", "-i"}), HasSubstr("needs a value"));
    EXPECT_THAT(complaint({"info", "-l=3"}), testing::Not("(no complaint)"));
    EXPECT_THAT(complaint({"info", "--list=3"}), HasSubstr("takes no value"));
    EXPECT_THAT(complaint({"info", "extra"}), HasSubstr("unexpected 'extra'"));
    EXPECT_THAT(complaint({"info", "-i", "0", "-i", "1"}), HasSubstr("twice"));
    EXPECT_THAT(complaint({"info", "-o", "jsn"}), HasSubstr("did you mean 'json'"));
    EXPECT_THAT(complaint({"info", "-o", "xml"}), HasSubstr("table json csv"));
    EXPECT_THAT(complaint({"info", "\x1b[31m"}), HasSubstr("\\x1b[31m"));
}

TEST(Options, ChecksNumbers) {
    for (const char* bad : {"x", "", "-1", "1.5", "1e2", "99", "0x1", "1 ", "nan", "inf"})
        EXPECT_THAT(complaint({"info", "-c", bad}), testing::Not("(no complaint)")) << bad;
    for (const char* bad : {"0", "-2", "x", "nan", "inf", "1e9999", "99999999"})
        EXPECT_THAT(complaint({"info", "--watch", bad}), testing::Not("(no complaint)")) << bad;
    EXPECT_EQ(parse({"info", "--watch", "0.5"})->number("watch"), 0.5);
    EXPECT_EQ(complaint({"info", "watch", "-d", "101"}), "-d '101' is no number from 1 to 100");
}

TEST(Options, DoesNotGuessShortenedNames) {
    EXPECT_THAT(complaint({"info", "--back", "x"}), HasSubstr("unknown option"));
}

TEST(Options, OperandsAreCounted) {
    static constexpr Option kOptions[] = {{.name = "loud", .letter = 'l'}};
    static constexpr Verb kVerbs[] = {
        {.name = "play", .text = "Plays.", .options = kOptions, .operands = {"TUNE [TUNE]", 1, 2}},
        {.name = "stop", .text = "Stops.", .options = {}}};
    const Program program{.name = "juke",
                          .text = "Plays tunes.",
                          .verbs = kVerbs,
                          .common = common_options(),
                          .statuses = {}};
    const auto parse_it = [&](const Words& words) { return parse_arguments(program, words); };
    EXPECT_EQ(parse_it({"play", "a", "-l", "b"})->operands, (Words{"a", "b"}));
    EXPECT_EQ(parse_it({"play", "--", "-l", "--help"})->operands, (Words{"-l", "--help"}));
    EXPECT_EQ(parse_it({"play"}).error(), "TUNE [TUNE] is needed");
    EXPECT_EQ(parse_it({"play", "a", "b", "c"}).error(), "unexpected 'c'");
    EXPECT_EQ(parse_it({"stop", "a"}).error(), "unexpected 'a'");
    EXPECT_TRUE(parse_it({"play", "--help"}).has_value());
    EXPECT_THAT(usage_line(program, Words{"play"}), HasSubstr("[OPTION...] TUNE [TUNE];"));
}

TEST(Options, ActionsTakeNoSeries) {
    EXPECT_THAT(complaint({"set", "--watch", "1"}), HasSubstr("unknown option"));
    EXPECT_THAT(complaint({"clear", "--query", "x"}), HasSubstr("unknown option"));
}

TEST(Help, NamesEveryOptionAndStatus) {
    const Program& program = npu_smi::program();
    for (const Verb& verb : program.verbs) {
        const std::string text = help_text(program, &verb);
        for (const Option& option : verb.options)
            EXPECT_THAT(text, HasSubstr("--" + std::string(option.name))) << verb.name;
        for (const Option& option : common_options_of(program, &verb))
            EXPECT_THAT(text, HasSubstr("--" + std::string(option.name))) << verb.name;
        for (const StatusText& status : program.statuses)
            EXPECT_THAT(text, HasSubstr("\n  " + std::to_string(status.status) + " "));
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = text.find('\n', at);
            EXPECT_LE(end - at, 100U) << text.substr(at, end - at);
            at = end + 1;
        }
    }
}

TEST(Help, WatchTellsTheVendorsMetric) {
    const Program& program = npu_smi::program();
    const std::vector<std::string> words{"info", "watch"};
    EXPECT_THAT(help_text(program, find_verb(program, words).verb), HasSubstr("u - AI Cube Usage"));
}

TEST(Help, UsageIsOneLine) {
    for (const Words& words : {Words{}, Words{"info"}, Words{"set", "-t"}, Words{"nonsense"}}) {
        const std::string line = usage_line(npu_smi::program(), words);
        EXPECT_TRUE(line.starts_with("usage: npu-smi"));
        EXPECT_EQ(line.find('\n'), std::string::npos);
    }
}

TEST(Help, ManualPageHasNoStrayRequests) {
    const std::string page = manual_page(npu_smi::program());
    EXPECT_TRUE(page.starts_with(".TH NPU\\-SMI 1"));
    for (const char* part : {".SH NAME", ".SH COMMANDS", ".SH OPTIONS", ".SH EXIT STATUS",
                             "\\-\\-backend", ".SS npu\\-smi info watch"})
        EXPECT_THAT(page, HasSubstr(part));
    EXPECT_EQ(page.find("\n'"), std::string::npos);
}

TEST(Help, UnknownKindIsNamed) {
    const auto text = help_of_kind(npu_smi::program(), nullptr, "zsh");
    ASSERT_FALSE(text.has_value());
    EXPECT_THAT(text.error(), HasSubstr("zsh"));
}

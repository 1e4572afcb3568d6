// SPDX-License-Identifier: Apache-2.0
#include "cmds/faultinject/options.hpp"

#include "cmds/common/statuses.hpp"

namespace asc::cmds::faultinject {

namespace {

constexpr std::string_view kNoSeries[] = {"watch", "count"};

constexpr std::string_view kRuleNotes =
    "A rule is the fault's name and key=value words, in quotes or as words of their own:\n"
    "  faultinject add ecc bits=2 dev=1 addr=0x100000\n"
    "  faultinject add 'surface cmd=udis.ecc_rlt_cnt mode=err errno=EIO dev=3 times=2'\n"
    "Every rule takes dev= probability= interval= times= space= nth= after= for= when=.\n"
    "Nothing changes when a rule is wrong: the message names the character and the nearest word.";

// A run prints TAP alone.
constexpr std::string_view kNoFormats[] = {"output", "query", "watch", "count", "timeout"};

constexpr Option kRunOptions[] = {
    {.name = "all", .text = "the whole library"},
    {.name = "list", .text = "shows what the library has and ends"},
    {.name = "backend",
     .takes = Takes::text,
     .value = "BACKEND",
     .text = "socket (a davsimd of its own for each scenario; the default), inproc (inside this "
             "program), unix:PATH or chardev (a simulator that runs; ASC_DEVICE names one too)"},
    {.name = "seed",
     .takes = Takes::whole,
     .value = "N",
     .text = "of random decisions, in place of each scenario's own",
     .least = 0,
     .most = 2147483647},
    {.name = "journal",
     .takes = Takes::text,
     .value = "FILE",
     .text = "writes what happened, one JSON object a line"},
    {.name = "without-faults",
     .text =
         "leaves the faults out; a step that notices one must fail then, and passes if it does"},
};

constexpr std::string_view kRunNotes =
    "SCENARIO is a name of the library, or a file (with '/' or ending in .toml). TAP version 14 "
    "is printed, a subtest for each scenario.\n"
    "Ends 0 when all that could run passed, 1 when one failed, 77 when none could run here.";

constexpr Verb kVerbs[] = {
    {.name = "list",
     .text = "Lists the rules that are set, with what they have done and what is left of them.",
     .options = {}},
    {.name = "add",
     .text = "Sets a rule and shows it with its id.",
     .options = {},
     .notes = kRuleNotes,
     .without = kNoSeries,
     .operands = {"RULE...", 1, 64}},
    {.name = "clear",
     .text = "Takes rules back: those with these ids, or all.",
     .options = {},
     .without = kNoSeries,
     .operands = {"ID...", 0, 64}},
    {.name = "run",
     .text = "Runs scenarios: faults, commands, and what these must show.",
     .options = kRunOptions,
     .notes = kRunNotes,
     .without = kNoFormats,
     .operands = {"SCENARIO...", 0, 1000}},
};

constexpr StatusText kStatuses[] = {
    {status::ok, "done"},
    {status::finding, "a scenario failed, a fault was not noticed"},
    {status::usage, "wrong command, rule or file"},
    {status::not_permitted, "not permitted: rules are for root and the simulator's owner"},
    {status::no_driver, "no driver there"},
    {status::timeout, "no answer in time"},
    {status::abi_mismatch, "driver and tool do not fit together"},
    {status::failed, "failed, or the driver is a real one"},
    {kCannotRun, "run: no scenario can run here"},
};

constexpr Program kProgram{
    .name = "faultinject",
    .text = "Makes every fault of the simulated devices happen on purpose, the same way each time.",
    .verbs = kVerbs,
    .common = {}, // set in program(): the table stands in another file
    .statuses = kStatuses,
    .examples = "  faultinject add zombie dev=2      memory of device 2 outlives its processes\n"
                "  faultinject list -o json          rules, how often they were met and hit\n"
                "  faultinject clear 3               takes rule 3 back\n"
                "  faultinject run zombie            a scenario of the library\n"
                "  faultinject run --all --backend inproc --journal run.jsonl\n"};

} // namespace

const Program& program() {
    static const Program with_common = [] {
        Program copy = kProgram;
        copy.common = common_options();
        return copy;
    }();
    return with_common;
}

} // namespace asc::cmds::faultinject

// SPDX-License-Identifier: Apache-2.0
// -t proc, -t proc-mem, info proc.
#include "cmds/npu-smi/processes.hpp"
#include "tests/unit/test_cmds_fixture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace asc::cmds;
using namespace asc::cmds::npu_smi;
using namespace asc::test;
using asc::hal::Absence;
using asc::hal::Holder;
using asc::hal::Reading;
using asc::hal::Reason;
using testing::HasSubstr;
using testing::Not;

namespace {

ProcessLook look_at(asc::hal::DeviceSnapshot device,
                    Reading<std::vector<Holder>> holders = std::vector<Holder>{}) {
    return {std::move(device), std::move(holders), {}};
}

std::string text_of(const ProcessLook& look) {
    const auto findings = process_findings(std::span(&look, 1), {kNow, "--backend unix:/run/sim"});
    return process_text(std::span(&look, 1), findings, Charset::utf8);
}

} // namespace

TEST(Proc, ListsLiveProcessesWithTheirStart) {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
    EXPECT_EQ(text_of(look_at(handbook()[0])), R"(
	NPU ID                         : 0
	Chip ID                        : 0
	Phy ID                         : 0
	Process id  Process name  HBM used(MB)  Started              State
	1000        python3       32768         2025-12-01 02:25:31  S
)" + 1);
}

TEST(Proc, MarksTheDeadAndNamesTheReset) {
    EXPECT_EQ(text_of(look_at(handbook()[2])), R"(
	NPU ID                         : 2
	Chip ID                        : 0
	Phy ID                         : 2
	no processes
	pid 4242 python3 is dead and its 65536 MB were not given back
	65536 MB held by no live process; owner pid 4242 (python3) is dead; a reset of the chip frees it and interrupts nothing that runs now
	next: npu-smi set -t device-reset -i 2 --backend unix:/run/sim
)" + 1);
}

TEST(Proc, UnlistedHoldersAreNamedAndNoResetIsAdvised) {
    auto device = healthy_device(0);
    device.hbm_used_mib = device.hbm_unowned_mib = std::uint64_t{65536};
    const std::string seen = text_of(look_at(device, std::vector{holder(5001, "train")}));
    EXPECT_THAT(seen,
                HasSubstr("pid 5001 train has /dev/davinci0 open and is not in the driver's list"));
    EXPECT_THAT(seen, Not(HasSubstr("set -t")));
    const std::string denied =
        text_of(look_at(device, Reading<std::vector<Holder>>(Reason::denied, -13)));
    EXPECT_THAT(denied, HasSubstr("holders unknown (need root)"));
    EXPECT_THAT(denied, Not(HasSubstr("set -t")));
}

TEST(Proc, ThreeKindsOfNothingLookDifferent) {
    auto device = healthy_device(0);
    EXPECT_THAT(text_of(look_at(device)), HasSubstr("\tno processes\n"));
    auto foreign = process(9001, 8000);
    foreign.resolvable = false;
    foreign.name = Absence{Reason::unresolvable, 0, {}};
    hold(device, {foreign});
    const std::string elsewhere = text_of(look_at(device));
    EXPECT_THAT(elsewhere, HasSubstr("9001 (host)  not in this namespace"));
    EXPECT_THAT(elsewhere, HasSubstr("1 process not resolvable from this PID namespace"));
    EXPECT_THAT(elsewhere, Not(HasSubstr("no processes")));
    device.processes = Absence{Reason::denied, -13, {}};
    EXPECT_THAT(text_of(look_at(device)), HasSubstr("processes cannot be seen: not permitted"));
}

TEST(Proc, WithoutABaselineItCannotTell) {
    auto device = healthy_device(0);
    device.hbm_baseline_mib = device.hbm_unowned_mib = Absence{Reason::unknown, 0, {}};
    EXPECT_THAT(text_of(look_at(device)), HasSubstr("cannot tell"));
    device.hbm_unowned_mib = Absence{Reason::list_full, 0, {}};
    EXPECT_THAT(text_of(look_at(device)),
                HasSubstr("cannot tell: the driver's process list is full"));
    ProcessLook with_file = look_at(device);
    with_file.device.hbm_unowned_mib = Absence{Reason::unknown, 0, {}};
    with_file.device.hbm_used_mib = std::uint64_t{3600};
    with_file.earlier = Earlier{{}, {}, 3400, "before"};
    EXPECT_THAT(text_of(with_file), HasSubstr("200 MB held by no live process"));
}

TEST(Proc, ADeviceAtItsBaselineIsClean) {
    auto device = healthy_device(0);
    device.hbm_baseline_mib = device.hbm_used_mib = std::uint64_t{3400};
    EXPECT_THAT(text_of(look_at(device)), Not(HasSubstr("held by no live process")));
}

TEST(Proc, RecordsHaveARowForWhatCannotBeSeen) {
    auto denied = healthy_device(1);
    denied.processes = Absence{Reason::denied, -13, {}};
    const std::vector<ProcessLook> looks{look_at(healthy_device(0)), look_at(denied),
                                         look_at(handbook()[2])};
    const Records records = process_records(looks);
    ASSERT_EQ(records.rows.size(), 2U); // the idle device has none
    const auto backend = simulator();
    const std::string csv = records_csv(records, {&backend, {}, false, true});
    EXPECT_THAT(csv, HasSubstr("1,0,1,DENIED,DENIED,DENIED,DENIED,DENIED,DENIED,DENIED,"));
    EXPECT_THAT(csv, HasSubstr("2,0,2,4242,4242,python3,65536,2025-12-01T02:25:31Z,"));
    const Json more = process_more(looks, {});
    EXPECT_EQ(more["devices"][0]["processes"].dump(), "[]");
    EXPECT_TRUE(more["devices"][1]["processes"].is_null());
    EXPECT_EQ(more["devices"][2]["hbm_unowned_mib"], 65536);
}

TEST(ProcMem, IsTheVendorsLine) {
    const ProcessLook busy = look_at(handbook()[0]), zombie = look_at(handbook()[2]);
    EXPECT_THAT(
        process_memory_text(std::span(&busy, 1), false, Charset::utf8),
        HasSubstr(
            "\tProcess id:1000    Process name:python3           Process memory(MB):32768\n"));
    EXPECT_THAT(process_memory_text(std::span(&zombie, 1), false, Charset::utf8),
                HasSubstr("\tNo process in device.\n"));
}

TEST(Proc, NamesAreHarmless) {
    auto device = healthy_device(0);
    hold(device, {process(1, 5, true, "a\x1b[2J,\"b"),
                  process(2, 5, true,
                          "\xf8\x01"
                          "B"),
                  process(3, 5, false, "x\ny")});
    const ProcessLook look = look_at(device);
    for (const std::string& text :
         {text_of(look), process_memory_text(std::span(&look, 1), false, Charset::utf8),
          process_scroll_text(std::span(&look, 1), true, Charset::utf8)})
        EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
    EXPECT_THAT(text_of(look), HasSubstr("\\xf8\\x01B"));
}

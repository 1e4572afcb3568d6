// SPDX-License-Identifier: Apache-2.0
// Around a reset: who is in the way, and when it counts as done.
#include "cmds/common/statuses.hpp"
#include "cmds/npu-smi/reset.hpp"
#include "cmds/npu-smi/reset_lock.hpp"
#include "tests/unit/test_cmds_fixture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

using namespace asc::cmds;
using namespace asc::cmds::npu_smi;
using namespace asc::test;
using asc::hal::Absence;
using asc::hal::ActionResult;
using asc::hal::Holder;
using asc::hal::Reading;
using asc::hal::Reason;
using testing::HasSubstr;
using testing::Not;

namespace {

Holder daemon_holder() {
    Holder one;
    one.pid = 300;
    one.name = "npu-monitord";
    one.node = "/dev/davinci0";
    one.state = "S";
    one.daemon = true;
    return one;
}

ActionResult result(ActionResult::Kind kind, std::string text = {}) {
    return {kind, 0, std::move(text)};
}

} // namespace

TEST(Obstacle, NamesHoldersNodesAndServices) {
    const auto obstacle = reset_obstacle(healthy_device(0), std::vector{daemon_holder()});
    ASSERT_TRUE(obstacle.has_value());
    EXPECT_EQ(obstacle->status, npu_smi_status::held);
    EXPECT_THAT(obstacle->text,
                testing::AllOf(HasSubstr("pid 300 npu-monitord"), HasSubstr("/dev/davinci0"),
                               HasSubstr("service manager")));
}

TEST(Obstacle, CountsListedProcessesTooButNotTheDead) {
    auto device = healthy_device(3);
    hold(device, {process(1003, 10240)});
    EXPECT_THAT(reset_obstacle(device, std::vector<Holder>{})->text, HasSubstr("pid 1003 python3"));
    hold(device, {process(1003, 10240, false)});
    EXPECT_FALSE(reset_obstacle(device, std::vector<Holder>{}).has_value());
    EXPECT_FALSE(reset_obstacle(healthy_device(3), std::vector<Holder>{}).has_value());
}

TEST(Obstacle, UnknownHoldersRefuse) {
    const auto denied =
        reset_obstacle(healthy_device(0), Reading<std::vector<Holder>>(Reason::denied));
    EXPECT_EQ(denied->status, npu_smi_status::not_permitted);
    EXPECT_THAT(denied->text, HasSubstr("unknown (need root)"));
    EXPECT_EQ(
        reset_obstacle(healthy_device(0), Reading<std::vector<Holder>>(Reason::failed))->status,
        npu_smi_status::failed);
}

TEST(Verdict, SuccessNeedsADeviceThatSaysSo) {
    const auto before = handbook()[2];
    auto after = healthy_device(2);
    const auto done = result(ActionResult::Kind::done);
    EXPECT_TRUE(judge_reset(done, before, after, 1).success);
    EXPECT_THAT(judge_reset(done, before, after, 1).text, HasSubstr("0 / 65536 MB"));
    const auto failure = [&](const auto& what, const asc::hal::DeviceSnapshot& now) {
        const ResetVerdict verdict = judge_reset(what, before, now, 3);
        EXPECT_FALSE(verdict.success);
        EXPECT_TRUE(verdict.text.starts_with("reset FAILED: "));
        for (const char* word : {"success", "Success", "done", "OK"})
            EXPECT_THAT(verdict.text, Not(HasSubstr(word)));
        return verdict.text;
    };
    EXPECT_THAT(failure(done, missing_device(2, asc::hal::DeviceState::lost, Reason::lost, "")),
                HasSubstr("not back after 3s"));
    EXPECT_THAT(failure(result(ActionResult::Kind::timeout), after),
                HasSubstr("not back after 3s"));
    EXPECT_THAT(failure(result(ActionResult::Kind::failed, "driver error 7"), after),
                HasSubstr("driver error 7"));
    after.boot_status = 1U;
    EXPECT_THAT(failure(done, after), HasSubstr("boot status 1"));
    after = healthy_device(2);
    after.health = Absence{Reason::timeout, 0, {}};
    EXPECT_THAT(failure(done, after), HasSubstr("health cannot be read"));
    after = healthy_device(2);
    after.health = asc::hal::Health::critical;
    EXPECT_THAT(failure(done, after), HasSubstr("Critical"));
    EXPECT_THAT(failure(done, before), HasSubstr("65536 MB are still held"));
    after = healthy_device(2);
    after.hbm_used_mib = Absence{Reason::failed, -5, {}};
    EXPECT_THAT(failure(done, after), HasSubstr("memory cannot be read"));
}

TEST(Verdict, WithoutABaselineMemoryMustHaveFallen) {
    auto before = handbook()[2];
    auto after = healthy_device(2);
    for (auto* device : {&before, &after})
        device->hbm_baseline_mib = device->hbm_unowned_mib = Absence{Reason::unsupported, 0, {}};
    after.hbm_used_mib = std::uint64_t{65536};
    EXPECT_FALSE(judge_reset(result(ActionResult::Kind::done), before, after, 1).success);
    after.hbm_used_mib = std::uint64_t{3400};
    EXPECT_TRUE(judge_reset(result(ActionResult::Kind::done), before, after, 1).success);
}

TEST(Lock, KeepsTwoResetsApart) {
    const std::string path = testing::TempDir() + "asc_reset_lock";
    ::setenv("ASC_RESET_LOCK", path.c_str(), 1);
    {
        const auto first = ResetLock::take(std::chrono::milliseconds(0));
        ASSERT_TRUE(first.has_value()) << first.error().text;
        const auto second = ResetLock::take(std::chrono::milliseconds(150));
        ASSERT_FALSE(second.has_value());
        EXPECT_TRUE(second.error().busy);
        EXPECT_EQ(second.error().text,
                  "Another user is resetting the NPU(s). Please try again later.");
    }
    EXPECT_TRUE(ResetLock::take(std::chrono::milliseconds(0)).has_value());
    ::setenv("ASC_RESET_LOCK", "/nonexistent/lock", 1);
    EXPECT_FALSE(ResetLock::take(std::chrono::milliseconds(0)).error().busy);
    ::unsetenv("ASC_RESET_LOCK");
    ::unlink(path.c_str());
}

TEST(Statuses, FollowTheContract) {
    using Kind = asc::hal::ConnectError::Kind;
    EXPECT_EQ(npu_smi_status_of(Kind::no_driver), 5);
    EXPECT_EQ(npu_smi_status_of(Kind::denied), 214);
    EXPECT_EQ(npu_smi_status_of(Kind::untrusted), 214);
    EXPECT_EQ(npu_smi_status_of(Kind::busy), 172);
    EXPECT_EQ(npu_smi_status_of(Kind::abi_mismatch), 7);
    EXPECT_EQ(npu_smi_status_of(Kind::timeout), 6);
    EXPECT_EQ(npu_smi_status_of(Kind::bad_backend), 215);
    EXPECT_EQ(status_of(Kind::denied), 4);
    EXPECT_EQ(status_of(Kind::no_driver), 5);
    EXPECT_EQ(status_of(Kind::bad_backend), 2);
}

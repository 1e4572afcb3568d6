// SPDX-License-Identifier: Apache-2.0
// Groups run side by side, chains in order, and everything ends: done, by the deadline, by the stop
// flag or because the channel broke.
#include "hal/channel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <thread>

using namespace asc::hal;
using namespace std::chrono_literals;

namespace {

// Answers calls after `index` milliseconds; index 0 at once, kNever not at all.
class FakeChannel final : public Channel {
  public:
    static constexpr std::uint32_t kNever = 0xFFFFFFFF;
    void close(Node) override {}
    Files files() const override { return Files::own; }
    unsigned room() const override { return room_; }
    unsigned room_ = 256;
    std::size_t most = 0; // calls under way at once
    std::vector<Call*> forgotten;
    int break_after = -1; // calls

  protected:
    bool start(Call& call) override {
        if (!broken_.empty()) {
            end_broken(call);
            return true;
        }
        if (break_after >= 0 && break_after-- == 0) {
            broken_ = "the channel broke";
            end_broken(call);
            for (const auto& [due, running] : running_)
                end_broken(*running);
            running_.clear();
            return true;
        }
        if (call.index == 0) {
            end(call, static_cast<std::int32_t>(call.number));
            return true;
        }
        running_.push_back({call.index == kNever
                                ? TimePoint::max()
                                : Steady::now() + std::chrono::milliseconds(call.index),
                            &call});
        most = std::max(most, running_.size());
        return true;
    }
    void wait(TimePoint until) override {
        TimePoint next = until;
        for (const auto& [due, call] : running_)
            next = std::min(next, due);
        std::this_thread::sleep_until(next);
        for (std::size_t i = 0; i < running_.size();) {
            if (running_[i].first > Steady::now()) {
                ++i;
                continue;
            }
            end(*running_[i].second, static_cast<std::int32_t>(running_[i].second->number));
            running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
        }
    }
    void forget(Call& call) override {
        forgotten.push_back(&call);
        std::erase_if(running_, [&](const auto& entry) { return entry.second == &call; });
    }

  private:
    std::deque<std::pair<TimePoint, Call*>> running_;
};

class Steps final : public Chain {
  public:
    explicit Steps(std::vector<std::uint32_t> delays) : delays_(std::move(delays)) {}
    Call* next(Call* ended) override {
        if (ended != nullptr) {
            ends.push_back(ended->state);
            results.push_back(ended->result);
        }
        if (at_ == delays_.size())
            return nullptr;
        call_ = {};
        call_.number = static_cast<std::uint32_t>(at_ + 1);
        call_.index = delays_[at_++];
        if (call_.index == 77777) { // a pause
            call_.op = Call::Op::pause;
            call_.due = Steady::now() + 20ms;
        }
        return &call_;
    }
    std::vector<Call::State> ends;
    std::vector<std::int32_t> results;

  private:
    std::vector<std::uint32_t> delays_;
    std::size_t at_ = 0;
    Call call_;
};

TEST(HalSchedule, AChainGoesInOrder) {
    FakeChannel channel;
    Group group(Steady::now() + 5s, 1);
    Steps steps({0, 5, 0, 77777, 3});
    group.add(steps);
    Group* const groups[] = {&group};
    channel.run(groups);
    EXPECT_EQ(steps.results, (std::vector<std::int32_t>{1, 2, 3, 0, 5}));
    EXPECT_EQ(steps.ends, std::vector<Call::State>(5, Call::State::done));
    EXPECT_FALSE(group.expired);
}

TEST(HalSchedule, OneGroupThatHangsEndsAloneAndTheOthersAreThrough) {
    FakeChannel channel;
    const TimePoint begin = Steady::now();
    std::deque<Group> groups;
    std::deque<Steps> chains;
    std::vector<Group*> all;
    for (std::uint32_t device = 0; device < 8; ++device) {
        Group& group = groups.emplace_back(begin + 200ms, device + 1);
        for (int i = 0; i < 20; ++i)
            group.add(chains.emplace_back(device == 3 && i == 4
                                              ? std::vector<std::uint32_t>{FakeChannel::kNever, 0}
                                              : std::vector<std::uint32_t>{1, 0}));
        all.push_back(&group);
    }
    channel.run(all);
    const auto took = Steady::now() - begin;
    EXPECT_GE(took, 200ms);
    EXPECT_LT(took, 1200ms);
    for (std::size_t device = 0; device < 8; ++device) {
        EXPECT_EQ(groups[device].expired, device == 3);
        EXPECT_EQ(groups[device].unanswered, device == 3 ? 1U : 0U);
        EXPECT_EQ(groups[device].answered, device == 3 ? 38U : 40U);
    }
    // The call that followed the lost one never left, and the chain heard of both.
    EXPECT_EQ(chains[3 * 20 + 4].ends,
              (std::vector<Call::State>{Call::State::timeout, Call::State::timeout}));
    EXPECT_EQ(channel.forgotten.size(), 1U);
}

TEST(HalSchedule, NoGroupTakesTheWholeRoom) {
    FakeChannel channel;
    channel.room_ = 16;
    std::deque<Group> groups;
    std::deque<Steps> chains;
    std::vector<Group*> all;
    for (std::uint32_t device = 0; device < 2; ++device) {
        Group& group = groups.emplace_back(Steady::now() + 300ms, device + 1);
        for (int i = 0; i < 30; ++i)
            group.add(chains.emplace_back(
                std::vector<std::uint32_t>{device == 0 ? FakeChannel::kNever : 1}));
        all.push_back(&group);
    }
    channel.run(all);
    EXPECT_LE(channel.most, 16U);
    EXPECT_TRUE(groups[0].expired);
    EXPECT_EQ(groups[0].unanswered, 30U);
    EXPECT_FALSE(groups[1].expired);
    EXPECT_EQ(groups[1].answered, 30U);
}

TEST(HalSchedule, AChainMayAddOthersWhileItRuns) {
    class Parent final : public Chain {
      public:
        Parent(Group& group, Chain& child) : group_(group), child_(child) {}
        Call* next(Call* ended) override {
            if (ended == nullptr)
                return &call_;
            group_.add(child_);
            return nullptr;
        }

      private:
        Group& group_;
        Chain& child_;
        Call call_;
    };
    FakeChannel channel;
    Group group(Steady::now() + 5s, 1);
    Steps child({1, 1});
    Parent parent(group, child);
    group.add(parent);
    Group* const groups[] = {&group};
    channel.run(groups);
    EXPECT_EQ(child.results.size(), 2U);
}

TEST(HalSchedule, TheStopFlagEndsEverything) {
    FakeChannel channel;
    Group group(TimePoint::max(), 1);
    Steps steps({FakeChannel::kNever});
    group.add(steps);
    std::atomic<bool> stop{false};
    std::thread other([&] {
        std::this_thread::sleep_for(50ms);
        stop = true;
    });
    Group* const groups[] = {&group};
    channel.run(groups, &stop);
    other.join();
    EXPECT_EQ(steps.ends, std::vector<Call::State>{Call::State::stopped});
    EXPECT_FALSE(group.expired);
}

TEST(HalSchedule, ABrokenChannelEndsEverything) {
    FakeChannel channel;
    channel.break_after = 3;
    Group one(Steady::now() + 5s, 1), two(Steady::now() + 5s, 2);
    Steps a({5, 5, 5}), b({FakeChannel::kNever});
    one.add(a);
    two.add(b);
    Group* const groups[] = {&one, &two};
    const TimePoint begin = Steady::now();
    channel.run(groups);
    EXPECT_LT(Steady::now() - begin, 2s);
    EXPECT_EQ(a.ends, (std::vector<Call::State>{Call::State::done, Call::State::done,
                                                Call::State::broken}));
    EXPECT_EQ(b.ends, std::vector<Call::State>{Call::State::broken});
    Call late;
    EXPECT_FALSE(channel.call(late, Steady::now() + 1s));
    EXPECT_EQ(late.state, Call::State::broken);
}

TEST(HalSchedule, OneCallHasItsDeadlineToo) {
    FakeChannel channel;
    Call good;
    good.number = 9;
    good.index = 5;
    EXPECT_TRUE(channel.call(good, Steady::now() + 1s));
    EXPECT_EQ(good.result, 9);
    Call stuck;
    stuck.index = FakeChannel::kNever;
    const TimePoint begin = Steady::now();
    EXPECT_FALSE(channel.call(stuck, begin + 60ms));
    EXPECT_EQ(stuck.state, Call::State::timeout);
    EXPECT_LT(Steady::now() - begin, 1s);
    EXPECT_EQ(channel.forgotten.size(), 1U);
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
// The order in which calls leave: groups side by side, each with its share of the channel's room,
// so that a device that does not answer cannot keep the others waiting.
#include "hal/channel.hpp"

#include <algorithm>

namespace asc::hal {

namespace {

constexpr auto kStopSlice = std::chrono::milliseconds(50);
constexpr unsigned kShareMin = 4;

bool is_set(const std::atomic<bool>* stop) {
    return stop != nullptr && stop->load(std::memory_order_relaxed);
}

template <class T> void drop(std::vector<T*>& list, const T* what) {
    const auto found = std::find(list.begin(), list.end(), what);
    if (found != list.end()) {
        *found = list.back();
        list.pop_back();
    }
}

} // namespace

// Lets the chain go on until it waits for a call that can run, or is over.
void Channel::begin(Group& group, Chain& chain, Call* ended) {
    for (Call* next = chain.next(ended); next != nullptr; next = chain.next(next)) {
        next->chain = &chain;
        next->group = &group;
        next->lane = group.lane;
        if (group.over_ == Call::State::idle) {
            next->state = Call::State::running;
            group.waiting_.push_back(next);
            return;
        }
        next->state = group.over_;
    }
}

// Everything that the group still has ends in `state`.
void Channel::cut(Group& group, Call::State state) {
    group.over_ = state;
    group.expired = group.expired || state == Call::State::timeout;
    std::vector<Call*> calls;
    calls.swap(group.running_);
    for (Call* call : calls) {
        if (call->op == Call::Op::pause)
            drop(pauses_, call);
        else
            forget(*call);
        drop(ended_, call);
    }
    calls.insert(calls.end(), group.waiting_.begin(), group.waiting_.end());
    group.waiting_.clear();
    if (state == Call::State::timeout)
        group.unanswered += static_cast<unsigned>(calls.size());
    for (Call* call : calls) {
        call->state = state;
        begin(group, *call->chain, call);
    }
    while (!group.fresh_.empty()) {
        std::vector<Chain*> fresh;
        fresh.swap(group.fresh_);
        for (Chain* chain : fresh)
            begin(group, *chain, nullptr);
    }
}

void Channel::run(std::span<Group* const> groups, const std::atomic<bool>* stop) {
    const std::size_t share =
        std::max<std::size_t>(kShareMin, room() / std::max<std::size_t>(1, groups.size()));
    enter_process();
    ended_.clear();
    pauses_.clear();
    for (;;) {
        // What can start starts.
        bool busy = false;
        bool full = false;
        for (Group* group : groups) {
            while (!group->fresh_.empty()) {
                std::vector<Chain*> fresh;
                fresh.swap(group->fresh_);
                for (Chain* chain : fresh)
                    begin(*group, *chain, nullptr);
            }
            if (!broken_.empty() && !(group->waiting_.empty() && group->running_.empty()))
                cut(*group, Call::State::broken);
            std::size_t taken = 0;
            while (taken < group->waiting_.size() && group->running_.size() < share && !full) {
                Call* call = group->waiting_[taken];
                if (call->op == Call::Op::pause)
                    pauses_.push_back(call);
                else if (!start(*call)) {
                    full = true;
                    break;
                }
                group->running_.push_back(call);
                ++taken;
            }
            group->waiting_.erase(group->waiting_.begin(),
                                  group->waiting_.begin() + static_cast<std::ptrdiff_t>(taken));
            busy = busy || !group->running_.empty() || !group->waiting_.empty();
        }
        if (!busy)
            return;
        flush();
        if (ended_.empty()) {
            const TimePoint now = Steady::now();
            TimePoint until = TimePoint::max();
            if (stop != nullptr)
                until = now + kStopSlice;
            for (const Group* group : groups)
                if (!group->running_.empty() || !group->waiting_.empty())
                    until = std::min(until, group->deadline);
            for (const Call* pause : pauses_)
                until = std::min(until, pause->due);
            if (until > now)
                wait(until);
        }
        // What has ended lets its chain go on.
        std::vector<Call*> ended;
        ended.swap(ended_);
        for (Call* call : ended) {
            Group* group = call->group;
            drop(group->running_, call);
            if (call->state == Call::State::done)
                ++group->answered;
            begin(*group, *call->chain, call);
        }
        const TimePoint now = Steady::now();
        for (std::size_t i = 0; i < pauses_.size();) {
            Call* pause = pauses_[i];
            if (pause->due > now) {
                ++i;
                continue;
            }
            pauses_[i] = pauses_.back();
            pauses_.pop_back();
            pause->state = Call::State::done;
            drop(pause->group->running_, pause);
            begin(*pause->group, *pause->chain, pause);
        }
        for (Group* group : groups) {
            if (group->running_.empty() && group->waiting_.empty())
                continue;
            if (is_set(stop))
                cut(*group, Call::State::stopped);
            else if (group->deadline <= now)
                cut(*group, Call::State::timeout);
        }
    }
}

bool Channel::call(Call& call, TimePoint deadline, const std::atomic<bool>* stop) {
    enter_process();
    ended_.clear();
    call.state = Call::State::running;
    call.group = nullptr;
    while (!start_alone(call)) {
        if (Steady::now() >= deadline) {
            call.state = Call::State::timeout;
            return false;
        }
        wait(deadline);
    }
    if (call.state != Call::State::running)
        return call.state == Call::State::done;
    flush();
    for (;;) {
        if (call.state != Call::State::running)
            return call.state == Call::State::done;
        wait(stop == nullptr ? deadline : std::min(deadline, Steady::now() + kStopSlice));
        if (call.state != Call::State::running)
            return call.state == Call::State::done;
        if (!is_set(stop) && Steady::now() < deadline)
            continue;
        forget(call);
        call.state = is_set(stop) ? Call::State::stopped : Call::State::timeout;
        return false;
    }
}

} // namespace asc::hal

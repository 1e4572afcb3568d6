// SPDX-License-Identifier: Apache-2.0
#include "kmod-sim/server/loop.hpp"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace asc::server {

std::expected<Loop, int> Loop::create() {
    Loop loop;
    loop.epoll_ = Descriptor(epoll_create1(EPOLL_CLOEXEC));
    loop.timer_ = Descriptor(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
    if (!loop.epoll_ || !loop.timer_)
        return std::unexpected(errno);
    epoll_event event{};
    event.events = EPOLLIN; // no data: the timer
    if (epoll_ctl(loop.epoll_.get(), EPOLL_CTL_ADD, loop.timer_.get(), &event) != 0)
        return std::unexpected(errno);
    return loop;
}

int Loop::add(int fd, std::uint32_t events, Ready ready) {
    auto entry = std::make_unique<Entry>(Entry{std::move(ready), fd});
    epoll_event event{};
    event.events = events;
    event.data.ptr = entry.get();
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
        return errno;
    entries_[fd] = std::move(entry);
    return 0;
}

int Loop::change(int fd, std::uint32_t events) {
    const auto found = entries_.find(fd);
    if (found == entries_.end())
        return ENOENT;
    epoll_event event{};
    event.events = events;
    event.data.ptr = found->second.get();
    return epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event) == 0 ? 0 : errno;
}

void Loop::remove(int fd) {
    const auto found = entries_.find(fd);
    if (found == entries_.end())
        return;
    epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
    found->second->removed = true;
    graveyard_.push_back(std::move(found->second));
    entries_.erase(found);
}

void Loop::wake_after(std::uint64_t ns) {
    itimerspec when{};
    if (ns == UINT64_MAX) {
        if (!armed_)
            return;
    } else {
        constexpr std::uint64_t kSecond = 1000000000;
        constexpr std::uint64_t kDay = 86400 * kSecond; // far enough: it is asked again then
        ns = ns > kDay ? kDay : ns == 0 ? 1 : ns;
        when.it_value.tv_sec = static_cast<time_t>(ns / kSecond);
        when.it_value.tv_nsec = static_cast<long>(ns % kSecond);
    }
    armed_ = ns != UINT64_MAX;
    timerfd_settime(timer_.get(), 0, &when, nullptr);
}

int Loop::run_once(int timeout_ms) {
    std::array<epoll_event, 64> events;
    const int count =
        epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), timeout_ms);
    if (count < 0)
        return errno == EINTR ? 0 : errno;
    for (int i = 0; i < count; ++i) {
        const epoll_event& event = events[static_cast<std::size_t>(i)];
        auto* entry = static_cast<Entry*>(event.data.ptr);
        if (entry == nullptr) {
            std::uint64_t ticks = 0;
            if (::read(timer_.get(), &ticks, sizeof(ticks)) > 0) {
                armed_ = false;
                if (due_)
                    due_();
            }
        } else if (!entry->removed) {
            entry->ready(event.events);
        }
    }
    graveyard_.clear();
    return 0;
}

} // namespace asc::server

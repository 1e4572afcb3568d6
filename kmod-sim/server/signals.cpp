// SPDX-License-Identifier: Apache-2.0
#include "kmod-sim/server/signals.hpp"

#include <sys/epoll.h>
#include <unistd.h>

namespace asc::server {

Signals::Signals(Loop& loop, std::initializer_list<int> numbers,
                 std::function<void(const signalfd_siginfo&)> arrived)
    : loop_(loop) {
    sigset_t set;
    sigemptyset(&set);
    for (const int number : numbers)
        sigaddset(&set, number);
    sigprocmask(SIG_BLOCK, &set, &before_);
    signal(SIGPIPE, SIG_IGN);
    fd_ = Descriptor(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    loop_.add(fd_.get(), EPOLLIN, [fd = fd_.get(), arrived = std::move(arrived)](std::uint32_t) {
        signalfd_siginfo info{};
        while (::read(fd, &info, sizeof(info)) == sizeof(info))
            arrived(info);
    });
}

Signals::~Signals() {
    loop_.remove(fd_.get());
    sigprocmask(SIG_SETMASK, &before_, nullptr);
}

void Signals::undo() const {
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &before_, nullptr);
}

} // namespace asc::server

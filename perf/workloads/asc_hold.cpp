// SPDX-License-Identifier: Apache-2.0
// asc-hold: a process that holds device memory, as a training job does that waits.
#include "hal/driver.hpp"

#include <boost/program_options.hpp>

#include <csignal>
#include <cstdio>
#include <ctime>
#include <string>

namespace asc::cmds {

namespace {

namespace options = boost::program_options;

// Statuses of every command but npu-smi (cli-contract.md).
enum Status {
    kOk = 0,
    kUsage = 2,
    kDenied = 4,
    kNoDriver = 5,
    kTimeout = 6,
    kMismatch = 7,
    kFailed = 8
};

int usage_error(const std::string& text) {
    std::fprintf(stderr, "asc-hold: %s\n", text.c_str());
    std::fprintf(stderr, "usage: asc-hold --device N --mib M [--seconds S] [--backend WHERE]\n");
    return kUsage;
}

int status_of(const hal::ConnectError& error) {
    switch (error.kind) {
    case hal::ConnectError::Kind::bad_backend:
        return kUsage;
    case hal::ConnectError::Kind::no_driver:
        return kNoDriver;
    case hal::ConnectError::Kind::denied:
    case hal::ConnectError::Kind::untrusted:
        return kDenied;
    case hal::ConnectError::Kind::abi_mismatch:
        return kMismatch;
    case hal::ConnectError::Kind::timeout:
        return kTimeout;
    default:
        return kFailed;
    }
}

int status_of(const hal::Absence& absence) {
    switch (absence.reason) {
    case hal::Reason::denied:
        return kDenied;
    case hal::Reason::timeout:
        return kTimeout;
    case hal::Reason::lost:
        return kNoDriver;
    default:
        return kFailed;
    }
}

void help(const options::options_description& all) {
    std::string text;
    std::printf("usage: asc-hold --device N --mib M [--seconds S] [--backend WHERE]\n"
                "Allocates device memory, prints 'holding' and waits.\n\n");
    for (const auto& option : all.options())
        std::printf("  %-24s %s\n",
                    (option->format_name() + " " + option->format_parameter()).c_str(),
                    option->description().c_str());
    std::printf("\nends: 0 done, 2 usage, 4 not permitted, 5 no driver or device, 6 timeout, "
                "7 driver mismatch, 8 no memory or failed\n");
}

// Waits for SIGINT, SIGTERM or SIGHUP, at most `seconds` (< 0: for ever).
void wait_for_end(double seconds) {
    sigset_t ends;
    sigemptyset(&ends);
    for (const int number : {SIGINT, SIGTERM, SIGHUP})
        sigaddset(&ends, number);
    if (seconds < 0) {
        int received = 0;
        while (sigwait(&ends, &received) != 0)
            ;
        return;
    }
    timespec end{};
    clock_gettime(CLOCK_MONOTONIC, &end);
    const double whole = static_cast<double>(static_cast<long>(seconds));
    end.tv_sec += static_cast<time_t>(whole);
    end.tv_nsec += static_cast<long>((seconds - whole) * 1e9);
    end.tv_sec += end.tv_nsec / 1'000'000'000;
    end.tv_nsec %= 1'000'000'000;
    for (;;) {
        timespec now{};
        clock_gettime(CLOCK_MONOTONIC, &now);
        timespec left{end.tv_sec - now.tv_sec, end.tv_nsec - now.tv_nsec};
        if (left.tv_nsec < 0) {
            left.tv_nsec += 1'000'000'000;
            --left.tv_sec;
        }
        if (left.tv_sec < 0 || sigtimedwait(&ends, nullptr, &left) >= 0 || errno == EAGAIN)
            return;
    }
}

} // namespace

int asc_hold_main(int argc, char** argv) {
    int device = -1;
    std::int64_t mib = -1;
    double seconds = -1;
    hal::ConnectOptions connect;
    options::options_description all;
    all.add_options()("device", options::value(&device)->value_name("N"), "index of the device")(
        "mib", options::value(&mib)->value_name("M"),
        "MiB to allocate; 0: a context alone")("seconds", options::value(&seconds)->value_name("S"),
                                               "how long to hold it; without: until a signal")(
        "backend", options::value(&connect.backend)->value_name("WHERE"),
        "chardev, unix:PATH or inproc:PROFILE")("help", "this text")("version", "the version");
    options::variables_map given;
    try {
        options::store(options::command_line_parser(argc, argv)
                           .options(all)
                           .positional(options::positional_options_description())
                           .run(),
                       given);
        options::notify(given);
    } catch (const options::error& error) {
        return usage_error(error.what());
    }
    if (given.count("help") != 0) {
        help(all);
        return kOk;
    }
    if (given.count("version") != 0) {
        std::printf("asc-hold %s\n", ASC_VERSION);
        return kOk;
    }
    if (device < 0 || mib < 0)
        return usage_error(device < 0 ? "--device N is missing (N: 0 or more)"
                                      : "--mib M is missing (M: 0 or more)");
    if (mib > (1LL << 32) || (given.count("seconds") != 0 && !(seconds >= 0 && seconds < 1e9)))
        return usage_error(mib > (1LL << 32) ? "--mib is out of range"
                                             : "--seconds is out of range");

    // Blocked before anything is held, so that no signal between finds nobody waiting.
    sigset_t ends;
    sigemptyset(&ends);
    for (const int number : {SIGINT, SIGTERM, SIGHUP})
        sigaddset(&ends, number);
    sigprocmask(SIG_BLOCK, &ends, nullptr);

    connect.isolate = false; // this very process is to be the owner
    auto driver = hal::Driver::connect(connect);
    if (!driver) {
        std::fprintf(stderr, "asc-hold: %s\n", driver.error().text.c_str());
        return status_of(driver.error());
    }
    const hal::DeviceIds* chosen = nullptr;
    for (const hal::DeviceIds& ids : driver->devices())
        if (ids.logical_id == device)
            chosen = &ids;
    if (chosen == nullptr) {
        std::fprintf(stderr, "asc-hold: no device %d; there are %zu\n", device,
                     driver->devices().size());
        return kNoDriver;
    }
    const auto held = driver->hold_memory(*chosen, static_cast<std::uint64_t>(mib) << 20);
    if (!held) {
        std::fprintf(stderr, "asc-hold: %lld MiB on device %d: %s\n", static_cast<long long>(mib),
                     device, held.absence().detail.c_str());
        return status_of(held.absence());
    }
    if (std::printf("holding\n") < 0 || std::fflush(stdout) != 0) {
        std::perror("asc-hold: stdout");
        return kFailed;
    }
    wait_for_end(seconds);
    return kOk;
}

} // namespace asc::cmds

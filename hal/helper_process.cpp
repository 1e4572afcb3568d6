// SPDX-License-Identifier: Apache-2.0
// The chardev channel's helper process: its life from the fork on. Calls come as packets and are
// made by the threads of their lane (a device each). A lane whose call does not come back gets
// another thread for what waits behind it.
#include "hal/channel_chardev.hpp"

#include "hal/dsock.hpp"
#include "ioctl/wire/davinci.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

namespace asc::hal {

namespace {

constexpr int kPatienceMs = 20;          // without an answer before a lane gets one more thread
constexpr unsigned kThreadsPerLane = 24; // one overview's worth of calls

struct Part { // a range of the caller, here
    dsock_range range;
    std::vector<std::uint8_t> bytes;
};

struct Pointer { // as the caller had it
    Part* part;
    std::size_t offset;
    std::uint64_t address;
};

struct Job {
    std::uint32_t id = 0;
    bool open = false;
    dsock_open node{};
    dsock_call call{};
    std::vector<Part> parts;
    std::vector<Pointer> pointers;
};

struct Lane {
    std::deque<Job> queue;
    std::condition_variable changed;
    unsigned threads = 0, idle = 0;
    TimePoint last_answer{};
};

class Helper {
  public:
    Helper(int fd, const std::string& dev_root, const SysOps& ops)
        : fd_(fd), dev_root_(dev_root), ops_(ops) {}

    void run() {
        std::vector<std::uint8_t> buffer;
        for (;;) {
            pollfd watched{fd_, POLLIN, 0};
            const int ready = poll(&watched, 1, serve_waiting() ? kPatienceMs : -1);
            if (ready <= 0)
                continue;
            Packet packet;
            std::string why;
            const int got = receive_packet(fd_, MSG_DONTWAIT, buffer, packet, why);
            if (got < 0)
                return; // the program that we help is gone
            if (got > 0)
                take(packet);
        }
    }

  private:
    void take(const Packet& packet) {
        if (packet.header.type == kHelperClose) {
            std::uint64_t token = 0;
            if (packet.payload.size() == sizeof(token)) {
                std::memcpy(&token, packet.payload.data(), sizeof(token));
                // Closing may block in the driver as well: it waits in a lane of its own.
                Job job;
                job.call.token = token;
                enqueue(kCloseLane, std::move(job));
            }
            return;
        }
        Job job;
        job.id = packet.header.call_id;
        if (packet.header.type == DSOCK_OPEN && packet.payload.size() == sizeof(job.node)) {
            job.open = true;
            std::memcpy(&job.node, packet.payload.data(), sizeof(job.node));
            const std::uint32_t lane = job.node.flags;
            enqueue(lane, std::move(job));
            return;
        }
        if (packet.header.type == DSOCK_CANCEL) {
            cancel(packet.header.call_id);
            return;
        }
        if (packet.header.type != DSOCK_CALL || !read_call(packet.payload, job))
            return;
        const std::uint32_t lane = job.call.reserved;
        enqueue(lane, std::move(job));
    }

    static bool read_call(std::span<const std::uint8_t> payload, Job& job) {
        if (payload.size() < sizeof(job.call))
            return false;
        std::memcpy(&job.call, payload.data(), sizeof(job.call));
        payload = payload.subspan(sizeof(job.call));
        if (job.call.range_count > DV_RANGES_MAX ||
            payload.size() < job.call.range_count * sizeof(dsock_range))
            return false;
        job.parts.resize(job.call.range_count);
        for (Part& part : job.parts) {
            std::memcpy(&part.range, payload.data(), sizeof(part.range));
            payload = payload.subspan(sizeof(part.range));
        }
        for (Part& part : job.parts) {
            part.bytes.resize(part.range.length);
            if ((part.range.direction & DV_RANGE_IN) == 0)
                continue;
            if (payload.size() < part.range.length)
                return false;
            std::memcpy(part.bytes.data(), payload.data(), part.range.length);
            payload = payload.subspan(part.range.length);
        }
        return true;
    }

    void enqueue(std::uint32_t number, Job job) {
        const std::scoped_lock lock(mutex_);
        Lane& lane = lanes_[number];
        lane.queue.push_back(std::move(job));
        if (lane.idle > 0)
            lane.changed.notify_one();
        else if (lane.threads == 0)
            add_thread(lane);
    }

    void cancel(std::uint32_t id) {
        std::unique_lock lock(mutex_);
        for (auto& [number, lane] : lanes_)
            for (auto job = lane.queue.begin(); job != lane.queue.end(); ++job)
                if (job->id == id && id != 0) {
                    lane.queue.erase(job); // it has not begun
                    return;
                }
    }

    // Gives lanes that do not come on another thread; true while something waits.
    bool serve_waiting() {
        const std::scoped_lock lock(mutex_);
        const TimePoint now = Steady::now();
        bool waiting = false;
        for (auto& [number, lane] : lanes_) {
            if (lane.queue.empty() || (number & kPinnedLane) != 0)
                continue;
            waiting = true;
            if (lane.idle == 0 && lane.threads < kThreadsPerLane &&
                now - lane.last_answer >= std::chrono::milliseconds(kPatienceMs))
                add_thread(lane);
        }
        return waiting;
    }

    void add_thread(Lane& lane) {
        ++lane.threads;
        lane.last_answer = Steady::now();
        std::thread([this, &lane] { work(lane); }).detach();
    }

    void work(Lane& lane) {
        std::unique_lock lock(mutex_);
        for (;;) {
            while (lane.queue.empty()) {
                ++lane.idle;
                lane.changed.wait(lock);
                --lane.idle;
            }
            Job job = std::move(lane.queue.front());
            lane.queue.pop_front();
            lock.unlock();
            if (job.open)
                open_node(job);
            else if (job.id == 0)
                ops_.close(ops_.context, static_cast<int>(job.call.token));
            else
                make_call(job);
            lock.lock();
            lane.last_answer = Steady::now();
        }
    }

    void open_node(const Job& job) {
        const int fd =
            ops_.open(ops_.context, node_path(dev_root_, job.node.node, job.node.index).c_str(),
                      node_flags(job.node.node));
        const dsock_opened opened{fd < 0 ? fd : 0, 0, fd < 0 ? 0 : static_cast<std::uint64_t>(fd)};
        send_packet(fd_, DSOCK_OPENED, job.id,
                    {reinterpret_cast<const std::uint8_t*>(&opened), sizeof(opened)});
    }

    // Where a pointer of the caller leads here: the range that begins there.
    static Part* part_at(Job& job, std::uint64_t address) {
        for (Part& part : job.parts)
            if (part.range.address == address)
                return &part;
        return nullptr;
    }
    // Turns the pointer at `offset` of `part` into one of ours.
    static Part* relocate(Job& job, Part& part, std::size_t offset) {
        std::uint64_t address = 0;
        if (part.bytes.size() < offset + sizeof(address))
            return nullptr;
        std::memcpy(&address, part.bytes.data() + offset, sizeof(address));
        Part* target = address == 0 ? nullptr : part_at(job, address);
        const std::uint64_t here =
            target == nullptr ? 0 : reinterpret_cast<std::uint64_t>(target->bytes.data());
        job.pointers.push_back({&part, offset, address});
        std::memcpy(part.bytes.data() + offset, &here, sizeof(here));
        return target;
    }
    // The pointers inside what the HAL sends (marshal.h has the same knowledge for all callers).
    static void relocate_all(Job& job, Part& argument) {
        const std::uint32_t number = job.call.number;
        const std::uint32_t magic = number >> 8;
        if (number == DV_IOCTL_URD || magic == DV_MAIN_BASIC || magic == DV_MAIN_HOTRESET) {
            relocate(job, argument, offsetof(dv_urd, filter));
            Part* input = relocate(job, argument, offsetof(dv_urd, input));
            relocate(job, argument, offsetof(dv_urd, output));
            dv_urd urd;
            if (argument.bytes.size() != sizeof(urd))
                return;
            std::memcpy(&urd, argument.bytes.data(), sizeof(urd));
            if (input != nullptr && urd.main_command == DV_MAIN_BASIC &&
                urd.sub_command == DV_BASIC_UDIS_GET)
                relocate(job, *input, offsetof(dv_udis_get, data));
        } else if (number == DV_U_DEVICE_LIST) {
            relocate(job, argument, offsetof(dv_device_list, records));
        } else if (number == DV_IO('M', DV_M_CONTAINER)) {
            relocate(job, argument, offsetof(dv_container_command, out));
        } else if (number == DV_IO('H', DV_H_SEND)) {
            relocate(job, argument, offsetof(dv_hdc_send, source));
        } else if (number == DV_IO('H', DV_H_RECEIVE)) {
            relocate(job, argument, offsetof(dv_hdc_receive, destination));
        }
    }
    // Puts the caller's own pointers back before the bytes return.
    static void restore(Job& job) {
        for (const Pointer& pointer : job.pointers)
            std::memcpy(pointer.part->bytes.data() + pointer.offset, &pointer.address,
                        sizeof(pointer.address));
    }

    void make_call(Job& job) {
        Part* argument = part_at(job, job.call.argument);
        void* pointer = argument == nullptr ? nullptr : argument->bytes.data();
        if (argument != nullptr)
            relocate_all(job, *argument);
        const int result =
            ops_.ioctl(ops_.context, static_cast<int>(job.call.token), job.call.number, pointer);
        restore(job);
        answer(job, result);
    }

    void answer(const Job& job, int result) {
        std::vector<std::uint8_t> payload(sizeof(dsock_reply));
        dsock_reply head{result, 0};
        for (const Part& part : job.parts) {
            if ((part.range.direction & DV_RANGE_OUT) == 0)
                continue;
            const dsock_write write{part.range.address, part.range.length, 0};
            const auto* bytes = reinterpret_cast<const std::uint8_t*>(&write);
            payload.insert(payload.end(), bytes, bytes + sizeof(write));
            ++head.write_count;
        }
        for (const Part& part : job.parts)
            if ((part.range.direction & DV_RANGE_OUT) != 0)
                payload.insert(payload.end(), part.bytes.begin(), part.bytes.end());
        std::memcpy(payload.data(), &head, sizeof(head));
        send_packet(fd_, DSOCK_REPLY, job.id, payload);
    }

    static constexpr std::uint32_t kCloseLane = 0x7FFFFFFFU;

    int fd_;
    const std::string& dev_root_;
    const SysOps& ops_;
    std::mutex mutex_;
    std::map<std::uint32_t, Lane> lanes_;
};

} // namespace

void run_helper(int fd, const std::string& dev_root, const SysOps& ops) {
    // Nothing of the parent's stays open: pipes would keep their readers waiting, other channels'
    // sockets would keep devices held.
    setsid();
    for (const int number : {SIGINT, SIGQUIT, SIGHUP, SIGPIPE, SIGTERM, SIGALRM, SIGUSR1, SIGUSR2})
        signal(number, number == SIGPIPE ? SIG_IGN : SIG_DFL);
    prctl(PR_SET_NAME, "asc-helper");
    const int kept = 3;
    const int high = fcntl(fd, F_DUPFD, kept + 1);
    const int null = open("/dev/null", O_RDWR);
    for (int i = 0; i < kept; ++i)
        dup2(null, i);
    dup2(high, kept);
    close_range(kept + 1, ~0U, 0);
    Helper helper(kept, dev_root, ops);
    helper.run();
    _exit(0);
}

} // namespace asc::hal

// SPDX-License-Identifier: Apache-2.0
#include "hal/dsock.hpp"

#include <cerrno>
#include <cstddef>
#include <cstring>

namespace asc::hal {

namespace {

constexpr std::uint32_t kWritesMax = 2 * Call::kRanges;

std::uint64_t to_address(const void* pointer) {
    return reinterpret_cast<std::uint64_t>(pointer);
}

} // namespace

void DsockClient::attach(Descriptor fd) {
    fd_ = std::move(fd);
    broken_.clear();
    slots_.fill({});
    under_way_ = large_ = 0;
    out_first_ = out_end_ = 0;
    if (out_.empty())
        out_.resize(kBatch);
}

void DsockClient::close() {
    fd_.reset();
    slots_.fill({});
    under_way_ = large_ = 0;
    out_first_ = out_end_ = 0;
}

static_assert(sizeof(Range) == sizeof(dsock_range) && offsetof(Range, length) == 8 &&
              offsetof(Range, direction) == 12 && alignof(Range) == alignof(dsock_range));
static_assert(DV_RANGE_IN == 1U && DV_RANGE_OUT == 2U, "Call::add_range counts by these");

std::uint32_t DsockClient::take_slot(Call& call) {
    do
        ++last_id_;
    while (last_id_ == 0 || slots_[last_id_ % kSlots].call != nullptr);
    put_slot(call, last_id_);
    return last_id_;
}

void DsockClient::put_slot(Call& call, std::uint32_t id) {
    const bool large = expected(call) > kSmall;
    slots_[id % kSlots] = {&call, id, large};
    ++under_way_;
    large_ += large;
    call.id = id;
}

void DsockClient::free_slot(Slot& slot) {
    large_ -= slot.large;
    --under_way_;
    slot = {};
}

DsockClient::Outgoing* DsockClient::next_outgoing() {
    if (under_way_ >= kRoom)
        return nullptr;
    if (out_end_ == kBatch)
        flush();
    return out_end_ == kBatch ? nullptr : &out_[out_end_];
}

void DsockClient::push(Outgoing& out) {
    out.parts[0] = {&out.header, sizeof(out.header)};
    ++out_end_;
}

bool DsockClient::post(Call& call, std::uint64_t token, std::uint32_t thread, std::uint32_t lane) {
    Outgoing* out = next_outgoing();
    if (out == nullptr)
        return false;
    const std::uint32_t length = static_cast<std::uint32_t>(
        sizeof(dsock_call) + call.range_count * sizeof(Range) + call.in_bytes);
    out->id = take_slot(call);
    out->header = {DSOCK_MAGIC, DSOCK_CALL, 0, length, out->id};
    out->body.call = {token,  to_address(call.argument), call.number,
                      thread, call.range_count,          lane};
    out->parts[1] = {&out->body.call, sizeof(dsock_call)};
    out->part_count = 2 + add_parts(call, &out->parts[2]);
    if (length > DSOCK_INLINE_MAX)
        return send_big(*out, length);
    push(*out);
    return true;
}

bool DsockClient::post_open(Call& call, std::uint32_t lane) {
    Outgoing* out = next_outgoing();
    if (out == nullptr)
        return false;
    out->id = take_slot(call);
    out->header = {DSOCK_MAGIC, DSOCK_OPEN, 0, sizeof(dsock_open), out->id};
    out->body.open = {DSOCK_PROTOCOL, call.number, call.index, lane};
    out->parts[1] = {&out->body.open, sizeof(dsock_open)};
    out->part_count = 2;
    push(*out);
    return true;
}

// Longer than a packet carries: header in the packet, the rest in a sealed memfd.
bool DsockClient::send_big(Outgoing& out, std::uint32_t length) {
    flush();
    const auto undo = [&] {
        free_slot(slots_[out.id % kSlots]);
        return false;
    };
    if (sending())
        return undo();
    const Descriptor memfd(sealed_memfd(std::span(out.parts).subspan(1, out.part_count - 1)));
    if (!memfd)
        return undo();
    out.header.flags = DSOCK_FLAG_MEMFD;
    out.header.length = length;
    iovec part{&out.header, sizeof(out.header)};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    cmsghdr* head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    const int passed = memfd.get();
    std::memcpy(CMSG_DATA(head), &passed, sizeof(passed));
    if (sendmsg(fd_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        return undo();
    return true;
}

void DsockClient::flush() {
    while (sending() && broken_.empty()) {
        std::array<mmsghdr, kBatch> messages;
        unsigned count = 0;
        for (std::size_t i = out_first_; i < out_end_; ++i) {
            // Forgotten before it left: it does not leave at all.
            if (slots_[out_[i].id % kSlots].id != out_[i].id)
                out_[i].part_count = 0;
            mmsghdr& message = messages[count++];
            message = {};
            message.msg_hdr.msg_iov = out_[i].parts.data();
            message.msg_hdr.msg_iovlen = out_[i].part_count;
        }
        // An empty packet would be an end of file to the other side: cut the batch there.
        unsigned good = 0;
        while (good < count && messages[good].msg_hdr.msg_iovlen != 0)
            ++good;
        if (good == 0) {
            ++out_first_;
            continue;
        }
        const int sent =
            good == 1
                ? (sendmsg(fd_.get(), &messages[0].msg_hdr, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -1
                                                                                             : 1)
                : sendmmsg(fd_.get(), messages.data(), good, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0) {
            out_first_ += static_cast<std::size_t>(sent);
            continue;
        }
        if (errno == EINTR)
            continue;
        if (errno != EAGAIN && errno != ENOBUFS)
            failure_ = std::string("the connection is gone (") + std::strerror(errno) + ")";
        break;
    }
    if (out_first_ == out_end_)
        out_first_ = out_end_ = 0;
    else if (out_first_ != 0 && out_end_ == kBatch) {
        // Parts point into the entries: moving them means pointing anew.
        for (std::size_t i = out_first_; i < out_end_; ++i) {
            Outgoing& to = out_[i - out_first_];
            const Outgoing& from = out_[i];
            to = from;
            for (std::uint32_t part = 0; part < to.part_count; ++part) {
                const auto* base = reinterpret_cast<const char*>(from.parts[part].iov_base);
                const auto* first = reinterpret_cast<const char*>(&from);
                if (base >= first && base < first + sizeof(from))
                    to.parts[part].iov_base = reinterpret_cast<char*>(&to) + (base - first);
            }
        }
        out_end_ -= out_first_;
        out_first_ = 0;
    }
}

void DsockClient::forget(Call& call) {
    Slot& slot = slots_[call.id % kSlots];
    if (slot.call != &call || slot.id != call.id)
        return;
    free_slot(slot);
    if (!broken_.empty())
        return;
    // A call that has not left needs no cancelling; flush() drops it.
    for (std::size_t i = out_first_; i < out_end_; ++i)
        if (out_[i].id == call.id)
            return;
    const dsock_header header{DSOCK_MAGIC, DSOCK_CANCEL, 0, 0, call.id};
    // When there is no room for it the call ends by itself; its reply is thrown away either way.
    (void)send(fd_.get(), &header, sizeof(header), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void DsockClient::break_off(std::string why, std::vector<Call*>& ended) {
    if (broken_.empty())
        broken_ = std::move(why);
    for (Slot& slot : slots_) {
        if (slot.call == nullptr)
            continue;
        slot.call->state = Call::State::broken;
        ended.push_back(slot.call);
        slot = {};
    }
    under_way_ = large_ = 0;
    out_first_ = out_end_ = 0;
    fd_.reset();
}

void DsockClient::receive(std::vector<Call*>& ended, bool block) {
    while (failure_.empty() && broken_.empty() && fd_) {
        const bool more = large_ != 0 ? receive_large(ended, block) : receive_small(ended, block);
        block = false;
        if (!more)
            break;
    }
    if (!failure_.empty()) {
        break_off(std::move(failure_), ended);
        failure_.clear();
    }
}

// Several replies with one system call. True: there may be more.
bool DsockClient::receive_small(std::vector<Call*>& ended, bool block) {
    buffer_.resize(std::max(buffer_.size(), kReceiveBatch * kSmall));
    struct Control {
        alignas(cmsghdr) char bytes[CMSG_SPACE(sizeof(int))];
    };
    std::array<Control, kReceiveBatch> controls;
    std::array<mmsghdr, kReceiveBatch> messages;
    std::array<iovec, kReceiveBatch> parts;
    const std::size_t want = std::min<std::size_t>(kReceiveBatch, std::max(1U, under_way_));
    for (std::size_t i = 0; i < want; ++i) {
        parts[i] = {buffer_.data() + i * kSmall, kSmall};
        messages[i] = {};
        messages[i].msg_hdr.msg_iov = &parts[i];
        messages[i].msg_hdr.msg_iovlen = 1;
        messages[i].msg_hdr.msg_control = controls[i].bytes;
        messages[i].msg_hdr.msg_controllen = sizeof(Control);
    }
    const int wait = block ? 0 : MSG_DONTWAIT;
    int count;
    if (want == 1) {
        const ssize_t length = recvmsg(fd_.get(), &messages[0].msg_hdr, MSG_CMSG_CLOEXEC | wait);
        messages[0].msg_len = length > 0 ? static_cast<unsigned>(length) : 0;
        count = length < 0 ? -1 : 1;
    } else {
        count = recvmmsg(fd_.get(), messages.data(), static_cast<unsigned>(want),
                         MSG_CMSG_CLOEXEC | (block ? MSG_WAITFORONE : MSG_DONTWAIT), nullptr);
    }
    if (count < 0) {
        if (errno != EAGAIN && errno != EINTR)
            failure_ = std::string("the connection is gone (") + std::strerror(errno) + ")";
        return false;
    }
    for (int i = 0; i < count; ++i) {
        msghdr& message = messages[static_cast<std::size_t>(i)].msg_hdr;
        Descriptor memfd;
        if (message.msg_controllen != 0)
            for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr;
                 head = CMSG_NXTHDR(&message, head))
                if (head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS) {
                    int fd = -1;
                    std::memcpy(&fd, CMSG_DATA(head), sizeof(fd));
                    memfd.reset(fd);
                }
        if (!failure_.empty())
            continue; // the descriptors of the rest are closed
        if (messages[static_cast<std::size_t>(i)].msg_len == 0)
            failure_ = "the other side has ended";
        else if ((message.msg_flags & MSG_TRUNC) != 0)
            failure_ = "an answer is longer than what was asked for";
        else
            handle({buffer_.data() + static_cast<std::size_t>(i) * kSmall,
                    messages[static_cast<std::size_t>(i)].msg_len},
                   memfd.get(), ended);
    }
    return static_cast<std::size_t>(count) == want && want > 1 && under_way_ != 0;
}

bool DsockClient::receive_large(std::vector<Call*>& ended, bool block) {
    Packet packet;
    std::string why;
    const int got = receive_packet(fd_.get(), block ? 0 : MSG_DONTWAIT, buffer_, packet, why);
    if (got < 0)
        failure_ = std::move(why);
    if (got <= 0)
        return false;
    if (packet.header.type == DSOCK_REPLY && packet.header.call_id != 0) {
        Slot& slot = slots_[packet.header.call_id % kSlots];
        if (slot.call != nullptr && slot.id == packet.header.call_id) {
            reply(*slot.call, packet.payload, ended);
            return failure_.empty();
        }
    }
    // Anything else is judged as a small one is, from the header alone.
    handle(std::span(buffer_).first(
               sizeof(dsock_header) +
               ((packet.header.flags & DSOCK_FLAG_MEMFD) != 0 ? 0 : packet.header.length)),
           -1, ended);
    return failure_.empty();
}

// Judges one packet: header, then by type.
void DsockClient::handle(std::span<const std::uint8_t> bytes, int memfd,
                         std::vector<Call*>& ended) {
    dsock_header header;
    if (bytes.size() < sizeof(header)) {
        failure_ = "a packet is too short for its head";
        return;
    }
    std::memcpy(&header, bytes.data(), sizeof(header));
    std::span<const std::uint8_t> payload = bytes.subspan(sizeof(header));
    if (header.magic != DSOCK_MAGIC) {
        failure_ = "a packet does not begin with the protocol's mark";
        return;
    }
    std::vector<std::uint8_t> big;
    const Slot& slot = slots_[header.call_id % kSlots];
    const bool ours = slot.call != nullptr && slot.id == header.call_id;
    if ((header.flags & DSOCK_FLAG_MEMFD) != 0) {
        if (ours) {
            big = read_sealed(memfd, header.length, failure_);
            payload = big;
            if (!failure_.empty())
                return;
        }
    } else if (payload.size() != header.length) {
        failure_ = "a packet is not as long as its head says";
        return;
    }
    if (header.type == DSOCK_REFUSED) {
        failure_ = "refused: " + std::string(payload.begin(), payload.end());
        return;
    }
    if (header.type != DSOCK_REPLY && header.type != DSOCK_OPENED) {
        failure_ = "a packet of type " + std::to_string(header.type) + " where a reply must be";
        return;
    }
    if (!ours) {
        // The late answer of a call that was given up; one that was never asked is a fault.
        if (header.call_id == 0 || header.call_id - 1 >= last_id_)
            failure_ = "an answer to a call that was never made";
        return;
    }
    if (header.type == DSOCK_OPENED) {
        dsock_opened opened;
        if (slot.call->op != Call::Op::open || payload.size() != sizeof(opened)) {
            failure_ = "an answer of the wrong kind";
            return;
        }
        std::memcpy(&opened, payload.data(), sizeof(opened));
        Call& call = *slot.call;
        free_slot(slots_[header.call_id % kSlots]);
        call.node = opened.result == 0 ? static_cast<Node>(opened.token) : -1;
        call.result = opened.result;
        call.state = Call::State::done;
        ended.push_back(&call);
        return;
    }
    if (slot.call->op != Call::Op::ioctl) {
        failure_ = "an answer of the wrong kind";
        return;
    }
    reply(*slot.call, payload, ended);
}

// Checks all writes of a reply, then does them. Null, or what is wrong.
const char* DsockClient::scatter(const Call& call, const std::uint8_t* payload, std::size_t size,
                                 std::int32_t& result) {
    dsock_reply head;
    if (size < sizeof(head))
        return "a reply is too short";
    std::memcpy(&head, payload, sizeof(head));
    payload += sizeof(head);
    size -= sizeof(head);
    const std::size_t heads = head.write_count * sizeof(dsock_write);
    if (head.write_count > kWritesMax || size < heads)
        return "a reply is cut short, or has too many writes";
    const std::uint8_t* const writes_end = payload + heads;
    std::size_t total = 0;
    // What is written stands behind what is read, so each search begins at the end.
    for (const std::uint8_t* at = payload; at != writes_end; at += sizeof(dsock_write)) {
        dsock_write write;
        std::memcpy(&write, at, sizeof(write));
        const Range* range = call.ranges.data() + call.range_count;
        for (;;) {
            if (range == call.ranges.data())
                return "a reply writes outside of the memory that the call offered";
            --range;
            const std::uint64_t offset = write.address - to_address(range->address);
            if (offset + write.length <= range->length && offset <= range->length &&
                (range->direction & DV_RANGE_OUT) != 0)
                break;
        }
        total += write.length;
    }
    if (total != size - heads)
        return "a reply carries more or less than it says";
    const std::uint8_t* data = writes_end;
    for (const std::uint8_t* at = payload; at != writes_end; at += sizeof(dsock_write)) {
        dsock_write write;
        std::memcpy(&write, at, sizeof(write));
        std::memcpy(reinterpret_cast<void*>(write.address), data, write.length);
        data += write.length;
    }
    result = head.result;
    return nullptr;
}

void DsockClient::reply(Call& call, std::span<const std::uint8_t> payload,
                        std::vector<Call*>& ended) {
    if (const char* wrong = scatter(call, payload.data(), payload.size(), call.result)) {
        failure_ = wrong;
        return;
    }
    free_slot(slots_[call.id % kSlots]);
    call.state = Call::State::done;
    ended.push_back(&call);
}

bool DsockClient::exchange(Call& call, std::uint64_t token, std::uint32_t thread,
                           std::uint32_t lane, std::vector<Call*>& ended) {
    if (under_way_ != 0 || sending() || !broken_.empty())
        return false;
    const std::uint32_t length = static_cast<std::uint32_t>(
        sizeof(dsock_call) + call.range_count * sizeof(Range) + call.in_bytes);
    if (length > DSOCK_INLINE_MAX || expected(call) > kSmall)
        return false;
    struct {
        dsock_header header;
        dsock_call call;
    } head;
    std::array<iovec, Call::kRanges + 2> parts;
    last_id_ += last_id_ == 0xFFFFFFFFU ? 2 : 1;
    const std::uint32_t id = last_id_;
    head.header = {DSOCK_MAGIC, DSOCK_CALL, 0, length, id};
    head.call = {token, to_address(call.argument), call.number, thread, call.range_count, lane};
    parts[0] = {&head, sizeof(head)};
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = 1 + add_parts(call, &parts[1]);
    if (sendmsg(fd_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        return false;
    alignas(8) std::uint8_t buffer[kSmall];
    // Without room for descriptors the kernel closes what comes along.
    const ssize_t got = recv(fd_.get(), buffer, sizeof(buffer), MSG_TRUNC);
    const dsock_header expected_head{DSOCK_MAGIC, DSOCK_REPLY, 0,
                                     static_cast<std::uint32_t>(got) - 16U, id};
    static_assert(sizeof(expected_head) == 16);
    if (static_cast<std::size_t>(got) - sizeof(expected_head) <=
            sizeof(buffer) - sizeof(expected_head) &&
        std::memcmp(buffer, &expected_head, sizeof(expected_head)) == 0 &&
        scatter(call, buffer + sizeof(expected_head),
                static_cast<std::size_t>(got) - sizeof(expected_head), call.result) == nullptr) {
        call.state = Call::State::done;
        return true;
    }
    // Slow, wrong, or late for something else: the long way judges it.
    put_slot(call, id);
    if (got > static_cast<ssize_t>(sizeof(buffer)))
        failure_ = "an answer is longer than what was asked for";
    else if (got == 0)
        failure_ = "the other side has ended";
    else if (got < 0 && errno != EAGAIN && errno != EINTR)
        failure_ = std::string("the connection is gone (") + std::strerror(errno) + ")";
    else if (got > 0)
        handle({buffer, static_cast<std::size_t>(got)}, -1, ended);
    if (!failure_.empty()) {
        break_off(std::move(failure_), ended);
        failure_.clear();
    }
    return true;
}

} // namespace asc::hal

// SPDX-License-Identifier: Apache-2.0
#include "hal/dmp.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace asc::hal {

namespace {

constexpr std::int32_t kWaitMs = 3000;
constexpr unsigned kSendTries = 3, kPeekTries = 10;
constexpr unsigned kAttempts = 3;
constexpr auto kPause = std::chrono::milliseconds(100);
constexpr std::size_t kHead = sizeof(dv_dmp_packet) + sizeof(dv_dmp_request);

std::int64_t next_message_id() {
    static std::atomic<std::int64_t> last{0};
    return ++last;
}

// Errors after which the same command may go better a moment later.
bool worth_another_try(std::int32_t error) {
    switch (error) {
    case DV_E_NOT_READY:
    case DV_E_NOT_LISTENING:
    case DV_E_NO_SESSION:
    case DV_E_SESSION_CLOSED:
    case DV_E_RECEIVE:
    case DV_E_SEND:
    case DV_E_WOULD_BLOCK:
        return true;
    default:
        return false;
    }
}

} // namespace

DmpChain::~DmpChain() {
    drop_owner();
    if (hdc_ >= 0)
        question_.channel().close(hdc_);
}

void DmpChain::drop_owner() {
    if (owner_ >= 0)
        question_.channel().close(owner_); // its end ends the session too
    owner_ = -1;
}

void DmpChain::ask(const DmpRequest& request, DmpHandler handler) {
    queue_.push_back({request, std::move(handler)});
    if (!running_) {
        running_ = true;
        question_.group.add(*this);
    }
}

Call* DmpChain::next(Call* ended) {
    if (ended == nullptr)
        return begin_command();
    if (ended->state != Call::State::done) {
        drop_owner();
        return finish(question_.absence(*ended));
    }
    if (step_ == Step::pause)
        return begin_packet();
    return ended->result < 0 || (ended->result > 0 && ended->op == Call::Op::ioctl)
               ? after_bad(ended->result)
               : after_good();
}

Call* DmpChain::begin_command() {
    if (queue_.empty()) {
        running_ = false;
        return nullptr;
    }
    sent_ = slice_ = 0;
    attempts_ = 0;
    asking_rest_ = complete_ = false;
    reply_total_ = 0;
    reply_.clear();
    return begin_packet();
}

Call* DmpChain::begin_packet() {
    error_ = 0;
    told_ = false;
    session_ = -1;
    return go(hdc_ < 0 ? Step::open : Step::connect);
}

Call* DmpChain::go(Step step) {
    if (step != step_)
        tries_ = 0;
    step_ = step;
    call_ = {};
    std::memset(&argument_, 0, sizeof(argument_));
    std::uint32_t operation = 0;
    call_.node = hdc_;
    switch (step) {
    case Step::open:
    case Step::owner_open:
        call_.op = Call::Op::open;
        call_.number = DV_NODE_IS_HDC;
        return &call_;
    case Step::pause:
        call_.op = Call::Op::pause;
        call_.due = Steady::now() + kPause;
        return &call_;
    case Step::page:
        operation = DV_H_PAGE_SIZE;
        break;
    case Step::config:
        operation = DV_H_CONFIG;
        argument_.config.segment = DV_HDC_SEGMENT_MAX;
        break;
    case Step::connect:
        operation = DV_H_CONNECT;
        argument_.connect.peer_pid = -1;
        argument_.connect.device_id = static_cast<std::int32_t>(question_.device());
        argument_.connect.service = DV_HDC_SERVICE_DMP;
        break;
    case Step::owner:
        operation = DV_H_SET_OWNER;
        call_.node = owner_;
        argument_.set_owner.session = session_;
        break;
    case Step::send:
        operation = DV_H_SEND;
        argument_.send.session = session_;
        argument_.send.source = reinterpret_cast<std::uint64_t>(out_.data());
        argument_.send.length = static_cast<std::int32_t>(out_length_);
        argument_.send.wait = DV_HDC_WAIT_TIMEOUT;
        argument_.send.timeout_ms = kWaitMs;
        break;
    case Step::peek:
        operation = DV_H_PEEK;
        argument_.peek.session = session_;
        argument_.peek.wait = DV_HDC_WAIT_TIMEOUT;
        argument_.peek.timeout_ms = kWaitMs;
        argument_.peek.alloc_index = alloc_index_;
        break;
    case Step::receive:
        operation = DV_H_RECEIVE;
        argument_.receive.session = session_;
        argument_.receive.destination = reinterpret_cast<std::uint64_t>(in_.data());
        argument_.receive.room = static_cast<std::int32_t>(in_.size());
        argument_.receive.count = 1;
        break;
    case Step::close:
        operation = DV_H_CLOSE;
        argument_.close.session = session_;
        argument_.close.alloc_index = alloc_index_;
        break;
    }
    call_.number = DV_IO('H', operation);
    call_.argument = &argument_;
    call_.add_range(&argument_, sizeof(argument_), DV_RANGE_IN | DV_RANGE_OUT);
    if (step == Step::send)
        call_.add_range(out_.data(), out_length_, DV_RANGE_IN);
    if (step == Step::receive)
        call_.add_range(in_.data(), in_.size(), DV_RANGE_OUT);
    return &call_;
}

Call* DmpChain::after_good() {
    switch (step_) {
    case Step::open:
        hdc_ = call_.node;
        return go(Step::page);
    case Step::page:
        return go(Step::config);
    case Step::config:
        segment_ = argument_.config.segment;
        return go(Step::connect);
    case Step::connect:
        session_ = argument_.connect.session;
        alloc_index_ = argument_.connect.alloc_index;
        return go(Step::owner_open);
    case Step::owner_open:
        owner_ = call_.node;
        return go(Step::owner);
    case Step::owner:
        fill_packet();
        return go(Step::send);
    case Step::send:
        return go(Step::peek);
    case Step::peek:
        arrived_ = static_cast<std::size_t>(std::max(0, argument_.peek.length));
        if (arrived_ == 0) {
            fail(DV_E_SESSION_CLOSED);
            return go(Step::close);
        }
        return go(Step::receive);
    case Step::receive:
        read_reply(static_cast<std::size_t>(std::max(0, argument_.receive.length)));
        return go(Step::close);
    case Step::close:
    case Step::pause:
        break;
    }
    return after_session();
}

Call* DmpChain::after_bad(std::int32_t result) {
    if (call_.op == Call::Op::open) {
        const Absence absence = absence_of_result(result);
        drop_owner();
        if (step_ == Step::open)
            return finish(absence);
        fail(DV_E_FILE);
        return go(Step::close);
    }
    const std::uint32_t operation = call_.number & 0xFFU;
    const std::int32_t error = result > 0 ? result : driver_error_of_hdc(result, operation);
    if (error == DV_E_TIMEOUT && ((step_ == Step::send && ++tries_ < kSendTries) ||
                                  (step_ == Step::peek && ++tries_ < kPeekTries)))
        return go(step_);
    if (step_ == Step::close) // the session is gone already; the answer is not
        return after_session();
    fail(error);
    return session_ >= 0 ? go(Step::close) : after_session();
}

// One session is over: what next?
Call* DmpChain::after_session() {
    drop_owner();
    session_ = -1;
    if (error_ != 0) {
        if (!told_ && worth_another_try(error_) && ++attempts_ < kAttempts)
            return go(Step::pause);
        return finish(absence_of_result(error_));
    }
    if (!complete_)
        return begin_packet();
    return finish(std::move(reply_));
}

Call* DmpChain::finish(Reading<std::vector<std::uint8_t>> reading) {
    Entry entry = std::move(queue_.front());
    queue_.pop_front();
    entry.handler(std::move(reading));
    return begin_command();
}

// The next slice of the request, or the request for the rest of the reply.
void DmpChain::fill_packet() {
    const DmpRequest& request = queue_.front().request;
    const std::size_t limit =
        std::min<std::size_t>(segment_, sizeof(dv_dmp_packet) + DV_DMP_DATA_MAX);
    const std::size_t room = limit > kHead ? limit - kHead : 0;
    if (!asking_rest_)
        slice_ = std::min(request.payload.size() - sent_, room);
    const bool last = sent_ + slice_ == request.payload.size();
    dv_dmp_packet packet{};
    packet.peer_device = static_cast<std::int32_t>(question_.device());
    packet.message_id = message_id_ = next_message_id();
    packet.data_len = static_cast<std::uint16_t>(sizeof(dv_dmp_request) + slice_);
    dv_dmp_request head{};
    head.lun = last ? DV_DMP_LAST_SLICE : 0;
    head.operation = request.operation;
    head.opcode = request.opcode;
    head.offset = static_cast<std::uint32_t>(asking_rest_ ? reply_.size() : sent_);
    head.length = static_cast<std::uint32_t>(asking_rest_ ? DV_DMP_PAYLOAD_MAX : slice_);
    std::memcpy(out_.data(), &packet, sizeof(packet));
    std::memcpy(out_.data() + sizeof(packet), &head, sizeof(head));
    if (slice_ != 0)
        std::memcpy(out_.data() + kHead, request.payload.data() + sent_, slice_);
    out_length_ = kHead + slice_;
}

void DmpChain::read_reply(std::size_t length) {
    dv_dmp_packet packet;
    dv_dmp_response head;
    told_ = true;
    if (length < kHead || length > in_.size() || length != arrived_)
        return fail(DV_E_RECEIVE);
    std::memcpy(&packet, in_.data(), sizeof(packet));
    std::memcpy(&head, in_.data() + sizeof(packet), sizeof(head));
    const std::size_t payload = length - kHead;
    // The message id must come back bit for bit, the opcode too, and data_len rules over length.
    if (packet.type != 1 || packet.message_id != message_id_ ||
        packet.data_len != length - sizeof(packet))
        return fail(DV_E_INNER);
    if (head.error != 0)
        return fail(head.error);
    if (head.opcode != queue_.front().request.opcode)
        return fail(DV_E_INNER);
    const std::size_t asked = queue_.front().request.payload.size();
    if (sent_ + slice_ < asked) { // a slice was taken
        sent_ += slice_;
        return;
    }
    if (!asking_rest_)
        reply_total_ = std::max<std::size_t>(head.total_length, payload);
    if (reply_total_ > DV_DMP_REPLY_TOTAL_MAX || (asking_rest_ && payload == 0) ||
        reply_.size() + payload > reply_total_)
        return fail(DV_E_INNER);
    reply_.insert(reply_.end(), in_.begin() + kHead,
                  in_.begin() + static_cast<std::ptrdiff_t>(length));
    complete_ = reply_.size() == reply_total_;
    asking_rest_ = !complete_;
    if (!complete_ && payload == 0)
        fail(DV_E_INNER);
}

} // namespace asc::hal

// SPDX-License-Identifier: Apache-2.0
// Client of the management protocol: service 0 over HDC, a session for every packet
// (driver-abi.md 10.2, 10.4, 17.5).
#pragma once

#include "hal/query.hpp"

#include <array>
#include <deque>
#include <vector>

namespace asc::hal {

struct DmpRequest {
    std::uint16_t opcode = 0;
    std::uint8_t operation = DV_DMP_OP_STATE;
    std::vector<std::uint8_t> payload;
};

// The requests of one device, one after the other.
class DmpChain final : public Chain {
  public:
    explicit DmpChain(Question& question) : question_(question) {}
    ~DmpChain() override;

    // `handler` gets the payload of the reply, or why there is none.
    void ask(const DmpRequest& request, DmpHandler handler);
    Call* next(Call* ended) override;

  private:
    enum class Step {
        open,
        page,
        config,
        connect,
        owner_open,
        owner,
        send,
        peek,
        receive,
        close,
        pause
    };
    struct Entry {
        DmpRequest request;
        DmpHandler handler;
    };

    Call* begin_command(); // the front of the queue, or the end
    Call* begin_packet();
    Call* go(Step step); // fills call_ for the step
    Call* after_good();
    Call* after_bad(std::int32_t result);
    Call* after_session();
    Call* finish(Reading<std::vector<std::uint8_t>> reading);
    void fill_packet();
    void read_reply(std::size_t length);
    void fail(std::int32_t error) { error_ = error; }
    void drop_owner();

    Question& question_;
    std::deque<Entry> queue_;
    bool running_ = false;
    Step step_ = Step::open;
    Call call_;
    dv_hdc_argument argument_{};
    Node hdc_ = -1, owner_ = -1;
    std::uint32_t segment_ = DV_HDC_SEGMENT_MAX;
    // the packet under way
    std::int32_t session_ = -1, alloc_index_ = 0;
    std::int32_t error_ = 0;  // driver error that ends it
    bool told_ = false;       // the error came in a reply: no second try
    unsigned tries_ = 0;      // of this step
    std::size_t arrived_ = 0; // length of the datagram
    std::size_t out_length_ = 0;
    // the command
    std::int64_t message_id_ = 0;
    std::size_t sent_ = 0, slice_ = 0; // payload bytes before this slice, and in it
    unsigned attempts_ = 0;
    bool asking_rest_ = false; // the request is through, parts of the reply are missing
    bool complete_ = false;
    std::size_t reply_total_ = 0;
    std::vector<std::uint8_t> reply_;
    alignas(8) std::array<std::uint8_t, sizeof(dv_dmp_packet) + DV_DMP_DATA_MAX> out_{};
    alignas(8) std::array<std::uint8_t, sizeof(dv_dmp_packet) + DV_DMP_REPLY_TOTAL_MAX> in_{};
};

} // namespace asc::hal

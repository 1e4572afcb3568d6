// SPDX-License-Identifier: Apache-2.0
// Single queries in the driver's form, and chains that make them (driver-abi.md 4, 6, 7).
#pragma once

#include "hal/arena.hpp"
#include "hal/channel.hpp"
#include "hal/wire_types.hpp"
#include "ioctl/wire/commands.h"
#include "ioctl/wire/marshal.h"

#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>

namespace asc::hal {

struct Nodes { // open files, each bound to its module; -1: not there
    Node urd = -1, devmng = -1, uda = -1, davsim = -1, hdc = -1;
};

// A function of the request dispatcher. `output` must outlive the call.
struct UrdQuery {
    Call call;
    dv_urd envelope;
    alignas(8) std::uint8_t input[64];

    void prepare(Node urd, std::uint32_t main, std::uint32_t sub, std::uint32_t device,
                 const void* in, std::size_t in_length, void* output, std::size_t out_length);
};

// A cached metric: data() after a good call.
struct UdisQuery {
    UrdQuery urd;
    dv_udis_reply reply;
    alignas(8) std::uint8_t bytes[DV_UDIS_DATA_MAX];

    // `name`: 1 to 15 characters.
    void prepare(Node node, std::uint32_t device, std::uint32_t module, std::string_view name);
    // False: the driver claims more than it can have written.
    bool sane() const { return reply.length <= sizeof(bytes); }
    std::span<const std::uint8_t> data() const { return {bytes, sane() ? reply.length : 0}; }
};

// An ioctl whose argument is one flat struct.
template <class Argument> struct FlatQuery {
    Call call;
    Argument argument;

    void prepare(Node node, std::uint32_t number) {
        call.node = node;
        call.number = number;
        call.argument = &argument;
        call.add_range(&argument, sizeof(argument), DV_RANGE_IN | DV_RANGE_OUT);
    }
};

inline Call& call_of(UrdQuery& query) {
    return query.call;
}
inline Call& call_of(UdisQuery& query) {
    return query.urd.call;
}
template <class Argument> Call& call_of(FlatQuery<Argument>& query) {
    return query.call;
}

// One query and what is done with it when it has ended.
template <class Query, class Handler> class Once final : public Chain {
    static_assert(std::is_trivially_destructible_v<Handler>, "it lives in an Arena");

  public:
    explicit Once(Handler handler) : handler_(std::move(handler)) {}
    Query query{};
    Call* next(Call* ended) override {
        if (ended == nullptr)
            return &call_of(query);
        handler_(query);
        return nullptr;
    }

  private:
    Handler handler_;
};

class DmpChain;
struct DmpRequest;
using DmpHandler = std::function<void(Reading<std::vector<std::uint8_t>>)>;

// What is asked of one device, side by side, until all of it is answered or the deadline passes.
class Question {
  public:
    Question(Channel& channel, const Nodes& nodes, const DeviceIds& ids,
             std::chrono::milliseconds timeout, TimePoint deadline);
    Question(const Question&) = delete;
    Question& operator=(const Question&) = delete;
    ~Question();

    Group group;
    const DeviceIds& ids() const { return ids_; }
    std::uint32_t device() const { return static_cast<std::uint32_t>(ids_.logical_id); }

    // handler(const UrdQuery&), handler(const UdisQuery&), handler(const FlatQuery<T>&)
    template <class Handler>
    void urd(std::uint32_t sub, const void* in, std::size_t in_length, void* output,
             std::size_t out_length, Handler handler) {
        auto& once = arena_.make<Once<UrdQuery, Handler>>(std::move(handler));
        once.query.prepare(nodes_.urd, DV_MAIN_BASIC, sub, 0, in, in_length, output, out_length);
        group.add(once);
    }
    // A function that takes the logical id alone and gives a T: handler(Reading<T>).
    template <class T, class Handler> void basic(std::uint32_t sub, Handler handler) {
        basic_of<T>(sub, device(), std::move(handler));
    }
    template <class T, class Handler>
    void basic_of(std::uint32_t sub, std::uint32_t id, Handler handler) {
        T& answer = arena_.make<T>();
        auto ended = [this, &answer, handler = std::move(handler)](const UrdQuery& query) {
            if (query.call.state == Call::State::done && query.call.result == 0)
                handler(Reading<T>(answer));
            else
                handler(Reading<T>(absence(query.call)));
        };
        urd(sub, &id, sizeof(id), &answer, sizeof(answer), std::move(ended));
    }
    template <class Handler>
    void udis(std::uint32_t module, std::string_view name, Handler handler) {
        auto& once = arena_.make<Once<UdisQuery, Handler>>(std::move(handler));
        once.query.prepare(nodes_.urd, device(), module, name);
        group.add(once);
    }
    // Data of exactly `length` bytes (0: any): handler(Reading<span>).
    template <class Handler>
    void udis_data(std::uint32_t module, std::string_view name, std::size_t length,
                   Handler handler) {
        udis(module, name, [this, length, handler = std::move(handler)](const UdisQuery& query) {
            handler(udis_answer(query, length));
        });
    }
    template <class Argument, class Handler>
    void flat(Node node, std::uint32_t number, const Argument& argument, Handler handler) {
        auto& once = arena_.make<Once<FlatQuery<Argument>, Handler>>(std::move(handler));
        once.query.argument = argument;
        once.query.prepare(node, number);
        group.add(once);
    }
    template <class Argument, class Handler>
    void devmng(std::uint32_t number, const Argument& argument, Handler handler) {
        flat(nodes_.devmng, DV_IO('M', number), argument, std::move(handler));
    }
    template <class Argument, class Handler>
    void davsim(std::uint32_t number, const Argument& argument, Handler handler) {
        flat(nodes_.davsim, number, argument, std::move(handler));
    }
    // Over HDC, one after the other.
    void dmp(const DmpRequest& request, DmpHandler handler);

    // Why this call gave nothing. Must not be asked of one that ended done with result 0.
    Absence absence(const Call& call);
    Reading<std::span<const std::uint8_t>> udis_answer(const UdisQuery& query, std::size_t length);

    Channel& channel() { return channel_; }
    const Nodes& nodes() const { return nodes_; }
    Arena& arena() { return arena_; }

  private:
    Channel& channel_;
    const Nodes& nodes_;
    DeviceIds ids_;
    std::chrono::milliseconds timeout_;
    Arena arena_;
    std::unique_ptr<DmpChain> dmp_;
};

// The calls' absence where no Question is at hand.
Absence absence_of_call(const Call& call, const Channel& channel,
                        std::chrono::milliseconds timeout);

} // namespace asc::hal

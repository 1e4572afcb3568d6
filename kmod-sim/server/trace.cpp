// SPDX-License-Identifier: Apache-2.0
#include "kmod-sim/server/trace.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

namespace asc::server {

namespace {

constexpr std::size_t kUnreadMax = 512U * 1024U; // then events are dropped and counted
constexpr int kAncestorsMax = 64;

const char* module_name(std::uint16_t module) {
    switch (module) {
    case DV_MOD_UDA:
        return "uda";
    case DV_MOD_DEVMNG:
        return "devmng";
    case DV_MOD_URD:
        return "urd";
    case DV_MOD_DMS:
        return "dms";
    case DV_MOD_HDC:
        return "hdc";
    case DV_MOD_DAVSIM:
        return "davsim";
    case DV_MOD_SVM:
        return "svm";
    default:
        return "manager";
    }
}

std::uint32_t parent_of(std::uint32_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    const std::string stat{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const std::size_t name_end = stat.rfind(')');
    if (name_end == std::string::npos || name_end + 4 >= stat.size())
        return 0;
    return static_cast<std::uint32_t>(std::strtoul(stat.c_str() + name_end + 4, nullptr, 10));
}

std::string node_name(std::uint32_t node, std::uint32_t index) {
    switch (node) {
    case DV_NODE_IS_MANAGER:
        return "davinci_manager";
    case DV_NODE_IS_DEVICE:
        return "davinci" + std::to_string(index);
    case DV_NODE_IS_HDC:
        return "hisi_hdc";
    case DV_NODE_IS_SVM:
        return "devmm_svm";
    default:
        return "node " + std::to_string(node);
    }
}

} // namespace

void Tracer::add(Connection& connection, std::uint32_t root) {
    Listener listener;
    listener.connection = &connection;
    listener.root = root;
    listeners_.push_back(std::move(listener));
}

void Tracer::remove(const Connection& connection) {
    std::erase_if(listeners_, [&](const Listener& l) { return l.connection == &connection; });
}

void Tracer::note_process(std::uint32_t pid) {
    for (Listener& listener : listeners_) {
        if (listener.root == 0)
            continue;
        std::uint32_t ancestor = pid;
        for (int i = 0; i < kAncestorsMax && ancestor > 1 && ancestor != listener.root; ++i)
            ancestor = parent_of(ancestor);
        const bool inside = ancestor == listener.root;
        (inside ? listener.inside : listener.outside).insert(pid);
        (inside ? listener.outside : listener.inside).erase(pid);
    }
}

void Tracer::tell(std::uint32_t pid, const nlohmann::json& event) {
    const std::string text = event.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    for (Listener& listener : listeners_) {
        if (listener.root != 0 && !listener.inside.contains(pid)) {
            if (listener.outside.contains(pid))
                continue;
            note_process(pid); // it connected before the trace began
            if (!listener.inside.contains(pid))
                continue;
        }
        if (listener.connection->queued_bytes > kUnreadMax) {
            ++listener.lost;
            continue;
        }
        if (!listener.events.empty())
            listener.events.push_back(',');
        listener.events += text;
    }
}

void Tracer::flush(const std::function<void(Connection&, const std::string&)>& send) {
    for (Listener& listener : listeners_) {
        if (listener.events.empty())
            continue;
        const std::string text = "{\"ok\":true,\"lost\":" + std::to_string(listener.lost) +
                                 ",\"events\":[" + listener.events + "]}";
        listener.events.clear();
        send(*listener.connection, text);
    }
}

void Tracer::call(const Connection& by, const sim::Machine::Call& call, std::int64_t microseconds) {
    nlohmann::json event = {
        {"pid", by.ident.pid}, {"comm", by.ident.name}, {"module", module_name(call.module)},
        {"name", call.name},   {"result", call.result}, {"us", microseconds}};
    if (call.device != FI_ANY)
        event["device"] = call.device;
    tell(by.ident.pid, event);
}

void Tracer::open(const Connection& by, std::uint32_t node, std::uint32_t index, int result) {
    nlohmann::json event = {{"pid", by.ident.pid},
                            {"comm", by.ident.name},
                            {"module", "open"},
                            {"name", node_name(node, index)},
                            {"result", result}};
    if (node == DV_NODE_IS_DEVICE)
        event["device"] = index;
    tell(by.ident.pid, event);
}

} // namespace asc::server

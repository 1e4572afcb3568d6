// SPDX-License-Identifier: Apache-2.0
// The control protocol: one JSON object asks, one answers (docs/socket-protocol.md). For davsim
// alone; what clients may steer goes over the wire's extension.
#include "kmod-sim/host/state_file.hpp"
#include "kmod-sim/server/client.hpp"
#include "kmod-sim/server/server.hpp"

#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstring>
#include <set>

namespace asc::server {

namespace {

using Json = nlohmann::json;

Json refusal(int status, const std::string& why) {
    return {{"ok", false}, {"status", status}, {"error", why}};
}

const char* state_name(std::uint32_t state) {
    switch (state) {
    case DS_STATE_OK:
        return "ok";
    case DS_STATE_RESETTING:
        return "resetting";
    case DS_STATE_LOST:
        return "lost";
    default:
        return "absent";
    }
}

std::string bus_id(const sim_device_config& config) {
    char text[32];
    std::snprintf(text, sizeof(text), "%04x:%02x:%02x.%x", config.pci_domain, config.pci_bus,
                  config.pci_slot, config.pci_function);
    return text;
}

// A number of the question, or nothing when it is missing or no small whole number.
std::optional<std::uint32_t> small_number(const Json& question, const char* key) {
    const auto found = question.find(key);
    if (found == question.end() || !found->is_number_unsigned() ||
        found->get<std::uint64_t>() > UINT32_MAX)
        return std::nullopt;
    return found->get<std::uint32_t>();
}

} // namespace

void Server::answer(Connection& connection, const Json& answer) {
    const std::string text = answer.dump(-1, ' ', false, Json::error_handler_t::replace);
    send(connection, DSOCK_ANSWER, 0,
         {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

void Server::control(Connection& connection, std::span<const std::uint8_t> payload) {
    const Json question = Json::parse(payload.begin(), payload.end(), nullptr, false);
    if (!question.is_object() || !question.contains("verb") || !question["verb"].is_string()) {
        answer(connection, refusal(kUsage, "a JSON object with a \"verb\" is expected"));
        return;
    }
    if (connection.tracing) {
        answer(connection, refusal(kUsage, "this connection listens to a trace"));
        return;
    }
    const Json reply = answer_control(connection, question);
    if (!reply.is_null())
        answer(connection, reply);
}

Json Server::answer_control(Connection& connection, const Json& question) {
    const std::string verb = question["verb"];
    if (verb == "status")
        return status();
    static const std::set<std::string> kVerbs = {"stop", "trace", "add-device", "save", "load"};
    if (!kVerbs.contains(verb))
        return refusal(kUsage, "no verb '" + verb + "'");
    if (!is_owner(connection))
        return refusal(kDenied, "'" + verb + "' is for the simulator's owner (uid " +
                                    std::to_string(policy_.owner_uid) + ") and root, not for uid " +
                                    std::to_string(connection.ident.uid));
    if (verb == "stop") {
        stop_asked_ = true;
        return {{"ok", true}};
    }
    if (verb == "trace") {
        if (tracer_.count() >= options_.limits.traces)
            return refusal(kFailed,
                           "there are " + std::to_string(tracer_.count()) + " traces already");
        connection.tracing = true;
        tracer_.add(connection, small_number(question, "root").value_or(0));
        return {{"ok", true}};
    }
    if (verb == "add-device")
        return add_device(question);
    if (verb == "save")
        return {{"ok", true}, {"state", sim::save_state(*machine_)}};
    if (!question.contains("state") || !question["state"].is_string())
        return refusal(kUsage, "load needs the text of a state");
    return load(connection, question["state"].get_ref<const std::string&>());
}

// The file is read whole before anything changes; the exchange itself waits until the loop's
// callbacks are done.
Json Server::load(Connection& connection, const std::string& text) {
    std::set<std::string> foreign;
    for (const auto& [ordinal, life] : lives_)
        if (!residents_.is_resident(life->ident.pid))
            foreign.insert("pid " + std::to_string(life->ident.pid) + " (" + life->ident.name +
                           ")");
    if (!foreign.empty())
        return refusal(
            kFailed,
            "nodes are open in " + *foreign.begin() +
                (foreign.size() > 1 ? " and " + std::to_string(foreign.size() - 1) + " more" : "") +
                ": a machine is not exchanged under them");
    sim::MachineOptions options;
    options.host = machine_->host();
    options.client_limit = kClientLimit;
    auto loaded = sim::load_state(text, options);
    if (!loaded)
        return refusal(kFailed, loaded.error());
    later_.push_back([this, fd = connection.socket.get(),
                      state = std::make_shared<sim::LoadedState>(std::move(*loaded))] {
        const auto done = exchange(*state);
        const auto waiting = connections_.find(fd);
        if (waiting != connections_.end() && waiting->second->kind == Connection::Kind::control)
            answer(*waiting->second, done ? Json{{"ok", true}} : refusal(kFailed, done.error()));
    });
    return nullptr;
}

Json Server::status() {
    Json devices = Json::array();
    Json answer = machine_->with_sim([&](::sim& model) {
        for (std::uint32_t id = 0; id < model.limits.device_count; ++id) {
            const struct sim_device& device = model.device[id];
            if (!device.filled)
                continue;
            std::size_t owners = 0;
            for (const sim_owner& owner : device.owner)
                owners += owner.used ? 1 : 0;
            devices.push_back({{"id", id},
                               {"bus_id", bus_id(device.config)},
                               {"state", state_name(device.state)},
                               {"hbm_used_mib", sim_hbm_used_bytes(&device) >> 20U},
                               {"hbm_total_mib", sim_hbm_total_bytes(&device) >> 20U},
                               {"owners", owners}});
        }
        return Json{{"profile", model.profile},
                    {"driver_version", model.driver_version},
                    {"seed", model.seed},
                    {"clock", model.clock_kind == DS_CLOCK_REAL ? "real" : "virtual"},
                    {"now_ns", model.now_ns},
                    {"wall_ms", sim_wall_ms(&model)},
                    {"rules", model.rules.count},
                    {"journal_records", model.journal_head}};
    });
    answer["ok"] = true;
    answer["schema"] = "asc-tools/davsim.status/1";
    answer["backend"] = "unix:" + options_.path;
    answer["server"] = "davsimd " ASC_VERSION;
    answer["pid"] = getpid();
    answer["owner_uid"] = policy_.owner_uid;
    answer["open_files"] = lives_.size();
    answer["connections"] = connections_.size();
    answer["parked_calls"] = parked_;
    answer["calls_answered"] = calls_answered_;
    answer["opens_answered"] = opens_answered_;
    answer["residents"] = residents_.count();
    answer["devices"] = std::move(devices);
    return answer;
}

// One more device like an existing one: next free id, physical id, card and bus.
Json Server::add_device(const Json& question) {
    const auto like = small_number(question, "like");
    if (question.contains("like") && !like)
        return refusal(kUsage, "\"like\" is no device id");
    sim::DeviceProfile added = sim::plain_device();
    std::string problem;
    machine_->with_sim([&](::sim& model) {
        const struct sim_device* pattern = nullptr;
        std::uint32_t free_id = model.limits.device_count, cards = 0, physical = 0, bus = 0;
        for (std::uint32_t id = 0; id < model.limits.device_count; ++id) {
            const struct sim_device& device = model.device[id];
            if (!device.filled) {
                free_id = std::min(free_id, id);
                continue;
            }
            cards = std::max(cards, device.config.card + 1);
            physical = std::max(physical, device.config.physical_id + 1);
            if (!like || *like == id)
                pattern = &device;
        }
        if (pattern == nullptr) {
            problem = "there is no device " + std::to_string(like.value_or(0)) + " to copy";
            return;
        }
        if (free_id == model.limits.device_count) {
            problem = "all " + std::to_string(free_id) + " device slots are taken";
            return;
        }
        added.config = pattern->config;
        for (std::uint32_t id = 0; id < model.limits.device_count; ++id)
            if (model.device[id].filled &&
                model.device[id].config.pci_domain == added.config.pci_domain)
                bus = std::max(bus, model.device[id].config.pci_bus + 1);
        added.config.device_id = free_id;
        added.config.physical_id = physical;
        added.config.card = cards;
        added.config.chip = 0;
        added.config.slot_id = cards;
        added.config.bandwidth_domain = free_id;
        added.config.pci_bus = bus;
        added.config.oom_count = 0;
        if (bus > 0xFF)
            problem = "its PCI domain has no bus left";
    });
    if (!problem.empty())
        return refusal(kFailed, problem);
    sim::number_serial(added.config);
    if (auto done = machine_->add_device(added); !done)
        return refusal(kFailed, done.error());
    return {{"ok", true}, {"id", added.config.device_id}, {"bus_id", bus_id(added.config)}};
}

} // namespace asc::server

// SPDX-License-Identifier: Apache-2.0
#include "kmod-sim/host/state_file.hpp"

#include "kmod-sim/host/machine_state.hpp"
#include "kmod-sim/host/state_check.hpp"
#include "kmod-sim/host/state_fields.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace asc::sim {

namespace {

using Device = struct ::sim_device;

constexpr char kFormat[] = "asc-tools/davsim-state";
constexpr std::uint32_t kVersion = 1;

template <class T, class Fields> Json written(const T& value, Fields fields) {
    StateWriter writer;
    fields(writer, const_cast<T&>(value)); // the writer only reads
    return writer.take();
}

// The last `room` entries of a ring that has seen `head` of them, oldest first.
template <class T, std::size_t N, class Fields>
Json ring(const T (&entries)[N], std::uint64_t head, Fields fields) {
    Json array = Json::array();
    for (std::uint64_t i = head > N ? head - N : 0; i < head; ++i)
        array.push_back(written(entries[i % N], fields));
    return array;
}

template <class T, std::size_t N, class Fields>
void read_ring(StateReader& reader, const char* name, T (&entries)[N], std::uint64_t head,
               Fields fields) {
    const Json& array = reader.at(name);
    const std::uint64_t kept = std::min<std::uint64_t>(head, N);
    if (!array.is_array() || array.size() != kept)
        state_fault(reader.inside(name), "a list of " + std::to_string(kept) + " entries", array);
    for (std::uint64_t i = 0; i < kept; ++i) {
        StateReader inner(array[i], reader.inside(name) + "[" + std::to_string(i) + "]");
        fields(inner, entries[(head - kept + i) % N]);
        inner.finish();
    }
}

Json rules_of(const ::sim& model) {
    Json array = Json::array();
    for (std::uint32_t i = 0; i < model.rules.count; ++i) {
        const fi_rule& rule = model.rules.rule[i];
        Json entry = written(rule, state::rule_progress);
        entry["text"] = bytes_to_json({rule.text, rule.text_length});
        array.push_back(std::move(entry));
    }
    return {{"seed", model.rules.seed}, {"next_id", model.rules.next_id}, {"rule", array}};
}

// A rule is what its text says; the progress is laid over it.
void read_rule(StateReader& reader, fi_rule& rule, std::uint64_t least_id, std::uint64_t next_id) {
    char text[DS_TEXT_MAX] = {};
    reader.text("text", text);
    fi_error error{};
    if (fi_parse(text, static_cast<std::uint32_t>(std::strlen(text)), &rule, &error) != 0) {
        error.text[DS_TEXT_MAX - 1] = 0;
        state_fault(reader.inside("text"), std::string("a rule (") + error.text + ")",
                    std::string(text));
    }
    state::rule_progress(reader, rule);
    if (rule.id < least_id || rule.id >= next_id)
        state_fault(reader.inside("id"), "an id above those before it and below next_id",
                    std::to_string(rule.id));
    if (rule.phase != 0 && rule.phase >= rule.ecc_rate_mhz)
        state_fault(reader.inside("phase"), "below the rule's rate", std::to_string(rule.phase));
    if (rule.skipped != 0 && rule.skipped >= rule.interval)
        state_fault(reader.inside("skipped"), "below the rule's interval",
                    std::to_string(rule.skipped));
}

void read_rules(const Json& from, fi_set& set) {
    StateReader reader(from, "rules");
    reader.number("seed", set.seed);
    reader.template number<std::uint32_t>("next_id", set.next_id, 1, UINT32_MAX);
    const Json& array = reader.at("rule");
    if (!array.is_array() || array.size() > FI_RULES_MAX)
        state_fault("rules.rule", "a list of at most " + std::to_string(FI_RULES_MAX) + " entries",
                    array);
    std::uint64_t least_id = 1;
    for (std::size_t i = 0; i < array.size(); ++i) {
        StateReader inner(array[i], "rules.rule[" + std::to_string(i) + "]");
        read_rule(inner, set.rule[i], least_id, set.next_id);
        inner.finish();
        least_id = std::uint64_t{set.rule[i].id} + 1;
    }
    set.count = static_cast<std::uint32_t>(array.size());
    reader.finish();
}

std::uint64_t system_ms() {
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                          std::chrono::system_clock::now().time_since_epoch())
                                          .count());
}

void read_devices(const Json& array, ::sim& model) {
    if (!array.is_array() || array.size() > model.limits.device_count)
        state_fault("device", "a list of at most device_slots entries", array);
    for (std::size_t i = 0; i < array.size(); ++i) {
        const std::string path = "device[" + std::to_string(i) + "]";
        auto device = std::make_unique<Device>();
        StateReader reader(array[i], path);
        state::device(reader, *device);
        reader.finish();
        check_device(model, *device, path);
        Device& place = model.device[device->config.device_id];
        if (place.filled != 0)
            state_fault(path + ".device_id", "another one than before it",
                        std::to_string(device->config.device_id));
        place = *device;
    }
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(model.history_head, SIM_HISTORY_MAX); ++i)
        if (model.history[i].device >= model.limits.device_count)
            state_fault("history", "events of devices below device_slots",
                        std::to_string(model.history[i].device));
}

std::vector<SavedOwner> live_owners(const ::sim& model) {
    std::vector<SavedOwner> owners;
    for (std::uint32_t id = 0; id < model.limits.device_count; ++id)
        for (std::uint32_t place = 0; place < SIM_OWNERS_MAX; ++place) {
            const sim_owner& owner = model.device[id].owner[place];
            if (owner.used != 0 && owner.ended == 0)
                owners.push_back({id, place, owner.name, owner.bytes});
        }
    return owners;
}

LoadedState load(const Json& root, const MachineOptions& given, bool force_clock) {
    StateReader file(root, "");
    char format[64] = {}, saved_by[64] = {};
    file.text("format", format);
    if (std::string_view(format) != kFormat)
        state_fault("format", kFormat, std::string(format));
    std::uint32_t version = 0;
    file.number("version", version, kVersion, kVersion);
    file.text("saved_by", saved_by);

    // The head is read twice: into a scratch model to learn the sizes, then into the arena.
    auto head = std::make_unique<::sim>();
    StateReader machine_reader(file.at("machine"), "machine");
    state::machine(machine_reader, *head);
    machine_reader.finish();
    MachineOptions options = given;
    if (!force_clock)
        options.clock = head->clock_kind == DS_CLOCK_REAL ? Clock::real : Clock::virtual_time;
    options.seed = head->seed;
    options.wall_ms =
        options.clock == Clock::real ? system_ms() : head->wall_offset_ms + head->now_ns / 1000000;
    Machine::Blank what;
    what.device_slots = head->limits.device_count;
    what.driver_version = head->driver_version;
    what.profile = head->profile;
    what.old_abi = head->old_abi != 0;
    what.now_ns = head->now_ns;
    auto machine = Machine::blank(what, options);
    if (!machine)
        state_fault("machine", "a machine that fits here", machine.error());

    LoadedState state{std::move(*machine), {}};
    state.machine->with_sim([&](::sim& model) {
        const std::uint32_t client_count = model.limits.client_count;
        model.residents_settled = head->residents_settled;
        model.next_ordinal = head->next_ordinal;
        model.next_ticket = head->next_ticket;
        model.history_head = head->history_head;
        model.journal_head = head->journal_head;
        model.journal_read = std::min(head->journal_read, head->journal_head);
        model.journal_system_sequence = head->journal_system_sequence;
        model.limits.client_count = client_count;
        read_ring(file, "history", model.history, model.history_head, state::event);
        read_ring(file, "journal", model.journal, model.journal_head, state::journal);
        read_rules(file.at("rules"), model.rules);
        read_devices(file.at("device"), model);
        file.finish();
        sim_touch(&model);
        state.owners = live_owners(model);
    });
    return state;
}

} // namespace

std::string save_state(Machine& machine) {
    const Json root = machine.with_sim([](::sim& model) {
        sim_settle(&model); // nothing waits in an outbox then
        Json devices = Json::array();
        for (std::uint32_t id = 0; id < model.limits.device_count; ++id)
            if (model.device[id].filled != 0)
                devices.push_back(written(model.device[id], state::device));
        return Json{{"format", kFormat},
                    {"version", kVersion},
                    {"saved_by", "davsim " ASC_VERSION},
                    {"machine", written(model, state::machine)},
                    {"rules", rules_of(model)},
                    {"history", ring(model.history, model.history_head, state::event)},
                    {"journal", ring(model.journal, model.journal_head, state::journal)},
                    {"device", std::move(devices)}};
    });
    return root.dump(1) + "\n";
}

std::expected<LoadedState, std::string>
load_state(std::string_view text, const MachineOptions& options, bool force_clock) {
    Json root;
    try {
        root = Json::parse(text.begin(), text.end());
    } catch (const Json::exception& error) {
        return std::unexpected("no JSON text at byte " +
                               std::string(std::string_view(error.what()).substr(0, 200)));
    }
    try {
        return load(root, options, force_clock);
    } catch (const StateFault& fault) {
        return std::unexpected(fault.path + ": expected " + fault.expected + ", found " +
                               fault.found);
    } catch (const Json::exception& error) {
        return std::unexpected(std::string("JSON: ") + error.what());
    }
}

} // namespace asc::sim

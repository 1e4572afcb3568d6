// SPDX-License-Identifier: Apache-2.0
#include "kmod-sim/host/profile_keys.hpp"
#include "kmod-sim/host/spelling.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <sstream>

namespace asc::sim {

namespace {

// Ends the reading; carries the whole message.
struct Fault {
    std::string text;
};

// Where we are: the file and the path of keys.
struct Place {
    std::string_view source;
    std::string path;

    [[noreturn]] void fail(const toml::source_region& region, const std::string& key,
                           const std::string& what) const {
        std::string where(source);
        if (region.begin.line != 0)
            where += ":" + std::to_string(region.begin.line);
        const std::string full = path.empty() || key.empty() ? path + key : path + "." + key;
        throw Fault{where + ": " + (full.empty() ? "" : full + ": ") + what};
    }
    Place in(const std::string& key) const {
        return {source, path.empty() ? key : path + "." + key};
    }
};

std::string kind_of(const toml::node& node) {
    std::ostringstream out;
    out << node.type();
    return out.str();
}

std::string plain(double value) {
    std::ostringstream out;
    out.precision(15);
    out << value;
    return out.str();
}

void refuse_unknown(const Place& place, const toml::table& table,
                    std::span<const std::string_view> known) {
    for (const auto& [key, node] : table) {
        const std::string_view name = key.str();
        if (std::ranges::count(known, name) != 0)
            continue;
        std::string what = "unknown key";
        for (const std::string_view candidate : known)
            if (is_near(name, candidate)) {
                what += "; did you mean '" + std::string(candidate) + "'?";
                break;
            }
        what += " Allowed:";
        for (const std::string_view candidate : known)
            what.append(" ").append(candidate);
        place.fail(key.source(), std::string(name), what);
    }
}

double number(const Place& place, const std::string& key, const toml::node& node, double minimum,
              double maximum, bool fraction) {
    const std::string range = plain(minimum) + " to " + plain(maximum);
    std::optional<double> value;
    if (const auto* integer = node.as_integer())
        value = static_cast<double>(integer->get());
    else if (const auto* real = node.as_floating_point(); real && fraction)
        value = real->get();
    if (!value)
        place.fail(node.source(), key,
                   std::string(fraction ? "a number" : "a whole number") + " of " + range +
                       " is expected, not " + kind_of(node));
    if (!(*value >= minimum && *value <= maximum)) // also not a NaN
        place.fail(node.source(), key, plain(*value) + " is out of range: " + range);
    return *value;
}

std::uint64_t whole(const Place& place, const std::string& key, const toml::node& node,
                    double minimum, double maximum) {
    return static_cast<std::uint64_t>(number(place, key, node, minimum, maximum, false));
}

bool flag(const Place& place, const std::string& key, const toml::node& node) {
    const auto* value = node.as_boolean();
    if (!value)
        place.fail(node.source(), key, "true or false is expected, not " + kind_of(node));
    return value->get();
}

std::string text(const Place& place, const std::string& key, const toml::node& node,
                 std::size_t room) {
    const auto* value = node.as_string();
    if (!value)
        place.fail(node.source(), key, "a text is expected, not " + kind_of(node));
    if (value->get().size() >= room)
        place.fail(node.source(), key,
                   "longer than " + std::to_string(room - 1) + " bytes: '" + value->get() + "'");
    if (value->get().find('\0') != std::string::npos)
        place.fail(node.source(), key, "a text cannot hold a zero byte");
    return value->get();
}

const toml::table& table(const Place& place, const std::string& key, const toml::node& node) {
    const auto* value = node.as_table();
    if (!value)
        place.fail(node.source(), key, "a table is expected, not " + kind_of(node));
    return *value;
}

std::uint64_t seconds(const Place& place, const std::string& key, const toml::node& node) {
    if (const auto* word = node.as_string())
        if (const auto ns = parse_duration(word->get()))
            return *ns / 1000000000U;
    if (const auto* integer = node.as_integer(); integer && integer->get() >= 0)
        return static_cast<std::uint64_t>(integer->get());
    place.fail(node.source(), key,
               "an age is expected: seconds, or a text as \"90s\", \"5m\", \"12h\", \"30d\"");
}

// ---- a device ----

// Keys that were set, by [defaults] or by the device: what depends on them is derived afterwards.
using Given = std::map<std::string_view, bool>;

void set_key(const Place& place, const DeviceKey& key, const toml::node& node,
             DeviceProfile& device) {
    sim_device_config& config = device.config;
    const std::string name(key.name.substr(key.name.find('.') + 1)); // npos + 1 is 0
    if (const auto* unsigned_place = std::get_if<std::uint32_t sim_device_config::*>(&key.place))
        config.** unsigned_place =
            static_cast<std::uint32_t>(number(place, name, node, key.minimum, key.maximum, false));
    if (const auto* signed_place = std::get_if<std::int32_t sim_device_config::*>(&key.place))
        config.** signed_place =
            static_cast<std::int32_t>(number(place, name, node, key.minimum, key.maximum, false));
    if (const auto* watt = std::get_if<DeviceWatt>(&key.place))
        config.*watt->place = static_cast<std::uint32_t>(
            std::lround(number(place, name, node, key.minimum, key.maximum, true) * 10));
    if (const auto* words = std::get_if<DeviceText>(&key.place)) {
        const std::string value = text(place, name, node, words->room);
        std::memset(words->place(config), 0, words->room);
        value.copy(words->place(config), words->room - 1);
    }
}

std::vector<EccRecord> read_records(const Place& place, const std::string& key,
                                    const toml::node& node, std::uint64_t hbm_bytes) {
    static constexpr std::string_view kKnown[] = {"address", "count", "age"};
    const auto* array = node.as_array();
    if (!array)
        place.fail(node.source(), key, "an array of records is expected, not " + kind_of(node));
    std::vector<EccRecord> records;
    for (const toml::node& entry : *array) {
        const Place inside = place.in(key + "[" + std::to_string(records.size()) + "]");
        const toml::table& record = table(inside, "", entry);
        refuse_unknown(inside, record, kKnown);
        EccRecord out;
        if (!record.contains("address") || !record.contains("age"))
            inside.fail(entry.source(), "", "a record needs 'address' and 'age'");
        out.address =
            whole(inside, "address", *record.get("address"), 0, static_cast<double>(hbm_bytes - 1));
        out.age_seconds = seconds(inside, "age", *record.get("age"));
        if (const toml::node* count = record.get("count"))
            out.count = static_cast<std::uint32_t>(whole(inside, "count", *count, 1, 65535));
        records.push_back(out);
    }
    if (records.size() > SIM_RECORDS_MAX)
        place.fail(node.source(), key, "more than " + std::to_string(SIM_RECORDS_MAX) + " records");
    std::ranges::stable_sort(records, std::ranges::greater{}, &EccRecord::age_seconds);
    return records;
}

void read_ecc(const Place& place, const toml::table& ecc, DeviceProfile& device) {
    static constexpr std::string_view kKnown[] = {
        "single",         "double",         "single_lifetime", "double_lifetime",
        "isolated_pages", "isolated_cause", "single_records",  "double_records"};
    refuse_unknown(place, ecc, kKnown);
    const std::uint64_t hbm_bytes = std::uint64_t{device.config.hbm_mib} << 20U;
    const auto count = [&](const char* key, std::uint32_t& to) {
        if (const toml::node* node = ecc.get(key))
            to = static_cast<std::uint32_t>(whole(place, key, *node, 0, 4294967295.0));
    };
    count("single", device.ecc_single);
    count("double", device.ecc_double);
    device.ecc_single_lifetime = std::max(device.ecc_single_lifetime, device.ecc_single);
    device.ecc_double_lifetime = std::max(device.ecc_double_lifetime, device.ecc_double);
    count("single_lifetime", device.ecc_single_lifetime);
    count("double_lifetime", device.ecc_double_lifetime);
    if (device.ecc_single_lifetime < device.ecc_single ||
        device.ecc_double_lifetime < device.ecc_double)
        place.fail(ecc.source(), "", "a lifetime count is smaller than the count since reset");
    if (const toml::node* node = ecc.get("isolated_pages")) {
        const auto* pages = node->as_array();
        if (!pages)
            place.fail(node->source(), "isolated_pages",
                       "an array of page numbers is expected, not " + kind_of(*node));
        device.isolated_pages.clear();
        for (const toml::node& page : *pages) {
            const auto value = static_cast<std::uint32_t>(
                whole(place, "isolated_pages", page, 0,
                      static_cast<double>((hbm_bytes >> SIM_PAGE_SHIFT) - 1)));
            if (std::ranges::count(device.isolated_pages, value) != 0)
                place.fail(page.source(), "isolated_pages",
                           "page " + std::to_string(value) + " stands there twice");
            device.isolated_pages.push_back(value);
        }
        if (device.isolated_pages.size() > SIM_PAGES_MAX)
            place.fail(node->source(), "isolated_pages",
                       "more than " + std::to_string(SIM_PAGES_MAX) + " pages");
    }
    if (const toml::node* node = ecc.get("isolated_cause")) {
        const std::string cause = text(place, "isolated_cause", *node, 16);
        if (cause != "single" && cause != "double")
            place.fail(node->source(), "isolated_cause",
                       "'single' or 'double' is expected, not '" + cause + "'");
        device.isolated_by_double = cause == "double";
    }
    if (const toml::node* node = ecc.get("single_records"))
        device.single_records = read_records(place, "single_records", *node, hbm_bytes);
    if (const toml::node* node = ecc.get("double_records"))
        device.double_records = read_records(place, "double_records", *node, hbm_bytes);
}

// Keys that only one device can have.
constexpr std::string_view kOwnKeys[] = {"id", "count", "bus_id", "physical_id", "card", "chip"};
constexpr std::string_view kSharedTables[] = {"load", "ecc", "baseline_known"};

std::vector<std::string_view> known_keys(bool defaults) {
    std::vector<std::string_view> known;
    for (const DeviceKey& key : device_keys())
        if (key.name.find('.') == std::string_view::npos &&
            (!defaults || std::ranges::count(kOwnKeys, key.name) == 0))
            known.push_back(key.name);
    known.insert(known.end(), std::begin(kSharedTables), std::end(kSharedTables));
    if (!defaults)
        for (const std::string_view key : kOwnKeys)
            if (std::ranges::count(known, key) == 0)
                known.push_back(key);
    return known;
}

void read_device_table(const Place& place, const toml::table& from, bool defaults,
                       DeviceProfile& device, Given& given) {
    refuse_unknown(place, from, known_keys(defaults));
    std::vector<std::string_view> load_keys;
    const toml::node* load = from.get("load");
    for (const DeviceKey& key : device_keys()) {
        const std::size_t dot = key.name.find('.');
        if (dot == std::string_view::npos) {
            if (const toml::node* node = from.get(key.name)) {
                set_key(place, key, *node, device);
                given[key.name] = true;
            }
            continue;
        }
        load_keys.push_back(key.name.substr(dot + 1));
        if (load)
            if (const toml::node* node = table(place, "load", *load).get(key.name.substr(dot + 1)))
                set_key(place.in("load"), key, *node, device);
    }
    if (load)
        refuse_unknown(place.in("load"), table(place, "load", *load), load_keys);
    if (const toml::node* node = from.get("baseline_known"))
        device.config.baseline_known = flag(place, "baseline_known", *node) ? 1 : 0;
    if (const toml::node* node = from.get("ecc"))
        read_ecc(place.in("ecc"), table(place, "ecc", *node), device);
}

// A value that was not given follows the one it belongs to.
void derive(DeviceProfile& device, const Given& given) {
    sim_device_config& c = device.config;
    const auto has = [&](std::string_view key) { return given.contains(key); };
    if (has("power_w") != has("power_idle_w"))
        (has("power_w") ? c.power_idle_dw : c.power_dw) =
            has("power_w") ? c.power_dw : c.power_idle_dw;
    if (has("temperature_c") != has("temperature_idle_c"))
        (has("temperature_c") ? c.temperature_idle_c : c.temperature_c) =
            has("temperature_c") ? c.temperature_c : c.temperature_idle_c;
    if (!has("hbm_temperature_c"))
        c.hbm_temperature_c = c.temperature_c;
    if (!has("hbm_temperature_idle_c"))
        c.hbm_temperature_idle_c = c.temperature_idle_c;
    if (!has("ai_core_rated_mhz"))
        c.ai_core_rated_mhz = c.ai_core_mhz;
}

void place_device(const Place& place, const toml::table& from, std::uint32_t id,
                  std::uint32_t number, const std::optional<BusId>& bus, const Given& given,
                  DeviceProfile& device) {
    sim_device_config& c = device.config;
    c.device_id = id;
    c.physical_id = given.contains("physical_id") ? c.physical_id + number : id;
    if (!given.contains("card"))
        c.card = id / c.chips_on_card;
    if (!given.contains("chip"))
        c.chip = id % c.chips_on_card;
    if (c.chip >= c.chips_on_card)
        place.fail(from.source(), "chip",
                   "a card of " + std::to_string(c.chips_on_card) + " chips has no chip " +
                       std::to_string(c.chip));
    if (!given.contains("bandwidth_domain"))
        c.bandwidth_domain = id;
    if (!given.contains("slot_id"))
        c.slot_id = c.card;
    const BusId at = bus.value_or(BusId{0, id + 1, 0, 0});
    c.pci_domain = at.domain;
    c.pci_bus = at.bus + (bus ? number : 0);
    c.pci_slot = at.slot;
    c.pci_function = at.function;
    if (c.pci_bus > 0xFF)
        place.fail(from.source(), "bus_id",
                   "bus numbers end at ff; " + std::to_string(number + 1) +
                       " devices do not fit behind this one");
    if (!given.contains("serial")) {
        number_serial(c);
    } else if (number != 0) {
        const std::string serial = c.serial + ("-" + std::to_string(number));
        if (serial.size() >= sizeof(c.serial))
            place.fail(from.source(), "serial", "too long to be counted up");
        serial.copy(c.serial, sizeof(c.serial) - 1);
    }
    if (c.baseline_mib > c.hbm_mib)
        place.fail(from.source(), "baseline_mib", "larger than hbm_mib");
}

// ---- the file ----

const toml::array* tables(const Place& place, const toml::table& root, const char* key) {
    const toml::node* node = root.get(key);
    if (!node)
        return nullptr;
    const auto* array = node->as_array();
    if (!array || !std::ranges::all_of(*array, [](const toml::node& n) { return n.is_table(); }))
        place.fail(node->source(), key,
                   "tables [[" + std::string(key) + "]] are expected, not " + kind_of(*node));
    return array;
}

void read_devices(const Place& place, const toml::table& root, Profile& profile) {
    DeviceProfile base = plain_device();
    Given base_given;
    if (const toml::node* node = root.get("defaults"))
        read_device_table(place.in("defaults"), table(place, "defaults", *node), true, base,
                          base_given);
    const toml::array* devices = tables(place, root, "device");
    if (!devices || devices->empty())
        place.fail(root.source(), "", "a profile needs at least one [[device]]");
    std::uint32_t next_id = 0;
    for (std::size_t i = 0; i < devices->size(); ++i) {
        const Place inside = place.in("device[" + std::to_string(i) + "]");
        const toml::table& from = *devices->get(i)->as_table();
        DeviceProfile device = base;
        Given given = base_given;
        read_device_table(inside, from, false, device, given);
        derive(device, given);
        std::uint32_t count = 1;
        if (const toml::node* node = from.get("id"))
            next_id =
                static_cast<std::uint32_t>(whole(inside, "id", *node, 0, SIM_DEVICES_MAX - 1));
        if (const toml::node* node = from.get("count"))
            count = static_cast<std::uint32_t>(whole(inside, "count", *node, 1, SIM_DEVICES_MAX));
        std::optional<BusId> bus;
        if (const toml::node* node = from.get("bus_id")) {
            bus = parse_bus_id(text(inside, "bus_id", *node, 16));
            if (!bus)
                inside.fail(node->source(), "bus_id",
                            "a bus id is expected as \"0000:01:00.0\" (domain:bus:device.function, "
                            "hexadecimal)");
        }
        for (std::uint32_t k = 0; k < count; ++k, ++next_id) {
            if (next_id >= SIM_DEVICES_MAX)
                inside.fail(from.source(), "",
                            "more than " + std::to_string(SIM_DEVICES_MAX) + " devices");
            DeviceProfile one = device;
            place_device(inside, from, next_id, k, bus, given, one);
            const auto same = [&](const DeviceProfile& other) {
                const sim_device_config &a = other.config, &b = one.config;
                return a.device_id == b.device_id || a.physical_id == b.physical_id ||
                       (a.card == b.card && a.chip == b.chip) ||
                       (a.pci_domain == b.pci_domain && a.pci_bus == b.pci_bus &&
                        a.pci_slot == b.pci_slot && a.pci_function == b.pci_function);
            };
            if (std::ranges::any_of(profile.devices, same))
                inside.fail(from.source(), "",
                            "device " + std::to_string(next_id) +
                                " has the id, physical id, card and chip, or bus id of another");
            profile.devices.push_back(std::move(one));
        }
    }
}

void read_residents(const Place& place, const toml::table& root, Profile& profile) {
    static constexpr std::string_view kKnown[] = {"device", "mib", "name", "dead"};
    const toml::array* residents = tables(place, root, "resident");
    for (std::size_t i = 0; residents && i < residents->size(); ++i) {
        const Place inside = place.in("resident[" + std::to_string(i) + "]");
        const toml::table& from = *residents->get(i)->as_table();
        refuse_unknown(inside, from, kKnown);
        for (const char* needed : {"device", "name"})
            if (!from.contains(needed))
                inside.fail(from.source(), needed, "is missing");
        ResidentProfile resident;
        resident.device = static_cast<std::uint32_t>(
            whole(inside, "device", *from.get("device"), 0, SIM_DEVICES_MAX - 1));
        const auto device = std::ranges::find(profile.devices, resident.device,
                                              [](const auto& d) { return d.config.device_id; });
        if (device == profile.devices.end())
            inside.fail(from.get("device")->source(), "device",
                        "there is no device " + std::to_string(resident.device));
        resident.name = text(inside, "name", *from.get("name"), sizeof(sim_owner{}.name));
        if (resident.name.empty())
            inside.fail(from.get("name")->source(), "name", "a process needs a name");
        if (const toml::node* node = from.get("mib"))
            resident.mib = whole(inside, "mib", *node, 0, device->config.hbm_mib);
        if (const toml::node* node = from.get("dead"))
            resident.dead = flag(inside, "dead", *node);
        profile.residents.push_back(std::move(resident));
    }
}

Profile read_root(const Place& place, const toml::table& root) {
    static constexpr std::string_view kKnown[] = {
        "name", "description", "driver_version", "generation", "defaults", "device", "resident"};
    refuse_unknown(place, root, kKnown);
    Profile profile;
    std::string_view stem = place.source;
    stem.remove_prefix(stem.rfind('/') + 1); // npos + 1 is 0
    profile.name = stem.substr(0, stem.rfind(".toml"));
    if (const toml::node* node = root.get("name"))
        profile.name = text(place, "name", *node, sizeof(::sim::profile));
    profile.name.resize(std::min(profile.name.size(), sizeof(::sim::profile) - 1));
    if (const toml::node* node = root.get("description"))
        profile.description = text(place, "description", *node, 1024);
    profile.driver_version = "25.2.0";
    if (const toml::node* node = root.get("driver_version"))
        profile.driver_version =
            text(place, "driver_version", *node, sizeof(::sim::driver_version));
    if (const toml::node* node = root.get("generation")) {
        const std::string generation = text(place, "generation", *node, 16);
        if (generation != "current" && generation != "older")
            place.fail(node->source(), "generation",
                       "'current' or 'older' is expected, not '" + generation + "'");
        profile.old_abi = generation == "older";
    }
    read_devices(place, root, profile);
    read_residents(place, root, profile);
    return profile;
}

} // namespace

std::expected<Profile, std::string> parse_profile(std::string_view text, std::string_view source) {
    const Place place{source, {}};
    try {
        return read_root(place, toml::parse(text, source));
    } catch (const toml::parse_error& error) {
        return std::unexpected(std::string(source) + ":" +
                               std::to_string(error.source().begin.line) + ": " +
                               std::string(error.description()));
    } catch (const Fault& fault) {
        return std::unexpected(fault.text);
    }
}

} // namespace asc::sim

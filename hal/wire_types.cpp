// SPDX-License-Identifier: Apache-2.0
#include "hal/wire_types.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>

namespace asc::hal {

namespace {

constexpr std::uint64_t kKibPerTib = 1ULL << 30;
constexpr std::int64_t kPidMax = 1LL << 23; // Linux gives 2^22; a replayed owner stands above it

Absence impossible(const char* what, std::int64_t value) {
    return {Reason::out_of_range, 0, std::string(what) + " of " + std::to_string(value)};
}

} // namespace

// ---- numbers ----

std::uint64_t unsigned_from_wire(std::span<const std::uint8_t> bytes) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data(), std::min<std::size_t>(bytes.size(), sizeof(value)));
    return value;
}

Reading<int> temperature_from_wire(std::int64_t celsius) {
    if (celsius < -60 || celsius > 200)
        return impossible("a temperature", celsius);
    return static_cast<int>(celsius);
}

Reading<int> celsius_from_wire(std::uint64_t raw) {
    return temperature_from_wire(static_cast<std::int16_t>(raw));
}

Reading<double> power_from_wire(std::uint64_t deciwatt) {
    if (deciwatt > 30000)
        return impossible("a power in 0.1 W", static_cast<std::int64_t>(deciwatt));
    return static_cast<double>(deciwatt) / 10.0;
}

Reading<double> millivolt_from_wire(std::uint64_t millivolt) {
    if (millivolt == 0 || millivolt > 5000)
        return impossible("a voltage in mV", static_cast<std::int64_t>(millivolt));
    return static_cast<double>(millivolt) / 1000.0;
}

Reading<int> percent_from_wire(std::uint64_t percent) {
    if (percent > 100)
        return impossible("a percentage", static_cast<std::int64_t>(percent));
    return static_cast<int>(percent);
}

Reading<int> megahertz_from_wire(std::uint64_t megahertz) {
    if (megahertz > 20000)
        return impossible("a frequency in MHz", static_cast<std::int64_t>(megahertz));
    return static_cast<int>(megahertz);
}

Reading<std::uint32_t> counter_from_wire(std::uint64_t value) {
    if (value >= 0xFFFFFFFFULL)
        return impossible("a counter", static_cast<std::int64_t>(value));
    return static_cast<std::uint32_t>(value);
}

Reading<std::uint64_t> process_bytes_from_wire(std::uint64_t bytes,
                                               const Reading<std::uint64_t>& total_mib) {
    if (total_mib && bytes > *total_mib << 20)
        return Absence{Reason::out_of_range, 0,
                       std::to_string(bytes >> 20) +
                           " MiB in one process, more than the device has"};
    if (bytes >> 20 >= kKibPerTib)
        return Absence{Reason::out_of_range, 0, "a process with more memory than any device has"};
    return bytes;
}

// ---- texts ----

std::string text_from_wire(const char* text, std::size_t room) {
    return {text, strnlen(text, room)};
}

Reading<std::string> text_from_wire(std::span<const std::uint8_t> data) {
    const auto* text = reinterpret_cast<const char*>(data.data());
    const std::size_t length = strnlen(text, data.size());
    if (data.empty() || length == 0)
        return Absence{Reason::unsupported, 0, "the driver has no text here"};
    if (length == data.size())
        return Absence{Reason::failed, 0, "the driver's text has no end"};
    return std::string(text, length);
}

// ---- identity ----

ChipFacts chip_from_wire(const dv_chip_info& info) {
    return {text_from_wire(info.type, sizeof(info.type)),
            text_from_wire(info.name, sizeof(info.name)),
            text_from_wire(info.version, sizeof(info.version))};
}

DeviceFacts device_from_wire(const dv_device_info& info) {
    DeviceFacts facts;
    facts.chip_id = static_cast<int>(info.chip_id);
    facts.die_id = static_cast<int>(info.die_id);
    facts.ai_cores = static_cast<int>(info.ai_core_count);
    facts.vector_cores = static_cast<int>(info.vector_core_count);
    facts.ai_cpus = static_cast<int>(info.ai_cpu_core_count);
    facts.control_cpus = static_cast<int>(info.control_cpu_count);
    facts.mainboard_id = info.mainboard_id;
    facts.soc_version = text_from_wire(info.soc_version, sizeof(info.soc_version));
    for (int i = 0; i < 2; ++i) {
        facts.ai_core_bitmap[i] = info.ai_core_bitmap[i];
        facts.vector_core_bitmap[i] = info.vector_core_bitmap[i];
    }
    return facts;
}

PciFacts pci_from_wire(const dv_pcie_info& info) {
    PciFacts facts;
    facts.ids = {info.vendor, info.device, info.subsystem_vendor, info.subsystem_device};
    facts.bus = info.bus;
    facts.slot = info.slot;
    facts.function = info.function;
    return facts;
}

std::string bus_id_text(std::uint32_t domain, const PciFacts& pci) {
    char text[32];
    std::snprintf(text, sizeof(text), "%04x:%02x:%02x.%x", domain, pci.bus & 0xFFU,
                  pci.slot & 0x1FU, pci.function & 0x7U);
    return text;
}

// ---- state ----

Reading<Health> health_from_wire(std::uint32_t value) {
    if (value == DV_HEALTH_ABSENT)
        return Absence{Reason::lost, 0, "the driver says that the device is not present"};
    if (value > DV_HEALTH_CRITICAL)
        return impossible("a health", value);
    return static_cast<Health>(value);
}

Reading<std::vector<ErrorCode>> codes_from_wire(const dv_event_codes& codes) {
    if (codes.count < 0 || codes.count > static_cast<std::int32_t>(std::size(codes.code)))
        return impossible("a count of error codes", codes.count);
    std::vector<ErrorCode> list;
    for (std::int32_t i = 0; i < codes.count; ++i)
        list.push_back({codes.code[i], Absence{Reason::unknown, 0, "not asked"}});
    return list;
}

Event event_from_wire(const dv_event& wire) {
    Event event;
    event.id = wire.event_id;
    event.physical_id = wire.device_id;
    event.severity = wire.severity;
    event.assertion = wire.assertion;
    event.node_type = wire.node_type;
    event.node_id = wire.node_id;
    event.sub_node_type = wire.sub_node_type;
    event.sub_node_id = wire.sub_node_id;
    event.serial = wire.event_serial;
    event.notify_serial = wire.notify_serial;
    event.raised_ms = static_cast<std::int64_t>(wire.raised_ms);
    event.pid = wire.pid;
    event.name = text_from_wire(wire.name, sizeof(wire.name));
    event.additional_info = text_from_wire(wire.additional_info, sizeof(wire.additional_info));
    return event;
}

// ---- memory ----

Reading<Hbm> hbm_from_wire(std::span<const std::uint8_t> data) {
    dv_hbm_mem_info info{};
    if (data.size() != sizeof(info))
        return Absence{Reason::failed, 0,
                       "the memory information has " + std::to_string(data.size()) +
                           " bytes, not " + std::to_string(sizeof(info))};
    std::memcpy(&info, data.data(), sizeof(info));
    const dv_memory_part& part = info.part[DV_MEMORY_PART_HBM];
    if (part.total_kb == 0)
        return Absence{Reason::failed, 0, "the driver says that the HBM has no size"};
    if (part.free_kb > part.total_kb || part.total_kb > 16 * kKibPerTib)
        return Absence{Reason::out_of_range, 0,
                       std::to_string(part.free_kb) + " of " + std::to_string(part.total_kb) +
                           " KiB HBM free"};
    return Hbm{part.total_kb, part.total_kb - part.free_kb};
}

Reading<EccCounters> ecc_from_wire(const dv_ecc_now& now, const dv_ecc_history& history) {
    const std::uint32_t values[] = {now.single,
                                    now.uncorrected,
                                    history.single,
                                    history.uncorrected,
                                    history.isolated_single_pages,
                                    history.isolated_double_pages};
    for (const std::uint32_t value : values)
        if (value == 0xFFFFFFFFU)
            return impossible("an ECC counter", value);
    return EccCounters{values[0], values[1], values[2], values[3], values[4], values[5]};
}

EccRecord record_from_wire(const dv_single_record& record) {
    return {(static_cast<std::uint64_t>(record.address_high) << 32) | record.address_low,
            record.count, record.last_time};
}

EccRecord record_from_wire(const dv_multi_record& record) {
    return {record.address, 1, record.time};
}

EccRecord record_from_wire(const dv_dmp_ecc_record& record) {
    return {record.address, record.count, record.time};
}

FlashPart flash_from_wire(const dv_dmp_flash& flash) {
    FlashPart part;
    part.id = flash.id;
    part.size_bytes = flash.size;
    part.manufacturer_id = flash.manufacturer;
    part.device_id = flash.device;
    part.vendor_id = flash.vendor;
    part.state = flash.state;
    part.sectors = flash.sectors;
    return part;
}

// ---- utilisation ----

Reading<int> mean_from_wire(const dv_core_utilisation& cores, const std::uint64_t bitmap[2]) {
    unsigned sum = 0;
    unsigned count = 0;
    if (cores.core_count > std::size(cores.percent))
        return impossible("a count of cores", cores.core_count);
    for (std::uint32_t i = 0; i < cores.core_count; ++i) {
        if (((bitmap[i / 64] >> (i % 64)) & 1) == 0)
            continue;
        if (cores.percent[i] > 100)
            return impossible("a percentage", cores.percent[i]);
        sum += cores.percent[i];
        ++count;
    }
    if (count == 0)
        return Absence{Reason::unsupported, 0, "no core of this kind"};
    return static_cast<int>(sum / count);
}

Reading<int> mean_from_wire(std::span<const std::uint8_t> data, int count) {
    if (count <= 0)
        return Absence{Reason::unsupported, 0, "no core of this kind"};
    if (data.size() != static_cast<std::size_t>(count) * sizeof(std::uint32_t))
        return Absence{Reason::failed, 0,
                       "utilisation of " + std::to_string(data.size() / sizeof(std::uint32_t)) +
                           " cores, the device has " + std::to_string(count)};
    std::uint64_t sum = 0;
    for (int i = 0; i < count; ++i) {
        const std::uint64_t percent =
            unsigned_from_wire(data.subspan(static_cast<std::size_t>(i) * 4, 4));
        if (percent > 100)
            return impossible("a percentage", static_cast<std::int64_t>(percent));
        sum += percent;
    }
    return static_cast<int>(sum / static_cast<unsigned>(count));
}

// ---- processes ----

Reading<std::vector<std::int64_t>> pids_from_wire(const dv_resource& resource) {
    if (resource.buffer_len > sizeof(resource.buffer) ||
        resource.buffer_len % sizeof(std::int32_t) != 0)
        return Absence{Reason::failed, 0,
                       "a process list of " + std::to_string(resource.buffer_len) +
                           " bytes; the driver's ABI is newer than this tool"};
    std::vector<std::int64_t> pids;
    for (std::size_t at = 0; at < resource.buffer_len; at += sizeof(std::int32_t)) {
        std::int32_t pid = 0;
        std::memcpy(&pid, resource.buffer + at, sizeof(pid));
        if (pid == 0)
            break; // the list ends at the first 0 (4.2)
        if (pid < 0 || pid > kPidMax)
            return Absence{Reason::out_of_range, 0,
                           "the process list has a pid of " + std::to_string(pid) +
                               "; the driver's ABI is newer than this tool"};
        if (std::find(pids.begin(), pids.end(), pid) != pids.end())
            return Absence{Reason::out_of_range, 0,
                           "the process list names pid " + std::to_string(pid) + " twice"};
        pids.push_back(pid);
    }
    return pids;
}

SimProcess process_from_wire(const ds_process& wire) {
    SimProcess process;
    process.host_pid = wire.host_pid;
    process.caller_pid = wire.caller_pid;
    process.start_ticks = wire.start_time;
    process.bytes = wire.bytes;
    process.ended = (wire.flags & DS_PROCESS_ENDED) != 0;
    process.resolvable = (wire.flags & DS_PROCESS_UNRESOLVABLE) == 0;
    process.scripted = (wire.flags & DS_PROCESS_SCRIPTED) != 0;
    process.uid = wire.uid;
    process.name = text_from_wire(wire.name, sizeof(wire.name));
    return process;
}

Reading<SimDevice> device_from_wire(const ds_device& wire) {
    if (wire.size != sizeof(wire))
        return Absence{Reason::failed, 0, "the simulator's device record has another size"};
    const Absence unknown{Reason::unknown, 0, "the simulator does not know it"};
    SimDevice device;
    device.state = wire.state;
    device.card = static_cast<int>(wire.card);
    device.chip = static_cast<int>(wire.chip);
    device.chips_on_card = static_cast<int>(wire.chips_on_card);
    device.numa_node = static_cast<int>(wire.numa_node);
    device.pci_domain = wire.pci_domain;
    device.serial = text_from_wire(wire.serial, sizeof(wire.serial));
    device.power_limit_w = unknown;
    device.oom_count = unknown;
    device.baseline_kib = unknown;
    if ((wire.known & DS_KNOWN_POWER_LIMIT) != 0)
        device.power_limit_w = power_from_wire(wire.power_limit_dw);
    if ((wire.known & DS_KNOWN_OOM_COUNT) != 0)
        device.oom_count = wire.oom_count;
    if ((wire.known & DS_KNOWN_BASELINE) != 0)
        device.baseline_kib = wire.hbm_baseline_kib;
    device.unowned_kib = wire.hbm_unowned_kib;
    device.processes_known = (wire.known & DS_KNOWN_PROCESSES) != 0;
    device.pages_pending = wire.pages_pending;
    device.reset_count = wire.reset_count;
    device.reset_outcome = wire.reset_outcome;
    device.allocations = wire.allocation_count;
    device.owners = wire.owner_count;
    return device;
}

RuleState rule_from_wire(const ds_rule_get& wire) {
    RuleState rule;
    rule.id = wire.id;
    rule.matches = wire.matches;
    rule.hits = wire.hits;
    rule.limited = wire.remaining != DS_RULE_UNLIMITED;
    rule.remaining = rule.limited ? wire.remaining : 0;
    rule.text.assign(wire.text, std::min<std::size_t>(wire.length, sizeof(wire.text)));
    return rule;
}

Reading<std::string> topology_from_wire(std::uint32_t value, bool simulator) {
    static constexpr const char* kWords[] = {"X",    "SYS", "PHB",     "PIX", "PXB",
                                             "HCCS", "SIO", "HCCS_SW", "UB"};
    if (!simulator)
        return Absence{Reason::unsupported, 0,
                       "topology type " + std::to_string(value) +
                           ": the numbers of a real driver are not known"};
    if (value >= std::size(kWords))
        return impossible("a topology type", value);
    return std::string(kWords[value]);
}

} // namespace asc::hal

// SPDX-License-Identifier: Apache-2.0
// The fields of the machine's state, one list per struct of kmod-sim/core/state.h. A test compares
// the structs' sizes, so that a new field is not forgotten here. Not kept: open files and what
// belongs to them (subscribers, parked calls, HDC sessions), and what follows from other fields.
#pragma once

#include "kmod-sim/host/model.hpp"
#include "kmod-sim/host/state_archive.hpp"

namespace asc::sim::state {

constexpr std::uint8_t kFlag = 1;

inline constexpr auto config = [](auto& a, sim_device_config& c) {
#define U32(name, least, most, otherwise)                                                          \
    a.template number<std::uint32_t>(#name, c.name, std::uint32_t{least}, std::uint32_t{most});
#define S32(name, least, most, otherwise)                                                          \
    a.template number<std::int32_t>(#name, c.name, std::int32_t{least}, std::int32_t{most});
#define TEXT(name, otherwise) a.text(#name, c.name);
#include "kmod-sim/core/device_fields.def"
};

inline constexpr auto owner = [](auto& a, sim_owner& o) {
    a.template number<std::uint8_t>("used", o.used, kFlag, kFlag);
    a.template number<std::uint8_t>("ended", o.ended, 0, kFlag);
    a.template number<std::uint8_t>("context", o.context, 0, kFlag);
    a.template number<std::uint8_t>("scripted", o.scripted, 0, kFlag);
    a.template number<std::uint8_t>("resident", o.resident, 0, kFlag);
    a.number("pid", o.pid);
    a.number("ns_pid", o.ns_pid);
    a.number("uid", o.uid);
    a.number("start_time", o.start_time);
    a.number("pid_namespace", o.pid_namespace);
    a.number("bytes", o.bytes);
    a.text("name", o.name);
};

inline constexpr auto extent = [](auto& a, sim_extent& e) {
    a.number("first_page", e.first_page);
    a.number("page_count", e.page_count);
    a.template number<std::uint32_t>("handle", e.handle, 1, UINT32_MAX);
    a.number("client", e.client);
    a.template number<std::uint16_t>("owner", e.owner, 0, SIM_OWNERS_MAX - 1);
    a.template number<std::uint16_t>("context", e.context, 0, kFlag);
    a.number("bytes", e.bytes);
};

inline constexpr auto record = [](auto& a, sim_record& r) {
    a.number("address", r.address);
    a.number("count", r.count);
    a.number("time", r.time);
};

inline constexpr auto ecc = [](auto& a, sim_ecc& e) {
    a.number("single_now", e.single_now);
    a.number("double_now", e.double_now);
    a.number("single_lifetime", e.single_lifetime);
    a.number("double_lifetime", e.double_lifetime);
    a.number("isolated_single", e.isolated_single);
    a.number("isolated_double", e.isolated_double);
    a.list("single_record", e.single_record, e.single_record_count, record);
    a.list("double_record", e.double_record, e.double_record_count, record);
};

inline constexpr auto word = [](auto& a, sim_word& w) {
    a.number("address", w.address);
    a.number("written", w.written);
    a.number("flipped_data", w.flipped_data);
    a.number("flipped_check", w.flipped_check);
    a.template number<std::uint8_t>("used", w.used, kFlag, kFlag);
    a.template number<std::uint8_t>("reported", w.reported, 0, 3);
};

inline constexpr auto fill = [](auto& a, sim_fill& f) {
    a.number("first", f.first);
    a.number("end", f.end);
    a.number("value", f.value);
};

inline constexpr auto page = [](auto& a, sim_page& p) {
    a.number("number", p.number);
    a.template number<std::uint8_t>("state", p.state, SIM_PAGE_GOOD, SIM_PAGE_ISOLATED);
    a.template number<std::uint8_t>("cause", p.cause, 0, 2);
    a.number("corrected", p.corrected);
};

inline constexpr auto sensors = [](auto& a, sim_sensors& s) {
    constexpr std::int32_t kCold = -1000000, kHot = 1000000;
    a.template number<std::int32_t>("temperature_mc", s.temperature_mc, kCold, kHot);
    a.template number<std::int32_t>("hbm_temperature_mc", s.hbm_temperature_mc, kCold, kHot);
    a.template number<std::int32_t>("power_mw", s.power_mw, 0, 5000000);
    a.template number<std::uint32_t>("voltage_mv", s.voltage_mv, 0, 65535);
    a.template number<std::uint32_t>("ai_core_mhz", s.ai_core_mhz, 0, 10000);
    a.number("updated_ns", s.updated_ns);
};

inline constexpr auto fault = [](auto& a, sim_fault& f) {
    a.template number<std::uint32_t>("event_id", f.event_id, 1, UINT32_MAX);
    a.number("serial", f.serial);
    a.number("raised_ms", f.raised_ms);
    a.number("pid", f.pid);
    a.template number<std::uint8_t>("severity", f.severity, 0, 3);
    a.text("info", f.info);
};

inline constexpr auto event = [](auto& a, sim_event& e) {
    a.number("event_id", e.event_id);
    a.number("serial", e.serial);
    a.number("raised_ms", e.raised_ms);
    a.template number<std::uint32_t>("device", e.device, 0, SIM_DEVICES_MAX - 1);
    a.number("pid", e.pid);
    a.template number<std::uint8_t>("severity", e.severity, 0, 3);
    a.template number<std::uint8_t>("assertion", e.assertion, 0, 2);
    a.text("info", e.info);
};

inline constexpr auto journal = [](auto& a, ds_journal_record& r) {
    a.number("sequence", r.sequence);
    a.number("time_ns", r.time_ns);
    a.number("device_id", r.device_id);
    a.number("kind", r.kind);
    a.number("command", r.command);
    a.number("client", r.client);
    a.number("code", r.code);
    a.number("a", r.a);
    a.number("b", r.b);
};

inline constexpr auto disabled = [](auto& a, std::uint32_t& event_id) {
    a.number("event_id", event_id);
};

// What a rule has done so far; what it is stands in its text.
inline constexpr auto rule_progress = [](auto& a, fi_rule& r) {
    a.template number<std::uint32_t>("id", r.id, 1, UINT32_MAX);
    a.number("phase", r.phase);
    a.number("skipped", r.skipped);
    a.number("added_ns", r.added_ns);
    a.number("next_ns", r.next_ns);
    a.number("ticks", r.ticks);
    a.number("matches", r.matches);
    a.number("hits", r.hits);
};

inline constexpr auto device = [](auto& a, struct ::sim_device& d) {
    a.template number<std::uint32_t>("device_id", d.config.device_id, 0, SIM_DEVICES_MAX - 1);
    a.object("config", d.config, config);
    a.template number<std::uint32_t>("filled", d.filled, kFlag, kFlag);
    a.template number<std::uint32_t>("state", d.state, DS_STATE_OK, DS_STATE_ABSENT);
    a.number("lost_rule", d.lost_rule);
    a.template number<std::uint32_t>("boot_status", d.boot_status, 0, DV_BOOT_STARTED);
    a.template number<std::uint32_t>("dmp_started", d.dmp_started, 0, kFlag);
    a.template number<std::uint32_t>("status_bits", d.status_bits, 0, 7);
    a.template number<std::uint32_t>("reset_outcome", d.reset_outcome, DS_RESET_NONE,
                                     DS_RESET_FAILED);
    a.number("reset_count", d.reset_count);
    a.number("reset_flag", d.reset_flag);
    a.number("reset_next_ns", d.reset_next_ns);
    a.number("total_pages", d.total_pages);
    a.number("baseline_pages", d.baseline_pages);
    a.number("used_pages", d.used_pages);
    a.number("next_handle", d.next_handle);
    a.number("oom_count", d.oom_count);
    a.sparse(
        "owner", d.owner, [](const sim_owner& o) { return o.used != 0; }, owner);
    a.list("extent", d.extent, d.extent_count, extent);
    a.object("ecc", d.ecc, ecc);
    a.list("word", d.word, d.word_count, word);
    a.list("fill", d.fill, d.fill_count, fill);
    a.list("page", d.page, d.page_count, page);
    a.number("pages_pending", d.pages_pending);
    a.number("pages_isolated", d.pages_isolated);
    a.number("scrub_next_ns", d.scrub_next_ns);
    a.template number<std::uint32_t>("declared_load_on", d.declared_load_on, 0, kFlag);
    a.object("sensors", d.sensors, sensors);
    a.number("sensor_next_ns", d.sensor_next_ns);
    a.list("fault", d.fault, d.fault_count, fault);
    a.list("disabled", d.disabled, d.disabled_count, disabled);
    a.number("next_serial", d.next_serial);
    a.number("journal_sequence", d.journal_sequence);
};

inline constexpr auto machine = [](auto& a, ::sim& s) {
    a.template number<std::uint32_t>("device_slots", s.limits.device_count, 1, SIM_DEVICES_MAX);
    a.template number<std::uint64_t>("now_ns", s.now_ns, 0, SIM_NEVER / 4);
    a.template number<std::uint64_t>("wall_offset_ms", s.wall_offset_ms, 0, SIM_NEVER / 4);
    a.template number<std::uint32_t>("clock_kind", s.clock_kind, DS_CLOCK_REAL, DS_CLOCK_VIRTUAL);
    a.number("seed", s.seed);
    a.text("driver_version", s.driver_version);
    a.text("profile", s.profile);
    a.template number<std::uint32_t>("old_abi", s.old_abi, 0, kFlag);
    a.template number<std::uint32_t>("residents_settled", s.residents_settled, 0, kFlag);
    a.number("next_ordinal", s.next_ordinal);
    a.number("next_ticket", s.next_ticket);
    a.number("history_head", s.history_head);
    a.number("journal_head", s.journal_head);
    a.number("journal_read", s.journal_read);
    a.number("journal_system_sequence", s.journal_system_sequence);
};

} // namespace asc::sim::state

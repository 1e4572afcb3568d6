// SPDX-License-Identifier: Apache-2.0
// One device's part of a snapshot: the queries for what is asked, and what their answers come to.
#pragma once

#include "hal/dmp.hpp"
#include "hal/driver_impl.hpp"
#include "hal/processes.hpp"

#include <string_view>

namespace asc::hal {

// Where a UDIS value comes from when UDIS has it not, or not in this length (driver-abi.md 7).
struct Fallback {
    std::uint16_t opcode = 0; // 0 none
    int byte = -1;            // payload; -1 none
    std::uint8_t width = 0;   // bytes of the reply
};

// A number behind UDIS: exact length, its meaning, and the same over DMP.
template <class T> struct Metric {
    std::uint32_t module;
    std::string_view name;
    std::uint8_t width;
    Reading<T> (*decode)(std::uint64_t);
    Fallback fallback;
    Reading<T> (*decode_fallback)(std::uint64_t);
};

class Inspection {
  public:
    Inspection(Driver::Impl& driver, const DeviceIds& ids, Ask what);
    Inspection(const Inspection&) = delete;
    Inspection& operator=(const Inspection&) = delete;

    Question question;
    // Adds the queries. Further ones follow by themselves from the answers.
    void ask();
    // Puts the answers together. `proc` is shared by all devices.
    DeviceSnapshot finish(const Proc& proc);
    // The sums did not agree: perhaps something changed between the queries; worth another look.
    bool disagrees() const { return disagrees_; }

  private:
    bool wants(Ask part) const { return includes(what_, part); }

    // inspect.cpp
    void ask_state();
    void ask_known();
    void ask_identity();
    void ask_simulator();
    void ask_ecc();
    void ask_processes();
    void ask_more_processes(std::uint32_t cursor);
    void ask_process_memory(std::int64_t pid);
    void finish_state();
    void finish_identity();
    void finish_memory(const Proc& proc);
    void finish_ecc();
    void note_state();
    Reading<bool> holds_node(const Proc& proc, std::int64_t pid) const;

    // inspect_details.cpp
    void ask_usages();
    void ask_frequencies();
    void ask_board();
    void ask_flash();
    void ask_flash_part(std::uint8_t index);
    void ask_pcie_errors();
    void ask_error_texts(const std::vector<ErrorCode>& codes);
    void ask_sensors();
    void ask_ecc_records();
    void ask_record(std::uint8_t kind, std::uint32_t index, std::uint32_t count);
    void finish_details();

    template <class T> void metric(const Metric<T>& what, Reading<T>& place);
    template <class T>
    void number_over_dmp(const Fallback& fallback, Reading<T> (*decode)(std::uint64_t),
                         Reading<T>& place);

    Driver::Impl& driver_;
    Ask what_;
    Known& known_;
    DeviceSnapshot out_;
    bool disagrees_ = false;
    // raw answers
    Reading<std::uint32_t> status_;
    Reading<dv_startup> startup_;
    Reading<SimDevice> sim_;
    Reading<Hbm> hbm_;
    Reading<dv_ecc_now> ecc_now_;
    Reading<dv_ecc_history> ecc_history_;
    Reading<std::uint32_t> multi_records_;
    Reading<std::string> system_version_, patch_version_;
    ProcessAnswers processes_;
    Reading<std::vector<EccRecord>> udis_records_[2]; // single, multi
    Absence records_trouble_[2];
    bool records_failed_[2] = {false, false};
};

// True when UDIS did not have the value as it should be, so that DMP is asked.
inline bool falls_back(const Absence& absence) {
    return absence.reason == Reason::unsupported ||
           (absence.reason == Reason::failed && absence.error == 0);
}

template <class T>
void Inspection::number_over_dmp(const Fallback& fallback, Reading<T> (*decode)(std::uint64_t),
                                 Reading<T>& place) {
    DmpRequest request{fallback.opcode, DV_DMP_OP_STATE, {}};
    if (fallback.byte >= 0)
        request.payload = {static_cast<std::uint8_t>(fallback.byte)};
    const std::uint8_t width = fallback.width;
    question.dmp(request, [&place, decode, width](Reading<std::vector<std::uint8_t>> reply) {
        if (reply && reply->size() < width)
            place = Absence{Reason::failed, 0,
                            "the device's answer has " + std::to_string(reply->size()) +
                                " bytes instead of " + std::to_string(width)};
        else if (reply)
            place = decode(unsigned_from_wire(std::span(*reply).first(width)));
        else if (place.has_value() || place.absence().reason == Reason::unknown ||
                 reply.absence().reason != Reason::unsupported)
            place = reply.absence();
    });
}

template <class T> void Inspection::metric(const Metric<T>& what, Reading<T>& place) {
    if (!known_.udis) {
        place = Absence{Reason::unsupported, 0, "the chip has no cached metrics"};
        if (what.fallback.opcode != 0)
            number_over_dmp(what.fallback, what.decode_fallback, place);
        return;
    }
    question.udis_data(
        what.module, what.name, what.width,
        [this, &place, decode = what.decode, fallback = what.fallback,
         over_dmp = what.decode_fallback](const Reading<std::span<const std::uint8_t>>& data) {
            if (data) {
                place = decode(unsigned_from_wire(*data));
                return;
            }
            place = data.absence();
            if (fallback.opcode != 0 && falls_back(data.absence()))
                number_over_dmp(fallback, over_dmp, place);
        });
}

// Every reading of a snapshot.
template <class Snapshot, class Visit> void for_each_reading(Snapshot& s, Visit visit) {
    const auto all = [&visit](auto&... reading) { (visit(reading), ...); };
    all(s.health, s.error_codes, s.boot_status);
    all(s.chip_type, s.chip_name, s.chip_version, s.soc_version, s.firmware_version,
        s.ai_core_count, s.vector_core_count, s.ai_cpu_count, s.control_cpu_count);
    all(s.temperature_c, s.power_w, s.ai_core_percent, s.power_limit_w, s.oom_count);
    all(s.hbm_total_mib, s.hbm_used_mib, s.hbm_baseline_mib, s.hbm_unowned_mib, s.hugepages_total,
        s.hugepages_used, s.ddr_total_mib, s.ddr_used_mib);
    all(s.ecc, s.pages_pending, s.single_bit_records, s.double_bit_records, s.processes);
    all(s.ai_cpu_percent, s.control_cpu_percent, s.vector_percent, s.cube_percent, s.npu_percent,
        s.hbm_percent, s.hbm_bandwidth_percent, s.ddr_bandwidth_percent);
    all(s.ai_core_mhz, s.ai_core_rated_mhz, s.hbm_mhz, s.hbm_temperature_c, s.voltage_v,
        s.hbm_manufacturer_id);
    all(s.board_id, s.pcb_id, s.bom_id, s.slot_id, s.mainboard_id, s.pci_ids, s.vdie_id, s.ndie_id,
        s.numa_node, s.cpu_affinity, s.link_speed, s.flash, s.pcie_errors, s.sensors);
}

} // namespace asc::hal

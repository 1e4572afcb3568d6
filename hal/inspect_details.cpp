// SPDX-License-Identifier: Apache-2.0
// The parts of a snapshot that an overview does not need: utilisations, frequencies, board, flash,
// link errors, texts, sensors, ECC records.
#include "hal/inspection.hpp"
#include "hal/pci.hpp"

#include <cstdio>

namespace asc::hal {

namespace {

using Data = Reading<std::span<const std::uint8_t>>;
using Reply = Reading<std::vector<std::uint8_t>>;

constexpr std::size_t kSingleParts = 8, kMultiParts = 16; // UDIS names single_ecc0..7 and so on
constexpr std::uint32_t kRecordsMax = 64;

Reading<int> celsius_byte(std::uint64_t raw) {
    return temperature_from_wire(static_cast<std::uint8_t>(raw));
}
Reading<double> hundredths_of_volt(std::uint64_t raw) {
    return millivolt_from_wire(raw * 10);
}
Reading<std::uint32_t> plain(std::uint64_t raw) {
    return static_cast<std::uint32_t>(raw);
}

// Device type in bits 0-3, what of it in bits 4-7 (driver-abi.md 10.2, 0x0605).
constexpr Fallback information(int what) {
    return {DV_DMP_UTILISATION, what, 4};
}

constexpr Metric<int> kNpu{DV_UDIS_TS, "stars_util", 1, percent_from_wire, {}, nullptr};
constexpr Metric<int> kAiCoreMhz{DV_UDIS_LP,          "aic0_freq",       4,
                                 megahertz_from_wire, information(0x17), megahertz_from_wire};
constexpr Metric<int> kHbmMhz{DV_UDIS_LP,          "hbm_freq",        4,
                              megahertz_from_wire, information(0x16), megahertz_from_wire};
constexpr Metric<int> kHbmTemperature{
    DV_UDIS_LP, "hbm_temp", 2, celsius_from_wire, {DV_DMP_SENSOR, 14, 1}, celsius_byte};
constexpr Metric<double> kVoltage{
    DV_UDIS_LP, "aic_volt", 4, millivolt_from_wire, {DV_DMP_VOLTAGE, -1, 2}, hundredths_of_volt};
constexpr Metric<std::uint32_t> kHbmManufacturer{DV_UDIS_DEVMNG, "hbm_mfr_id", 4,
                                                 plain,          {},           nullptr};

Absence too_short(std::size_t length) {
    return {Reason::failed, 0,
            "the device's answer of " + std::to_string(length) + " bytes is too short"};
}

} // namespace

void Inspection::ask_usages() {
    if (!wants(Ask::telemetry))
        metric(Metric<int>{DV_UDIS_TS, "aicore_util", 1, percent_from_wire, {}, nullptr},
               out_.ai_core_percent);
    metric(kNpu, out_.npu_percent);
    const auto cores = [this](std::string_view name, Reading<int>& place,
                              std::uint64_t(DeviceFacts::*bitmap)[2]) {
        question.udis_data(DV_UDIS_TS, name, sizeof(dv_core_utilisation),
                           [this, &place, bitmap](const Data& data) {
                               if (!data)
                                   place = data.absence();
                               else if (!known_.facts)
                                   place = known_.facts.absence();
                               else {
                                   dv_core_utilisation wire;
                                   std::memcpy(&wire, data->data(), sizeof(wire));
                                   place = mean_from_wire(wire, (*known_.facts).*bitmap);
                               }
                           });
    };
    cores("aic_util", out_.cube_percent, &DeviceFacts::ai_core_bitmap);
    cores("aiv_util", out_.vector_percent, &DeviceFacts::vector_core_bitmap);
    const auto processors = [this](std::string_view name, Reading<int>& place,
                                   int DeviceFacts::*count, int fallback) {
        question.udis_data(DV_UDIS_DEVMNG, name, 0,
                           [this, &place, count, fallback](const Data& data) {
                               if (data && known_.facts)
                                   place = mean_from_wire(*data, (*known_.facts).*count);
                               else
                                   place = data ? known_.facts.absence() : data.absence();
                               if (!place && falls_back(place.absence()))
                                   number_over_dmp(information(fallback), percent_from_wire, place);
                           });
    };
    processors("aicpu_util", out_.ai_cpu_percent, &DeviceFacts::ai_cpus, 0x03);
    processors("ccpu_util", out_.control_cpu_percent, &DeviceFacts::control_cpus, 0x04);
    // HBM bandwidth exists over HDC alone.
    number_over_dmp(information(0x0A), percent_from_wire, out_.hbm_bandwidth_percent);
    if (known_.chip && known_.chip->name.starts_with("310"))
        number_over_dmp(information(0x05), percent_from_wire, out_.ddr_bandwidth_percent);
    else
        out_.ddr_bandwidth_percent = Absence{Reason::unsupported, 0, "the chip has no DDR"};
}

void Inspection::ask_frequencies() {
    metric(kAiCoreMhz, out_.ai_core_mhz);
    metric(kHbmMhz, out_.hbm_mhz);
    metric(kHbmTemperature, out_.hbm_temperature_c);
    metric(kVoltage, out_.voltage_v);
    metric(kHbmManufacturer, out_.hbm_manufacturer_id);
    // The facts do not part the two UDIS names into current and rated; over DMP they are apart.
    number_over_dmp(information(0x19), megahertz_from_wire, out_.ai_core_rated_mhz);
}

void Inspection::ask_board() {
    const auto id = [this](std::uint32_t sub, Reading<std::uint32_t>& place, Fallback fallback) {
        question.basic<std::uint32_t>(
            sub, [this, &place, fallback](const Reading<std::uint32_t>& value) {
                place = value;
                if (!value && falls_back(value.absence()))
                    number_over_dmp(fallback, plain, place);
            });
    };
    id(DV_BASIC_BOARD_ID, out_.board_id, {DV_DMP_BOARD_ID, -1, 2});
    id(DV_BASIC_PCB_ID, out_.pcb_id, {DV_DMP_PCB_ID, -1, 1});
    id(DV_BASIC_BOM_ID, out_.bom_id, {DV_DMP_BOM_OR_SLOT, 1, 4});
    id(DV_BASIC_SLOT_ID, out_.slot_id, {DV_DMP_BOM_OR_SLOT, 2, 4});
    const auto die = [this](std::uint8_t type, Reading<std::array<std::uint32_t, 5>>& place) {
        question.dmp({DV_DMP_DIE_ID, DV_DMP_OP_STATE, {type, 0, 0, 0}}, [&place](Reply reply) {
            std::array<std::uint32_t, 5> ids{};
            if (!reply)
                place = reply.absence();
            else if (reply->size() < sizeof(ids))
                place = too_short(reply->size());
            else {
                std::memcpy(ids.data(), reply->data(), sizeof(ids));
                place = ids;
            }
        });
    };
    die(0, out_.ndie_id);
    die(1, out_.vdie_id);
}

void Inspection::ask_flash() {
    question.dmp({DV_DMP_FLASH, DV_DMP_OP_STATE, {0xFF}}, [this](Reply reply) {
        if (!reply) {
            out_.flash = reply.absence();
            return;
        }
        if (reply->size() < sizeof(std::uint32_t)) {
            out_.flash = too_short(reply->size());
            return;
        }
        const std::uint64_t count = unsigned_from_wire(std::span(*reply).first(4));
        if (count >= 255) {
            out_.flash = Absence{Reason::out_of_range, 0,
                                 "a count of " + std::to_string(count) + " flash parts"};
            return;
        }
        out_.flash = std::vector<FlashPart>();
        for (std::uint64_t i = 0; i < count; ++i)
            ask_flash_part(static_cast<std::uint8_t>(i));
    });
}

void Inspection::ask_flash_part(std::uint8_t index) {
    question.dmp({DV_DMP_FLASH, DV_DMP_OP_STATE, {index}}, [this](Reply reply) {
        dv_dmp_flash wire;
        if (!out_.flash)
            return;
        if (!reply)
            out_.flash = reply.absence();
        else if (reply->size() < sizeof(wire))
            out_.flash = too_short(reply->size());
        else {
            std::memcpy(&wire, reply->data(), sizeof(wire));
            std::vector<FlashPart> parts = *out_.flash;
            parts.push_back(flash_from_wire(wire));
            out_.flash = std::move(parts);
        }
    });
}

void Inspection::ask_pcie_errors() {
    question.dmp({DV_DMP_PCIE_ERRORS, DV_DMP_OP_STATE, {}}, [this](Reply reply) {
        std::array<std::uint32_t, 12> counters{};
        if (!reply)
            out_.pcie_errors = reply.absence();
        else if (reply->size() < sizeof(counters))
            out_.pcie_errors = too_short(reply->size());
        else {
            std::memcpy(counters.data(), reply->data(), sizeof(counters));
            out_.pcie_errors = counters;
        }
    });
}

void Inspection::ask_error_texts(const std::vector<ErrorCode>& codes) {
    for (std::size_t i = 0; i < codes.size(); ++i) {
        struct Text {
            char bytes[256];
        };
        Text& text = question.arena().make<Text>();
        const std::uint32_t input[2] = {question.device(), codes[i].code};
        question.urd(DV_BASIC_EVENT_STRING, input, sizeof(input), &text, sizeof(text),
                     [this, i, &text](const UrdQuery& query) {
                         std::vector<ErrorCode> all = *out_.error_codes;
                         if (query.call.state == Call::State::done && query.call.result == 0)
                             all[i].text = text_from_wire(text.bytes, sizeof(text.bytes));
                         else
                             all[i].text = question.absence(query.call);
                         out_.error_codes = std::move(all);
                     });
    }
}

// Sensors by id (driver-abi.md 10.2, 0x0611). Those that the chip lacks are left out.
void Inspection::ask_sensors() {
    struct Sensor {
        std::uint8_t id;
        const char* name;
    };
    static constexpr Sensor kSensors[] = {
        {0, "cluster_c"},         {1, "peripheral_c"}, {2, "ai_core_0_c"}, {3, "ai_core_1_c"},
        {7, "ai_core_base_mhz"},  {8, "ddr_mhz"},      {10, "ntc"},        {11, "soc_max_c"},
        {12, "optical_module_c"}, {13, "n_die_c"},     {14, "hbm_max_c"},
    };
    out_.sensors = std::vector<std::pair<std::string, double>>();
    for (const Sensor& sensor : kSensors)
        question.dmp({DV_DMP_SENSOR, DV_DMP_OP_STATE, {sensor.id}}, [this, sensor](Reply reply) {
            if (!out_.sensors)
                return;
            if (!reply) {
                if (reply.absence().reason != Reason::unsupported)
                    out_.sensors = reply.absence();
                return;
            }
            std::vector<std::pair<std::string, double>> all = *out_.sensors;
            const auto add = [&](std::string name, std::int64_t value, bool temperature) {
                if (!temperature || temperature_from_wire(value))
                    all.emplace_back(std::move(name), static_cast<double>(value));
            };
            const std::span<const std::uint8_t> bytes(*reply);
            if (sensor.id == 10) {
                for (std::size_t i = 0; i < 4 && (i + 1) * 4 <= bytes.size(); ++i)
                    add("ntc_" + std::to_string(i) + "_c",
                        static_cast<std::int32_t>(unsigned_from_wire(bytes.subspan(i * 4, 4))),
                        true);
            } else if (sensor.id == 7 || sensor.id == 8) {
                if (bytes.size() >= 2)
                    add(sensor.name, static_cast<std::int64_t>(unsigned_from_wire(bytes.first(2))),
                        false);
            } else if (!bytes.empty()) {
                add(sensor.name,
                    sensor.id == 14 ? static_cast<std::int64_t>(bytes[0])
                                    : static_cast<std::int64_t>(static_cast<std::int8_t>(bytes[0])),
                    true);
            }
            out_.sensors = std::move(all);
        });
}

// ---- ECC records ----

void Inspection::ask_ecc_records() {
    for (int kind = 0; kind < 2; ++kind) {
        const std::size_t parts = kind == 0 ? kSingleParts : kMultiParts;
        udis_records_[kind] = std::vector<EccRecord>();
        for (std::size_t part = 0; part < parts; ++part) {
            char name[DV_UDIS_NAME_LEN];
            std::snprintf(name, sizeof(name), kind == 0 ? "single_ecc%zu" : "multi_ecc%zu", part);
            question.udis_data(
                DV_UDIS_MEMORY, name,
                kind == 0 ? 8 * sizeof(dv_single_record) : 4 * sizeof(dv_multi_record),
                [this, kind](const Data& data) {
                    if (!data) {
                        if (!records_failed_[kind] && falls_back(data.absence())) {
                            records_failed_[kind] = true;
                            records_trouble_[kind] = data.absence();
                            ask_record(static_cast<std::uint8_t>(kind + 1), 0, 0);
                        } else if (!records_failed_[kind]) {
                            udis_records_[kind] = data.absence();
                        }
                        return;
                    }
                    if (!udis_records_[kind] || records_failed_[kind])
                        return;
                    std::vector<EccRecord> all = *udis_records_[kind];
                    const std::size_t size =
                        kind == 0 ? sizeof(dv_single_record) : sizeof(dv_multi_record);
                    for (std::size_t at = 0; at + size <= data->size(); at += size) {
                        dv_single_record single{};
                        dv_multi_record multi{};
                        std::memcpy(kind == 0 ? static_cast<void*>(&single)
                                              : static_cast<void*>(&multi),
                                    data->data() + at, size);
                        // An unused record has no count, or neither address nor time.
                        if (kind == 0 ? single.count == 0 : multi.address == 0 && multi.time == 0)
                            continue;
                        all.push_back(kind == 0 ? record_from_wire(single)
                                                : record_from_wire(multi));
                    }
                    udis_records_[kind] = std::move(all);
                });
        }
    }
}

// The records over DMP, one by one: first how many there are (0x0681), then each (0x068B).
void Inspection::ask_record(std::uint8_t kind, std::uint32_t index, std::uint32_t count) {
    Reading<std::vector<EccRecord>>& place = udis_records_[kind - 1];
    const Absence trouble = records_trouble_[kind - 1];
    if (count == 0) {
        question.dmp(
            {DV_DMP_ECC_HISTORY, DV_DMP_OP_STATE, {static_cast<std::uint8_t>(kind == 1 ? 4 : 5)}},
            [this, kind, &place, trouble](Reply reply) {
                if (!reply || reply->size() < 4) {
                    place = reply ? too_short(reply->size())
                            : reply.absence().reason == Reason::unsupported ? trouble
                                                                            : reply.absence();
                    return;
                }
                place = std::vector<EccRecord>();
                const std::uint64_t total = unsigned_from_wire(std::span(*reply).first(4));
                if (total != 0)
                    ask_record(
                        kind, 0,
                        static_cast<std::uint32_t>(std::min<std::uint64_t>(total, kRecordsMax)));
            });
        return;
    }
    const auto low = static_cast<std::uint8_t>(index);
    question.dmp({DV_DMP_ECC_RECORD, DV_DMP_OP_STATE, {low, 0, 0, 0, kind, 2}},
                 [this, kind, index, count, &place](Reply reply) {
                     dv_dmp_ecc_record wire;
                     if (!reply || reply->size() < sizeof(wire)) {
                         place = reply ? too_short(reply->size()) : reply.absence();
                         return;
                     }
                     std::memcpy(&wire, reply->data(), sizeof(wire));
                     std::vector<EccRecord> all = *place;
                     all.push_back(record_from_wire(wire));
                     place = std::move(all);
                     if (index + 1 < count)
                         ask_record(kind, index + 1, count);
                 });
}

void Inspection::finish_details() {
    if (wants(Ask::ecc_records)) {
        out_.single_bit_records = udis_records_[0];
        out_.double_bit_records = udis_records_[1];
    }
    if (!wants(Ask::board))
        return;
    out_.mainboard_id =
        known_.facts.map([](const DeviceFacts& facts) { return facts.mainboard_id; });
    out_.pci_ids = known_.pci.map([](const PciFacts& pci) { return pci.ids; });
    if (!out_.pci_ids) {
        out_.numa_node = out_.pci_ids.absence();
        out_.cpu_affinity = out_.pci_ids.absence();
        out_.link_speed = out_.pci_ids.absence();
        return;
    }
    const PciDeviceFacts facts =
        pci_facts(driver_.options.sysfs_root, out_.ids.bus_id, *out_.pci_ids);
    out_.numa_node = facts.numa_node;
    out_.cpu_affinity = facts.cpu_list;
    out_.link_speed = facts.link_speed;
    if (!out_.numa_node && sim_)
        out_.numa_node = sim_->numa_node;
}

} // namespace asc::hal

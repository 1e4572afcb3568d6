// SPDX-License-Identifier: Apache-2.0
// -t usages: the handbook's short line first, then the vendor's keys.
#include "cmds/npu-smi/types.hpp"

#include <fmt/format.h>

namespace asc::cmds::npu_smi {

using hal::Ask;

namespace {

Field not_in_interface(const TypeRow&) {
    return {hal::Reason::unsupported};
}

Field share(const hal::Reading<std::uint64_t>& used, const hal::Reading<std::uint64_t>& total) {
    if (!used || !total)
        return field(used ? total : used);
    return Cell{*total == 0 ? 0 : *used * 100 / *total, {}};
}

Field hugepages_percent(const TypeRow& row) {
    return share(row.device.hugepages_used, row.device.hugepages_total);
}

// Of a chip with one kind of memory.
Field memory_total(const TypeRow& row) {
    return field(memory_is_ddr(row.device) ? row.device.ddr_total_mib : row.device.hbm_total_mib);
}
Field memory_percent(const TypeRow& row) {
    return memory_is_ddr(row.device) ? ddr_percent(row)
                                     : share(row.device.hbm_used_mib, row.device.hbm_total_mib);
}
Field memory_bandwidth(const TypeRow& row) {
    return field(row.device.ddr_bandwidth_percent || !row.device.hbm_bandwidth_percent
                     ? row.device.ddr_bandwidth_percent
                     : row.device.hbm_bandwidth_percent);
}

constexpr Item kItems[] = {
    {"HBM Bandwidth Util", "",
     [](const TypeRow& row) {
         return field(row.device.hbm_bandwidth_percent,
                      [](int percent) { return fmt::format("{}%", percent); });
     }},
    {"DDR Capacity(MB)", "ddr_total_mib",
     [](const TypeRow& row) { return field(row.device.ddr_total_mib); }},
    {"", "ddr_percent", ddr_percent},
    {"DDR Hugepages Total(page)", "hugepages_total",
     [](const TypeRow& row) { return field(row.device.hugepages_total); }},
    {"DDR Hugepages Usage Rate(%)", "hugepages_percent", hugepages_percent},
    {"HBM Capacity(MB)", "hbm_total_mib",
     [](const TypeRow& row) { return field(row.device.hbm_total_mib); }},
    {"HBM Usage Rate(%)", "hbm_percent",
     [](const TypeRow& row) { return field(row.device.hbm_percent); }},
    {"Aicore Usage Rate(%)", "aicore_percent",
     [](const TypeRow& row) { return field(row.device.ai_core_percent); }},
    {"Aivector Usage Rate(%)", "vector_percent",
     [](const TypeRow& row) { return field(row.device.vector_percent); }},
    {"Aicpu Usage Rate(%)", "ai_cpu_percent",
     [](const TypeRow& row) { return field(row.device.ai_cpu_percent); }},
    {"Ctrlcpu Usage Rate(%)", "control_cpu_percent",
     [](const TypeRow& row) { return field(row.device.control_cpu_percent); }},
    {"DDR Bandwidth Usage Rate(%)", "ddr_bandwidth_percent",
     [](const TypeRow& row) { return field(row.device.ddr_bandwidth_percent); }},
    {"HBM Bandwidth Usage Rate(%)", "hbm_bandwidth_percent",
     [](const TypeRow& row) { return field(row.device.hbm_bandwidth_percent); }},
    {"NPU Utilization(%)", "npu_percent",
     [](const TypeRow& row) { return field(row.device.npu_percent); }},
    {"Aicube Usage Rate(%)", "cube_percent",
     [](const TypeRow& row) { return field(row.device.cube_percent); }},
};

constexpr Item kItems310[] = {
    {"Memory Capacity(MB)", "", memory_total},
    {"Memory Usage Rate(%)", "", memory_percent},
    {"Hugepages Total(page)", "hugepages_total",
     [](const TypeRow& row) { return field(row.device.hugepages_total); }},
    {"Hugepages Usage Rate(%)", "hugepages_percent", hugepages_percent},
    {"Aicore Usage Rate(%)", "aicore_percent",
     [](const TypeRow& row) { return field(row.device.ai_core_percent); }},
    {"Aicpu Usage Rate(%)", "ai_cpu_percent",
     [](const TypeRow& row) { return field(row.device.ai_cpu_percent); }},
    {"Ctrlcpu Usage Rate(%)", "control_cpu_percent",
     [](const TypeRow& row) { return field(row.device.control_cpu_percent); }},
    {"Memory Bandwidth Usage Rate(%)", "", memory_bandwidth},
    {"DVPP VDEC Usage Rate(%)", "", not_in_interface},
    {"DVPP VPC Usage Rate(%)", "", not_in_interface},
    {"DVPP VENC Usage Rate(%)", "", not_in_interface},
    {"DVPP JPEGE Usage Rate(%)", "", not_in_interface},
    {"DVPP JPEGD Usage Rate(%)", "", not_in_interface},
};

} // namespace

Field ddr_percent(const TypeRow& row) {
    return share(row.device.ddr_used_mib, row.device.ddr_total_mib);
}

const Type kUsages{"usages", Ask::usages | Ask::memory | Ask::telemetry, kItems, kItems310};

} // namespace asc::cmds::npu_smi

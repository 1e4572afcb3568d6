// SPDX-License-Identifier: Apache-2.0
#include "cmds/common/finding.hpp"

#include "cmds/common/text.hpp"

#include <array>

namespace asc::cmds {

std::string_view to_string(Finding::Kind kind) {
    constexpr std::array<std::string_view, 12> names{
        "unowned_hbm",   "ecc_corrected", "ecc_growing",        "ecc_uncorrectable",
        "pages_pending", "oom",           "firmware_known_bad", "firmware_mixed",
        "thermal",       "device_lost",   "holder_defunct",     "holder_uninterruptible"};
    return names[static_cast<std::size_t>(kind)];
}

std::string_view to_string(Finding::Severity severity) {
    constexpr std::array<std::string_view, 3> names{"note", "warning", "critical"};
    return names[static_cast<std::size_t>(severity)];
}

Json finding_json(const Finding& finding) {
    return Json{{"npu_id", finding.device.npu_id},  {"chip_id", finding.device.chip_id},
                {"kind", to_string(finding.kind)},  {"severity", to_string(finding.severity)},
                {"text", valid_utf8(finding.text)}, {"next", valid_utf8(finding.next)}};
}

} // namespace asc::cmds

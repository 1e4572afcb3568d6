// SPDX-License-Identifier: Apache-2.0
#include "cmds/npu-smi/options.hpp"

#include "cmds/common/statuses.hpp"
#include "cmds/npu-smi/info.hpp"

#include <algorithm>

namespace asc::cmds::npu_smi {

namespace {

constexpr std::string_view kTypes[] = {
    "board",  "usages", "ecc",      "temp",    "power", "volt",     "memory", "common",
    "health", "proc",   "proc-mem", "product", "flash", "pcie-err", "topo",   "sensors"};
constexpr std::string_view kSetTypes[] = {"reset", "device-reset"};
constexpr std::string_view kClearTypes[] = {"ecc-info"};

// Types of the vendor's tool (facts of npu-smi, section 2) that need hardware or settings which the
// driver's interface does not offer here: they are "not supported", not "unknown".
constexpr std::string_view kVendorInfoTypes[] = {"err-count",
                                                 "hccs",
                                                 "hccs-bw",
                                                 "sio-info",
                                                 "spod-info",
                                                 "mac-addr",
                                                 "ip",
                                                 "first-power-on-date",
                                                 "info-vnpu",
                                                 "template-info",
                                                 "phyid-remap",
                                                 "customized-info",
                                                 "current-fault-event",
                                                 "sys-log-info",
                                                 "ecc-enable",
                                                 "p2p-enable",
                                                 "ssh-enable",
                                                 "mcu-monitor",
                                                 "boot-area",
                                                 "boot-select",
                                                 "device-share",
                                                 "device-share-cfg-recover",
                                                 "nve-level",
                                                 "aicpu-config",
                                                 "cpu-num-cfg",
                                                 "cpu-freq-up",
                                                 "vnpu-mode",
                                                 "vnpu-svm",
                                                 "vnpu-cfg-recover",
                                                 "pwm-mode",
                                                 "pwm-duty-ratio",
                                                 "p2p-mem-cfg",
                                                 "work-mode",
                                                 "op-timeout",
                                                 "multi-die-policy",
                                                 "hccs-credit",
                                                 "custom-op",
                                                 "license",
                                                 "i2c_check",
                                                 "pkcs-enable",
                                                 "key-manage",
                                                 "tls-csr-get",
                                                 "tls-cert",
                                                 "tls-cert-period",
                                                 "rootkey",
                                                 "sys-time"};
constexpr std::string_view kVendorSetTypes[] = {"ecc-enable",        "collect-log",
                                                "license",           "ssh-enable",
                                                "errcount-clear",    "clear-pcie-err",
                                                "mcu-monitor",       "boot-area",
                                                "disk-power",        "ip",
                                                "device-share",      "device-share-cfg-recover",
                                                "nve-level",         "aicpu-config",
                                                "mac-addr",          "revocate",
                                                "customized-info",   "clear-ecc-info",
                                                "vnpu-mode",         "pkcs-enable",
                                                "create-vnpu",       "destroy-vnpu",
                                                "reset-vnpu",        "vnpu-svm",
                                                "vnpu-cfg-recover",  "tls-cert",
                                                "tls-cert-period",   "key-manage",
                                                "cpu-num-cfg",       "pwm-mode",
                                                "pwm-duty-ratio",    "p2p-mem-cfg",
                                                "power-state",       "boot-select",
                                                "cpu-freq-up",       "sys-log-dump",
                                                "clear-syslog-cfg",  "sys-log-enable",
                                                "custom-op",         "op-timeout-cfg",
                                                "qos-master-config", "multi-die-policy"};
constexpr std::string_view kVendorClearTypes[] = {"tls-cert-period"};

constexpr Option kDevice{.name = "device",
                         .letter = 'i',
                         .takes = Takes::text,
                         .value = "NPU",
                         .text = "the card: NPU id, 'all', bus id or serial number"};
constexpr Option kChip{.name = "chip",
                       .letter = 'c',
                       .takes = Takes::whole,
                       .value = "CHIP",
                       .text = "the chip on the card; without it all chips of the card",
                       .least = 0,
                       .most = 63};
constexpr Option kPhysical{.name = "physical",
                           .letter = 'p',
                           .takes = Takes::whole,
                           .value = "ID",
                           .text = "the chip with this physical id (N of /dev/davinciN)",
                           .least = 0,
                           .most = 65535};
constexpr Option kYes{.name = "yes", .letter = 'y', .text = "answer the question with yes"};
constexpr Option kDryRun{.name = "dry-run", .text = "say what would be done, do nothing"};
constexpr Option kCompare{.name = "compare",
                          .takes = Takes::text,
                          .value = "FILE",
                          .text = "tell what differs from a saved state; its idle memory is the "
                                  "baseline where the driver has none"};
constexpr Option kDelay{.name = "delay",
                        .letter = 'd',
                        .takes = Takes::decimal,
                        .value = "SECONDS",
                        .text = "time between two lines, 1 to 100 (1)",
                        .least = 1,
                        .most = 100};

constexpr Option kInfo[] = {
    {.name = "list", .letter = 'l', .text = "list the cards"},
    {.name = "map", .letter = 'm', .text = "NPU, chip, logical and physical ids, bus ids"},
    {.name = "type",
     .letter = 't',
     .takes = Takes::text,
     .value = "TYPE",
     .text = "one subject, see below",
     .choices = kTypes},
    kDevice,
    kChip,
    kPhysical,
    {.name = "save",
     .takes = Takes::text,
     .value = "FILE",
     .text = "save the state of the devices, to compare with later"},
    kCompare,
};
constexpr Option kWatch[] = {
    {.name = "metrics",
     .letter = 's',
     .takes = Takes::text,
     .value = "LETTERS",
     .text = "what to show, see below (all)"},
    kDelay,
    kDevice,
    kChip,
    kPhysical,
};
constexpr Option kProc[] = {kDelay, kDevice, kChip, kPhysical, kCompare};
constexpr Option kHealthOptions[] = {kDevice, kChip, kPhysical};
constexpr Option kEvents[] = {
    {.name = "follow", .letter = 'f', .text = "wait for events to come; --count N ends after N"},
    kDevice,
    kChip,
    kPhysical,
};
constexpr Option kLockWait{.name = "lock-wait",
                           .takes = Takes::decimal,
                           .value = "SECONDS",
                           .text = "how long to wait for another reset to end (40)",
                           .least = 0,
                           .most = 3600};
constexpr Option kLimit{.name = "limit",
                        .takes = Takes::decimal,
                        .value = "SECONDS",
                        .text = "how long the chip may take to come back (180)",
                        .least = 0.1,
                        .most = 3600};
constexpr Option kSet[] = {
    {.name = "type",
     .letter = 't',
     .takes = Takes::text,
     .value = "TYPE",
     .text = "reset or device-reset",
     .choices = kSetTypes},
    kDevice,
    kChip,
    {.name = "in-band",
     .letter = 'm',
     .takes = Takes::whole,
     .value = "1",
     .text = "reset in band; there is no other way here",
     .least = 1,
     .most = 1},
    kYes,
    kDryRun,
    kLimit,
    kLockWait,
};
constexpr Option kClear[] = {
    {.name = "type",
     .letter = 't',
     .takes = Takes::text,
     .value = "TYPE",
     .text = "ecc-info",
     .choices = kClearTypes},
    kDevice,
    kChip,
    kYes,
    kDryRun,
};
constexpr Option kUpgrade[] = {
    {.name = "type",
     .letter = 't',
     .takes = Takes::text,
     .value = "TYPE",
     .text = "as in the vendor's tool"},
    {.name = "progress",
     .letter = 'q',
     .takes = Takes::text,
     .value = "TYPE",
     .text = "as in the vendor's tool"},
    {.name = "bversion",
     .letter = 'b',
     .takes = Takes::text,
     .value = "TYPE",
     .text = "as in the vendor's tool"},
    {.name = "activate",
     .letter = 'a',
     .takes = Takes::text,
     .value = "TYPE",
     .text = "as in the vendor's tool"},
    {.name = "file",
     .letter = 'f',
     .takes = Takes::text,
     .value = "FILE",
     .text = "as in the vendor's tool"},
    kDevice,
};

constexpr std::string_view kNoSeries[] = {"query", "watch", "count"};

constexpr std::string_view kInfoNotes =
    "TYPE is one of: board usages ecc temp power volt memory common health proc proc-mem product "
    "flash pcie-err topo sensors\n"
    "Without -l, -m and -t: the table of all devices, or with -i the view of one card. Below the "
    "table: power limit, ECC errors, pages taken out of use, failed allocations, memory held by no "
    "live process, and findings with the command to type next.\n"
    "Memory up to 8 MB that no live process holds is taken for rounding and is no finding. "
    "NA: not supported, ERR: could not be read, DENIED: not permitted, TIMEOUT: no answer in time, "
    "LOST: the device is gone.\n"
    "-i without -c on a card of several chips shows all of them.";
constexpr std::string_view kWatchNotes = "LETTERS, in the order wanted:\n"
                                         "  p - NPU Real-time Power\n"
                                         "  t - NPU Temperature\n"
                                         "  a - AI Core Usage\n"
                                         "  i - AI Cpu Usage\n"
                                         "  c - Ctrl Cpu Usage\n"
                                         "  m - Memory Usage\n"
                                         "  b - Memory BW Usage\n"
                                         "  n - NPU Util\n"
                                         "  u - AI Cube Usage";
constexpr std::string_view kSetNotes =
    "reset and device-reset both reset one chip in band. Refused while a process holds it (named), "
    "and when who holds it cannot be told. Success is told only after the chip has been read "
    "again: started, not Critical, its memory given back.\n"
    "As root the lock /run/reset keeps two resets apart (ASC_RESET_LOCK names another file).";

constexpr Verb kVerbs[] = {
    {"info", "State of the NPUs.", kInfo, kInfoNotes},
    {"info watch", "Chosen metrics, again and again.", kWatch, kWatchNotes},
    {"info proc", "Processes on the NPUs, again and again.", kProc},
    {"health", "Health of the NPUs with error codes and next steps.", kHealthOptions},
    {"events", "Faults that the driver remembers, or those to come.", kEvents},
    {"set", "Reset a chip.", kSet, kSetNotes, kNoSeries},
    {"clear", "Clear the ECC counters since the reset.", kClear, {}, kNoSeries},
    {"upgrade", "Not supported here: firmware is upgraded with asc-dmi.", kUpgrade, {}, kNoSeries},
};

constexpr StatusText kStatuses[] = {
    {npu_smi_status::ok, "answered whole ('not supported' of a value is an answer)"},
    {npu_smi_status::partial, "printed, but a row failed, timed out, was lost or denied"},
    {npu_smi_status::no_driver, "no driver or no device"},
    {npu_smi_status::timeout, "no answer in time"},
    {npu_smi_status::abi_mismatch, "driver and tool do not fit together"},
    {npu_smi_status::held, "held by another process"},
    {npu_smi_status::not_answered, "the question was answered no, or there was nobody to ask"},
    {npu_smi_status::reset_failed, "the reset failed"},
    {npu_smi_status::file, "a file or the output could not be read or written"},
    {npu_smi_status::failed, "failed for another reason"},
    {npu_smi_status::not_permitted, "not permitted"},
    {npu_smi_status::bad_parameter, "wrong command or parameter"},
    {npu_smi_status::not_supported, "not supported"},
};

constexpr Program kProgram{
    "npu-smi",
    "State of Ascend NPUs, and first aid.",
    kVerbs,
    {}, // set in program(): the table stands in another file
    kStatuses,
    "  npu-smi info                      all devices, limits and errors, findings\n"
    "  npu-smi info -t ecc -i 1          memory errors of NPU 1\n"
    "  npu-smi info -o json --query npu_id,hbm_used_mib --watch 5\n"
    "  npu-smi set -t device-reset -i 2  frees memory that no live process holds\n"};

} // namespace

const Program& program() {
    static const Program with_common = [] {
        Program copy = kProgram;
        copy.common = common_options();
        return copy;
    }();
    return with_common;
}

bool is_vendor_type(std::string_view verb, std::string_view type) {
    const auto among = [&](auto& names) {
        return std::ranges::find(names, type) != std::end(names);
    };
    if (verb == "info")
        return among(kTypes) || among(kVendorInfoTypes);
    if (verb == "set")
        return among(kSetTypes) || among(kVendorSetTypes);
    return verb == "clear" && (among(kClearTypes) || among(kVendorClearTypes));
}

} // namespace asc::cmds::npu_smi

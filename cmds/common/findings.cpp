// SPDX-License-Identifier: Apache-2.0
#include "cmds/common/findings.hpp"

#include "cmds/common/selection.hpp"
#include "cmds/common/times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace asc::cmds {

using hal::DeviceSnapshot;
using hal::Holder;
using hal::ProcessInfo;
using hal::Reading;

namespace {

constexpr KnownBadFirmware kKnownBad[] = {
#define KNOWN_BAD(version, mended, trouble) {version, mended, trouble},
#include "cmds/common/firmware_known.def"
#undef KNOWN_BAD
};

// Codes of uncorrectable errors in device memory and of heat (driver's event configuration; the
// meanings stand in docs/npu-smi.md).
constexpr std::uint32_t kIsolationFailed = 0x80E01801, kIsolated = 0x80E18400;
constexpr std::uint32_t kUncorrectableCodes[] = {kIsolationFailed, kIsolated, 0x80E01809,
                                                 0x80E18404};
constexpr std::uint32_t kHeatCodes[] = {0x80E00209, 0x80E0020B, 0x80E20207};

// A clock of the device a little ahead of ours is no reason to drop a record.
constexpr std::int64_t kClockSlackSeconds = 300;

struct Look {
    const Subject& subject;
    const DeviceSnapshot& device;
    const FindingOptions& options;
    std::vector<Finding>& out;

    void add(Finding::Kind kind, Finding::Severity severity, std::string text,
             std::string_view verb) const {
        std::string next = fmt::format("npu-smi {} {}", verb, device_options(device.ids));
        if (!options.next_argument.empty())
            next.append(" ").append(options.next_argument);
        out.push_back({kind, severity, device.ids, std::move(text), std::move(next)});
    }
};

bool has_code(const DeviceSnapshot& device, std::uint32_t code) {
    return device.error_codes && std::ranges::any_of(*device.error_codes, [&](const auto& active) {
               return active.code == code;
           });
}

template <std::size_t N>
std::string active_codes(const DeviceSnapshot& device, const std::uint32_t (&codes)[N]) {
    std::string text;
    for (const std::uint32_t code : codes)
        if (has_code(device, code))
            text += fmt::format("{}{:04X}", text.empty() ? "" : " ", code);
    return text;
}

const std::vector<hal::EccRecord>&
records_or_none(const Reading<std::vector<hal::EccRecord>>& records) {
    static const std::vector<hal::EccRecord> none;
    return records ? *records : none;
}

std::string errors(std::uint32_t count, std::string_view kind) {
    return fmt::format("{} {} error{}", count, kind, count == 1 ? "" : "s");
}

std::string last_record(const std::vector<hal::EccRecord>& records) {
    if (records.empty())
        return {};
    const auto last = std::ranges::max_element(records, {}, &hal::EccRecord::time_s);
    return fmt::format(", the last on {} at address {:#x}", local_text(last->time_s * 1000),
                       last->address);
}

bool alive(const ProcessInfo& process) {
    return !process.alive || *process.alive; // what cannot be told counts as a live process
}

std::string dead_owners(const DeviceSnapshot& device) {
    std::string text;
    if (device.processes)
        for (const ProcessInfo& process : *device.processes)
            if (!alive(process))
                text += fmt::format("{}{}", text.empty() ? "" : ", ",
                                    process_label(process.pid, process.name));
    return text.empty() ? text : fmt::format("; owner {} is dead", text);
}

std::string live_owners(const DeviceSnapshot& device) {
    std::string text;
    if (device.processes)
        for (const ProcessInfo& process : *device.processes)
            if (alive(process))
                text += fmt::format("{}{}", text.empty() ? "" : ", ",
                                    process_label(process.pid, process.name));
    return text;
}

void look_at_unowned(const Look& look) {
    const Reading<std::uint64_t> unowned = unowned_mib(look.device, look.subject.earlier);
    if (!unowned || *unowned <= kUnownedToleranceMib)
        return;
    std::string text =
        fmt::format("{} MB held by no live process{}", *unowned, dead_owners(look.device));
    const auto warn = [&](std::string_view verb) {
        look.add(Finding::Kind::unowned_hbm, Finding::Severity::warning, std::move(text), verb);
    };
    const auto& holders = look.subject.holders;
    if (!look.device.processes || !holders || !*holders) {
        text += "; holders unknown (need root), so no reset is advised";
        return warn("info -t proc");
    }
    if (const std::string live = live_owners(look.device); !live.empty()) {
        text += fmt::format("; {} works there, so no reset is advised before its end", live);
        return warn("info -t proc");
    }
    std::string unlisted;
    for (const Holder& holder : unlisted_holders(look.device, **holders))
        unlisted += fmt::format("{}{}", unlisted.empty() ? "" : ", ",
                                process_label(holder.pid, Reading<std::string>(holder.name)));
    if (!unlisted.empty()) {
        text += fmt::format("; {} has the device open and is not in the driver's list, so no "
                            "reset is advised: end it first",
                            unlisted);
        return warn("info -t proc");
    }
    text += "; a reset of the chip frees it and interrupts nothing that runs now";
    warn("set -t device-reset");
}

void look_at_uncorrectable(const Look& look) {
    const DeviceSnapshot& device = look.device;
    const std::string codes = active_codes(device, kUncorrectableCodes);
    const std::uint32_t count = device.ecc ? device.ecc->double_bit : 0;
    if (count == 0 && codes.empty())
        return;
    std::string text = count > 0 ? errors(count, "double-bit") + " since the reset"
                                 : std::string("double-bit errors");
    text += last_record(records_or_none(device.double_bit_records));
    if (!codes.empty())
        text += fmt::format(" (event {})", codes);
    text += ": data there is spoiled";
    const bool failed = has_code(device, kIsolationFailed);
    if (failed)
        text += "; taking the page out of use FAILED: end the jobs, then reset the chip";
    else if (has_code(device, kIsolated))
        text += "; the page is out of use: run the job again that used it";
    else
        text += "; run the job again that used it";
    look.add(Finding::Kind::ecc_uncorrectable,
             failed ? Finding::Severity::critical : Finding::Severity::warning, std::move(text),
             "info -t health");
}

// Why the errors grow, or empty.
std::string growth(const Look& look) {
    const DeviceSnapshot& device = look.device;
    if (const auto& earlier = look.subject.earlier; earlier && device.ecc) {
        const auto rise = [](const std::optional<std::uint32_t>& before, std::uint32_t now) {
            return before && now > *before ? now - *before : 0U;
        };
        const std::uint32_t single =
            rise(earlier->single_bit_lifetime, device.ecc->single_bit_lifetime);
        const std::uint32_t doubles =
            rise(earlier->double_bit_lifetime, device.ecc->double_bit_lifetime);
        if (single + doubles > 0)
            return fmt::format("{} and {} more than at {}", errors(single, "single-bit"),
                               errors(doubles, "double-bit"), earlier->when);
    }
    if (look.options.now_s == 0)
        return {};
    std::size_t inside = 0;
    std::int64_t last = 0;
    for (const auto* records : {&device.single_bit_records, &device.double_bit_records})
        for (const hal::EccRecord& record : records_or_none(*records))
            if (record.time_s >= look.options.now_s - kGrowthWindowSeconds &&
                record.time_s <= look.options.now_s + kClockSlackSeconds) {
                ++inside;
                last = std::max(last, record.time_s);
            }
    if (inside < 2)
        return {};
    return fmt::format("{} errors recorded within {} h, the last on {}", inside,
                       kGrowthWindowSeconds / 3600, local_text(last * 1000));
}

void look_at_corrected(const Look& look) {
    const DeviceSnapshot& device = look.device;
    if (const std::string why = growth(look); !why.empty())
        return look.add(Finding::Kind::ecc_growing, Finding::Severity::warning,
                        why + ": sign of a coming hardware fault; give it no critical jobs, "
                              "replace it in the maintenance window",
                        "info -t ecc");
    if (!device.ecc || device.ecc->single_bit == 0)
        return;
    look.add(Finding::Kind::ecc_corrected, Finding::Severity::note,
             fmt::format("{} since the reset, corrected ({} in its life{}): no alarm unless they "
                         "become more",
                         errors(device.ecc->single_bit, "single-bit"),
                         device.ecc->single_bit_lifetime,
                         last_record(records_or_none(device.single_bit_records))),
             "info -t ecc");
}

void look_at_pages(const Look& look) {
    if (!look.device.pages_pending || *look.device.pages_pending == 0)
        return;
    look.add(Finding::Kind::pages_pending, Finding::Severity::warning,
             fmt::format("{} memory page{} to be taken out of use by the next reset of the chip",
                         *look.device.pages_pending,
                         *look.device.pages_pending == 1 ? " waits" : "s wait"),
             "info -t ecc");
}

void look_at_oom(const Look& look) {
    if (!look.device.oom_count || *look.device.oom_count == 0)
        return;
    const std::uint32_t count = *look.device.oom_count;
    look.add(Finding::Kind::oom, Finding::Severity::note,
             fmt::format("{} allocation{} failed because device memory was full", count,
                         count == 1 ? "" : "s"),
             "info -t proc");
}

void look_at_firmware(const Look& look) {
    if (!look.device.firmware_version)
        return;
    const std::string& version = *look.device.firmware_version;
    const KnownBadFirmware* bad = known_bad_firmware(version);
    if (bad == nullptr)
        return;
    look.add(Finding::Kind::firmware_known_bad, Finding::Severity::warning,
             fmt::format("firmware {}: {}; {} mends it (asc-dmi upgrade --type fw)", version,
                         bad->trouble, bad->mended_in),
             "info -t board");
}

void look_at_heat(const Look& look) {
    const DeviceSnapshot& device = look.device;
    const std::string codes = active_codes(device, kHeatCodes);
    const auto hot = [](const Reading<int>& celsius) { return celsius && *celsius > kHotCelsius; };
    if (codes.empty() && !hot(device.temperature_c) && !hot(device.hbm_temperature_c))
        return;
    std::string text = "too hot";
    if (device.temperature_c)
        text += fmt::format(": {} C", *device.temperature_c);
    if (!codes.empty())
        text += fmt::format(" (event {})", codes);
    look.add(Finding::Kind::thermal, Finding::Severity::critical,
             text + "; look at fans and load, the chip throttles or is taken out of use",
             "info -t temp");
}

void look_at_holders(const Look& look) {
    std::map<std::int64_t, std::pair<std::string, Reading<std::string>>> states;
    if (look.device.processes)
        for (const ProcessInfo& process : *look.device.processes)
            if (process.state && alive(process))
                states.insert({process.pid, {*process.state, process.name}});
    if (look.subject.holders && *look.subject.holders)
        for (const Holder& holder : **look.subject.holders)
            states.insert({holder.pid, {holder.state, Reading<std::string>(holder.name)}});
    for (const auto& [pid, what] : states) {
        if (what.first == "Z")
            look.add(Finding::Kind::holder_defunct, Finding::Severity::warning,
                     fmt::format("{} is defunct and still in the driver's list: its parent has "
                                 "not collected it",
                                 process_label(pid, what.second)),
                     "info -t proc");
        if (what.first == "D")
            look.add(Finding::Kind::holder_uninterruptible, Finding::Severity::note,
                     fmt::format("{} is in uninterruptible sleep now and cannot be killed",
                                 process_label(pid, what.second)),
                     "info -t proc");
    }
}

// Chips of one name run one firmware: those apart from the most common version are named. Of two
// equally common ones the smaller text is the odd one out, so that no chip is without a verdict.
void look_for_mixed_firmware(std::span<const Subject> subjects, const FindingOptions& options,
                             std::vector<std::vector<Finding>>& out) {
    std::map<std::string, std::map<std::string, std::size_t>> counts;
    const auto comparable = [](const DeviceSnapshot& device) {
        return device.firmware_version && device.chip_name;
    };
    for (const Subject& subject : subjects)
        if (comparable(*subject.now))
            ++counts[*subject.now->chip_name][*subject.now->firmware_version];
    for (std::size_t i = 0; i < subjects.size(); ++i) {
        const DeviceSnapshot& device = *subjects[i].now;
        if (!comparable(device))
            continue;
        const auto& versions = counts[*device.chip_name];
        const auto common =
            std::max_element(versions.begin(), versions.end(), [](const auto& a, const auto& b) {
                return a.second < b.second || (a.second == b.second && a.first < b.first);
            });
        if (common->first == *device.firmware_version)
            continue;
        const Look look{subjects[i], device, options, out[i]};
        look.add(Finding::Kind::firmware_mixed, Finding::Severity::note,
                 fmt::format("firmware {} differs from {} on {} other chip{} of this kind",
                             *device.firmware_version, common->first, common->second,
                             common->second == 1 ? "" : "s"),
                 "info -t board");
    }
}

} // namespace

const KnownBadFirmware* known_bad_firmware(std::string_view version) {
    const auto found = std::ranges::find(kKnownBad, version, &KnownBadFirmware::version);
    return found == std::end(kKnownBad) ? nullptr : &*found;
}

std::string process_label(std::int64_t pid, const Reading<std::string>& name) {
    return name ? fmt::format("pid {} ({})", pid, *name) : fmt::format("pid {}", pid);
}

Reading<std::uint64_t> unowned_mib(const DeviceSnapshot& device,
                                   const std::optional<Earlier>& earlier) {
    if (device.hbm_unowned_mib || !earlier || !earlier->idle_mib)
        return device.hbm_unowned_mib;
    const hal::Reason reason = device.hbm_unowned_mib.absence().reason;
    if (reason != hal::Reason::unknown && reason != hal::Reason::unsupported)
        return device.hbm_unowned_mib; // a baseline would not help
    if (!device.hbm_used_mib || !device.processes)
        return device.hbm_unowned_mib;
    std::uint64_t owned_bytes = 0;
    for (const ProcessInfo& process : *device.processes) {
        if (!alive(process))
            continue;
        if (!process.bytes)
            return process.bytes.absence();
        owned_bytes += *process.bytes;
    }
    const std::uint64_t owned = *earlier->idle_mib + owned_bytes / (1024 * 1024);
    return *device.hbm_used_mib > owned ? *device.hbm_used_mib - owned : std::uint64_t{0};
}

std::vector<Holder> unlisted_holders(const DeviceSnapshot& device,
                                     std::span<const Holder> holders) {
    std::vector<Holder> out;
    for (const Holder& holder : holders) {
        const bool listed =
            device.processes && std::ranges::any_of(*device.processes, [&](const ProcessInfo& p) {
                return p.pid == holder.pid && p.resolvable && alive(p);
            });
        if (!listed)
            out.push_back(holder);
    }
    return out;
}

bool needs_holders(const DeviceSnapshot& device, const std::optional<Earlier>& earlier) {
    const Reading<std::uint64_t> unowned = unowned_mib(device, earlier);
    return unowned && *unowned > kUnownedToleranceMib;
}

bool needs_records(const DeviceSnapshot& device) {
    return (device.ecc && (device.ecc->single_bit > 0 || device.ecc->double_bit > 0)) ||
           (device.error_codes && !device.error_codes->empty());
}

std::vector<Finding> find_all(std::span<const Subject> subjects, const FindingOptions& options) {
    std::vector<std::vector<Finding>> of_device(subjects.size());
    for (std::size_t i = 0; i < subjects.size(); ++i) {
        const Look look{subjects[i], *subjects[i].now, options, of_device[i]};
        if (look.device.state == hal::DeviceState::lost) {
            const std::string& why = look.device.state_detail;
            look.add(Finding::Kind::device_lost, Finding::Severity::critical,
                     fmt::format("the device is lost{}{}; its jobs are gone, others go on",
                                 why.empty() ? "" : ": ", why),
                     "events");
            continue;
        }
        look_at_uncorrectable(look);
        look_at_heat(look);
        look_at_unowned(look);
        look_at_corrected(look);
        look_at_pages(look);
        look_at_firmware(look);
        look_at_holders(look);
        look_at_oom(look);
    }
    look_for_mixed_firmware(subjects, options, of_device);
    std::vector<Finding> all;
    for (std::vector<Finding>& findings : of_device) {
        std::ranges::stable_sort(findings, std::ranges::greater{}, &Finding::severity);
        std::ranges::move(findings, std::back_inserter(all));
    }
    return all;
}

} // namespace asc::cmds

// SPDX-License-Identifier: Apache-2.0
// `set -t reset`, `set -t device-reset`, `clear -t ecc-info`: ask, do, read again.
#include "cmds/common/confirm.hpp"
#include "cmds/npu-smi/info.hpp"
#include "cmds/npu-smi/reset.hpp"
#include "cmds/npu-smi/reset_lock.hpp"
#include "cmds/npu-smi/types.hpp"

#include <fmt/format.h>

namespace asc::cmds::npu_smi {

using hal::Ask;
using hal::DeviceIds;
using hal::DeviceSnapshot;

namespace {

constexpr std::chrono::seconds kVendorLockWait{40}; // the vendor's
constexpr std::chrono::seconds kResetLimit{180};    // the vendor says "about 150 seconds"

// What was done to one device, in every format.
int report(const Session& session, std::string_view action, const DeviceIds& ids, int status,
           std::string_view word, std::string_view message) {
    constexpr std::string_view names[] = {"npu_id", "chip_id", "bus_id",
                                          "action", "status",  "message"};
    Records records{fmt::format("asc-tools/npu-smi.{}/1", session.arguments.verb->name),
                    "results",
                    {std::begin(names), std::end(names)},
                    {}};
    records.rows.push_back(
        {Cell{ids.npu_id, {}}, Cell{ids.chip_id, {}},
         ids.bus_id.empty() ? Field(hal::Reason::unknown) : Field(Cell{ids.bus_id, {}}),
         Cell{action, {}}, Cell{word, {}}, Cell{message, {}}});
    Streams& streams = session.streams;
    const Envelope envelope{&session.backend(), {}, false, true};
    const std::string_view format = session.arguments.text("output", "table");
    if (format == "json")
        streams.out.write(json_text(records_json(records, envelope), false));
    else if (format == "csv")
        streams.out.write(records_csv(records, envelope));
    else
        streams.out.write(backend_line(session.backend(), streams.style.charset) +
                          key_value("Status", word) +
                          key_value("Message", printable(message, streams.style.charset)));
    return streams.finish(status, npu_smi_status::file);
}

int refuse(const Session& session, int status, const std::string& text) {
    session.streams.error(text);
    return session.streams.finish(status, npu_smi_status::file);
}

std::string full_name(const Session& session, const DeviceIds& ids) {
    return fmt::format("{} (bus id {}, backend {})", device_name(ids),
                       ids.bus_id.empty() ? "unknown" : ids.bus_id,
                       backend_text(session.backend(), session.streams.style.charset));
}

// 0 when the user agrees, else the status.
int agreed(const Session& session, const std::string& question) {
    if (session.arguments.has("yes"))
        return npu_smi_status::ok;
    if (!can_ask())
        return refuse(session, npu_smi_status::not_answered,
                      "nobody can be asked here (no terminal); -y answers yes");
    if (ask(session.streams, question))
        return npu_smi_status::ok;
    return refuse(session, npu_smi_status::not_answered, "not done");
}

DeviceSnapshot look_at(const Session& session, const DeviceIds& ids, Ask what) {
    std::vector<DeviceSnapshot> devices = session.driver.snapshot(std::span(&ids, 1), what);
    return devices.empty() ? DeviceSnapshot{} : std::move(devices.front());
}

int run_reset(const Session& session, const DeviceIds& ids, std::string_view action,
              const DeviceSnapshot& before) {
    const double wait = session.arguments.number("lock-wait").value_or(kVendorLockWait.count());
    auto lock = ResetLock::take(std::chrono::milliseconds(static_cast<std::int64_t>(wait * 1000)));
    if (!lock)
        return refuse(session, lock.error().busy ? npu_smi_status::held : npu_smi_status::failed,
                      lock.error().text);
    session.streams.notice(fmt::format("{}: resetting ...", device_name(ids)));
    const auto limit = std::chrono::milliseconds(static_cast<std::int64_t>(
        session.arguments.number("limit").value_or(kResetLimit.count()) * 1000));
    const auto start = std::chrono::steady_clock::now();
    const hal::ActionResult result = session.driver.reset(ids, limit);
    using Kind = hal::ActionResult::Kind;
    if (result.kind == Kind::denied)
        return refuse(session, npu_smi_status::not_permitted,
                      fmt::format("{} is not reset: {}; this command can be executed only by the "
                                  "root user",
                                  device_name(ids),
                                  result.text.empty() ? "not permitted" : result.text));
    if (result.kind == Kind::unsupported)
        return refuse(session, npu_smi_status::not_supported,
                      "This device does not support setting reset.");
    if (result.kind == Kind::busy)
        return refuse(session, npu_smi_status::held,
                      fmt::format("{} is not reset, the driver says that it is in use{}{}",
                                  device_name(ids), result.text.empty() ? "" : ": ", result.text));
    const DeviceSnapshot after = look_at(session, ids, Ask::state | Ask::memory | Ask::processes);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const ResetVerdict verdict = judge_reset(result, before, after, seconds);
    if (!verdict.success) {
        session.streams.error(fmt::format("{}: {}", device_name(ids), verdict.text));
        return report(session, action, ids, npu_smi_status::reset_failed, "Fail", verdict.text);
    }
    session.streams.notice(fmt::format("{}: {}", device_name(ids), verdict.text));
    return report(session, action, ids, npu_smi_status::ok, "OK", "Reset chip successfully.");
}

} // namespace

int set_reset(const Session& session, std::string_view action) {
    const bool dry_run = session.arguments.has("dry-run");
    // Before anything is asked of a device: who cannot answer is told at once.
    if (!dry_run && !session.arguments.has("yes") && !can_ask())
        return agreed(session, {});
    const auto ids = selected_device(session);
    if (!ids)
        return refuse(session, ids.error().status, ids.error().text);
    const DeviceSnapshot before = look_at(session, *ids, Ask::state | Ask::memory | Ask::processes);
    if (const auto obstacle = reset_obstacle(before, session.driver.holders(*ids)))
        return refuse(session, obstacle->status, obstacle->text);
    const std::string unowned =
        before.hbm_unowned_mib && *before.hbm_unowned_mib > 0
            ? fmt::format(", frees {} MB held by no live process", *before.hbm_unowned_mib)
            : std::string();
    const std::string what = fmt::format("resets {}: clears all of its memory{}, ends nothing else",
                                         full_name(session, *ids), unowned);
    if (dry_run)
        return report(session, action, *ids, npu_smi_status::ok, "not done", "would: " + what);
    if (const int status = agreed(
            session, fmt::format("This {}. Are you sure you want to continue resetting?", what));
        status != npu_smi_status::ok)
        return status;
    // While the person thought, somebody may have come.
    if (!session.arguments.has("yes"))
        if (const auto obstacle = reset_obstacle(look_at(session, *ids, Ask::processes),
                                                 session.driver.holders(*ids)))
            return refuse(session, obstacle->status, obstacle->text);
    return run_reset(session, *ids, action, before);
}

int clear_ecc(const Session& session) {
    const bool dry_run = session.arguments.has("dry-run");
    if (!dry_run && !session.arguments.has("yes") && !can_ask())
        return agreed(session, {});
    const auto ids = selected_device(session);
    if (!ids)
        return refuse(session, ids.error().status, ids.error().text);
    const DeviceSnapshot before = look_at(session, *ids, Ask::ecc);
    std::string counts = "counters cannot be read";
    if (before.ecc)
        counts = fmt::format("{} single-bit and {} double-bit errors", before.ecc->single_bit,
                             before.ecc->double_bit);
    const std::string what = fmt::format("clears the ECC counters since the reset of {} ({}); "
                                         "those for life stay",
                                         full_name(session, *ids), counts);
    if (dry_run)
        return report(session, "ecc-info", *ids, npu_smi_status::ok, "not done", "would: " + what);
    if (const int status = agreed(session, fmt::format("This {}. Continue?", what));
        status != npu_smi_status::ok)
        return status;
    const hal::ActionResult result = session.driver.clear_ecc(*ids);
    if (!result) {
        const int status = npu_smi_status_of(result.kind, npu_smi_status::failed);
        const std::string why =
            result.kind == hal::ActionResult::Kind::unsupported
                ? std::string("This device does not support clearing ecc-info.")
                : fmt::format("ecc-info of {} is not cleared: {}", device_name(*ids), result.text);
        return refuse(session, status, why);
    }
    const DeviceSnapshot after = look_at(session, *ids, Ask::ecc);
    if (!after.ecc || after.ecc->single_bit != 0 || after.ecc->double_bit != 0) {
        const std::string text =
            after.ecc ? fmt::format("Clear ecc-info FAILED: {} single-bit and {} double-bit errors "
                                    "are still counted",
                                    after.ecc->single_bit, after.ecc->double_bit)
                      : fmt::format("Clear ecc-info FAILED: the counters cannot be read again: {}",
                                    absence_text(after.ecc.absence()));
        session.streams.error(text);
        return report(session, "ecc-info", *ids, npu_smi_status::failed, "Fail", text);
    }
    return report(session, "ecc-info", *ids, npu_smi_status::ok, "OK",
                  "Clear ecc-info successfully.");
}

} // namespace asc::cmds::npu_smi

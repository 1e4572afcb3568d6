// SPDX-License-Identifier: Apache-2.0
// State, identity, telemetry, memory, ECC counters, processes: what an overview needs. HDC is used
// only where UDIS lacks a value.
#include "hal/inspection.hpp"

#include "hal/channel_chardev.hpp"

#include <sys/stat.h>

#include <cstdio>

namespace asc::hal {

namespace {

constexpr Metric<int> kTemperature{
    DV_UDIS_LP,       "soc_max_temp", 2, celsius_from_wire, {DV_DMP_TEMPERATURE, -1, 2},
    celsius_from_wire};
constexpr Metric<double> kPower{DV_UDIS_LP,      "power_limit",         4,
                                power_from_wire, {DV_DMP_POWER, -1, 2}, power_from_wire};
constexpr Metric<int> kAiCore{DV_UDIS_TS, "aicore_util", 1, percent_from_wire, {}, nullptr};
constexpr Metric<std::uint32_t> kMultiRecords{
    DV_UDIS_MEMORY, "mul_ecc_cnt", 4, counter_from_wire, {}, nullptr};

template <class T> Reading<T> copied(std::span<const std::uint8_t> data) {
    T value{};
    std::memcpy(&value, data.data(), std::min(sizeof(value), data.size()));
    return value;
}

bool is_310(const Reading<std::string>& name) {
    return name && name->starts_with("310");
}

} // namespace

Inspection::Inspection(Driver::Impl& driver, const DeviceIds& ids, Ask what)
    : question(*driver.channel, driver.nodes, ids, driver.options.timeout, driver.deadline(ids)),
      driver_(driver), what_(what), known_(driver.facts[ids.logical_id]) {
    out_.ids = ids;
    const Absence not_asked{Reason::unknown, 0, "not asked"};
    for_each_reading(out_, [&](auto& reading) { reading = not_asked; });
}

void Inspection::ask() {
    ask_known();
    if (driver_.is_simulator() &&
        wants(Ask::state | Ask::memory | Ask::ecc | Ask::limits | Ask::board))
        ask_simulator();
    if (wants(Ask::state | Ask::error_texts))
        ask_state();
    if (wants(Ask::identity))
        ask_identity();
    if (wants(Ask::telemetry)) {
        metric(kTemperature, out_.temperature_c);
        metric(kPower, out_.power_w);
        metric(kAiCore, out_.ai_core_percent);
    }
    if (wants(Ask::memory | Ask::usages | Ask::processes))
        question.udis_data(DV_UDIS_DEVMNG, "hbm_mem_info", 0,
                           [this](const Reading<std::span<const std::uint8_t>>& data) {
                               hbm_ = data ? hbm_from_wire(*data) : Reading<Hbm>(data.absence());
                           });
    if (wants(Ask::ecc))
        ask_ecc();
    if (wants(Ask::processes | Ask::memory))
        ask_processes();
    if (wants(Ask::ecc_records))
        ask_ecc_records();
    if (wants(Ask::usages))
        ask_usages();
    if (wants(Ask::frequencies))
        ask_frequencies();
    if (wants(Ask::board))
        ask_board();
    if (wants(Ask::flash))
        ask_flash();
    if (wants(Ask::pcie_errors))
        ask_pcie_errors();
    if (wants(Ask::sensors))
        ask_sensors();
}

// What the connection did not learn is asked again.
void Inspection::ask_known() {
    const auto missing = [](const auto& reading) {
        return !reading && reading.absence().reason != Reason::unsupported;
    };
    if (missing(known_.chip) && wants(Ask::identity))
        question.basic<dv_chip_info>(DV_BASIC_CHIP_INFO, [this](const Reading<dv_chip_info>& chip) {
            known_.chip = chip.map(chip_from_wire);
        });
    if (missing(known_.facts) && wants(Ask::identity | Ask::usages | Ask::board)) {
        dv_device_info argument{};
        argument.device_id = question.device();
        question.devmng(DV_M_DEVICE_INFO, argument, [this](const FlatQuery<dv_device_info>& query) {
            if (query.call.state == Call::State::done && query.call.result == 0)
                known_.facts = device_from_wire(query.argument);
            else
                known_.facts = question.absence(query.call);
        });
    }
    if (missing(known_.pci) && wants(Ask::board))
        question.basic<dv_pcie_info>(DV_BASIC_PCIE_INFO, [this](const Reading<dv_pcie_info>& pci) {
            known_.pci = pci.map(pci_from_wire);
        });
}

void Inspection::ask_simulator() {
    ds_device argument{};
    argument.size = sizeof(argument);
    argument.device_id = question.device();
    question.davsim(DS_DEVICE, argument, [this](const FlatQuery<ds_device>& query) {
        if (query.call.state == Call::State::done && query.call.result == 0)
            sim_ = device_from_wire(query.argument);
        else
            sim_ = question.absence(query.call);
    });
}

void Inspection::ask_state() {
    dv_startup startup{};
    startup.device_id = question.device();
    question.devmng(DV_M_STARTUP, startup, [this](const FlatQuery<dv_startup>& query) {
        if (query.call.state == Call::State::done && query.call.result == 0)
            startup_ = query.argument;
        else
            startup_ = question.absence(query.call);
    });
    question.devmng(DV_M_DEVICE_STATUS, question.device(),
                    [this](const FlatQuery<std::uint32_t>& query) {
                        if (query.call.state == Call::State::done && query.call.result == 0)
                            status_ = query.argument;
                        else
                            status_ = question.absence(query.call);
                    });
    question.basic<std::uint32_t>(DV_BASIC_HEALTH, [this](const Reading<std::uint32_t>& value) {
        out_.health = value ? health_from_wire(*value) : Reading<Health>(value.absence());
    });
    question.basic<dv_event_codes>(
        DV_BASIC_EVENT_CODES, [this](const Reading<dv_event_codes>& codes) {
            out_.error_codes =
                codes ? codes_from_wire(*codes) : Reading<std::vector<ErrorCode>>(codes.absence());
            if (out_.error_codes && wants(Ask::error_texts))
                ask_error_texts(*out_.error_codes);
        });
    // The boot status takes the physical id (driver-abi.md 8).
    question.basic_of<std::uint32_t>(
        DV_BASIC_BOOT_STATUS, static_cast<std::uint32_t>(out_.ids.physical_id),
        [this](const Reading<std::uint32_t>& value) { out_.boot_status = value; });
}

void Inspection::ask_identity() {
    question.udis_data(DV_UDIS_DEVMNG, "system_ver", 0,
                       [this](const Reading<std::span<const std::uint8_t>>& data) {
                           system_version_ =
                               data ? text_from_wire(*data) : Reading<std::string>(data.absence());
                       });
    question.udis_data(DV_UDIS_DEVMNG, "hot_patch_ver", 0,
                       [this](const Reading<std::span<const std::uint8_t>>& data) {
                           patch_version_ =
                               data ? text_from_wire(*data) : Reading<std::string>(data.absence());
                       });
}

void Inspection::ask_ecc() {
    // valid = 0 and a wrong length make the client ask DMP (driver-abi.md 7, 17.3).
    const auto now_over_dmp = [this](const Absence& absence) {
        ecc_now_ = absence;
        question.dmp({DV_DMP_ECC_NOW, DV_DMP_OP_STATE, {2}},
                     [this](Reading<std::vector<std::uint8_t>> reply) {
                         if (reply && reply->size() >= 8) {
                             ecc_now_ = copied<dv_ecc_now>(std::span(*reply).first(8));
                         } else if (!reply && reply.absence().reason != Reason::unsupported)
                             ecc_now_ = reply.absence();
                     });
    };
    question.udis_data(
        DV_UDIS_MEMORY, "ecc_rlt_cnt", sizeof(dv_ecc_now),
        [this, now_over_dmp](const Reading<std::span<const std::uint8_t>>& data) {
            ecc_now_ = data ? copied<dv_ecc_now>(*data) : Reading<dv_ecc_now>(data.absence());
            if (data && ecc_now_->valid == 0)
                now_over_dmp({Reason::unsupported, 0, "the driver has no valid ECC counts"});
            else if (!data && falls_back(data.absence()))
                now_over_dmp(data.absence());
        });
    question.udis_data(
        DV_UDIS_MEMORY, "ecc_his_cnt", sizeof(dv_ecc_history),
        [this](const Reading<std::span<const std::uint8_t>>& data) {
            if (data) {
                ecc_history_ = copied<dv_ecc_history>(*data);
                return;
            }
            ecc_history_ = data.absence();
            if (falls_back(data.absence()))
                question.dmp({DV_DMP_ECC_HISTORY, DV_DMP_OP_STATE, {2}},
                             [this](Reading<std::vector<std::uint8_t>> reply) {
                                 if (reply && reply->size() >= sizeof(dv_ecc_history))
                                     ecc_history_ = copied<dv_ecc_history>(*reply);
                                 else if (!reply && reply.absence().reason != Reason::unsupported)
                                     ecc_history_ = reply.absence();
                             });
        });
    if (!driver_.is_simulator())
        metric(kMultiRecords, multi_records_);
}

// ---- processes ----

void Inspection::ask_processes() {
    dv_resource list{};
    list.device_id = question.device();
    list.owner_type = DV_OWNER_PROCESS;
    list.resource_type = DV_RESOURCE_PROCESS_LIST;
    list.buffer_len = sizeof(list.buffer);
    question.devmng(DV_M_RESOURCE, list, [this](const FlatQuery<dv_resource>& query) {
        if (query.call.state != Call::State::done || query.call.result != 0) {
            processes_.pids = question.absence(query.call);
            return;
        }
        processes_.pids = pids_from_wire(query.argument);
        if (processes_.pids)
            for (const std::int64_t pid : *processes_.pids)
                ask_process_memory(pid);
    });
    processes_.simulator = driver_.is_simulator();
    if (processes_.simulator) {
        processes_.extension = std::vector<SimProcess>();
        ask_more_processes(0);
    }
}

void Inspection::ask_more_processes(std::uint32_t cursor) {
    ds_process_list page{};
    page.size = sizeof(page);
    page.device_id = question.device();
    page.cursor = cursor;
    question.davsim(DS_PROCESS_LIST, page, [this](const FlatQuery<ds_process_list>& query) {
        if (query.call.state != Call::State::done || query.call.result != 0) {
            processes_.extension = question.absence(query.call);
            return;
        }
        const ds_process_list& got = query.argument;
        std::vector<SimProcess> all = *processes_.extension;
        for (std::uint32_t i = 0; i < std::min<std::uint32_t>(got.count, DS_PROCESS_PAGE); ++i)
            all.push_back(process_from_wire(got.entry[i]));
        processes_.extension = std::move(all);
        if (got.cursor != 0 && processes_.extension->size() < 4096)
            ask_more_processes(got.cursor);
    });
}

// UDIS first, then 'M' 175 type 9 (driver-abi.md 7).
void Inspection::ask_process_memory(std::int64_t pid) {
    char name[DV_UDIS_NAME_LEN];
    std::snprintf(name, sizeof(name), "%08xmem", static_cast<std::uint32_t>(pid));
    question.udis_data(
        DV_UDIS_SVM, name, sizeof(std::uint64_t),
        [this, pid](const Reading<std::span<const std::uint8_t>>& data) {
            if (data) {
                processes_.bytes[pid] = unsigned_from_wire(*data);
                return;
            }
            processes_.bytes[pid] = data.absence();
            if (!falls_back(data.absence()))
                return;
            dv_resource memory{};
            memory.device_id = question.device();
            memory.owner_type = DV_OWNER_PROCESS;
            memory.owner_id = static_cast<std::uint32_t>(pid);
            memory.resource_type = DV_RESOURCE_PROCESS_MEMORY;
            memory.buffer_len = sizeof(std::uint64_t);
            question.devmng(
                DV_M_RESOURCE, memory, [this, pid](const FlatQuery<dv_resource>& query) {
                    if (query.call.state != Call::State::done || query.call.result != 0) {
                        processes_.bytes[pid] = question.absence(query.call);
                        processes_.vanished[pid] =
                            query.call.state == Call::State::done && query.call.result == -EINVAL;
                    } else if (query.argument.buffer_len == sizeof(std::uint64_t)) {
                        processes_.bytes[pid] =
                            unsigned_from_wire(std::span(query.argument.buffer).first(8));
                    } else {
                        processes_.bytes[pid] =
                            Absence{Reason::failed, 0, "an answer of wrong length"};
                    }
                });
        });
}

// Whether a process has one of the driver's nodes open; true counts as a sign of life.
Reading<bool> Inspection::holds_node(const Proc& proc, std::int64_t pid) const {
    dev_t nodes[2];
    std::size_t count = 0;
    for (const std::uint32_t node : {DV_NODE_IS_DEVICE, DV_NODE_IS_MANAGER}) {
        struct stat status {};
        const std::string path =
            node_path(driver_.options.dev_root, node,
                      static_cast<std::uint32_t>(std::max(0, out_.ids.physical_id)));
        if (stat(path.c_str(), &status) == 0 && S_ISCHR(status.st_mode))
            nodes[count++] = status.st_rdev;
    }
    bool holds = false;
    const bool readable = proc.descriptors(pid, [&](const std::string& path) {
        struct stat status {};
        if (stat(path.c_str(), &status) == 0 && S_ISCHR(status.st_mode))
            for (std::size_t i = 0; i < count; ++i)
                holds = holds || status.st_rdev == nodes[i];
    });
    if (!readable)
        return Absence{Reason::denied, 0, "its open files may not be looked at"};
    return holds;
}

// ---- putting together ----

DeviceSnapshot Inspection::finish(const Proc& proc) {
    if (wants(Ask::identity))
        finish_identity();
    if (wants(Ask::memory | Ask::processes | Ask::usages))
        finish_memory(proc);
    if (wants(Ask::ecc))
        finish_ecc();
    if (wants(Ask::limits)) {
        const Absence real{Reason::unsupported, 0, "only the simulator tells it"};
        out_.power_limit_w = sim_                     ? sim_->power_limit_w
                             : driver_.is_simulator() ? Reading<double>(sim_.absence())
                                                      : Reading<double>(real);
        out_.oom_count = sim_                     ? sim_->oom_count
                         : driver_.is_simulator() ? Reading<std::uint32_t>(sim_.absence())
                                                  : Reading<std::uint32_t>(real);
    }
    finish_details();
    if (wants(Ask::state | Ask::error_texts))
        finish_state();
    note_state();
    return std::move(out_);
}

void Inspection::finish_identity() {
    const auto of_chip = [&](std::string ChipFacts::*field) {
        return known_.chip.map([&](const ChipFacts& chip) { return chip.*field; });
    };
    const auto count = [&](int DeviceFacts::*field) {
        return known_.facts.map([&](const DeviceFacts& facts) { return facts.*field; });
    };
    out_.chip_type = of_chip(&ChipFacts::type);
    out_.chip_name = of_chip(&ChipFacts::name);
    out_.chip_version = of_chip(&ChipFacts::version);
    out_.soc_version = known_.facts.map([](const DeviceFacts& facts) { return facts.soc_version; });
    out_.ai_core_count = count(&DeviceFacts::ai_cores);
    out_.vector_core_count = count(&DeviceFacts::vector_cores);
    out_.ai_cpu_count = count(&DeviceFacts::ai_cpus);
    out_.control_cpu_count = count(&DeviceFacts::control_cpus);
    out_.firmware_version = system_version_;
    if (!system_version_)
        return;
    // A patch that is there but cannot be read would make the version a wrong one.
    if (patch_version_)
        out_.firmware_version = *system_version_ + "." + *patch_version_;
    else if (patch_version_.absence().reason != Reason::unsupported)
        out_.firmware_version = patch_version_.absence();
}

void Inspection::finish_memory(const Proc& proc) {
    const Reading<std::uint64_t> total =
        hbm_.map([](const Hbm& hbm) { return hbm.total_kib >> 10; });
    if (wants(Ask::usages))
        out_.hbm_percent = hbm_.map(
            [](const Hbm& hbm) { return static_cast<int>(hbm.used_kib * 100 / hbm.total_kib); });
    if (!wants(Ask::memory | Ask::processes))
        return;
    for (auto& [pid, bytes] : processes_.bytes)
        if (bytes)
            bytes = process_bytes_from_wire(*bytes, total);
    const ProcessList list = compose_processes(
        processes_, total, proc, [&](std::int64_t pid) { return holds_node(proc, pid); });
    if (wants(Ask::processes))
        out_.processes = list.processes;
    if (!wants(Ask::memory))
        return;
    out_.hbm_total_mib = total;
    out_.hbm_used_mib = hbm_.map([](const Hbm& hbm) { return hbm.used_kib >> 10; });
    const Absence real{Reason::unknown, 0, "a real driver tells no idle baseline"};
    if (!driver_.is_simulator())
        sim_ = real;
    out_.hbm_baseline_mib = !sim_ ? Reading<std::uint64_t>(sim_.absence())
                            : sim_->baseline_kib
                                ? Reading<std::uint64_t>(*sim_->baseline_kib >> 10)
                                : Reading<std::uint64_t>(sim_->baseline_kib.absence());
    out_.hbm_unowned_mib = unowned_mib(hbm_, sim_, list, disagrees_);
    const Absence none{Reason::unsupported, 0, "the chip has none"};
    out_.hugepages_total = none;
    out_.hugepages_used = none;
    // 910B, A3 and 950 have no DDR, which the vendor shows as 0 / 0 without a call (driver-abi 8).
    const Reading<std::string> name =
        known_.chip.map([](const ChipFacts& chip) { return chip.name; });
    if (!name) {
        out_.ddr_total_mib = out_.ddr_used_mib = name.absence();
    } else if (is_310(name)) {
        out_.ddr_total_mib = out_.ddr_used_mib = none;
    } else {
        out_.ddr_total_mib = out_.ddr_used_mib = std::uint64_t{0};
    }
}

void Inspection::finish_ecc() {
    if (!ecc_now_)
        out_.ecc = ecc_now_.absence();
    else if (!ecc_history_)
        out_.ecc = ecc_history_.absence();
    else
        out_.ecc = ecc_from_wire(*ecc_now_, *ecc_history_);
    if (driver_.is_simulator()) {
        out_.pages_pending = sim_.map([](const SimDevice& device) { return device.pages_pending; });
    } else if (!multi_records_ || !out_.ecc) {
        out_.pages_pending = !multi_records_ ? multi_records_.absence() : out_.ecc.absence();
    } else {
        // The vendor's "next isolated" is the record count minus what is isolated (npu-smi.md 5).
        const std::uint32_t isolated = out_.ecc->pages_isolated_double;
        out_.pages_pending = *multi_records_ > isolated ? *multi_records_ - isolated : 0;
    }
}

// Health counts only when the device has started and its status can be read (driver-abi.md 8).
void Inspection::finish_state() {
    const auto spoils = [](const auto& reading) {
        return !reading && reading.absence().reason != Reason::unsupported;
    };
    if (spoils(startup_))
        out_.health = startup_.absence();
    else if (spoils(status_))
        out_.health = status_.absence();
    else if (status_ && *status_ == DV_DEVICE_LOST)
        out_.health = Absence{Reason::lost, 0, "the driver has lost the device"};
    else if (startup_ && startup_->process_status != DV_STARTUP_FINISHED && out_.health)
        out_.health = Absence{Reason::failed, DV_E_TRY_AGAIN, "the device has not started yet"};
}

void Inspection::note_state() {
    unsigned values = 0, lost = 0, timeouts = 0, denied = 0, resetting = 0;
    const Absence* first = nullptr;
    const auto count = [&](const auto& reading) {
        if (reading) {
            ++values;
            return;
        }
        const Absence& absence = reading.absence();
        lost += absence.reason == Reason::lost;
        timeouts += absence.reason == Reason::timeout;
        denied += absence.reason == Reason::denied;
        resetting += absence.error == DV_E_RESETTING;
        if (first == nullptr && absence.reason != Reason::unknown &&
            absence.reason != Reason::unsupported)
            first = &absence;
    };
    const auto is = [](const auto& reading, Reason reason) {
        return !reading && reading.absence().reason == reason;
    };
    for_each_reading(out_, count);
    const auto set = [&](DeviceState state, std::string detail) {
        out_.state = state;
        out_.state_detail = std::move(detail);
    };
    const bool asked = wants(Ask::state);
    const auto state_call = [&](Reason reason) {
        return asked && (is(startup_, reason) || is(status_, reason) || is(out_.health, reason));
    };
    if ((sim_ && (sim_->state == DS_STATE_LOST || sim_->state == DS_STATE_ABSENT)) ||
        (status_ && *status_ == DV_DEVICE_LOST) || state_call(Reason::lost) ||
        (values == 0 && lost != 0))
        return set(DeviceState::lost, "the driver has lost the device");
    if (state_call(Reason::timeout) || (values == 0 && timeouts != 0)) {
        char text[64];
        std::snprintf(text, sizeof(text), "no answer within %g s",
                      static_cast<double>(driver_.options.timeout.count()) / 1000.0);
        return set(DeviceState::timeout, text);
    }
    if ((sim_ && sim_->state == DS_STATE_RESETTING) || resetting != 0 ||
        (out_.boot_status && *out_.boot_status != DV_BOOT_STARTED) ||
        (startup_ && startup_->process_status != DV_STARTUP_FINISHED))
        return set(DeviceState::resetting, out_.boot_status
                                               ? "the device starts up (boot status " +
                                                     std::to_string(*out_.boot_status) + ")"
                                               : std::string("the device starts up"));
    if (state_call(Reason::denied) || (values == 0 && denied != 0))
        return set(DeviceState::denied, "not permitted");
    if (asked ? !out_.health : values == 0 && first != nullptr)
        return set(DeviceState::failed, asked ? out_.health.absence().detail : first->detail);
    set(DeviceState::ok,
        question.group.unanswered == 0
            ? std::string()
            : std::to_string(question.group.unanswered) + " questions were not answered in time");
}

} // namespace asc::hal

// SPDX-License-Identifier: Apache-2.0
// Connection: binding, recognising the generation, the list of devices and what they are
// (driver-abi.md 3, 5, 8, 15).
#include "hal/driver_impl.hpp"
#include "hal/pci.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace asc::hal {

namespace {

ConnectError::Kind kind_of(int error) {
    switch (error) {
    case ENOENT:
    case ENXIO:
    case ENODEV:
        return ConnectError::Kind::no_driver;
    case EACCES:
    case EPERM:
        return ConnectError::Kind::denied;
    case EBUSY:
        return ConnectError::Kind::busy;
    case ETIMEDOUT:
        return ConnectError::Kind::timeout;
    default:
        return ConnectError::Kind::failed;
    }
}

// Opens the control node and binds it to a module.
class Binding final : public Chain {
  public:
    Binding(Node* place, const char* module) : place_(place) {
        std::memcpy(bind_.module_name, module, std::strlen(module));
    }
    Call* next(Call* ended) override {
        if (ended == nullptr) {
            call_.op = Call::Op::open;
            call_.number = DV_NODE_IS_MANAGER;
            return &call_;
        }
        state = ended->state;
        if (ended->op == Call::Op::open) {
            open_error = ended->state == Call::State::done ? ended->result : -ETIMEDOUT;
            if (open_error != 0)
                return nullptr;
            node = ended->node;
            call_ = {};
            call_.node = node;
            call_.number = DV_IOCTL_BIND;
            call_.argument = &bind_;
            call_.add_range(&bind_, sizeof(bind_), DV_RANGE_IN | DV_RANGE_OUT);
            return &call_;
        }
        result = ended->result;
        if (ended->state == Call::State::done && result == 0)
            *place_ = node;
        return nullptr;
    }
    Call::State state = Call::State::idle;
    int open_error = 0;
    std::int32_t result = 0;
    Node node = -1;

  private:
    Node* place_;
    dv_bind bind_{};
    Call call_;
};

bool bind_again(Channel& channel, Node node, const char* module, TimePoint deadline) {
    FlatQuery<dv_bind> query{};
    std::memcpy(query.argument.module_name, module, std::strlen(module));
    query.prepare(node, DV_IOCTL_BIND);
    return channel.call(query.call, deadline) && query.call.result == 0;
}

// Value of `key` in KEY=VALUE lines; "" when there is none.
std::string value_of(const std::string& path, std::string_view key) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return {};
    std::string text(4096, '\0');
    const ssize_t length = read(fd, text.data(), text.size());
    close(fd);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, length)));
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = text.find('\n', at);
        end = end == std::string::npos ? text.size() : end;
        const std::string_view line(text.data() + at, end - at);
        if (line.starts_with(key) && line.size() > key.size() && line[key.size()] == '=') {
            std::string_view value = line.substr(key.size() + 1);
            while (!value.empty() && (value.back() == '\r' || value.back() == ' '))
                value.remove_suffix(1);
            return std::string(value);
        }
        at = end + 1;
    }
    return {};
}

} // namespace

std::unexpected<ConnectError> connect_error(ConnectError::Kind kind, int error, std::string text) {
    return std::unexpected(ConnectError{kind, error, std::move(text)});
}

std::expected<void, ConnectError> Driver::Impl::open_nodes() {
    nodes = {};
    const TimePoint end = now_plus(options.timeout);
    Binding urd(&nodes.urd, "URD"), devmng(&nodes.devmng, "DEVMNG"), uda(&nodes.uda, "uda"),
        davsim(&nodes.davsim, DS_MODULE_NAME);
    Group group(end, 0);
    for (Binding* binding : {&urd, &devmng, &uda, &davsim})
        group.add(*binding);
    Group* const groups[] = {&group};
    channel->run(groups);
    if (!channel->broken().empty())
        return connect_error(ConnectError::Kind::failed, 0, channel->broken());
    if (urd.open_error != 0) {
        const int error = -urd.open_error;
        if (urd.state == Call::State::timeout)
            return connect_error(ConnectError::Kind::timeout, ETIMEDOUT,
                                 "the control node of " + info.name +
                                     " did not open within the time limit");
        std::string why = channel->open_trouble(DV_NODE_IS_MANAGER, 0, error);
        if (why.empty())
            why = "the control node of " + info.name + ": " + std::strerror(error);
        return connect_error(kind_of(error), error, std::move(why));
    }
    for (const Binding* binding : {&urd, &devmng, &uda})
        if (binding->state == Call::State::timeout)
            return connect_error(ConnectError::Kind::timeout, ETIMEDOUT,
                                 "the driver behind " + info.name +
                                     " did not answer the binding within the time limit");
    if (nodes.urd < 0) {
        if (urd.result == -EBUSY || urd.result == DV_E_OCCUPIED)
            return connect_error(ConnectError::Kind::busy, EBUSY,
                                 "the control node of " + info.name + " is held by another");
        if (urd.result == -EACCES || urd.result == -EPERM)
            return connect_error(ConnectError::Kind::denied, -urd.result,
                                 "the driver behind " + info.name + " does not let us bind");
        if (bind_again(*channel, urd.node, "DMS", end))
            return connect_error(
                ConnectError::Kind::abi_mismatch, 0,
                "the driver behind " + info.name +
                    " speaks the older interface (DMS, of 2021 to 2023); this program speaks the "
                    "current one (URD): update the driver, or use the tools that came with it");
        return connect_error(ConnectError::Kind::abi_mismatch, -urd.result,
                             "the driver behind " + info.name + " knows neither URD nor DMS (" +
                                 error_text(urd.result) +
                                 "); it is no Ascend driver of a generation known here");
    }
    if (nodes.devmng < 0 || nodes.uda < 0)
        return connect_error(ConnectError::Kind::abi_mismatch, 0,
                             "the driver behind " + info.name + " has URD but not " +
                                 (nodes.uda < 0 ? "uda" : "DEVMNG") +
                                 "; this mixture of interfaces is not known here");
    if (nodes.davsim < 0 && davsim.node >= 0)
        channel->close(davsim.node);
    return {};
}

void Driver::Impl::ask_simulator() {
    if (nodes.davsim < 0)
        return;
    ds_info argument{};
    argument.size = sizeof(argument);
    const Reading<ds_info> answer = flat(nodes.davsim, DS_INFO, argument, options.timeout);
    if (!answer)
        return;
    info.simulator = true;
    info.driver_version = text_from_wire(answer->driver_version, sizeof(answer->driver_version));
    info.profile = text_from_wire(answer->profile, sizeof(answer->profile));
    info.seed = answer->seed;
    info.simulator_text = "simulated, profile " + info.profile;
    info.virtual_clock = answer->clock_kind == DS_CLOCK_VIRTUAL;
    info.wall_ms = answer->wall_ms;
}

std::string Driver::Impl::installed_version() const {
    std::string root = value_of("/etc/ascend_install.info", "Driver_Install_Path_Param");
    if (root.empty())
        root = "/usr/local/Ascend";
    std::string version = value_of(root + "/driver/version.info", "Version");
    if (version.empty())
        version = value_of(root + "/driver/version.info", "version");
    return version;
}

std::expected<void, ConnectError> Driver::Impl::list_devices() {
    const Reading<dv_user_info> user =
        flat(nodes.uda, DV_U_USER_INFO, dv_user_info{}, options.timeout);
    if (!user)
        return connect_error(user.absence().reason == Reason::denied ? ConnectError::Kind::denied
                             : user.absence().reason == Reason::timeout
                                 ? ConnectError::Kind::timeout
                                 : ConnectError::Kind::failed,
                             user.absence().error,
                             "the driver does not say who we are to it: " + user.absence().detail);
    const std::uint32_t count = std::min<std::uint32_t>(
        user->max_device_count != 0 ? user->max_device_count : DV_MAX_DEVICES_HOST,
        DV_MAX_UNIQUE_DEVICES);
    std::vector<dv_logic_device> records(count);
    FlatQuery<dv_device_list> query{};
    query.argument = {0, count, reinterpret_cast<std::uint64_t>(records.data())};
    query.prepare(nodes.uda, DV_U_DEVICE_LIST);
    query.call.add_range(records.data(), records.size() * sizeof(dv_logic_device), DV_RANGE_OUT);
    channel->call(query.call, now_plus(options.timeout));
    if (query.call.state != Call::State::done || query.call.result != 0) {
        const Absence absence = absence_of_call(query.call, *channel, options.timeout);
        const bool busy = query.call.state == Call::State::done &&
                          (query.call.result == -EBUSY || query.call.result == DV_E_OCCUPIED);
        return connect_error(busy                                ? ConnectError::Kind::busy
                             : absence.reason == Reason::denied  ? ConnectError::Kind::denied
                             : absence.reason == Reason::timeout ? ConnectError::Kind::timeout
                                                                 : ConnectError::Kind::failed,
                             absence.error,
                             "the driver does not list its devices: " + absence.detail);
    }
    devices.clear();
    for (const dv_logic_device& record : records) {
        if ((record.valid_and_type & 1U) == 0)
            continue;
        DeviceIds ids;
        ids.logical_id = record.device_id;
        ids.physical_id = record.physical_id;
        devices.push_back(ids);
    }
    std::sort(devices.begin(), devices.end(),
              [](const DeviceIds& a, const DeviceIds& b) { return a.logical_id < b.logical_id; });
    return {};
}

// Facts of all devices side by side, then their ids.
void Driver::Impl::learn_devices() {
    std::vector<std::unique_ptr<Question>> questions;
    std::vector<Group*> groups;
    for (const DeviceIds& ids : devices) {
        auto& question = *questions.emplace_back(std::make_unique<Question>(
            *channel, nodes, ids, options.timeout, connect_began + options.timeout));
        groups.push_back(&question.group);
        Known* known = &facts[ids.logical_id];
        question.basic<dv_chip_info>(DV_BASIC_CHIP_INFO, [known](
                                                             const Reading<dv_chip_info>& chip) {
            known->chip = chip.map([](const dv_chip_info& wire) { return chip_from_wire(wire); });
        });
        question.basic<dv_pcie_info>(DV_BASIC_PCIE_INFO, [known](const Reading<dv_pcie_info>& pci) {
            known->pci = pci.map([](const dv_pcie_info& wire) { return pci_from_wire(wire); });
        });
        dv_device_info argument{};
        argument.device_id = question.device();
        question.devmng(DV_M_DEVICE_INFO, argument,
                        [known, &question](const FlatQuery<dv_device_info>& query) {
                            if (query.call.state == Call::State::done && query.call.result == 0)
                                known->facts = device_from_wire(query.argument);
                            else
                                known->facts = question.absence(query.call);
                        });
        if (!is_simulator())
            continue;
        ds_device device{};
        device.size = sizeof(device);
        device.device_id = question.device();
        question.davsim(DS_DEVICE, device, [known, &question](const FlatQuery<ds_device>& query) {
            if (query.call.state == Call::State::done && query.call.result == 0)
                known->sim = device_from_wire(query.argument);
            else
                known->sim = question.absence(query.call);
        });
    }
    channel->run(groups);
    bool plain = true; // everyone that answered: card = logical id / chips, chip = the rest
    int chips = 1;
    for (std::size_t i = 0; i < devices.size(); ++i) {
        DeviceIds& ids = devices[i];
        Known& known = facts[ids.logical_id];
        known.slow = questions[i]->group.unanswered != 0;
        known.udis = !known.chip || known.chip->type.starts_with("Ascend");
        if (known.sim) {
            ids.npu_id = known.sim->card;
            ids.chip_id = known.sim->chip;
            ids.chips_on_card = known.sim->chips_on_card;
            ids.serial = known.sim->serial;
        } else if (known.facts) {
            ids.npu_id = known.facts->chip_id;
            ids.chip_id = known.facts->die_id;
        }
        if (known.pci) {
            const std::uint32_t domain =
                known.sim ? known.sim->pci_domain
                          : pci_domain(options.sysfs_root, *known.pci).value_or(0);
            ids.bus_id = bus_id_text(domain, *known.pci);
        }
        chips = std::max(chips, ids.chip_id + 1);
    }
    if (!is_simulator())
        for (DeviceIds& ids : devices)
            ids.chips_on_card = static_cast<int>(
                std::count_if(devices.begin(), devices.end(), [&](const DeviceIds& other) {
                    return ids.npu_id >= 0 && other.npu_id == ids.npu_id;
                }));
    // A device that says nothing keeps its place when all others show where that is.
    for (const DeviceIds& ids : devices)
        plain = plain && (ids.npu_id < 0 || (ids.npu_id == ids.logical_id / chips &&
                                             ids.chip_id == ids.logical_id % chips));
    for (DeviceIds& ids : devices)
        if (plain && ids.npu_id < 0) {
            ids.npu_id = ids.logical_id / chips;
            ids.chip_id = ids.logical_id % chips;
            ids.chips_on_card = chips;
        }
}

std::expected<Driver, ConnectError> Driver::Impl::connect(std::unique_ptr<Channel> channel,
                                                          BackendInfo info,
                                                          const ConnectOptions& options) {
    auto impl = std::make_unique<Impl>(std::move(channel), std::move(info), options);
    if (auto opened = impl->open_nodes(); !opened)
        return std::unexpected(std::move(opened.error()));
    impl->ask_simulator();
    if (impl->nodes.davsim >= 0 && !impl->info.simulator)
        return connect_error(ConnectError::Kind::abi_mismatch, 0,
                             "the simulator behind " + impl->info.name +
                                 " speaks another version of its extension; use programs and "
                                 "server of one build");
    if (!impl->info.simulator)
        impl->info.driver_version = impl->installed_version();
    if (auto listed = impl->list_devices(); !listed)
        return std::unexpected(std::move(listed.error()));
    impl->learn_devices();
    return Driver(std::move(impl));
}

void Driver::Impl::enter() {
    if (channel->enter_process())
        return;
    // A child of fork: the driver knows the parent by the old files.
    subscribed = false;
    (void)open_nodes(); // what does not open answers EBADF from now on
}

TimePoint Driver::Impl::deadline(const DeviceIds& ids) const {
    const TimePoint now = Steady::now();
    if (!asked_before && known(ids).slow)
        return std::max(now + std::chrono::milliseconds(500), connect_began + options.timeout);
    return now + options.timeout;
}

const Known& Driver::Impl::known(const DeviceIds& ids) const {
    static const Known nothing;
    const auto found = facts.find(ids.logical_id);
    return found == facts.end() ? nothing : found->second;
}

void Driver::Impl::ask(Question& question, const std::atomic<bool>* stop) {
    Group* const groups[] = {&question.group};
    channel->run(groups, stop);
}

} // namespace asc::hal

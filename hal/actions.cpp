// SPDX-License-Identifier: Apache-2.0
// What changes a device: reset, clearing ECC counters; memory for owners.
#include "hal/channel_chardev.hpp"
#include "hal/dmp.hpp"
#include "hal/driver_impl.hpp"

#include <algorithm>
#include <cerrno>
#include <thread>

namespace asc::hal {

namespace {

constexpr auto kPoll = std::chrono::milliseconds(100);

ActionResult result_of(const Absence& absence, const std::string& what) {
    ActionResult result;
    result.error = absence.error;
    result.text = what + ": " + absence.detail;
    switch (absence.reason) {
    case Reason::denied:
        result.kind = ActionResult::Kind::denied;
        break;
    case Reason::unsupported:
        result.kind = ActionResult::Kind::unsupported;
        break;
    case Reason::timeout:
        result.kind = ActionResult::Kind::timeout;
        break;
    case Reason::lost:
        result.kind = ActionResult::Kind::lost;
        break;
    default:
        result.kind = ActionResult::Kind::failed;
        break;
    }
    if (absence.error == DV_E_BUSY || absence.error == DV_E_OCCUPIED || absence.error == -EBUSY ||
        absence.error == DV_E_RESETTING)
        result.kind = ActionResult::Kind::busy;
    return result;
}

std::string seconds(std::chrono::milliseconds time) {
    return std::to_string((time.count() + 500) / 1000) + " s";
}

class Reset {
  public:
    Reset(Driver& driver, Driver::Impl& impl, const DeviceIds& device,
          std::chrono::milliseconds limit,
          const std::function<void(std::uint32_t boot_status)>& progress)
        : driver_(driver), impl_(impl), device_(device), limit_(limit), progress_(progress) {}

    ActionResult run() {
        const Reading<SimDevice> before = facts();
        end_ = impl_.now_plus(limit_);
        // The black box is told first; drivers that have none say so.
        impl_.flat(impl_.nodes.devmng, DV_IO('M', DV_M_BLACKBOX_INFORM), id(),
                   impl_.options.timeout);
        UrdQuery query{};
        const std::uint32_t target = id();
        query.prepare(impl_.nodes.urd, DV_MAIN_HOTRESET, DV_RESET_WHOLE, 0, &target, sizeof(target),
                      nullptr, 0);
        query.call.lane = id() + 1;
        impl_.channel->call(query.call, end_);
        if (query.call.state != Call::State::done || query.call.result != 0)
            return result_of(absence_of_call(query.call, *impl_.channel, limit_),
                             "the reset was not begun");
        while (!back(before)) {
            if (Steady::now() >= end_)
                return not_back();
            std::this_thread::sleep_for(kPoll);
        }
        return look_again();
    }

  private:
    std::uint32_t id() const { return static_cast<std::uint32_t>(device_.logical_id); }

    Reading<SimDevice> facts() {
        ds_device argument{};
        argument.size = sizeof(argument);
        argument.device_id = id();
        const Reading<ds_device> answer =
            impl_.flat(impl_.nodes.davsim, DS_DEVICE, argument, impl_.options.timeout);
        return answer ? device_from_wire(*answer) : Reading<SimDevice>(answer.absence());
    }

    // Booted, started and healthy enough to say so; on the simulator also: the reset has an end.
    bool back(const Reading<SimDevice>& before) {
        const TimePoint now = Steady::now();
        const auto left =
            std::max(std::chrono::milliseconds(200),
                     std::chrono::duration_cast<std::chrono::milliseconds>(end_ - now));
        Question question(*impl_.channel, impl_.nodes, device_, impl_.options.timeout,
                          now + std::min(impl_.options.timeout, left));
        Reading<std::uint32_t> boot, health;
        std::uint32_t started = 0;
        question.basic_of<std::uint32_t>(
            DV_BASIC_BOOT_STATUS, static_cast<std::uint32_t>(device_.physical_id),
            [&](const Reading<std::uint32_t>& value) { boot = value; });
        question.basic<std::uint32_t>(DV_BASIC_HEALTH,
                                      [&](const Reading<std::uint32_t>& value) { health = value; });
        dv_startup startup{};
        startup.device_id = id();
        question.devmng(DV_M_STARTUP, startup, [&](const FlatQuery<dv_startup>& query) {
            if (query.call.state == Call::State::done && query.call.result == 0)
                started = query.argument.process_status;
        });
        impl_.ask(question);
        last_ = boot;
        if (boot && (!shown_ || *shown_ != *boot)) {
            shown_ = *boot;
            if (progress_)
                progress_(*boot);
        }
        if (!boot || *boot != DV_BOOT_STARTED || started != DV_STARTUP_FINISHED || !health ||
            !health_from_wire(*health))
            return false;
        if (!before)
            return true;
        const Reading<SimDevice> after = facts();
        return after && after->reset_outcome != DS_RESET_RUNNING &&
               after->reset_count != before->reset_count;
    }

    ActionResult not_back() {
        ActionResult result;
        result.kind = ActionResult::Kind::failed;
        result.text = "reset FAILED: not back after " + seconds(limit_);
        if (last_)
            result.text += " (boot status " + std::to_string(*last_) + ")";
        else if (last_.absence().reason == Reason::lost) {
            result.kind = ActionResult::Kind::lost;
            result.text += " (the driver has lost the device)";
        } else {
            result.text += " (" + last_.absence().detail + ")";
        }
        result.error = last_ ? 0 : last_.absence().error;
        if (impl_.info.virtual_clock)
            result.text += "; the simulator's clock is virtual: 'davsim clock advance' moves it";
        return result;
    }

    // Success is what the device itself shows afterwards.
    ActionResult look_again() {
        const Reading<SimDevice> after = facts();
        ActionResult result;
        if (after && after->reset_outcome == DS_RESET_FAILED) {
            result.kind = ActionResult::Kind::failed;
            result.text = "reset FAILED: the driver says so";
            return result;
        }
        const auto snapshot =
            driver_.snapshot(std::span(&device_, 1), Ask::state | Ask::memory).front();
        if (snapshot.state != DeviceState::ok) {
            result.kind = snapshot.state == DeviceState::lost ? ActionResult::Kind::lost
                                                              : ActionResult::Kind::failed;
            result.text = "reset FAILED: the device came back but is " +
                          std::string(to_string(snapshot.state)) + " (" + snapshot.state_detail +
                          ")";
            return result;
        }
        if (!snapshot.hbm_used_mib)
            return result_of(snapshot.hbm_used_mib.absence(),
                             "reset FAILED: the device came back but its memory cannot be read");
        if (snapshot.hbm_unowned_mib && *snapshot.hbm_unowned_mib > 0) {
            result.kind = ActionResult::Kind::failed;
            result.text = "reset FAILED: the device is back, but " +
                          std::to_string(*snapshot.hbm_unowned_mib) +
                          " MB are still held by no live process";
            return result;
        }
        result.text = "boot status 16, " + std::to_string(*snapshot.hbm_used_mib) + " MB in use";
        return result;
    }

    Driver& driver_;
    Driver::Impl& impl_;
    const DeviceIds& device_;
    std::chrono::milliseconds limit_;
    const std::function<void(std::uint32_t boot_status)>& progress_;
    TimePoint end_{};
    Reading<std::uint32_t> last_;
    std::optional<std::uint32_t> shown_;
};

} // namespace

ActionResult Driver::reset(const DeviceIds& device, std::chrono::milliseconds limit,
                           const std::function<void(std::uint32_t boot_status)>& progress) {
    impl_->enter();
    return Reset(*this, *impl_, device, limit, progress).run();
}

ActionResult Driver::clear_ecc(const DeviceIds& device) {
    impl_->enter();
    Question question(*impl_->channel, impl_->nodes, device, impl_->options.timeout,
                      impl_->now_plus(impl_->options.timeout));
    std::optional<Absence> refused;
    question.dmp({DV_DMP_ECC_CLEAR, DV_DMP_OP_CONFIGURE, {}},
                 [&](const Reading<std::vector<std::uint8_t>>& reply) {
                     if (!reply)
                         refused = reply.absence();
                 });
    impl_->ask(question);
    if (refused)
        return result_of(*refused, "ECC counters not cleared");
    const DeviceSnapshot snapshot = this->snapshot(std::span(&device, 1), Ask::ecc).front();
    if (!snapshot.ecc)
        return result_of(snapshot.ecc.absence(), "cleared, but the counters cannot be read");
    ActionResult result;
    if (snapshot.ecc->single_bit != 0 || snapshot.ecc->double_bit != 0) {
        result.kind = ActionResult::Kind::failed;
        result.text = "the device took the command, but counts " +
                      std::to_string(snapshot.ecc->single_bit) + " single and " +
                      std::to_string(snapshot.ecc->double_bit) + " double bit errors";
    }
    return result;
}

Reading<std::uint64_t> Driver::hold_memory(const DeviceIds& device, std::uint64_t bytes,
                                           bool context) {
    impl_->enter();
    if (!impl_->is_simulator())
        return Absence{Reason::unsupported, 0,
                       "memory of a real device is allocated by its runtime, not by this program"};
    if (impl_->channel->files() == Channel::Files::nodes && impl_->options.isolate)
        return Absence{Reason::failed, 0,
                       "this connection calls through a helper process, which would be the owner"};
    Call open;
    open.op = Call::Op::open;
    open.number = DV_NODE_IS_DEVICE;
    open.index = static_cast<std::uint32_t>(device.physical_id);
    impl_->channel->call(open, impl_->now_plus(impl_->options.timeout));
    if (open.state != Call::State::done || open.result != 0) {
        Absence absence = absence_of_call(open, *impl_->channel, impl_->options.timeout);
        if (open.state == Call::State::done)
            absence.detail = "the node of device " + std::to_string(device.logical_id) +
                             " does not open: " + absence.detail;
        return absence;
    }
    ds_alloc argument{};
    argument.size = sizeof(argument);
    argument.device_id = static_cast<std::uint32_t>(device.logical_id);
    argument.bytes = bytes;
    argument.flags = context ? DS_ALLOC_CONTEXT : 0;
    const Reading<ds_alloc> got =
        impl_->flat(impl_->nodes.davsim, DS_ALLOC, argument, impl_->options.timeout);
    if (!got) {
        impl_->channel->close(open.node);
        Absence absence = got.absence();
        if (absence.error == -ENOMEM)
            absence.detail = "the device has not that much memory free in one piece";
        else if (absence.error == -ENOSPC)
            absence.detail = "the device's table of owners or allocations is full";
        else if (absence.error == -EBUSY || absence.error == DV_E_RESETTING)
            absence.detail = "the device is being reset";
        return absence;
    }
    impl_->held_nodes.push_back(open.node);
    return got->address;
}

} // namespace asc::hal

// SPDX-License-Identifier: Apache-2.0
// The simulator's controls: rules, clock, hot-plug (davsim.h).
#include "hal/driver_impl.hpp"

#include <cerrno>

namespace asc::hal {

namespace {

ActionResult to_action(const Absence& absence) {
    ActionResult result;
    result.error = absence.error;
    result.text = absence.detail;
    result.kind = absence.reason == Reason::denied        ? ActionResult::Kind::denied
                  : absence.reason == Reason::unsupported ? ActionResult::Kind::unsupported
                  : absence.reason == Reason::timeout     ? ActionResult::Kind::timeout
                  : absence.reason == Reason::lost        ? ActionResult::Kind::lost
                                                          : ActionResult::Kind::failed;
    return result;
}

} // namespace

Reading<std::uint32_t> Driver::add_rule(const std::string& text) {
    impl_->enter();
    if (text.size() >= DS_TEXT_MAX)
        return Absence{Reason::failed, -EINVAL,
                       "a rule has at most " + std::to_string(DS_TEXT_MAX - 1) + " characters"};
    ds_rule_add argument{};
    argument.size = sizeof(argument);
    argument.length = static_cast<std::uint32_t>(text.size());
    std::memcpy(argument.text, text.data(), text.size());
    const Reading<ds_rule_add> answer =
        impl_->flat(impl_->nodes.davsim, DS_RULE_ADD, argument, impl_->options.timeout);
    if (answer)
        return answer->id;
    Absence absence = answer.absence();
    if (absence.error == -EINVAL || absence.error == -ENOSPC) {
        ds_rule_add refused{};
        std::memcpy(&refused, impl_->refused.data(), sizeof(refused));
        const std::string why = text_from_wire(refused.error, sizeof(refused.error));
        if (!why.empty())
            absence.detail =
                absence.error == -EINVAL
                    ? "at character " + std::to_string(refused.error_position + 1) + ": " + why
                    : why;
    }
    return absence;
}

ActionResult Driver::clear_rule(std::uint32_t id) {
    impl_->enter();
    const ds_rule_clear argument{sizeof(argument), id};
    const auto answer =
        impl_->flat(impl_->nodes.davsim, DS_RULE_CLEAR, argument, impl_->options.timeout);
    if (answer)
        return {};
    ActionResult result = to_action(answer.absence());
    if (answer.absence().error == -ENOENT)
        result.text = "no rule " + std::to_string(id);
    return result;
}

Reading<std::vector<RuleState>> Driver::rules() {
    impl_->enter();
    std::vector<RuleState> all;
    std::uint32_t next = 1;
    for (;;) {
        ds_rule_get argument{};
        argument.size = sizeof(argument);
        argument.id = next;
        const Reading<ds_rule_get> answer =
            impl_->flat(impl_->nodes.davsim, DS_RULE_GET, argument, impl_->options.timeout);
        if (!answer && answer.absence().error == -ENOENT)
            return all;
        if (!answer)
            return answer.absence();
        if (answer->id < next)
            return Absence{Reason::failed, 0, "the list of rules runs backwards"};
        all.push_back(rule_from_wire(*answer));
        next = answer->id + 1;
    }
}

Reading<std::uint64_t> Driver::advance_clock(std::chrono::nanoseconds by) {
    impl_->enter();
    ds_clock argument{};
    argument.size = sizeof(argument);
    argument.operation = by.count() > 0 ? DS_CLOCK_ADVANCE : DS_CLOCK_GET;
    argument.advance_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(0, by.count()));
    const Reading<ds_clock> answer =
        impl_->flat(impl_->nodes.davsim, DS_CLOCK, argument, impl_->options.timeout);
    if (answer)
        return answer->now_ns;
    Absence absence = answer.absence();
    if (absence.error == -EINVAL)
        absence.detail = "the simulator's clock is the real one, which goes by itself";
    return absence;
}

ActionResult Driver::hotplug(const DeviceIds& device, int operation) {
    impl_->enter();
    if (operation < 0 || operation > static_cast<int>(DS_HOTPLUG_LOSE)) {
        ActionResult result;
        result.kind = ActionResult::Kind::failed;
        result.text = "operation 0 removes, 1 restores, 2 loses; not " + std::to_string(operation);
        return result;
    }
    const ds_hotplug argument{sizeof(argument), static_cast<std::uint32_t>(device.logical_id),
                              static_cast<std::uint32_t>(operation), 0};
    const auto answer =
        impl_->flat(impl_->nodes.davsim, DS_HOTPLUG, argument, impl_->options.timeout);
    return answer ? ActionResult{} : to_action(answer.absence());
}

} // namespace asc::hal

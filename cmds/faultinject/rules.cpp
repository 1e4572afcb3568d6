// SPDX-License-Identifier: Apache-2.0
// list, add, clear: the rules of a running simulator.
#include "cmds/faultinject/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace asc::cmds::faultinject {

namespace {

constexpr std::size_t kRuleMax = 255; // characters

constexpr Column<hal::RuleState> kColumns[] = {
    {"id",
     [](const hal::RuleState& rule) {
         return Field(Cell{rule.id, {}});
     }},
    {"matches",
     [](const hal::RuleState& rule) {
         return Field(Cell{rule.matches, {}});
     }},
    {"hits",
     [](const hal::RuleState& rule) {
         return Field(Cell{rule.hits, {}});
     }},
    // null without a limit, which is no missing value
    {"remaining",
     [](const hal::RuleState& rule) {
         return Field(rule.limited ? Cell{rule.remaining, {}} : Cell{nullptr, "unlimited"});
     }},
    {"rule",
     [](const hal::RuleState& rule) {
         return Field(Cell{valid_utf8(rule.text), {}});
     }},
};

std::expected<Records, hal::Absence> take_rules(hal::Driver& driver) {
    const auto rules = driver.rules();
    if (!rules)
        return std::unexpected(rules.absence());
    return make_records<hal::RuleState>("asc-tools/faultinject.rules/1", "rules", kColumns, *rules);
}

// The number that stands behind dev= in a rule's text, and where; none when there is no such word
// or it is no number, which the driver will say better.
struct Named {
    int device = -1;
    std::size_t position = 0;
};
Named named_device(std::string_view text) {
    for (std::size_t at = text.find("dev="); at != std::string_view::npos;
         at = text.find("dev=", at + 1)) {
        if (at != 0 && text[at - 1] != ' ')
            continue;
        const std::string_view value = text.substr(at + 4, text.find(' ', at) - at - 4);
        int device = -1;
        const auto [end, error] =
            std::from_chars(value.data(), value.data() + value.size(), device);
        if (error == std::errc{} && end == value.data() + value.size())
            return {device, at + 4};
    }
    return {};
}

// A complaint, and the text with a mark below the character that it is about.
int refuse(const Session& session, const std::string& what, const std::string& text,
           std::size_t position) {
    session.streams.error(what);
    session.streams.notice("  " + text);
    session.streams.notice(fmt::format("  {}^", std::string(position, ' ')));
    return session.streams.finish(status::usage, status::failed);
}

} // namespace

int list_rules(const Session& session) {
    auto driver = connect(session);
    if (!driver)
        return driver.error();
    return show(session, &driver->backend(), [&] { return take_rules(*driver); });
}

int add_rule(const Session& session) {
    std::string text;
    for (const std::string& word : session.arguments.operands)
        text.append(text.empty() ? "" : " ").append(word);
    auto driver = connect(session);
    if (!driver)
        return driver.error();
    const Named named = named_device(text);
    const auto& devices = driver->devices();
    if (named.device >= 0 &&
        std::ranges::find(devices, named.device, &hal::DeviceIds::logical_id) == devices.end())
        return refuse(session,
                      fmt::format("at character {}: there is no device {}; there are {}",
                                  named.position + 1, named.device, devices.size()),
                      text, named.position);
    const auto id = driver->add_rule(text);
    if (!id) {
        const hal::Absence& why = id.absence();
        const std::string what = why.detail.empty() ? "the rule is not taken" : why.detail;
        constexpr std::string_view kAt = "at character ";
        std::size_t position = 0;
        if (what.starts_with(kAt))
            std::from_chars(what.data() + kAt.size(), what.data() + what.size(), position);
        if (position > 0)
            return refuse(session, what, text, position - 1);
        return session.fail(text.size() > kRuleMax ? status::usage : status_of_absence(why), what);
    }
    return show(session, &driver->backend(), [&]() -> std::expected<Records, hal::Absence> {
        auto rules = take_rules(*driver);
        if (rules)
            std::erase_if(rules->rows, [&](const std::vector<Field>& row) {
                return row.front()->value != Json(*id);
            });
        return rules;
    });
}

int clear_rules(const Session& session) {
    auto driver = connect(session);
    if (!driver)
        return driver.error();
    const auto rules = driver->rules();
    if (!rules)
        return session.fail(status_of_absence(rules.absence()), rules.absence().detail);
    // All ids are looked at before the first rule goes.
    std::vector<std::uint32_t> ids;
    for (const std::string& word : session.arguments.operands) {
        std::uint32_t id = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
        if (error != std::errc{} || end != word.data() + word.size() || id == 0)
            return session.usage(fmt::format("'{}' is no rule's id", printable(word)));
        if (std::ranges::find(*rules, id, &hal::RuleState::id) == rules->end())
            return session.fail(status::usage, fmt::format("there is no rule {}; nothing is taken "
                                                           "back ('faultinject list' shows them)",
                                                           id));
        ids.push_back(id);
    }
    if (ids.empty())
        ids.push_back(0); // all
    for (const std::uint32_t id : ids)
        if (const hal::ActionResult done = driver->clear_rule(id); !done)
            return session.fail(done.kind == hal::ActionResult::Kind::denied ? status::not_permitted
                                                                             : status::failed,
                                done.text.empty() ? "the rules are not taken back" : done.text);
    return session.streams.finish(status::ok, status::failed);
}

} // namespace asc::cmds::faultinject

// SPDX-License-Identifier: Apache-2.0
#include "faultinject/scenario/judge.hpp"

#include "faultinject/scenario/words.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace asc::faultinject {

namespace {

constexpr std::size_t kValueShown = 200;

std::string shown(const Json& value) {
    std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (text.size() > kValueShown)
        text = text.substr(0, kValueShown) + "...";
    return text;
}

std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        lines.push_back(squeezed(text.substr(0, end)));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

// The element itself, or an object that has at least these members.
bool includes(const Json& element, const Json& wanted) {
    if (!wanted.is_object() || !element.is_object())
        return element == wanted;
    return std::ranges::all_of(wanted.items(), [&](const auto& member) {
        const auto found = element.find(member.key());
        return found != element.end() && includes(*found, member.value());
    });
}

bool has(const Json& place, const Json& wanted) {
    if (place.is_string())
        return wanted.is_string() && place.get_ref<const std::string&>().find(
                                         wanted.get_ref<const std::string&>()) != std::string::npos;
    if (place.is_array())
        return std::ranges::any_of(place, [&](const Json& e) { return includes(e, wanted); });
    return includes(place, wanted);
}

bool compares(const Check& check, const Json& place) {
    using How = Check::How;
    if (!place.is_number())
        return false;
    const double left = place.get<double>(), right = check.value.get<double>();
    switch (check.how) {
    case How::less:
        return left < right;
    case How::less_equal:
        return left <= right;
    case How::greater:
        return left > right;
    case How::greater_equal:
        return left >= right;
    default:
        return std::abs(left - right) <= check.within;
    }
}

// The reason that "unavailable" beside a null gives: it stands in the nearest object above that has
// such a member, under the rest of the path with dots.
std::string reason_of(const Json& document, const std::string& pointer) {
    Json::json_pointer place(pointer);
    std::string rest;
    while (!place.empty()) {
        rest = rest.empty() ? place.back() : place.back() + "." + rest;
        place = place.parent_pointer();
        const Json& above = document.at(place);
        if (above.is_object() && above.contains("unavailable") &&
            above["unavailable"].contains(rest))
            return above["unavailable"][rest].value("reason", "");
    }
    return {};
}

std::string missing_complaint(const Check& check, const Json& document, const Json& place) {
    if (!place.is_null())
        return "is " + shown(place) + ", not missing";
    if (!check.value.is_string())
        return {};
    const std::string reason = reason_of(document, check.pointer);
    if (reason == check.value.get_ref<const std::string&>())
        return {};
    return "is missing because of '" + reason + "', not '" + check.value.get<std::string>() + "'";
}

void look_for_texts(const Expectation& expect, const Finished& finished,
                    std::vector<std::string>& out) {
    const std::vector<std::string> lines = lines_of(finished.out);
    const std::vector<std::string> error_lines = lines_of(finished.error);
    const auto part = [](const std::string& line, const std::string& text) {
        return line.find(text) != std::string::npos;
    };
    const auto any = [](const std::vector<std::string>& among, const std::string& text,
                        const auto& matches) {
        return std::ranges::any_of(among, [&](const auto& line) { return matches(line, text); });
    };
    for (const std::string& text : expect.text)
        if (!any(lines, text, part))
            out.push_back("no line has '" + text + "'");
    for (const std::string& text : expect.not_text)
        if (any(lines, text, part))
            out.push_back("a line has '" + text + "'");
    for (const std::string& text : expect.line)
        if (!any(lines, text, std::equal_to<>()))
            out.push_back("no line is '" + text + "'");
    for (const std::string& text : expect.not_line)
        if (any(lines, text, std::equal_to<>()))
            out.push_back("a line is '" + text + "'");
    for (const std::string& text : expect.error_text)
        if (!any(error_lines, text, part))
            out.push_back("no line of standard error has '" + text + "'");
}

} // namespace

std::string complaint(const Check& check, const Json& document) {
    using How = Check::How;
    const Json::json_pointer pointer(check.pointer);
    const std::string who = check.pointer.empty() ? "the document" : check.pointer;
    if (!document.contains(pointer))
        return check.how == How::absent ? std::string() : who + " is not there";
    const Json& place = document.at(pointer);
    bool holds = false;
    switch (check.how) {
    case How::absent:
        break;
    case How::equal:
        holds = place == check.value;
        break;
    case How::not_equal:
        holds = !place.is_null() && place != check.value; // an unknown is not another value
        break;
    case How::has:
        holds = has(place, check.value);
        break;
    case How::lacks:
        holds = !place.is_null() && !has(place, check.value); // nor one without it
        break;
    case How::length:
        // A number has no length, and null is an unknown one.
        holds = (place.is_array() || place.is_object() || place.is_string()) &&
                (place.is_string() ? place.get_ref<const std::string&>().size() : place.size()) ==
                    check.value.get<std::size_t>();
        break;
    case How::missing: {
        const std::string what = missing_complaint(check, document, place);
        return what.empty() ? what : who + " " + what;
    }
    default:
        holds = compares(check, place);
    }
    if (holds)
        return {};
    std::string wanted = shown(check.value);
    if (check.how == How::near)
        wanted += " within " + shown(check.within);
    return who + " is " + shown(place) +
           (check.how == How::equal ? ", not " + wanted
                                    : ", not " + std::string(to_string(check.how)) + " " + wanted);
}

std::vector<std::string> complaints(const Expectation& expect, const Finished& finished) {
    std::vector<std::string> out;
    if (finished.timed_out) {
        out.push_back("it did not end in time and was killed");
        return out;
    }
    const std::vector<int> statuses = expect.status.value_or(std::vector<int>{0});
    if (std::ranges::find(statuses, finished.status) == statuses.end()) {
        std::string wanted;
        for (const int status : statuses)
            wanted.append(wanted.empty() ? "" : " or ").append(std::to_string(status));
        out.push_back("it ended with status " + std::to_string(finished.status) + ", not " +
                      wanted);
    }
    look_for_texts(expect, finished, out);
    if (expect.json.empty())
        return out;
    const Json document = Json::parse(finished.out, nullptr, false);
    if (document.is_discarded()) {
        out.push_back("standard output is no JSON document");
        return out;
    }
    for (const Check& check : expect.json)
        if (std::string what = complaint(check, document); !what.empty())
            out.push_back(std::move(what));
    return out;
}

} // namespace asc::faultinject

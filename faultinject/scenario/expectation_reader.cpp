// SPDX-License-Identifier: Apache-2.0
// The part of a scenario that says what must be seen.
#include "faultinject/scenario/toml_values.hpp"
#include "faultinject/scenario/words.hpp"

#include <algorithm>
#include <utility>

namespace asc::faultinject {

namespace {

constexpr std::pair<std::string_view, Check::How> kHow[] = {
    {"eq", Check::How::equal},        {"ne", Check::How::not_equal},
    {"lt", Check::How::less},         {"le", Check::How::less_equal},
    {"gt", Check::How::greater},      {"ge", Check::How::greater_equal},
    {"near", Check::How::near},       {"has", Check::How::has},
    {"lacks", Check::How::lacks},     {"length", Check::How::length},
    {"missing", Check::How::missing}, {"absent", Check::How::absent},
};

Words condition_words() {
    Words words{"within"};
    for (const auto& [name, how] : kHow)
        words.push_back(name);
    return words;
}

void check_operand(const Place& place, std::string_view key, const toml::node& node,
                   const Check& check) {
    using How = Check::How;
    switch (check.how) {
    case How::less:
    case How::less_equal:
    case How::greater:
    case How::greater_equal:
    case How::near:
        if (!check.value.is_number())
            place.fail(node.source(), key, "a number is expected, not " + kind_of(node));
        return;
    case How::length:
        if (!check.value.is_number_integer() || check.value.get<std::int64_t>() < 0)
            place.fail(node.source(), key, "a length is expected: a whole number from 0 on");
        return;
    case How::missing:
        if (!check.value.is_string() && check.value != Json(true))
            place.fail(node.source(), key, "a reason such as \"failed\", or true, is expected");
        return;
    case How::absent:
        if (check.value != Json(true))
            place.fail(node.source(), key, "true is expected");
        return;
    default:
        return;
    }
}

Check read_check(const Place& place, std::string_view pointer, const toml::node& node) {
    Check check;
    check.pointer = pointer;
    try {
        (void)Json::json_pointer(check.pointer);
    } catch (const Json::exception&) {
        place.fail(node.source(), pointer, "no JSON pointer; it is as \"/devices/0/power_w\"");
    }
    const auto* table = node.as_table();
    if (!table) {
        check.value = json_of(place, pointer, node);
        return check;
    }
    const Place inside = place.in(std::string(pointer));
    refuse_unknown(inside, *table, condition_words());
    int found = 0;
    for (const auto& [name, how] : kHow)
        if (const toml::node* value = table->get(name)) {
            ++found;
            check.how = how;
            check.value = json_of(inside, name, *value);
            check_operand(inside, name, *value, check);
        }
    if (found != 1)
        inside.fail(node.source(), "", "one comparison is expected, such as { ge = 3 }");
    const toml::node* within = table->get("within");
    if ((check.how == Check::How::near) != (within != nullptr))
        inside.fail(node.source(), "within", "'near' and 'within' stand together");
    if (within) {
        const auto tolerance = within->value<double>();
        if (!tolerance || !(*tolerance >= 0))
            inside.fail(within->source(), "within", "a number from 0 on is expected");
        check.within = *tolerance;
    }
    return check;
}

} // namespace

Expectation read_expectation(const Place& place, const toml::table& table) {
    refuse_unknown(place, table,
                   {"status", "json", "text", "not_text", "line", "not_line", "error_text"});
    Expectation expect;
    expect.given = true;
    if (const toml::node* node = table.get("status")) {
        expect.status.emplace();
        if (const auto* array = node->as_array())
            for (const toml::node& element : *array)
                expect.status->push_back(
                    static_cast<int>(whole_of(place, "status", element, 0, 255)));
        else
            expect.status->push_back(static_cast<int>(whole_of(place, "status", *node, 0, 255)));
    }
    if (const toml::node* node = table.get("json"))
        for (const auto& [pointer, value] : table_of(place, "json", *node))
            expect.json.push_back(read_check(place.in("json"), pointer.str(), value));
    const std::pair<const char*, std::vector<std::string>*> lists[] = {
        {"text", &expect.text},
        {"not_text", &expect.not_text},
        {"line", &expect.line},
        {"not_line", &expect.not_line},
        {"error_text", &expect.error_text}};
    for (const auto& [key, list] : lists)
        if (const toml::node* node = table.get(key))
            for (const std::string& text : texts_of(place, key, *node)) {
                list->push_back(squeezed(text));
                if (list->back().empty())
                    place.fail(node->source(), key, "a text that is not blank is expected");
            }
    return expect;
}

std::string_view to_string(Check::How how) {
    const auto found = std::ranges::find(kHow, how, [](const auto& row) { return row.second; });
    return found->first;
}

} // namespace asc::faultinject

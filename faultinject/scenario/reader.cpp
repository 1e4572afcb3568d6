// SPDX-License-Identifier: Apache-2.0
// From TOML to a scenario. Whatever is wrong is said with file, line, column, key and what is
// expected there.
#include "faultinject/scenario/scenario.hpp"
#include "faultinject/scenario/toml_values.hpp"
#include "faultinject/scenario/words.hpp"

#include <algorithm>
#include <csignal>
#include <set>
#include <sstream>
#include <utility>

namespace asc::faultinject {

namespace {

struct KindRow {
    std::string_view key;
    Step::Kind kind;
    Words others; // keys that the step takes besides at
};

const std::vector<KindRow>& kinds() {
    using Kind = Step::Kind;
    static const std::vector<KindRow> rows = {
        {"inject", Kind::inject, {"as"}},
        {"clear", Kind::clear, {}},
        {"run", Kind::run, {"expect", "notices", "limit", "pass", "pass_limit"}},
        {"start", Kind::start, {"as"}},
        {"kill", Kind::kill, {"signal"}},
        {"wait", Kind::wait, {"expect", "notices", "limit"}},
        {"settle", Kind::settle, {"expect", "notices", "limit", "within", "every"}},
        {"advance", Kind::advance, {}},
        {"lose", Kind::lose, {}},
        {"restore", Kind::restore, {}},
        {"remove", Kind::remove, {}},
    };
    return rows;
}

constexpr std::pair<std::string_view, int> kSignals[] = {
    {"KILL", SIGKILL}, {"TERM", SIGTERM}, {"INT", SIGINT},   {"HUP", SIGHUP},
    {"STOP", SIGSTOP}, {"CONT", SIGCONT}, {"QUIT", SIGQUIT},
};

int signal_of(const Place& place, const toml::node& node) {
    const std::string name = text_of(place, "signal", node);
    Words known;
    for (const auto& [word, number] : kSignals) {
        if (word == name)
            return number;
        known.push_back(word);
    }
    place.fail(node.source(), "signal", "no signal '" + name + "'; known: " + joined(known));
}

std::vector<std::string> words_of(const Place& place, std::string_view key,
                                  const toml::node& node) {
    if (const auto* array = node.as_array()) {
        std::vector<std::string> words = texts_of(place, key, *array);
        if (words.empty() || words.front().empty())
            place.fail(node.source(), key, "a command is expected");
        return words;
    }
    auto words = split_words(text_of(place, key, node));
    if (!words)
        place.fail(node.source(), key, words.error());
    return *words;
}

const KindRow& kind_of_step(const Place& place, const toml::table& table) {
    const KindRow* found = nullptr;
    Words known;
    for (const KindRow& row : kinds()) {
        known.push_back(row.key);
        if (!table.contains(row.key))
            continue;
        if (found)
            place.fail(table.get(row.key)->source(), row.key,
                       "a step does one thing; this one does '" + std::string(found->key) +
                           "' already");
        found = &row;
    }
    if (found)
        return *found;
    // A slip in the action's own name is the likeliest reason.
    for (const auto& [key, node] : table)
        if (const std::string_view near = nearest_word(key.str(), known); !near.empty())
            place.fail(key.source(), key.str(),
                       "unknown key; did you mean '" + std::string(near) + "'?");
    place.fail(table.source(), "", "a step needs one of: " + joined(known));
}

void read_action(const Place& place, const KindRow& row, const toml::node& node, Step& step) {
    switch (row.kind) {
    case Step::Kind::run:
    case Step::Kind::start:
    case Step::Kind::settle:
        step.words = words_of(place, row.key, node);
        return;
    case Step::Kind::advance:
        step.duration_ns = duration_of(place, row.key, node);
        return;
    case Step::Kind::lose:
    case Step::Kind::restore:
    case Step::Kind::remove:
        step.device = static_cast<std::uint32_t>(whole_of(place, row.key, node, 0, 63));
        return;
    default:
        step.text = text_of(place, row.key, node);
        if (step.text.empty())
            place.fail(node.source(), row.key, "a text that is not empty is expected");
    }
}

constexpr std::uint64_t kMs = 1000000, kSecond = 1000000000;

void read_details(const Place& place, const toml::table& table, Step& step) {
    if (const toml::node* node = table.get("at"))
        step.at_ns = duration_of(place, "at", *node);
    if (const toml::node* node = table.get("as"))
        step.name = text_of(place, "as", *node);
    if (const toml::node* node = table.get("expect"))
        step.expect = read_expectation(place.in("expect"), table_of(place, "expect", *node));
    if (const toml::node* node = table.get("notices"))
        step.notices = texts_of(place, "notices", *node);
    if (const toml::node* node = table.get("signal"))
        step.signal = signal_of(place, *node);
    if (const toml::node* node = table.get("limit"))
        step.limit_ms = duration_of(place, "limit", *node) / kMs;
    if (step.kind == Step::Kind::settle) {
        step.within_ns = 10 * kSecond;
        step.every_ns = 100 * kMs;
    }
    if (const toml::node* node = table.get("within"))
        step.within_ns = duration_of(place, "within", *node);
    if (const toml::node* node = table.get("every"))
        step.every_ns = duration_of(place, "every", *node);
    if (step.kind == Step::Kind::settle &&
        (step.every_ns == 0 || step.within_ns / step.every_ns > 100000))
        place.fail(table.source(), "every", "at most 100000 looks are taken; make it longer");
    if (const toml::node* node = table.get("pass")) {
        step.pass_ns = duration_of(place, "pass", *node);
        step.pass_limit_ns = 600 * kSecond;
    }
    if (const toml::node* node = table.get("pass_limit"))
        step.pass_limit_ns = duration_of(place, "pass_limit", *node);
    if (table.contains("pass_limit") && step.pass_ns == 0)
        place.fail(table.source(), "pass_limit", "stands with 'pass' alone");
    if (step.pass_ns != 0 && step.pass_limit_ns / step.pass_ns > 1000000)
        place.fail(table.source(), "pass", "at most 1000000 steps are taken; make it longer");
    if ((step.kind == Step::Kind::settle || !step.notices.empty()) && !step.expect.given)
        place.fail(table.source(), "expect", "is missing: what must be seen?");
    if (step.kind == Step::Kind::start && step.name.empty())
        place.fail(table.source(), "as", "is missing: a name for the process, to kill it by");
}

Step read_step(const Place& place, const toml::table& table) {
    const KindRow& row = kind_of_step(place, table);
    Words known = row.others;
    known.push_back("at");
    known.push_back(row.key);
    refuse_unknown(place, table, known);
    Step step;
    step.kind = row.kind;
    step.line = table.source().begin.line;
    read_action(place, row, *table.get(row.key), step);
    read_details(place, table, step);
    return step;
}

// Names stand before they are used, times ascend, and what the clock cannot do is refused.
class Order {
  public:
    Order(const Place& place, Clock clock) : place_(place), clock_(clock) {}

    void look_at(const toml::table& table, const Place& place, const Step& step) {
        if (step.at_ns && *step.at_ns < last_)
            place.fail(table.get("at")->source(), "at",
                       duration_text(*step.at_ns) + " is before the step above (" +
                           duration_text(last_) + ")");
        last_ = step.at_ns.value_or(last_);
        if (clock_ == Clock::real && (step.kind == Step::Kind::advance || step.pass_ns != 0))
            place.fail(table.source(), step.pass_ns != 0 ? "pass" : "advance",
                       "only a virtual clock is moved (clock = \"virtual\")");
        switch (step.kind) {
        case Step::Kind::inject:
            define(table, place, step.name, rules_);
            return;
        case Step::Kind::start:
            define(table, place, step.name, processes_);
            return;
        case Step::Kind::clear:
            if (step.text != "all")
                need(table, place, "clear", step.text, rules_);
            return;
        case Step::Kind::kill:
        case Step::Kind::wait:
            need(table, place, step.kind == Step::Kind::kill ? "kill" : "wait", step.text,
                 processes_);
            return;
        default:
            return;
        }
    }

  private:
    using Names = std::set<std::string>;

    static void define(const toml::table& table, const Place& place, const std::string& name,
                       Names& names) {
        if (!name.empty() && !names.insert(name).second)
            place.fail(table.get("as")->source(), "as", "'" + name + "' is taken already");
    }

    static void need(const toml::table& table, const Place& place, std::string_view key,
                     const std::string& name, const Names& names) {
        if (names.contains(name))
            return;
        const std::string_view near = nearest_word(name, {names.begin(), names.end()});
        place.fail(
            table.get(key)->source(), key,
            "no step above is called '" + name + "'" +
                (near.empty() ? std::string() : "; did you mean '" + std::string(near) + "'?"));
    }

    const Place& place_;
    Clock clock_;
    std::uint64_t last_ = 0;
    Names rules_, processes_;
};

void read_profile(const Place& place, const toml::node& node, Scenario& scenario) {
    if (node.is_string()) {
        scenario.profile = text_of(place, "profile", node);
        return;
    }
    const toml::table& table = table_of(place, "profile", node);
    if (const toml::node* use = table.get("use")) {
        refuse_unknown(place.in("profile"), table, {"use"});
        scenario.profile = text_of(place.in("profile"), "use", *use);
        return;
    }
    std::ostringstream text;
    text << toml::toml_formatter{table};
    scenario.profile_text = text.str() + "\n";
}

void read_backends(const Place& place, const toml::node& node, Scenario& scenario) {
    scenario.backends.clear();
    for (const std::string& name : texts_of(place, "backends", node)) {
        const auto backend = backend_of(name);
        if (!backend)
            place.fail(node.source(), "backends",
                       "no backend '" + name + "'; known: socket, inproc, chardev");
        scenario.backends.push_back(*backend);
    }
    if (scenario.backends.empty())
        place.fail(node.source(), "backends", "at least one is expected");
}

const toml::array& steps_of(const Place& place, const toml::table& root) {
    const toml::node* node = root.get("step");
    const auto* steps = node ? node->as_array() : nullptr;
    if (!steps || steps->empty() ||
        !std::ranges::all_of(*steps, [](const toml::node& n) { return n.is_table(); }))
        place.fail(node ? node->source() : root.source(), "step",
                   "at least one table [[step]] is expected");
    if (steps->size() > kStepsMax)
        place.fail(node->source(), "step",
                   "at most " + std::to_string(kStepsMax) + " steps are taken");
    return *steps;
}

Scenario read_root(const Place& place, const toml::table& root) {
    refuse_unknown(place, root,
                   {"description", "profile", "clock", "seed", "backends", "limit", "step"});
    Scenario scenario;
    scenario.source = place.source;
    std::string_view stem = place.source;
    stem.remove_prefix(stem.rfind('/') + 1); // npos + 1 is 0
    scenario.name = stem.substr(0, stem.rfind(".toml"));
    scenario.profile = "handbook";
    scenario.backends = {Backend::socket, Backend::inproc, Backend::chardev};
    std::uint64_t limit_ms = 30000;
    if (const toml::node* node = root.get("description"))
        scenario.description = text_of(place, "description", *node);
    if (const toml::node* node = root.get("profile"))
        read_profile(place, *node, scenario);
    if (const toml::node* node = root.get("clock")) {
        const std::string clock = text_of(place, "clock", *node);
        if (clock != "real" && clock != "virtual")
            place.fail(node->source(), "clock", "\"real\" or \"virtual\" is expected");
        scenario.clock = clock == "real" ? Clock::real : Clock::virtual_time;
    }
    if (const toml::node* node = root.get("seed"))
        scenario.seed = static_cast<std::uint64_t>(whole_of(place, "seed", *node, 0, INT64_MAX));
    if (const toml::node* node = root.get("backends"))
        read_backends(place, *node, scenario);
    if (const toml::node* node = root.get("limit"))
        limit_ms = duration_of(place, "limit", *node) / kMs;
    Order order(place, scenario.clock);
    for (const toml::node& node : steps_of(place, root)) {
        const Place inside = place.in("step[" + std::to_string(scenario.steps.size() + 1) + "]");
        Step step = read_step(inside, *node.as_table());
        step.index = scenario.steps.size();
        if (step.limit_ms == 0)
            step.limit_ms = std::max<std::uint64_t>(limit_ms, 1);
        order.look_at(*node.as_table(), inside, step);
        scenario.steps.push_back(std::move(step));
    }
    return scenario;
}

template <class Read>
auto guarded(std::string_view text, std::string_view source, Read read)
    -> std::expected<decltype(read(std::declval<toml::table&>())), std::string> {
    if (text.size() > kScenarioMax)
        return std::unexpected(std::string(source) + ": larger than " +
                               std::to_string(kScenarioMax) + " bytes");
    try {
        toml::table root = toml::parse(text, source);
        return read(root);
    } catch (const toml::parse_error& error) {
        return std::unexpected(
            std::string(source) + ":" + std::to_string(error.source().begin.line) + ":" +
            std::to_string(error.source().begin.column) + ": " + std::string(error.description()));
    } catch (const Fault& fault) {
        return std::unexpected(fault.text);
    }
}

} // namespace

std::string_view to_string(Backend backend) {
    return backend == Backend::socket   ? "socket"
           : backend == Backend::inproc ? "inproc"
                                        : "chardev";
}

std::optional<Backend> backend_of(std::string_view name) {
    for (const Backend backend : {Backend::socket, Backend::inproc, Backend::chardev})
        if (to_string(backend) == name)
            return backend;
    return std::nullopt;
}

std::string_view to_string(Step::Kind kind) {
    return std::ranges::find(kinds(), kind, &KindRow::kind)->key;
}

bool Scenario::runs_on(Backend backend) const {
    return std::ranges::find(backends, backend) != backends.end();
}

std::expected<Scenario, std::string> parse_scenario(std::string_view text,
                                                    std::string_view source) {
    return guarded(text, source, [&](toml::table& root) {
        return read_root(Place{source, {}}, root);
    });
}

std::expected<std::string, std::string> with_steps(std::string_view text, std::string_view source,
                                                   const std::vector<std::size_t>& steps) {
    return guarded(text, source, [&](toml::table& root) {
        toml::array kept;
        const toml::array& all = steps_of(Place{source, {}}, root);
        for (const std::size_t index : steps)
            kept.push_back(*all.get(index)->as_table());
        root.insert_or_assign("step", std::move(kept));
        std::ostringstream out;
        out << toml::toml_formatter{root};
        return out.str() + "\n";
    });
}

} // namespace asc::faultinject

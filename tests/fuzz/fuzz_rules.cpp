// SPDX-License-Identifier: Apache-2.0
// The rule parser on any bytes, and the engine on what it accepts. The input is a list of rules,
// one a line; the first two bytes of a line that starts with '!' choose other operations between
// them.
#include "faultinject/core/rules.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace {

void require(bool holds) {
    if (!holds)
        std::abort();
}

// An allocation of the text's own size, so that the address sanitizer sees a read behind its end.
std::unique_ptr<char[]> exact(std::string_view text) {
    auto copy = std::make_unique<char[]>(text.size());
    if (!text.empty())
        std::memcpy(copy.get(), text.data(), text.size());
    return copy;
}

void check_error(const fi_error& error, std::size_t length) {
    require(error.position <= length);
    require(error.text[0] != '\0');
    require(std::memchr(error.text, '\0', sizeof error.text) != nullptr);
    for (const char* c = error.text; *c; ++c)
        require(*c >= 0x20 && *c < 0x7F);
}

void check_rule(const fi_rule& rule) {
    require(rule.kind > FI_NONE && rule.kind < FI_KIND_COUNT);
    require(rule.device == FI_ANY || rule.device < FI_DEVICES_MAX);
    require(rule.probability_ppm <= 1000000 && rule.interval >= 1 && rule.times >= 1);
    require(std::memchr(rule.client_name, '\0', sizeof rule.client_name) != nullptr);
    require(std::memchr(rule.command, '\0', sizeof rule.command) != nullptr);
    require(rule.kind != FI_ECC || (rule.ecc_bits >= 1 && rule.ecc_bits <= 72));
    require(rule.kind != FI_SURFACE || (rule.command[0] && rule.mode));
    require(rule.period_rest == 0 || rule.period_rest < rule.ecc_rate_mhz);
    require(rule.hits <= rule.matches && rule.hits <= rule.times);
    const std::uint32_t remaining = fi_remaining(&rule);
    require(remaining == FI_UNLIMITED || rule.times == FI_UNLIMITED || remaining <= rule.times);
}

// Parses a text alone; what is accepted must read the same again from its own copy.
void parse_alone(std::string_view text) {
    const auto copy = exact(text);
    auto rule = std::make_unique<fi_rule>(), again = std::make_unique<fi_rule>();
    auto error = std::make_unique<fi_error>();
    if (fi_parse(copy.get(), static_cast<std::uint32_t>(text.size()), rule.get(), error.get()) !=
        0) {
        check_error(*error, text.size());
        return;
    }
    check_rule(*rule);
    require(std::string_view(rule->text, rule->text_length) == text);
    require(fi_parse(rule->text, rule->text_length, again.get(), error.get()) == 0);
    require(std::memcmp(rule.get(), again.get(), sizeof *rule) == 0);
}

class Engine {
  public:
    Engine() { fi_init(&set_, 7); }

    void add(std::string_view text) {
        const auto copy = exact(text);
        fi_error error;
        const std::uint32_t count = set_.count;
        const int id =
            fi_add(&set_, copy.get(), static_cast<std::uint32_t>(text.size()), now_, &error);
        if (id > 0) {
            require(set_.count == count + 1 && fi_get(&set_, static_cast<std::uint32_t>(id)));
            return;
        }
        require(set_.count == count && (id == -1 || (id == -2 && count == FI_RULES_MAX)));
        check_error(error, text.size());
    }

    void operate(std::uint8_t what, std::uint8_t how) {
        static const char* const commands[] = {nullptr, "urd.health", "udis.single_ecc3",
                                               "udis.000004d2mem", "hdc.connect"};
        for (std::uint32_t& load : load_)
            load = how;
        const fi_query query{now_,
                             how & 1 ? FI_ANY : how % 4U,
                             how & 2 ? FI_ANY : 4242U,
                             how & 4 ? nullptr : "python3",
                             commands[how % 5],
                             how & 8 ? nullptr : load_};
        switch (what % 4) {
        case 0:
            for (int kind = FI_ZOMBIE; kind < FI_KIND_COUNT; ++kind)
                if (const fi_rule* rule = fi_fire(&set_, static_cast<fi_kind>(kind), &query))
                    require(rule->kind == kind && rule->hits > 0);
            break;
        case 1: { // time passes, from tick to tick but not for ever
            for (int ticks = 0; ticks < 50; ++ticks) {
                for (const fi_kind kind : {FI_LOST, FI_ECC}) {
                    std::uint32_t slot = 0;
                    for (int fired = 0; fired < 50; ++fired)
                        if (!fi_fire_timed(&set_, kind, &query, &slot))
                            break;
                }
                const std::uint64_t next = fi_next_time(&set_, now_);
                require(next > now_);
                if (next == FI_TIME_NEVER || ticks >= how)
                    break;
                now_ = next;
            }
            break;
        }
        case 2:
            fi_clear(&set_, how % 8);
            break;
        default:
            if (fi_due(&set_, FI_ECC, how, now_))
                fi_skip(&set_, how);
            now_ += std::uint64_t{how} * 100'000'000;
        }
        for (std::uint32_t id = 0; const fi_rule* rule = fi_get(&set_, id); id = rule->id + 1) {
            require(rule->id >= id);
            check_rule(*rule);
        }
    }

  private:
    fi_set set_;
    std::uint64_t now_ = 0;
    std::uint32_t load_[FI_LOAD_COUNT] = {};
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view text(reinterpret_cast<const char*>(data), size);
    parse_alone(text);
    const auto engine = std::make_unique<Engine>();
    for (int lines = 0; !text.empty() && lines < 12; ++lines) {
        const std::size_t end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        if (line.size() >= 3 && line[0] == '!') {
            engine->operate(static_cast<std::uint8_t>(line[1]), static_cast<std::uint8_t>(line[2]));
        } else {
            engine->add(line);
        }
        text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    }
    return 0;
}

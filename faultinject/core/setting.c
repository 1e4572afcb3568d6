// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// The value of each key: text to the fields of a rule.
#include "faultinject/core/grammar.h"

// Loads of when=, by enum fi_load.
static const struct {
    const char* name;
    unsigned decimals;
    uint64_t most;
    const char* allowed;
} loads[FI_LOAD_COUNT] = {
    [FI_LOAD_HBM_BW] = {"hbm_bw", 0, 100, "a percentage from 0 to 100"},
    [FI_LOAD_HBM_USED] = {"hbm_used", 0, 100, "a percentage from 0 to 100"},
    [FI_LOAD_AICORE] = {"aicore", 0, 100, "a percentage from 0 to 100"},
    [FI_LOAD_TEMPERATURE] = {"temperature", 0, 1000, "degrees from 0 to 1000"},
    [FI_LOAD_POWER] = {"power", 1, 1000000, "watts with at most one decimal, up to 100000"},
};

static const char* const modes[] = {"", "err", "deny", "delay", "never"}; // by enum fi_mode

int fi_complain(struct parse* parse, uint32_t position, const char* text) {
    fi_say_start(parse->error, position);
    fi_say(parse->error, text);
    return -1;
}

int fi_wrong_choice(struct parse* parse, enum key key, const char* allowed) {
    fi_complain(parse, parse->span[key].first, fi_keys[key].name);
    fi_say(parse->error, "= takes ");
    fi_say(parse->error, allowed);
    fi_say(parse->error, ", not ");
    fi_say_span(parse->error, &parse->span[key]);
    return -1;
}

static int set_when(struct parse* parse) {
    struct fi_span name = parse->span[K_WHEN], value = name;
    unsigned load;
    uint64_t number;
    uint32_t i = 0;
    char sign;
    while (i < name.length && fi_at(&name, i) != '>' && fi_at(&name, i) != '<')
        ++i;
    sign = fi_at(&name, i);
    name.length = i;
    for (load = 0; load < FI_LOAD_COUNT; ++load)
        if (fi_span_is(&name, loads[load].name))
            break;
    if (load == FI_LOAD_COUNT || !sign) {
        // The name when it is wrong, else the place where the sign should be.
        fi_complain(parse, load == FI_LOAD_COUNT ? name.first : name.first + i,
                    "when= takes one of");
        for (load = 0; load < FI_LOAD_COUNT; ++load) {
            fi_say(parse->error, " ");
            fi_say(parse->error, loads[load].name);
        }
        fi_say(parse->error, " and > or < and a number, not ");
        fi_say_span(parse->error, &parse->span[K_WHEN]);
        return -1;
    }
    value.first += i + 1;
    value.length -= i + 1;
    if (fi_decimal(&value, "when", loads[load].decimals, loads[load].most, loads[load].allowed,
                   &number, parse->error) != 0)
        return -1;
    parse->rule->when_load = (uint16_t)load;
    parse->rule->when_compare = sign == '>' ? FI_WHEN_GREATER : FI_WHEN_LESS;
    parse->rule->when_value = (uint32_t)number;
    return 0;
}

// Copies a word into `room` bytes with a NUL.
static int set_word(struct parse* parse, enum key key, char* out, uint32_t room) {
    const struct fi_span* value = &parse->span[key];
    if (value->length >= room) {
        fi_complain(parse, value->first + room - 1, fi_keys[key].name);
        fi_say(parse->error, "= takes a name of at most ");
        fi_say_number(parse->error, room - 1);
        fi_say(parse->error, " characters");
        return -1;
    }
    memcpy(out, value->text + value->first, value->length);
    out[value->length] = '\0';
    return 0;
}

static int set_client(struct parse* parse) {
    const struct fi_span* value = &parse->span[K_CLIENT];
    uint64_t pid;
    uint32_t i;
    for (i = 0; i < value->length; ++i)
        if (fi_at(value, i) < '0' || fi_at(value, i) > '9')
            return set_word(parse, K_CLIENT, parse->rule->client_name,
                            sizeof parse->rule->client_name);
    if (fi_number(value, "client", 1, 0x7FFFFFFF, &pid, parse->error) != 0)
        return -1;
    parse->rule->client_pid = (uint32_t)pid;
    return 0;
}

static int set_command(struct parse* parse) {
    const struct fi_span* value = &parse->span[K_CMD];
    uint32_t i;
    for (i = 0; i + 1 < value->length; ++i)
        if (fi_at(value, i) == '*')
            return fi_complain(parse, value->first + i, "'*' may stand at the end of cmd= only");
    if (set_word(parse, K_CMD, parse->rule->command, sizeof parse->rule->command) != 0)
        return -1;
    return fi_command_check(parse->rule->command, value, parse->error);
}

static int set_mode(struct parse* parse) {
    unsigned mode;
    for (mode = FI_MODE_ERR; mode <= FI_MODE_NEVER; ++mode) {
        if (fi_span_is(&parse->span[K_MODE], modes[mode])) {
            parse->rule->mode = (uint16_t)mode;
            return 0;
        }
    }
    return fi_wrong_choice(parse, K_MODE, "err deny delay never");
}

static int set_errno(struct parse* parse) {
    int number = fi_errno(&parse->span[K_ERRNO]);
    if (number) {
        parse->rule->error = -number;
        return 0;
    }
    fi_complain(parse, parse->span[K_ERRNO].first, "errno= takes one of ");
    fi_say_errnos(parse->error);
    fi_say(parse->error, ", not ");
    fi_say_span(parse->error, &parse->span[K_ERRNO]);
    return -1;
}

static int set_rate(struct parse* parse) {
    uint64_t rate;
    if (fi_decimal(&parse->span[K_RATE], "rate", 3, 1000000,
                   "a number a second from 0.001 to 1000 with at most three decimals", &rate,
                   parse->error) != 0)
        return -1;
    if (rate == 0)
        return fi_wrong_choice(parse, K_RATE, "0.001 to 1000 (0 would never fire)");
    parse->rule->ecc_rate_mhz = (uint32_t)rate;
    parse->rule->period_ns = fi_divide(1000000000000ULL, (uint32_t)rate, &parse->rule->period_rest);
    return 0;
}

static int yes_or_no(struct parse* parse, enum key key, int* out) {
    *out = fi_span_is(&parse->span[key], "yes");
    if (*out || fi_span_is(&parse->span[key], "no"))
        return 0;
    return fi_wrong_choice(parse, key, "yes or no");
}

// Whole number of a key, into 32 bits.
static int number_32(struct parse* parse, enum key key, uint32_t least, uint32_t most,
                     uint32_t* out) {
    uint64_t value;
    if (fi_number(&parse->span[key], fi_keys[key].name, least, most, &value, parse->error) != 0)
        return -1;
    *out = (uint32_t)value;
    return 0;
}

int fi_set_value(struct parse* parse, enum key key) {
    struct fi_rule* rule = parse->rule;
    const struct fi_span* value = &parse->span[key];
    uint64_t wide;
    uint32_t number;
    int flag;
    switch (key) {
    case K_DEV:
        return number_32(parse, key, 0, FI_DEVICES_MAX - 1, &rule->device);
    case K_CLIENT:
        return set_client(parse);
    case K_PROBABILITY:
        if (fi_decimal(value, "probability", 4, 1000000,
                       "a percentage from 0 to 100 with at most four decimals", &wide,
                       parse->error) != 0)
            return -1;
        rule->probability_ppm = (uint32_t)wide;
        return 0;
    case K_INTERVAL:
        return number_32(parse, key, 1, FI_UNLIMITED - 1, &rule->interval);
    case K_TIMES:
        return number_32(parse, key, 1, FI_UNLIMITED - 1, &rule->times);
    case K_SPACE:
        return number_32(parse, key, 0, FI_UNLIMITED - 1, &rule->space);
    case K_NTH:
        return number_32(parse, key, 1, FI_UNLIMITED - 1, &rule->nth);
    case K_AFTER:
        return fi_time(value, "after", &rule->after_ns, parse->error);
    case K_FOR:
        if (fi_time(value, "for", &rule->for_ns, parse->error) != 0)
            return -1;
        return rule->for_ns ? 0 : fi_wrong_choice(parse, key, "a time above 0");
    case K_WHEN:
        return set_when(parse);
    case K_CMD:
        return set_command(parse);
    case K_BITS:
        if (number_32(parse, key, 1, 72, &number) != 0)
            return -1;
        rule->ecc_bits = (uint16_t)number;
        return 0;
    case K_ADDR:
        if (fi_number(value, "addr", 0, ~7ULL, &rule->ecc_address, parse->error) != 0)
            return -1;
        if (rule->ecc_address & 7)
            return fi_wrong_choice(parse, key, "the address of a word, a multiple of 8");
        rule->ecc_place = FI_PLACE_ADDRESS;
        return 0;
    case K_PAGE:
        rule->ecc_place = FI_PLACE_PAGE;
        return fi_number(value, "page", 0, FI_ANY - 1, &rule->ecc_address, parse->error);
    case K_RANDOM:
        return 0; // the default place
    case K_RATE:
        return set_rate(parse);
    case K_MODE:
        return set_mode(parse);
    case K_ERRNO:
        return set_errno(parse);
    case K_CODE:
        if (number_32(parse, key, 1, 0x7FFFFFFF, &number) != 0)
            return -1;
        rule->error = (int32_t)number;
        return 0;
    case K_MS:
        return number_32(parse, key, 1, FI_ANY, &rule->delay_ms);
    case K_INTERRUPTIBLE:
        if (yes_or_no(parse, key, &flag) != 0)
            return -1;
        rule->uninterruptible = !flag;
        return 0;
    case K_FORCE:
        return yes_or_no(parse, key, &flag); // looked at in finish_surface
    case K_COUNT:
        break;
    }
    return -1;
}

// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// The grammar of rules.h: text to rule. A fault is one row of `faults`, a key one row of `fi_keys`
// and one case of fi_set_value().
#include "faultinject/core/grammar.h"

#define COMMON                                                                                     \
    (KEY_BIT(K_DEV) | KEY_BIT(K_PROBABILITY) | KEY_BIT(K_INTERVAL) | KEY_BIT(K_TIMES) |            \
     KEY_BIT(K_SPACE) | KEY_BIT(K_NTH) | KEY_BIT(K_AFTER) | KEY_BIT(K_FOR) | KEY_BIT(K_WHEN))

const struct fi_key fi_keys[K_COUNT] = {
    [K_DEV] = {"dev", "dev=N"},
    [K_CLIENT] = {"client", "client=PID or client=NAME"},
    [K_PROBABILITY] = {"probability", "probability=PERCENT"},
    [K_INTERVAL] = {"interval", "interval=N"},
    [K_TIMES] = {"times", "times=N"},
    [K_SPACE] = {"space", "space=N"},
    [K_NTH] = {"nth", "nth=N"},
    [K_AFTER] = {"after", "after=TIME"},
    [K_FOR] = {"for", "for=TIME"},
    [K_WHEN] = {"when", "when=NAME>N"},
    [K_CMD] = {"cmd", "cmd=NAME"},
    [K_BITS] = {"bits", "bits=N"},
    [K_ADDR] = {"addr", "addr=ADDRESS"},
    [K_PAGE] = {"page", "page=N"},
    [K_RANDOM] = {"random", "random"},
    [K_RATE] = {"rate", "rate=PER_SECOND"},
    [K_MODE] = {"mode", "mode=err|deny|delay|never"},
    [K_ERRNO] = {"errno", "errno=NAME"},
    [K_CODE] = {"code", "code=N"},
    [K_MS] = {"ms", "ms=N"},
    [K_INTERRUPTIBLE] = {"interruptible", "interruptible=yes|no"},
    [K_FORCE] = {"force", "force=yes|no"},
};

static const struct fault faults[] = {
    {"zombie", FI_ZOMBIE, 0, KEY_BIT(K_CLIENT), 0},
    {"lost", FI_LOST, 1, 0, KEY_BIT(K_DEV)},
    {"ecc", FI_ECC, 1,
     KEY_BIT(K_BITS) | KEY_BIT(K_ADDR) | KEY_BIT(K_PAGE) | KEY_BIT(K_RANDOM) | KEY_BIT(K_RATE),
     KEY_BIT(K_BITS)},
    {"isolation-fails", FI_ISOLATION_FAILS, 0, KEY_BIT(K_CLIENT), 0},
    {"surface", FI_SURFACE, 0,
     KEY_BIT(K_CLIENT) | KEY_BIT(K_CMD) | KEY_BIT(K_MODE) | KEY_BIT(K_ERRNO) | KEY_BIT(K_CODE) |
         KEY_BIT(K_MS) | KEY_BIT(K_INTERRUPTIBLE) | KEY_BIT(K_FORCE),
     KEY_BIT(K_CMD) | KEY_BIT(K_MODE)},
};
#define FAULT_COUNT (sizeof faults / sizeof faults[0])

int fi_is_timed(unsigned kind) {
    unsigned i;
    for (i = 0; i < FAULT_COUNT; ++i)
        if (faults[i].kind == kind)
            return faults[i].timed;
    return 0;
}

static void say_keys(struct fi_error* error, uint32_t mask) {
    unsigned key, shown = 0;
    for (key = 0; key < K_COUNT; ++key) {
        if (!(mask & KEY_BIT(key)))
            continue;
        fi_say(error, shown++ ? " " : "");
        fi_say(error, fi_keys[key].name);
    }
}

static int has(const struct parse* parse, enum key key) {
    return (parse->seen & KEY_BIT(key)) != 0;
}

// At most one of `mask`; the complaint points at the later one.
static int only_one(struct parse* parse, uint32_t mask, const char* text) {
    uint32_t both = parse->seen & mask, later = 0;
    unsigned key, count = 0;
    for (key = 0; key < K_COUNT; ++key) {
        if (!(both & KEY_BIT(key)))
            continue;
        ++count;
        if (parse->start[key] > later)
            later = parse->start[key];
    }
    return count > 1 ? fi_complain(parse, later, text) : 0;
}

// None of `mask`; `text` says why.
static int none_of(struct parse* parse, uint32_t mask, const char* text) {
    unsigned key;
    for (key = 0; key < K_COUNT; ++key) {
        if (!(parse->seen & mask & KEY_BIT(key)))
            continue;
        fi_complain(parse, parse->start[key], fi_keys[key].name);
        fi_say(parse->error, "= ");
        fi_say(parse->error, text);
        return -1;
    }
    return 0;
}

static int finish_surface(struct parse* parse) {
    struct fi_rule* rule = parse->rule;
    enum key key = has(parse, K_ERRNO) ? K_ERRNO : K_CODE;
    unsigned mode = rule->mode;
    if (mode != FI_MODE_ERR &&
        none_of(parse, KEY_BIT(K_ERRNO) | KEY_BIT(K_CODE), "goes with mode=err only") != 0)
        return -1;
    if (mode != FI_MODE_DELAY && none_of(parse, KEY_BIT(K_MS), "goes with mode=delay only") != 0)
        return -1;
    if (mode != FI_MODE_DELAY && mode != FI_MODE_NEVER &&
        none_of(parse, KEY_BIT(K_INTERRUPTIBLE), "goes with mode=delay and mode=never only") != 0)
        return -1;
    if (mode != FI_MODE_ERR && mode != FI_MODE_DENY &&
        none_of(parse, KEY_BIT(K_FORCE), "goes with mode=err and mode=deny only") != 0)
        return -1;
    if (mode == FI_MODE_DELAY && !has(parse, K_MS))
        return fi_complain(parse, rule->text_length, "mode=delay needs ms=N");
    if (mode == FI_MODE_ERR) {
        if (only_one(parse, KEY_BIT(K_ERRNO) | KEY_BIT(K_CODE), "errno= or code=, not both") != 0)
            return -1;
        if (!has(parse, key))
            return fi_complain(parse, rule->text_length, "mode=err needs errno=NAME or code=N");
    }
    if (mode == FI_MODE_DENY) {
        rule->error = -13; // EACCES
        key = K_MODE;
    }
    if (!rule->error || (has(parse, K_FORCE) && fi_span_is(&parse->span[K_FORCE], "yes")))
        return 0;
    return fi_error_check(rule->command, mode == FI_MODE_DENY ? 0 : rule->error, &parse->span[key],
                          parse->error);
}

// What holds between keys, once all are read.
static int finish(struct parse* parse) {
    struct fi_rule* rule = parse->rule;
    uint32_t missing = parse->fault->needs & ~parse->seen;
    if (missing) {
        fi_complain(parse, rule->text_length, parse->fault->name);
        fi_say(parse->error, " needs ");
        say_keys(parse->error, missing & (~missing + 1)); // the first that is missing
        fi_say(parse->error, "=");
        return -1;
    }
    if (has(parse, K_NTH) &&
        none_of(parse, KEY_BIT(K_INTERVAL) | KEY_BIT(K_TIMES) | KEY_BIT(K_SPACE),
                "and nth= exclude each other"))
        return -1;
    if (parse->fault->timed && !has(parse, K_RATE)) {
        if (!has(parse, K_WHEN) &&
            none_of(parse, KEY_BIT(K_INTERVAL) | KEY_BIT(K_SPACE) | KEY_BIT(K_NTH),
                    "counts what happens in time: needs rate= or when="))
            return -1;
        if (!has(parse, K_TIMES) && !has(parse, K_NTH))
            rule->times = 1;
    }
    if (only_one(parse, KEY_BIT(K_ADDR) | KEY_BIT(K_PAGE) | KEY_BIT(K_RANDOM),
                 "only one of addr= page= random says where") != 0)
        return -1;
    if (!has(parse, K_DEV) &&
        none_of(parse, KEY_BIT(K_ADDR) | KEY_BIT(K_PAGE), "needs dev= as well") != 0)
        return -1;
    return rule->kind == FI_SURFACE ? finish_surface(parse) : 0;
}

static int set_fault(struct parse* parse, const struct fi_span* word) {
    unsigned i, near = 0, distance = 99;
    for (i = 0; i < FAULT_COUNT; ++i) {
        unsigned d = fi_distance(word, faults[i].name);
        if (d < distance) {
            near = i;
            distance = d;
        }
    }
    if (distance == 0) {
        parse->fault = &faults[near];
        parse->rule->kind = parse->fault->kind;
        return 0;
    }
    fi_complain(parse, word->first, "a rule starts with the name of a fault:");
    for (i = 0; i < FAULT_COUNT; ++i) {
        fi_say(parse->error, " ");
        fi_say(parse->error, faults[i].name);
    }
    fi_say(parse->error, "; not ");
    fi_say_span(parse->error, word);
    if (distance <= 2) {
        fi_say(parse->error, ", did you mean ");
        fi_say(parse->error, faults[near].name);
        fi_say(parse->error, "?");
    }
    return -1;
}

static int set_key(struct parse* parse, const struct fi_span* word) {
    struct fi_span name = *word, value = *word;
    uint32_t i = 0, allowed = COMMON | parse->fault->takes;
    unsigned key;
    while (i < word->length && fi_at(word, i) != '=')
        ++i;
    name.length = i;
    value.first += i + (i < word->length);
    value.length -= i + (i < word->length);
    for (key = 0; key < K_COUNT; ++key)
        if (fi_span_is(&name, fi_keys[key].name))
            break;
    if (key == K_COUNT || !(allowed & KEY_BIT(key))) {
        fi_complain(parse, word->first, parse->fault->name);
        fi_say(parse->error, key == K_COUNT ? " knows no key " : " does not take ");
        fi_say_span(parse->error, &name);
        fi_say(parse->error, "; it takes ");
        say_keys(parse->error, allowed);
        return -1;
    }
    if (parse->seen & KEY_BIT(key)) {
        fi_complain(parse, word->first, fi_keys[key].name);
        fi_say(parse->error, " is there twice");
        return -1;
    }
    if (key == K_RANDOM ? i < word->length : value.length == 0) {
        fi_complain(parse, word->first + i, "write ");
        fi_say(parse->error, fi_keys[key].usage);
        return -1;
    }
    parse->seen |= KEY_BIT(key);
    parse->span[key] = value;
    parse->start[key] = word->first;
    return fi_set_value(parse, (enum key)key);
}

static int check_text(const char* text, uint32_t length, struct fi_error* error) {
    uint32_t i;
    if (length >= DS_TEXT_MAX) {
        fi_say_start(error, DS_TEXT_MAX - 1);
        fi_say(error, "a rule has at most ");
        fi_say_number(error, DS_TEXT_MAX - 1);
        fi_say(error, " characters, this one has ");
        fi_say_number(error, length);
        return -1;
    }
    for (i = 0; i < length; ++i) {
        if (text[i] >= 0x20 && text[i] < 0x7F)
            continue;
        fi_say_start(error, i);
        fi_say(error, "a rule is one line of printable ASCII; here is byte ");
        fi_say_byte(error, (uint8_t)text[i]);
        return -1;
    }
    return 0;
}

int fi_parse(const char* text, uint32_t length, struct fi_rule* out, struct fi_error* error) {
    struct parse parse;
    struct fi_span word;
    uint32_t i = 0;
    memset(out, 0, sizeof *out);
    fi_say_start(error, 0);
    if (!text)
        length = 0;
    if (check_text(text, length, error) != 0)
        return -1;
    memset(&parse, 0, sizeof parse);
    parse.rule = out;
    parse.error = error;
    out->device = out->client_pid = FI_ANY;
    out->probability_ppm = 1000000;
    out->interval = 1;
    out->times = FI_UNLIMITED;
    out->text_length = (uint16_t)length;
    if (length)
        memcpy(out->text, text, length);
    // The copy is what is read from here on: it ends with a NUL and cannot change.
    for (;;) {
        while (i < length && out->text[i] == ' ')
            ++i;
        if (i == length)
            break;
        word.text = out->text;
        word.first = i;
        while (i < length && out->text[i] != ' ')
            ++i;
        word.length = i - word.first;
        if ((parse.fault ? set_key(&parse, &word) : set_fault(&parse, &word)) != 0)
            return -1;
    }
    if (!parse.fault) {
        word.text = out->text;
        word.first = word.length = 0;
        return set_fault(&parse, &word);
    }
    return finish(&parse);
}

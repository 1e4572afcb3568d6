// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// Numbers and times of a rule's text.
#include "faultinject/core/internal.h"

uint64_t fi_divide(uint64_t a, uint32_t b, uint32_t* rest) {
    uint64_t left = 0;
    unsigned bit;
    for (bit = 0; bit < 64; ++bit) { // long division, base 2
        left = (left << 1) | (a >> 63);
        a <<= 1;
        if (left >= b) {
            left -= b;
            a |= 1;
        }
    }
    *rest = (uint32_t)left;
    return a;
}

static int digit_of(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return 99;
}

// value = value * base + digit; -1 when the result would be above `most`.
static int add_digit(uint64_t* value, unsigned base, unsigned digit, uint64_t most) {
    uint64_t product = *value * base; // base is at most 16
    if (*value >> 60 || product > most || most - product < digit)
        return -1;
    *value = product + digit;
    return 0;
}

static void say_key(struct fi_error* error, uint32_t position, const char* key) {
    fi_say_start(error, position);
    fi_say(error, key);
    fi_say(error, "= takes ");
}

int32_t fi_read_number(const struct fi_span* value, uint64_t most, uint64_t* out) {
    unsigned base = 10;
    uint32_t i = 0;
    *out = 0;
    if (fi_at(value, 0) == '0' && (fi_at(value, 1) == 'x' || fi_at(value, 1) == 'X')) {
        base = 16;
        i = 2;
    }
    if (i == value->length)
        return (int32_t)i;
    for (; i < value->length; ++i) {
        unsigned digit = (unsigned)digit_of(fi_at(value, i));
        if (digit >= base)
            return (int32_t)i;
        if (add_digit(out, base, digit, most) != 0)
            return 0;
    }
    return -1;
}

int fi_number(const struct fi_span* value, const char* key, uint64_t least, uint64_t most,
              uint64_t* out, struct fi_error* error) {
    int32_t bad = fi_read_number(value, most, out);
    if (bad < 0 && *out >= least)
        return 0;
    say_key(error, value->first + (bad < 0 ? 0 : (uint32_t)bad), key);
    fi_say(error, "a whole number from ");
    fi_say_number(error, least);
    fi_say(error, " to ");
    fi_say_number(error, most);
    fi_say(error, ", not ");
    fi_say_span(error, value);
    return -1;
}

int fi_decimal(const struct fi_span* value, const char* key, unsigned decimals, uint64_t most,
               const char* allowed, uint64_t* out, struct fi_error* error) {
    uint32_t i, position = value->first;
    unsigned behind = 0, digits = 0;
    int point = 0;
    *out = 0;
    for (i = 0; i < value->length; ++i) {
        char c = fi_at(value, i);
        position = value->first + i;
        if (c == '.' && decimals && !point && digits) {
            point = 1;
            continue;
        }
        if (c < '0' || c > '9' || (point && behind == decimals))
            goto bad;
        if (add_digit(out, 10, (unsigned)(c - '0'), most) != 0) {
            position = value->first;
            goto bad;
        }
        ++digits;
        behind += (unsigned)point;
    }
    position = value->first + value->length;
    if (!digits || (point && !behind))
        goto bad;
    position = value->first;
    for (; behind < decimals; ++behind)
        if (add_digit(out, 10, 0, most) != 0)
            goto bad;
    return 0;
bad:
    say_key(error, position, key);
    fi_say(error, allowed);
    fi_say(error, ", not ");
    fi_say_span(error, value);
    return -1;
}

int fi_time(const struct fi_span* value, const char* key, uint64_t* out, struct fi_error* error) {
    // A unit is 10^decimals ns times `factor`; `most` keeps the product within 10^18 ns (31 years).
    static const struct {
        const char* name;
        unsigned decimals, factor;
        uint64_t most;
    } units[] = {
        {"", 9, 1, 1000000000000000000ULL},   {"s", 9, 1, 1000000000000000000ULL},
        {"ms", 6, 1, 1000000000000000000ULL}, {"us", 3, 1, 1000000000000000000ULL},
        {"ns", 0, 1, 1000000000000000000ULL}, {"m", 9, 60, 16666666666666666ULL},
        {"h", 9, 3600, 277777777777777ULL},
    };
    struct fi_span number = *value, unit = *value;
    unsigned i;
    while (number.length &&
           (fi_at(value, number.length - 1) < '0' || fi_at(value, number.length - 1) > '9'))
        --number.length;
    unit.first += number.length;
    unit.length -= number.length;
    for (i = 0; i < sizeof units / sizeof units[0]; ++i) {
        if (!number.length || !fi_span_is(&unit, units[i].name))
            continue;
        if (fi_decimal(&number, key, units[i].decimals, units[i].most,
                       "a time as 300ms, 2s, 1.5m or 1h, at most 31 years and not finer than 1 ns",
                       out, error) != 0)
            return -1;
        *out *= units[i].factor;
        return 0;
    }
    say_key(error, unit.first, key);
    fi_say(error, "a time as 300ms, 2s, 1.5m (units ns us ms s m h), not ");
    fi_say_span(error, value);
    return -1;
}

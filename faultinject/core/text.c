// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// Messages of the rule parser, made in place in the caller's fi_error.
#include "faultinject/core/internal.h"

#define SPAN_SHOWN 40 // characters of the rule that a message quotes at most
#define WORD_MAX 40   // longest word whose distance is measured

int fi_span_is(const struct fi_span* span, const char* word) {
    uint32_t i;
    for (i = 0; i < span->length; ++i)
        if (word[i] == '\0' || word[i] != fi_at(span, i))
            return 0;
    return word[i] == '\0';
}

void fi_say_start(struct fi_error* error, uint32_t position) {
    memset(error, 0, sizeof *error);
    error->position = position;
}

static void say_char(struct fi_error* error, char c) {
    uint32_t end = 0;
    while (end < sizeof error->text - 1 && error->text[end])
        ++end;
    if (end < sizeof error->text - 1)
        error->text[end] = c; // the rest is zero since fi_say_start
}

void fi_say(struct fi_error* error, const char* text) {
    for (; *text; ++text)
        say_char(error, *text);
}

void fi_say_number(struct fi_error* error, uint64_t number) {
    char digits[21];
    unsigned at = sizeof digits - 1;
    digits[at] = '\0';
    do {
        uint32_t digit;
        number = fi_divide(number, 10, &digit);
        digits[--at] = (char)('0' + digit);
    } while (number);
    fi_say(error, &digits[at]);
}

void fi_say_byte(struct fi_error* error, uint8_t byte) {
    static const char hex[] = "0123456789abcdef";
    fi_say(error, "0x");
    say_char(error, hex[byte >> 4]);
    say_char(error, hex[byte & 15]);
}

void fi_say_span(struct fi_error* error, const struct fi_span* span) {
    uint32_t i;
    say_char(error, '"');
    for (i = 0; i < span->length && i < SPAN_SHOWN; ++i)
        say_char(error, fi_at(span, i));
    if (i < span->length)
        fi_say(error, "...");
    say_char(error, '"');
}

// '#' in a name stands for a digit.
static int same(char c, char of_name) {
    return c == of_name || (of_name == '#' && ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')));
}

unsigned fi_distance(const struct fi_span* span, const char* name) {
    uint8_t row[WORD_MAX + 1]; // distance of the name so far to each start of the span
    unsigned length = 0, i, k;
    while (name[length])
        ++length;
    if (span->length > WORD_MAX || length > WORD_MAX)
        return 99;
    for (i = 0; i <= span->length; ++i)
        row[i] = (uint8_t)i;
    for (k = 1; k <= length; ++k) {
        unsigned diagonal = row[0];
        row[0] = (uint8_t)k;
        for (i = 1; i <= span->length; ++i) {
            unsigned best = diagonal + !same(fi_at(span, i - 1), name[k - 1]);
            diagonal = row[i];
            if (row[i] + 1U < best)
                best = row[i] + 1U;
            if (row[i - 1] + 1U < best)
                best = row[i - 1] + 1U;
            row[i] = (uint8_t)best;
        }
    }
    return row[span->length];
}

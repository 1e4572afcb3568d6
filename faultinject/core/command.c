// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// Commands and their errors as rules name them, checked against commands.def.
#include "faultinject/core/internal.h"

#define NEAR_SHOWN 3

static const struct {
    const char* name;
    int number;
} errnos[] = {
    {"EIO", 5},         {"EACCES", 13}, {"EPERM", 1},   {"ENODEV", 19}, {"EBUSY", 16},
    {"ETIMEDOUT", 110}, {"EINVAL", 22}, {"ENOMEM", 12}, {"EFAULT", 14}, {"EOPNOTSUPP", 95},
    {"EAGAIN", 11},     {"EINTR", 4},   {"ENOENT", 2},  {"ENOSPC", 28},
};
#define ERRNO_COUNT (sizeof errnos / sizeof errnos[0])

int fi_errno(const struct fi_span* name) {
    unsigned i;
    for (i = 0; i < ERRNO_COUNT; ++i)
        if (fi_span_is(name, errnos[i].name))
            return errnos[i].number;
    return 0;
}

void fi_say_errnos(struct fi_error* error) {
    unsigned i;
    for (i = 0; i < ERRNO_COUNT; ++i) {
        fi_say(error, i ? " " : "");
        fi_say(error, errnos[i].name);
    }
}

static int is_decimal(char c) {
    return c >= '0' && c <= '9';
}

// '#' at `mark` stands for the character `c`: a decimal digit at the end of a name, a hex digit
// elsewhere (dv_find_udis).
static int stands_for(const char* mark, char c) {
    return *mark == '#' && (is_decimal(c) || (mark[1] && c >= 'a' && c <= 'f'));
}

// A '#' alone at the end takes a second decimal digit.
static int second_digit(const char* mark_end, const char* rest) {
    return mark_end[-1] == '#' && is_decimal(rest[0]) && !rest[1];
}

int fi_command_matches(const char* pattern, const char* command) {
    const char *p = pattern, *c = command;
    for (;; ++p, ++c) {
        if (p[0] == '*' && !p[1])
            return 1;
        if (!*p || !*c)
            break;
        if (*p != *c && !stands_for(p, *c) && !stands_for(c, *p))
            return 0;
    }
    if (!*p && !*c)
        return 1;
    if (p == pattern || c == command)
        return 0;
    return *p ? second_digit(c, p) : second_digit(p, c);
}

// Name of a command as rules spell it: UDIS keys carry no prefix in the table. Gives its length.
static unsigned name_of(unsigned id, char name[FI_NAME_MAX]) {
    const struct dv_command_info* info = dv_command(id);
    const char *head = info->kind == DV_KIND_UDIS ? "udis." : "", *tail = info->name;
    unsigned length = 0;
    while (*head && length < FI_NAME_MAX - 1)
        name[length++] = *head++;
    while (*tail && length < FI_NAME_MAX - 1)
        name[length++] = *tail++;
    name[length] = '\0';
    return length;
}

// Says the names nearest to `span`, best first, those that differ too much left out.
static void say_near(const struct fi_span* span, struct fi_error* error) {
    uint16_t near[NEAR_SHOWN] = {0};
    uint8_t distance[NEAR_SHOWN];
    char name[FI_NAME_MAX];
    unsigned id, i, k, limit = 3 + (span->length >> 2);
    for (i = 0; i < NEAR_SHOWN; ++i)
        distance[i] = (uint8_t)(limit + 1);
    for (id = 1; id < DV_CMD_COUNT; ++id) {
        unsigned d, length = name_of(id, name);
        if (length > span->length + limit || length + limit < span->length)
            continue; // the lengths alone differ too much
        d = fi_distance(span, name);
        for (i = 0; i < NEAR_SHOWN && distance[i] <= d; ++i)
            ;
        if (i == NEAR_SHOWN)
            continue;
        for (k = NEAR_SHOWN - 1; k > i; --k) {
            near[k] = near[k - 1];
            distance[k] = distance[k - 1];
        }
        near[i] = (uint16_t)id;
        distance[i] = (uint8_t)d;
    }
    if (!near[0]) {
        fi_say(error, "; names look as devmng.device_info, urd.health, udis.soc_max_temp, udis.*");
        return;
    }
    fi_say(error, "; near: ");
    for (i = 0; i < NEAR_SHOWN && near[i]; ++i) {
        name_of(near[i], name);
        fi_say(error, i ? " " : "");
        fi_say(error, name);
    }
}

int fi_command_check(const char* pattern, const struct fi_span* span, struct fi_error* error) {
    char name[FI_NAME_MAX];
    unsigned id;
    for (id = 1; id < DV_CMD_COUNT; ++id) {
        name_of(id, name);
        if (fi_command_matches(pattern, name))
            return 0;
    }
    fi_say_start(error, span->first);
    fi_say(error, "no command is called ");
    fi_say_span(error, span);
    say_near(span, error);
    return -1;
}

static int is_legal(const char* errors, int32_t code) {
    struct fi_span word = {errors, 0, 0};
    while (errors[word.first]) {
        uint64_t number;
        for (word.length = 0; errors[word.first + word.length] > ' '; ++word.length)
            ;
        if (code < 0 ? fi_errno(&word) == -code
                     : fi_read_number(&word, 0x7FFFFFFF, &number) < 0 && number == (uint32_t)code)
            return 1;
        word.first += word.length;
        while (errors[word.first] == ' ')
            ++word.first;
    }
    return 0;
}

// How a command says that it is not permitted (driver-abi.md 6, 10.1, 10.2).
static int32_t denial_of(const struct dv_command_info* info) {
    if (info->kind == DV_KIND_DMP)
        return DV_E_NOT_PERMITTED;
    if (info->kind == DV_KIND_IOCTL && info->module == DV_MOD_HDC)
        return DV_HDC_PERMISSION;
    return -13; // EACCES
}

int fi_error_check(const char* pattern, int32_t code, const struct fi_span* span,
                   struct fi_error* error) {
    char name[FI_NAME_MAX];
    unsigned id;
    for (id = 1; id < DV_CMD_COUNT; ++id) {
        const char* errors = dv_command(id)->errors;
        name_of(id, name);
        if (!fi_command_matches(pattern, name) || !errors[0] ||
            is_legal(errors, code ? code : denial_of(dv_command(id))))
            continue;
        fi_say_start(error, span->first);
        fi_say_span(error, span);
        fi_say(error, " is no error of ");
        fi_say(error, name);
        fi_say(error, "; it has ");
        fi_say(error, errors);
        fi_say(error, "; force=yes sets it all the same");
        return -1;
    }
    return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// commands.def as enumerations and as a table that can be searched.
#ifndef ASC_IOCTL_WIRE_COMMANDS_H
#define ASC_IOCTL_WIRE_COMMANDS_H

#include "ioctl/wire/davinci.h"
#include "ioctl/wire/davsim.h"

#define DV_LEN_ANY 0xFFFFFFFEU
#define DV_LEN_BIG 0xFFFFFFFFU

enum dv_node {
    DV_NODE_IS_MANAGER = 0,
    DV_NODE_IS_DEVICE = 1,
    DV_NODE_IS_HDC = 2,
    DV_NODE_IS_SVM = 3
};

// What an open file is bound to. ANY stands in the table only.
enum dv_module {
    DV_MOD_NONE = 0, // the control node before binding; device nodes
    DV_MOD_UDA,
    DV_MOD_DEVMNG,
    DV_MOD_URD,
    DV_MOD_DMS, // the older generation's dispatcher
    DV_MOD_HDC,
    DV_MOD_DAVSIM,
    DV_MOD_SVM,
    DV_MOD_ANY,
};

enum dv_pointers {
    DV_PTR_NONE = 0,
    DV_PTR_URD,         // envelope: filter, input, output and what a UDIS input reaches
    DV_PTR_UDA_LIST,    // (end - start) records
    DV_PTR_CONTAINER,   // 'M' 58: out of a pid
    DV_PTR_HDC_SEND,    // source, length
    DV_PTR_HDC_RECEIVE, // destination, room
};

enum dv_scope { DV_SCOPE_NONE = 0, DV_SCOPE_SYSTEM = 1, DV_SCOPE_DEVICE = 2, DV_SCOPE_BOTH = 3 };
enum dv_effect { DV_EFFECT_READ = 0, DV_EFFECT_CHANGE = 1, DV_EFFECT_DESTROY = 2 };
enum dv_device_from { DV_DEV_NONE = 0, DV_DEV_INPUT, DV_DEV_ENVELOPE, DV_DEV_EITHER };
enum dv_command_kind { DV_KIND_IOCTL = 0, DV_KIND_URD, DV_KIND_UDIS, DV_KIND_DMP };

enum dv_command_id {
    DV_CMD_UNKNOWN = 0,
#define DV_COMMAND(id, ...) DV_CMD_##id,
#define DV_URD_FUNCTION(id, ...) DV_CMD_URD_##id,
#define DV_UDIS_VALUE(id, ...) DV_CMD_UDIS_##id,
#define DV_DMP_FUNCTION(id, ...) DV_CMD_DMP_##id,
#include "ioctl/wire/commands.def"
    DV_CMD_COUNT
};

// The UDIS values stand together in the table.
enum {
    DV_CMD_UDIS_FIRST = DV_CMD_UDIS_SOC_MAX_TEMP,
    DV_CMD_UDIS_END = DV_CMD_UDIS_FIRST
#define DV_UDIS_VALUE(...) +1
#include "ioctl/wire/commands.def"
};

struct dv_command_info {
    uint16_t id;
    uint8_t kind;             // enum dv_command_kind
    uint8_t module;           // enum dv_module; of a UDIS value its UDIS module
    uint32_t number;          // ioctl number; URD (main << 8) + sub; DMP opcode
    uint32_t in_len, out_len; // ioctl: in_len is the argument's size
    uint8_t pointers, scope, effect, device_from;
    uint32_t mask;
    const char* name;   // as rules and traces spell it; of a UDIS value without "udis."
    const char* errors; // legal errors, separated by blanks
};

// Entry of an id; id 0 and unknown ids give the entry "unknown".
static inline const struct dv_command_info* dv_command(unsigned id) {
    static const struct dv_command_info table[] = {
        {0, DV_KIND_IOCTL, DV_MOD_NONE, 0, 0, 0, DV_PTR_NONE, DV_SCOPE_NONE, DV_EFFECT_READ,
         DV_DEV_NONE, 0, "unknown", ""},
#define DV_COMMAND(id, module, number, name, size, pointers, mask, scope, effect, errors)          \
    {                                                                                              \
        DV_CMD_##id,                                                                               \
        DV_KIND_IOCTL,                                                                             \
        DV_MOD_##module,                                                                           \
        number,                                                                                    \
        size,                                                                                      \
        0,                                                                                         \
        DV_PTR_##pointers,                                                                         \
        DV_SCOPE_##scope,                                                                          \
        DV_EFFECT_##effect,                                                                        \
        DV_DEV_NONE,                                                                               \
        mask,                                                                                      \
        name,                                                                                      \
        errors},
#define DV_URD_FUNCTION(id, main, sub, filter, name, in_len, out_len, device, mask, scope, effect, \
                        errors)                                                                    \
    {                                                                                              \
        DV_CMD_URD_##id,                                                                           \
        DV_KIND_URD,                                                                               \
        DV_MOD_URD,                                                                                \
        ((main) << 8) + (sub),                                                                     \
        in_len,                                                                                    \
        out_len,                                                                                   \
        DV_PTR_NONE,                                                                               \
        DV_SCOPE_##scope,                                                                          \
        DV_EFFECT_##effect,                                                                        \
        DV_DEV_##device,                                                                           \
        mask,                                                                                      \
        name,                                                                                      \
        errors},
#define DV_UDIS_VALUE(id, module, key, length, errors)                                             \
    {DV_CMD_UDIS_##id,                                                                             \
     DV_KIND_UDIS,                                                                                 \
     module,                                                                                       \
     0,                                                                                            \
     32,                                                                                           \
     length,                                                                                       \
     DV_PTR_NONE,                                                                                  \
     DV_SCOPE_DEVICE,                                                                              \
     DV_EFFECT_READ,                                                                               \
     DV_DEV_ENVELOPE,                                                                              \
     DV_ACC_ALL_USERS,                                                                             \
     key,                                                                                          \
     errors},
#define DV_DMP_FUNCTION(id, opcode, operation, name, in_len, out_len, mask, effect, errors)        \
    {DV_CMD_DMP_##id, DV_KIND_DMP,        DV_MOD_HDC,  opcode, in_len, out_len, DV_PTR_NONE,       \
     DV_SCOPE_BOTH,   DV_EFFECT_##effect, DV_DEV_NONE, mask,   name,   errors},
#include "ioctl/wire/commands.def"
    };
    return &table[id < DV_CMD_COUNT ? id : 0];
}

// URD function by main and sub command, without a filter; id DV_CMD_UNKNOWN when there is none.
static inline const struct dv_command_info* dv_find_urd(uint32_t main_command,
                                                        uint32_t sub_command) {
    if (main_command > 0xFFFFFFU || sub_command > 0xFFU)
        return dv_command(DV_CMD_UNKNOWN);
    switch ((main_command << 8) + sub_command) {
#define DV_URD_FUNCTION(id, main, sub, ...)                                                        \
    case ((main) << 8) + (sub):                                                                    \
        return dv_command(DV_CMD_URD_##id);
#include "ioctl/wire/commands.def"
    default:
        return dv_command(DV_CMD_UNKNOWN);
    }
}

// Finds the command of an ioctl number on a file bound to `module`; id DV_CMD_UNKNOWN when there is
// none. URD functions are also found by their own number (driver-abi.md 6.1).
static inline const struct dv_command_info* dv_find_ioctl(unsigned module, uint32_t number) {
    unsigned id = DV_CMD_UNKNOWN;
    switch (number) {
#define DV_COMMAND(id_, module_, number_, ...)                                                     \
    case number_:                                                                                  \
        id = DV_CMD_##id_;                                                                         \
        break;
#include "ioctl/wire/commands.def"
    default:
        break;
    }
    if (id != DV_CMD_UNKNOWN) {
        const struct dv_command_info* info = dv_command(id);
        if (info->module == module || info->module == DV_MOD_ANY)
            return info;
    }
    if (module == DV_MOD_URD)
        return dv_find_urd((number >> 8) & 0xFFU, number & 0xFFU);
    return dv_command(DV_CMD_UNKNOWN);
}

static inline const struct dv_command_info* dv_find_dmp(uint32_t opcode) {
    switch (opcode) {
#define DV_DMP_FUNCTION(id, opcode_, ...)                                                          \
    case opcode_:                                                                                  \
        return dv_command(DV_CMD_DMP_##id);
#include "ioctl/wire/commands.def"
    default:
        return dv_command(DV_CMD_UNKNOWN);
    }
}

// The first 8 characters of a UDIS name as one number; a constant for a literal.
static inline __attribute__((always_inline)) uint64_t dv_udis_word(const char* name) {
    uint64_t word;
    __builtin_memcpy(&word, name, sizeof(word));
    return word;
}

// `name` has 16 bytes; it need not be terminated when it fills them.
static inline int dv_udis_matches(const char* key, const char* name) {
    unsigned i = 0;
    for (; i < DV_UDIS_NAME_LEN; ++i) {
        const char c = name[i];
        if (key[i] == c) {
            if (c == 0)
                return 1;
        } else if (key[i] == '#') {
            const int digit = c >= '0' && c <= '9';
            if (!digit && (key[i + 1] == 0 || c < 'a' || c > 'f'))
                return 0;
        } else {
            // a second digit where the key ends in one '#'
            return key[i] == 0 && key[i - 1] == '#' && c >= '0' && c <= '9' &&
                   (i + 1 == DV_UDIS_NAME_LEN || name[i + 1] == 0);
        }
    }
    return key[i] == 0;
}

// '#' in the table's key stands for one digit, decimal or hex; a key that ends in one '#' takes one
// or two decimal digits. No two keys of a module share their first 8 characters.
static inline const struct dv_command_info* dv_find_udis(uint32_t module, const char* name) {
    const uint64_t word = dv_udis_word(name);
    unsigned id = DV_CMD_UDIS_PROCESS_MEM; // the one that starts with digits
#define DV_UDIS_VALUE(id_, module_, key, ...)                                                      \
    if (word == dv_udis_word(key) && module == (module_))                                          \
        id = DV_CMD_UDIS_##id_;                                                                    \
    else
#include "ioctl/wire/commands.def"
    {}
    if (dv_command(id)->module != module || !dv_udis_matches(dv_command(id)->name, name))
        return dv_command(DV_CMD_UNKNOWN);
    return dv_command(id);
}

// Module of a name as the bind ioctl carries it; DV_MOD_ANY when unknown.
static inline unsigned dv_module_of(const char* name) {
    static const struct {
        const char* name;
        unsigned module;
    } known[] = {{"uda", DV_MOD_UDA}, {"DEVMNG", DV_MOD_DEVMNG}, {"URD", DV_MOD_URD},
                 {"DMS", DV_MOD_DMS}, {"SVM", DV_MOD_SVM},       {DS_MODULE_NAME, DV_MOD_DAVSIM}};
    unsigned i, k;
    for (i = 0; i < sizeof(known) / sizeof(known[0]); ++i) {
        for (k = 0; known[i].name[k] && known[i].name[k] == name[k]; ++k)
            ;
        if (!known[i].name[k] && !name[k])
            return known[i].module;
    }
    return DV_MOD_ANY;
}

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// What happened, in a ring that the host drains.
#include "kmod-sim/core/internal.h"

static uint64_t oldest_kept(const struct sim* sim) {
    return sim->journal_head > SIM_JOURNAL_MAX ? sim->journal_head - SIM_JOURNAL_MAX : 0;
}

void sim_journal(struct sim* sim, uint32_t device, uint16_t kind, uint16_t command, uint32_t client,
                 uint32_t code, uint64_t a, uint64_t b) {
    struct ds_journal_record* record = &sim->journal[sim->journal_head & (SIM_JOURNAL_MAX - 1)];
    DV_STATIC_ASSERT((SIM_JOURNAL_MAX & (SIM_JOURNAL_MAX - 1)) == 0, "the ring is indexed by mask");
    int known = device < sim->limits.device_count;
    record->sequence =
        known ? ++sim->device[device].journal_sequence : ++sim->journal_system_sequence;
    record->time_ns = sim->now_ns;
    record->device_id = known ? device : SYSTEM_JOURNAL;
    record->kind = kind;
    record->command = command;
    record->client = client;
    record->code = code;
    record->a = a;
    record->b = b;
    ++sim->journal_head;
}

uint32_t sim_journal_read(struct sim* sim, uint64_t* cursor, uint64_t* lost,
                          struct ds_journal_record* out, uint32_t room) {
    uint64_t oldest = oldest_kept(sim);
    uint32_t count = 0;
    *lost = 0;
    if (room == 0)
        return 0;
    if (*cursor < oldest) {
        *lost = oldest - *cursor;
        *cursor = oldest;
        memset(out, 0, sizeof(*out));
        out->time_ns = sim->now_ns;
        out->device_id = SYSTEM_JOURNAL;
        out->kind = DS_J_LOST;
        out->a = *lost;
        count = 1;
    }
    for (; count < room && *cursor < sim->journal_head; ++count, ++*cursor)
        memcpy(&out[count], &sim->journal[*cursor & (SIM_JOURNAL_MAX - 1)], sizeof(*out));
    if (*cursor > sim->journal_read)
        sim->journal_read = *cursor;
    return count;
}

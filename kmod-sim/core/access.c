// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// Words of memory that a client holds: load, store, and a look at the stored bits.
#include "kmod-sim/core/words.h"

// The stored word at `address`, bits as they stand.
static uint64_t stored_word(const struct sim* sim, const struct sim_device* device,
                            uint64_t address, uint8_t* check) {
    uint32_t index = sim_word_from(device, address);
    uint64_t written;
    if (index < device->word_count && device->word[index].address == address) {
        const struct sim_word* word = &device->word[index];
        *check = (uint8_t)(secded_encode(word->written) ^ word->flipped_check);
        return word->written ^ word->flipped_data;
    }
    written = sim_word_content(sim, device, address);
    *check = secded_encode(written);
    return written;
}

static int inside(const struct sim_device* device, const struct sim_client* client,
                  uint64_t address, uint64_t words) {
    uint32_t index;
    for (index = 0; index < device->extent_count; ++index) {
        const struct sim_extent* extent = &device->extent[index];
        uint64_t first = (uint64_t)extent->first_page << SIM_PAGE_SHIFT;
        if (extent->client == client->ordinal && !extent->context && address >= first &&
            address - first < extent->bytes)
            return words <= (extent->bytes - (address - first)) >> 3;
    }
    return 0;
}

static int load(struct sim* sim, struct sim_device* device, const struct sim_client* client,
                struct ds_access* access) {
    struct sim_read read = {0, 0};
    uint8_t check, syndrome;
    uint64_t value = 0;
    int result;
    if (access->count == 1) { // before the read, which may mend what it finds
        value = stored_word(sim, device, access->address, &check);
        secded_decode(&value, check, &syndrome);
    }
    result = sim_ecc_read(sim, device, access->address, access->count, client->ident.pid, &read);
    access->corrected = read.corrected;
    if (result == -SIM_EIO)
        access->bad_address = read.bad_address;
    else
        access->value = value;
    return result;
}

int sim_access(struct sim* sim, struct sim_client* client, uint32_t device,
               struct ds_access* access) {
    struct sim_device* target;
    uint8_t check = 0;
    if (device >= sim->limits.device_count || !sim_present(&sim->device[device]))
        return -SIM_ENODEV;
    target = &sim->device[device];
    if (!((client->ident.visible >> device) & 1))
        return -SIM_EACCES;
    if (target->state != DS_STATE_OK)
        return target->state == DS_STATE_LOST ? -SIM_EIO : -SIM_EBUSY;
    if ((access->address & 7) || access->count == 0 || access->store > DS_ACCESS_RAW ||
        (access->store == DS_ACCESS_RAW && access->count != 1))
        return -SIM_EINVAL;
    if (!inside(target, client, access->address, access->count))
        return -SIM_EFAULT;
    switch (access->store) {
    case DS_ACCESS_STORE:
        access->corrected = 0;
        return sim_ecc_write(sim, target, access->address, access->count, access->value);
    case DS_ACCESS_RAW:
        access->value = stored_word(sim, target, access->address, &check);
        access->corrected = check;
        return 0;
    default:
        return load(sim, target, client, access);
    }
}

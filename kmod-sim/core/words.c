// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// What HBM holds: ranges that clients stored, words whose bits have flipped, and for all the rest a
// hash. Both tables are sparse, ascending and bounded.
#include "kmod-sim/core/words.h"

#define CONTENT_SALT 0x48424D2D574F5244ULL // keeps contents apart from the rules' random numbers

// First stored range that ends behind `address`.
static uint32_t fill_from(const struct sim_device* device, uint64_t address) {
    uint32_t low = 0, high = device->fill_count;
    while (low < high) {
        uint32_t middle = (low + high) >> 1;
        if (device->fill[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t sim_word_content(const struct sim* sim, const struct sim_device* device,
                          uint64_t address) {
    uint32_t index = fill_from(device, address);
    if (index < device->fill_count && device->fill[index].first <= address)
        return device->fill[index].value;
    return fi_random(sim->seed ^ CONTENT_SALT, device->config.device_id, address);
}

uint32_t sim_word_from(const struct sim_device* device, uint64_t address) {
    uint32_t low = 0, high = device->word_count;
    while (low < high) {
        uint32_t middle = (low + high) >> 1;
        if (device->word[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct sim_word* sim_word_take(const struct sim* sim, struct sim_device* device, uint64_t address) {
    uint32_t index = sim_word_from(device, address), move;
    struct sim_word* word = &device->word[index];
    if (index < device->word_count && word->address == address)
        return word;
    if (device->word_count >= SIM_WORDS_MAX)
        return NULL;
    for (move = device->word_count++; move > index; --move)
        device->word[move] = device->word[move - 1];
    memset(word, 0, sizeof(*word));
    word->address = address;
    word->written = sim_word_content(sim, device, address);
    word->used = 1;
    return word;
}

void sim_words_drop(struct sim_device* device, uint64_t first, uint64_t end) {
    uint32_t to = sim_word_from(device, first), from = sim_word_from(device, end);
    uint32_t kept = to + (device->word_count - from);
    if (from == to)
        return;
    for (; from < device->word_count; ++from, ++to)
        device->word[to] = device->word[from];
    memset(&device->word[kept], 0, (device->word_count - kept) * sizeof(device->word[0]));
    device->word_count = kept;
}

// Forgets ranges in memory that nobody holds any more; nobody can load from them.
static void forget_freed(struct sim_device* device) {
    uint32_t from, to = 0, extent;
    for (from = 0; from < device->fill_count; ++from) {
        const struct sim_fill* fill = &device->fill[from];
        for (extent = 0; extent < device->extent_count; ++extent) {
            const struct sim_extent* held = &device->extent[extent];
            uint64_t first = (uint64_t)held->first_page << SIM_PAGE_SHIFT;
            if (fill->first < first + ((uint64_t)held->page_count << SIM_PAGE_SHIFT) &&
                fill->end > first)
                break;
        }
        if (extent < device->extent_count)
            device->fill[to++] = *fill;
    }
    memset(&device->fill[to], 0, (device->fill_count - to) * sizeof(device->fill[0]));
    device->fill_count = to;
}

// Puts [first, end) = value into the table: up to three ranges (what is left of the one before, the
// new one, what is left of the one behind) replace those that it meets.
static int put_fill(struct sim_device* device, uint64_t first, uint64_t end, uint64_t value) {
    struct sim_fill* fill = device->fill;
    struct sim_fill piece[3];
    uint32_t from = fill_from(device, first), to = from, count = 0, move, total;
    if (from > 0 && fill[from - 1].end == first && fill[from - 1].value == value)
        first = fill[--from].first; // one range with the neighbour before
    while (to < device->fill_count && fill[to].first < end)
        ++to;
    if (from < to && fill[from].first < first) {
        if (fill[from].value == value) {
            first = fill[from].first;
        } else {
            piece[count].first = fill[from].first;
            piece[count].end = first;
            piece[count++].value = fill[from].value;
        }
    }
    piece[count].first = first;
    piece[count].end = end;
    piece[count++].value = value;
    if (from < to && fill[to - 1].end > end) {
        if (fill[to - 1].value == value) {
            piece[count - 1].end = fill[to - 1].end;
        } else {
            piece[count].first = end;
            piece[count].end = fill[to - 1].end;
            piece[count++].value = fill[to - 1].value;
        }
    } else if (to < device->fill_count && fill[to].first == end && fill[to].value == value) {
        piece[count - 1].end = fill[to++].end; // one range with the neighbour behind
    }
    total = device->fill_count - (to - from) + count;
    if (total > SIM_FILLS_MAX)
        return -SIM_ENOSPC;
    if (count > to - from) {
        for (move = device->fill_count; move > to; --move)
            fill[move - 1 + count - (to - from)] = fill[move - 1];
    } else {
        for (move = to; move < device->fill_count; ++move)
            fill[move - (to - from) + count] = fill[move];
    }
    for (move = 0; move < count; ++move)
        fill[from + move] = piece[move];
    for (move = total; move < device->fill_count; ++move)
        memset(&fill[move], 0, sizeof(fill[move]));
    device->fill_count = total;
    return 0;
}

int sim_ecc_write(struct sim* sim, struct sim_device* device, uint64_t address, uint64_t words,
                  uint64_t value) {
    uint64_t size = device->total_pages << SIM_PAGE_SHIFT, end;
    (void)sim;
    if ((address & 7) || words == 0)
        return -SIM_EINVAL;
    if (address >= size || words > (size - address) >> 3)
        return -SIM_EFAULT;
    end = address + (words << 3);
    if (sim_first_out_of_use(device, address, end) < end)
        return -SIM_EIO;
    if (put_fill(device, address, end, value) != 0) {
        forget_freed(device);
        if (put_fill(device, address, end, value) != 0)
            return -SIM_ENOSPC;
    }
    sim_words_drop(device, address, end);
    return 0;
}

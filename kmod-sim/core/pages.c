// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// Pages of HBM that are not simply good: with counted errors, pending, isolated.
#include "kmod-sim/core/words.h"

#define ROWS_WARNING 16 // isolated pages that raise 80E18401, 80E18402 (firmware-and-faults.md 4.2)
#define ROWS_LIMIT 64
#define RETURN_SALT 0x52455455524EULL

static uint32_t page_from(const struct sim_device* device, uint32_t number) {
    uint32_t low = 0, high = device->page_count;
    while (low < high) {
        uint32_t middle = (low + high) >> 1;
        if (device->page[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

enum sim_page_state sim_page_state(const struct sim_device* device, uint32_t number) {
    uint32_t index = page_from(device, number);
    if (index < device->page_count && device->page[index].number == number)
        return (enum sim_page_state)device->page[index].state;
    return SIM_PAGE_GOOD;
}

int sim_page_usable(const struct sim_device* device, uint32_t number) {
    return sim_page_state(device, number) == SIM_PAGE_GOOD;
}

uint64_t sim_first_out_of_use(const struct sim_device* device, uint64_t address, uint64_t end) {
    uint32_t index;
    for (index = page_from(device, page_of(address)); index < device->page_count; ++index) {
        const struct sim_page* page = &device->page[index];
        uint64_t first = (uint64_t)page->number << SIM_PAGE_SHIFT;
        if (first >= end)
            break;
        if (page->state == SIM_PAGE_ISOLATED && page->cause == CAUSE_DOUBLE)
            return first > address ? first : address;
    }
    return end;
}

static void remove_entry(struct sim_device* device, uint32_t index) {
    --device->page_count;
    for (; index < device->page_count; ++index)
        device->page[index] = device->page[index + 1];
    memset(&device->page[device->page_count], 0, sizeof(device->page[0]));
}

// A full table forgets the good page with the fewest counted errors.
static int make_room(struct sim_device* device) {
    uint32_t index, least = SIM_PAGES_MAX;
    if (device->page_count < SIM_PAGES_MAX)
        return 1;
    for (index = 0; index < device->page_count; ++index) {
        if (device->page[index].state != SIM_PAGE_GOOD)
            continue;
        if (least == SIM_PAGES_MAX || device->page[index].corrected < device->page[least].corrected)
            least = index;
    }
    if (least == SIM_PAGES_MAX)
        return 0;
    remove_entry(device, least);
    return 1;
}

struct sim_page* sim_page_take(struct sim_device* device, uint32_t number) {
    uint32_t index = page_from(device, number), move;
    if (index < device->page_count && device->page[index].number == number)
        return &device->page[index];
    if (!make_room(device))
        return NULL;
    index = page_from(device, number);
    for (move = device->page_count++; move > index; --move)
        device->page[move] = device->page[move - 1];
    memset(&device->page[index], 0, sizeof(device->page[index]));
    device->page[index].number = number;
    return &device->page[index];
}

void sim_pages_alarm(struct sim* sim, struct sim_device* device) {
    sim_raise(sim, device, DV_EV_HBM_ROWS_16,
              device->pages_isolated >= ROWS_WARNING ? DV_ASSERTION_OCCURRENCE
                                                     : DV_ASSERTION_RECOVERY,
              0, NULL);
    sim_raise(sim, device, DV_EV_HBM_ROWS_64,
              device->pages_isolated >= ROWS_LIMIT ? DV_ASSERTION_OCCURRENCE
                                                   : DV_ASSERTION_RECOVERY,
              0, NULL);
}

// Adds or takes one page to or from the counts of its state.
static void count_page(struct sim_device* device, const struct sim_page* page, uint32_t by) {
    uint32_t* of_cause =
        page->cause == CAUSE_SINGLE ? &device->ecc.isolated_single : &device->ecc.isolated_double;
    if (page->state == SIM_PAGE_PENDING)
        device->pages_pending += by;
    if (page->state != SIM_PAGE_ISOLATED)
        return;
    device->pages_isolated += by;
    if (by == 1 || *of_cause) // a profile's counts need not cover its pages
        *of_cause += by;
}

void sim_page_enter(struct sim* sim, struct sim_device* device, struct sim_page* page,
                    enum sim_page_state state, uint8_t cause) {
    uint64_t first = (uint64_t)page->number << SIM_PAGE_SHIFT;
    count_page(device, page, 0U - 1U);
    page->state = (uint8_t)state;
    page->cause = cause;
    count_page(device, page, 1);
    if (state == SIM_PAGE_ISOLATED) // nothing reads the page's cells any more
        sim_words_drop(device, first, first + SIM_PAGE_SIZE);
    sim_journal(sim, device->config.device_id, DS_J_PAGE, 0, 0, (uint32_t)state, first, cause);
}

int sim_page_isolate(struct sim* sim, struct sim_device* device, uint32_t number, uint8_t cause) {
    struct sim_page* page;
    if (number >= device->total_pages)
        return -SIM_EINVAL;
    page = sim_page_take(device, number);
    if (!page)
        return -SIM_ENOSPC;
    if (page->state == SIM_PAGE_ISOLATED)
        return 0;
    sim_page_enter(sim, device, page, SIM_PAGE_ISOLATED, cause);
    sim_pages_alarm(sim, device);
    return 0;
}

int sim_page_restore(struct sim* sim, struct sim_device* device, const uint32_t* numbers,
                     uint32_t count) {
    uint32_t index;
    for (index = 0; index < count; ++index) {
        struct sim_page* page;
        if (numbers[index] >= device->total_pages)
            return -SIM_EINVAL;
        page = sim_page_take(device, numbers[index]);
        if (!page)
            return -SIM_ENOSPC;
        if (page->state == SIM_PAGE_ISOLATED)
            continue;
        // Their counts are there already; those of single-bit errors come first.
        page->state = SIM_PAGE_ISOLATED;
        page->cause = index < device->ecc.isolated_single ? CAUSE_SINGLE : CAUSE_DOUBLE;
        ++device->pages_isolated;
    }
    sim_pages_alarm(sim, device);
    return 0;
}

// Next number of a dotted version; -1 at the end.
static int32_t version_part(const char** text) {
    int32_t value = 0;
    if (**text < '0' || **text > '9')
        return -1;
    for (; **text >= '0' && **text <= '9'; ++*text)
        if (value < 100000000)
            value = value * 10 + (**text - '0');
    if (**text == '.')
        ++*text;
    return value;
}

int sim_ecc_returns_pages(const char* firmware_version) {
    static const int32_t last[] = {1, 76, 22, 3, 220};
    unsigned i;
    for (i = 0; i < sizeof(last) / sizeof(last[0]); ++i) {
        int32_t part = version_part(&firmware_version);
        if (part < 0)
            return i > 0; // 1.76.22 is before 1.76.22.3.220; a text without a version is unknown
        if (part != last[i])
            return part < last[i];
    }
    return version_part(&firmware_version) < 0;
}

// A page handed back still has its weak cells: bits of one of its words flip again.
static void show_defect(struct sim* sim, struct sim_device* device, uint32_t number,
                        uint8_t cause) {
    uint64_t draw = fi_random(sim->seed ^ RETURN_SALT, device->config.device_id, number);
    uint64_t address =
        ((uint64_t)number << SIM_PAGE_SHIFT) + ((draw & ((1U << WORDS_PER_PAGE_SHIFT) - 1)) << 3);
    uint64_t bits = (uint64_t)1 << (draw >> 58);
    if (cause == CAUSE_DOUBLE)
        bits |= (uint64_t)1 << (((draw >> 58) + 1) & 63);
    sim_flip_word(sim, device, address, bits, 0);
}

void sim_ecc_reset(struct sim* sim, struct sim_device* device) {
    static const uint32_t events[] = {DV_EV_HBM_ISOLATED, DV_EV_HBM_ISOLATION_FAILED,
                                      DV_EV_HBM_SCRUB_DOUBLE};
    int returns = sim_ecc_returns_pages(device->config.firmware_version);
    uint32_t index;
    memset(device->word, 0, sizeof(device->word));
    memset(device->fill, 0, sizeof(device->fill));
    device->word_count = device->fill_count = 0;
    device->scrub_next_ns = SIM_NEVER;
    device->ecc.single_now = device->ecc.double_now = 0;
    for (index = 0; index < sizeof(events) / sizeof(events[0]); ++index)
        sim_raise(sim, device, events[index], DV_ASSERTION_RECOVERY, 0, NULL);
    for (index = 0; index < device->page_count;) {
        struct sim_page* page = &device->page[index];
        if (page->state == SIM_PAGE_ISOLATED && returns) {
            uint32_t number = page->number;
            uint8_t cause = page->cause;
            sim_page_enter(sim, device, page, SIM_PAGE_GOOD, cause);
            remove_entry(device, index);
            show_defect(sim, device, number, cause);
            continue;
        }
        if (page->state == SIM_PAGE_PENDING)
            sim_page_enter(sim, device, page, SIM_PAGE_ISOLATED, page->cause);
        ++index;
    }
    sim_pages_alarm(sim, device);
}

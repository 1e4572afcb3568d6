// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// Errors of stored words: flips, decoding by loads and by the patrol scrubber, counters, records,
// and what is done with the pages.
#include "kmod-sim/core/words.h"

struct verdict {
    enum secded_result result;
    uint64_t delivered; // what the decoder hands on
    uint8_t syndrome;
    uint8_t wrong; // delivered as good, but not what was written
};

static struct verdict decode(const struct sim_word* word) {
    struct verdict verdict;
    uint8_t check = (uint8_t)(secded_encode(word->written) ^ word->flipped_check);
    verdict.delivered = word->written ^ word->flipped_data;
    verdict.result = secded_decode(&verdict.delivered, check, &verdict.syndrome);
    verdict.wrong = verdict.result != SECDED_DETECTED && verdict.delivered != word->written;
    return verdict;
}

// Passes come at whole multiples of the period, so that they are the same on every host.
static uint64_t next_pass(const struct sim* sim, const struct sim_device* device) {
    uint32_t period = device->config.scrub_ms;
    uint64_t passes;
    if (!period)
        return SIM_NEVER;
    passes = div_u64_u32(div_u64_u32(sim->now_ns, NS_PER_MS, NULL), period, NULL);
    return (passes + 1) * period * NS_PER_MS;
}

// ---- flips ----

int sim_flip_word(struct sim* sim, struct sim_device* device, uint64_t address, uint64_t data,
                  uint8_t check) {
    struct sim_word* word;
    if ((address & 7) || address >= device->total_pages << SIM_PAGE_SHIFT)
        return -SIM_EINVAL;
    if (sim_page_state(device, page_of(address)) == SIM_PAGE_ISOLATED)
        return -SIM_EFAULT;
    word = sim_word_take(sim, device, address);
    if (!word)
        return -SIM_ENOSPC;
    word->flipped_data ^= data;
    word->flipped_check ^= check;
    word->reported = 0;
    if (!word->flipped_data && !word->flipped_check)
        sim_words_drop(device, address, address + 8);
    else
        device->scrub_next_ns = next_pass(sim, device);
    sim_touch(sim);
    return 0;
}

int sim_flip(struct sim* sim, uint32_t device, uint64_t address, const uint8_t* bits,
             uint32_t bit_count) {
    struct sim_device* target = sim_device(sim, device);
    uint64_t data = 0;
    uint32_t index, check = 0;
    if (!target)
        return -SIM_ENODEV;
    if (bit_count == 0 || bit_count > 72)
        return -SIM_EINVAL;
    for (index = 0; index < bit_count; ++index) {
        if (bits[index] > 71)
            return -SIM_EINVAL;
        if (bits[index] < 64)
            data ^= (uint64_t)1 << bits[index];
        else
            check ^= 1U << (bits[index] - 64);
    }
    return sim_flip_word(sim, target, address, data, (uint8_t)check);
}

// ---- counters and records ----

static void count_up(uint32_t* counter) {
    if (*counter != 0xFFFFFFFFU)
        ++*counter;
}

// The record of an address moves to the end, so that the oldest is the one not seen for longest.
static void note_record(const struct sim* sim, struct sim_record* record, uint32_t* count,
                        uint64_t address) {
    struct sim_record note = {address, 0, 0};
    uint32_t index = 0;
    while (index < *count && record[index].address != address)
        ++index;
    if (index < *count)
        note.count = record[index].count;
    else if (*count == SIM_RECORDS_MAX)
        index = 0;
    else
        ++*count;
    for (; index + 1 < *count; ++index)
        record[index] = record[index + 1];
    count_up(&note.count);
    note.time = (int32_t)div_u64_u32(sim_wall_ms(sim), 1000, NULL);
    record[*count - 1] = note;
}

// Counts an error once until the word changes; 1 when it is a new one that was corrected.
static int note_error(struct sim* sim, struct sim_device* device, struct sim_word* word,
                      const struct verdict* verdict) {
    struct sim_ecc* ecc = &device->ecc;
    uint32_t code = verdict->result == SECDED_DETECTED ? 2 : verdict->wrong ? 3 : 1;
    if (word->reported & REPORTED_COUNTED)
        return 0;
    word->reported |= REPORTED_COUNTED;
    if (verdict->result == SECDED_CORRECTED) {
        count_up(&ecc->single_now);
        count_up(&ecc->single_lifetime);
        note_record(sim, ecc->single_record, &ecc->single_record_count, word->address);
    } else if (verdict->result == SECDED_DETECTED) {
        count_up(&ecc->double_now);
        count_up(&ecc->double_lifetime);
        note_record(sim, ecc->double_record, &ecc->double_record_count, word->address);
    } else if (!verdict->wrong) {
        return 0;
    }
    sim_journal(sim, device->config.device_id, DS_J_ECC, 0, 0, code, word->address,
                verdict->syndrome);
    return verdict->result == SECDED_CORRECTED;
}

void sim_ecc_clear(struct sim* sim, struct sim_device* device) {
    struct sim_ecc* ecc = &device->ecc;
    (void)sim;
    ecc->single_now = ecc->double_now = 0;
    ecc->single_record_count = ecc->double_record_count = 0;
    memset(ecc->single_record, 0, sizeof(ecc->single_record));
    memset(ecc->double_record, 0, sizeof(ecc->double_record));
}

// ---- pages ----

// "0x" and 16 digits: the additional text of an ECC event.
static void address_text(uint64_t address, char text[20]) {
    int digit;
    text[0] = '0';
    text[1] = 'x';
    for (digit = 0; digit < 16; ++digit)
        text[2 + digit] = "0123456789abcdef"[(address >> (60 - 4 * digit)) & 15];
    text[18] = '\0';
}

static void raise_for(struct sim* sim, struct sim_device* device, uint32_t event, uint8_t assertion,
                      uint32_t pid, uint64_t address) {
    char text[20];
    address_text(address, text);
    sim_raise(sim, device, event, assertion, pid, text);
}

// A corrected error counts towards the page's threshold. The contents of a page retired this way
// are moved, so its owner reads on; the page is not handed out again. Entries of words may go.
static void count_in_page(struct sim* sim, struct sim_device* device, uint64_t address) {
    struct sim_page* page = sim_page_take(device, page_of(address));
    if (!page || page->state == SIM_PAGE_ISOLATED)
        return;
    if (page->corrected < 0xFFFFU)
        ++page->corrected;
    if (!device->config.page_threshold || page->corrected < device->config.page_threshold ||
        page->state != SIM_PAGE_GOOD)
        return;
    raise_for(sim, device, DV_EV_HBM_SINGLE_LIMIT, DV_ASSERTION_ONE_OFF, 0, address);
    sim_page_enter(sim, device, page, SIM_PAGE_ISOLATED, CAUSE_SINGLE);
    sim_pages_alarm(sim, device);
}

static void make_pending(struct sim* sim, struct sim_device* device, uint64_t address) {
    struct sim_page* page = sim_page_take(device, page_of(address));
    if (page && page->state == SIM_PAGE_GOOD)
        sim_page_enter(sim, device, page, SIM_PAGE_PENDING, CAUSE_DOUBLE);
}

static int isolation_fails(struct sim* sim, struct sim_device* device, uint32_t pid,
                           uint64_t address) {
    const struct fi_rule* rule;
    struct fi_query query = {sim->now_ns, device->config.device_id, pid, NULL, NULL, NULL};
    uint32_t load[FI_LOAD_COUNT], index;
    if (!fi_active(&sim->rules))
        return 0;
    for (index = 0; index < SIM_OWNERS_MAX; ++index)
        if (device->owner[index].used && device->owner[index].pid == pid)
            query.client_name = device->owner[index].name;
    sim_load(sim, device, load);
    query.load = load;
    rule = fi_fire(&sim->rules, FI_ISOLATION_FAILS, &query);
    if (rule)
        sim_journal(sim, device->config.device_id, DS_J_FAULT, 0, 0, rule->id, rule->matches,
                    address);
    return rule != NULL;
}

// A load met an uncorrectable word: its page is taken from under the owner, or has to wait for a
// reset.
static void isolate_hot(struct sim* sim, struct sim_device* device, uint64_t address,
                        uint32_t pid) {
    struct sim_page* page = NULL;
    if (!isolation_fails(sim, device, pid, address))
        page = sim_page_take(device, page_of(address));
    if (!page) {
        raise_for(sim, device, DV_EV_HBM_ISOLATION_FAILED, DV_ASSERTION_OCCURRENCE, pid, address);
        make_pending(sim, device, address);
        return;
    }
    raise_for(sim, device, DV_EV_HBM_ISOLATED, DV_ASSERTION_OCCURRENCE, pid, address);
    sim_page_enter(sim, device, page, SIM_PAGE_ISOLATED, CAUSE_DOUBLE);
    sim_pages_alarm(sim, device);
}

// ---- reading ----

int sim_ecc_read(struct sim* sim, struct sim_device* device, uint64_t address, uint64_t words,
                 uint32_t pid, struct sim_read* out) {
    uint64_t size = device->total_pages << SIM_PAGE_SHIFT, end, stop;
    out->bad_address = 0;
    out->corrected = 0;
    if ((address & 7) || words == 0)
        return -SIM_EINVAL;
    if (address >= size || words > (size - address) >> 3)
        return -SIM_EFAULT;
    end = address + (words << 3);
    stop = sim_first_out_of_use(device, address, end);
    while (address < stop) { // from damaged word to damaged word; a page may go on the way
        uint32_t index = sim_word_from(device, address);
        struct sim_word* word = &device->word[index];
        struct verdict verdict;
        int fresh;
        if (index >= device->word_count || word->address >= stop)
            break;
        address = word->address;
        verdict = decode(word);
        fresh = note_error(sim, device, word, &verdict);
        if (verdict.result == SECDED_DETECTED) {
            int tried = word->reported & REPORTED_ISOLATION_TRIED;
            word->reported |= REPORTED_ISOLATION_TRIED;
            if (!tried)
                isolate_hot(sim, device, address, pid);
            out->bad_address = address;
            return -SIM_EIO;
        }
        if (verdict.result == SECDED_CORRECTED)
            ++out->corrected;
        if (fresh)
            count_in_page(sim, device, address);
        address += 8;
    }
    if (stop == end)
        return 0;
    out->bad_address = stop;
    return -SIM_EIO;
}

// ---- time ----

// One pass of the patrol scrubber: finds, corrects and writes back, reports what it cannot correct.
static void scrub(struct sim* sim, struct sim_device* device) {
    uint64_t address = 0;
    for (;;) {
        uint32_t index = sim_word_from(device, address);
        struct sim_word* word = &device->word[index];
        struct verdict verdict;
        int known, fresh;
        if (index >= device->word_count)
            break;
        address = word->address;
        known = word->reported & REPORTED_COUNTED;
        verdict = decode(word);
        fresh = note_error(sim, device, word, &verdict);
        if (verdict.result == SECDED_CORRECTED) {
            // What the decoder delivered is written back as a good word, right or not.
            word->flipped_data = verdict.delivered ^ word->written;
            word->flipped_check =
                (uint8_t)(secded_encode(verdict.delivered) ^ secded_encode(word->written));
            if (!word->flipped_data)
                sim_words_drop(device, address, address + 8);
            if (fresh)
                count_in_page(sim, device, address);
        } else if (verdict.result == SECDED_DETECTED && !known) {
            raise_for(sim, device, DV_EV_HBM_SCRUB_DOUBLE, DV_ASSERTION_OCCURRENCE, 0, address);
            make_pending(sim, device, address);
        }
        address += 8;
    }
    device->scrub_next_ns = SIM_NEVER; // the next flip gives it work again
}

void sim_ecc_step(struct sim* sim, struct sim_device* device, uint64_t due_ns) {
    sim_ecc_rules_step(sim, device, due_ns);
    if (device->state == DS_STATE_OK && device->word_count && device->scrub_next_ns <= due_ns)
        scrub(sim, device);
}

uint64_t sim_ecc_next(const struct sim* sim, const struct sim_device* device) {
    uint64_t next = sim_ecc_rules_next(sim, device);
    if (device->state == DS_STATE_OK && device->word_count)
        next = sim_earlier_of(next, device->scrub_next_ns);
    return next;
}

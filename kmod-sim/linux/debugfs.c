// SPDX-License-Identifier: GPL-2.0-only
// /sys/kernel/debug/davinci_sim: rules, journal, state, and what only a simulator has. Root's
// alone.
//   rules    a line written is a rule (faultinject/core/rules.h), "clear" or "clear ID"; read:
//   those set error    why the last write to `rules` was refused journal  the records kept, oldest
//   first state    the machine and its devices hotplug  "remove N", "restore N", "lose N" grants
//   "pid=N devices=LIST": the container of that process sees no other devices; "clear" settled "1":
//   the processes that run now are the profile's own (sim_residents_settled) let_go   "1": calls
//   that a rule keeps for ever return EIO
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "kmod-sim/linux/driver.h"

static struct dentry* folder;
static struct fi_error last_error; // [S]

// ---- what is written: one line ----

static int take_line(const char __user* from, size_t length, char* line, size_t room) {
    if (length >= room)
        return -EINVAL;
    if (copy_from_user(line, from, length))
        return -EFAULT;
    if (length && line[length - 1] == '\n')
        --length;
    line[length] = 0;
    return memchr(line, 0, length) ? -EINVAL : 0;
}

static int add_rule(const char* line) {
    struct fi_error error = {};
    int id;
    davsim_lock_system();
    davsim_present();
    davsim_lock_devices();
    id = fi_add(&davsim.sim->rules, line, (uint32_t)strlen(line), davsim.sim->now_ns, &error);
    davsim_unlock_devices();
    davsim_settle();
    last_error = error;
    davsim_unlock_system();
    if (id > 0)
        return 0;
    error.text[sizeof(error.text) - 1] = 0;
    pr_notice("davinci_sim: rule refused at character %u: %s\n", error.position + 1, error.text);
    return id == -2 ? -ENOSPC : -EINVAL;
}

static int clear_rules(u32 id) {
    u32 gone;
    davsim_lock_system();
    davsim_present();
    davsim_lock_devices();
    gone = fi_clear(&davsim.sim->rules, id);
    davsim_unlock_devices();
    davsim_settle();
    davsim_unlock_system();
    return gone || !id ? 0 : -ENOENT;
}

static int write_rule(char* line) {
    u32 id;
    if (!strcmp(line, "clear"))
        return clear_rules(0);
    if (sscanf(line, "clear %u", &id) == 1)
        return id ? clear_rules(id) : -EINVAL;
    return add_rule(line);
}

static int write_hotplug(char* line) {
    static const char* const names[] = {[DS_HOTPLUG_REMOVE] = "remove",
                                        [DS_HOTPLUG_RESTORE] = "restore",
                                        [DS_HOTPLUG_LOSE] = "lose"};
    char word[16];
    u32 device;
    int operation, result;
    if (sscanf(line, "%15s %u", word, &device) != 2)
        return -EINVAL;
    operation = match_string(names, ARRAY_SIZE(names), word);
    if (operation < 0)
        return operation;
    result = davsim_hotplug(device, (u32)operation);
    davsim_upkeep_flush();
    return result;
}

static int write_grants(char* line) {
    return davsim_grant(line);
}

static int write_let_go(char* line) {
    if (strcmp(line, "1"))
        return -EINVAL;
    pr_info("davinci_sim: %u calls let go\n", davsim_let_go());
    return 0;
}

// ---- what is read ----

static void put_text(struct seq_file* out, const char* text, size_t length) {
    seq_printf(out, "%.*s\n", (int)length, text);
}

static int show_rules(struct seq_file* out, void* unused) {
    const struct fi_rule* rule;
    u32 id = 1;
    davsim_lock_system();
    for (; (rule = fi_get(&davsim.sim->rules, id)) != NULL; id = rule->id + 1) {
        u32 left = fi_remaining(rule);
        seq_printf(out, "%u matches=%llu hits=%llu remaining=", rule->id,
                   (unsigned long long)rule->matches, (unsigned long long)rule->hits);
        if (left == FI_UNLIMITED)
            seq_puts(out, "unlimited ");
        else
            seq_printf(out, "%u ", left);
        put_text(out, rule->text, rule->text_length);
    }
    davsim_unlock_system();
    return 0;
}

static int show_error(struct seq_file* out, void* unused) {
    davsim_lock_system();
    last_error.text[sizeof(last_error.text) - 1] = 0;
    if (last_error.text[0])
        seq_printf(out, "at character %u: %s\n", last_error.position + 1, last_error.text);
    davsim_unlock_system();
    return 0;
}

static int show_journal(struct seq_file* out, void* unused) {
    struct ds_journal_record* page;
    u64 cursor = 0, lost;
    u32 count, index;
    page = kmalloc_array(DS_JOURNAL_PAGE, sizeof(*page), GFP_KERNEL);
    if (!page)
        return -ENOMEM;
    do {
        davsim_lock_system();
        count = sim_journal_read(davsim.sim, &cursor, &lost, page, DS_JOURNAL_PAGE);
        davsim_unlock_system();
        for (index = 0; index < count; ++index)
            seq_printf(out,
                       "device=%d sequence=%llu time_ns=%llu kind=%u command=%s client=%u code=%u "
                       "a=%llu b=%llu\n",
                       (int)page[index].device_id, (unsigned long long)page[index].sequence,
                       (unsigned long long)page[index].time_ns, page[index].kind,
                       page[index].command ? dv_command(page[index].command)->name : "-",
                       page[index].client, page[index].code, (unsigned long long)page[index].a,
                       (unsigned long long)page[index].b);
    } while (count == DS_JOURNAL_PAGE);
    kfree(page);
    return 0;
}

static void show_device(struct seq_file* out, const struct sim_device* device) {
    seq_printf(
        out,
        "device=%u state=%u health=%u boot=%u hbm_used=%llu hbm_total=%llu hbm_unowned=%llu "
        "owners=%u allocations=%u faults=%u ecc_single=%u ecc_double=%u isolated=%u resets=%u\n",
        device->config.device_id, device->state, sim_health(device), device->boot_status,
        (unsigned long long)sim_hbm_used_bytes(device),
        (unsigned long long)sim_hbm_total_bytes(device),
        (unsigned long long)sim_hbm_unowned_bytes(device), sim_owner_count(device),
        device->extent_count, device->fault_count, device->ecc.single_now, device->ecc.double_now,
        device->pages_isolated, device->reset_count);
}

static int show_state(struct seq_file* out, void* unused) {
    const struct sim* sim = davsim.sim;
    u32 index, open = 0;
    davsim_lock_system();
    davsim_present();
    davsim_lock_devices();
    for (index = 0; index < sim->limits.client_count; ++index)
        open += sim->client[index].ordinal != 0;
    seq_printf(
        out,
        "now_ns=%llu slots=%u open=%u parked=%u mapped=%u rules=%u history=%llu journal=%llu\n",
        (unsigned long long)sim->now_ns, davsim.slots, open, sim->ticket_count, davsim.mapped,
        sim->rules.count, (unsigned long long)sim->history_head,
        (unsigned long long)sim->journal_head);
    for (index = 0; index < davsim.slots; ++index)
        if (sim_device(davsim.sim, index))
            show_device(out, sim_device(davsim.sim, index));
    davsim_unlock_devices();
    davsim_unlock_system();
    return 0;
}

static int show_grants(struct seq_file* out, void* unused) {
    char* text = kmalloc(PAGE_SIZE, GFP_KERNEL);
    if (!text)
        return -ENOMEM;
    seq_write(out, text, davsim_grants_show(text, PAGE_SIZE));
    kfree(text);
    return 0;
}

// ---- files ----

struct entry {
    const char* name;
    int (*show)(struct seq_file* out, void* unused);
    int (*write)(char* line);
};
static const struct entry entries[] = {
    {"rules", show_rules, write_rule}, {"error", show_error, NULL},
    {"journal", show_journal, NULL},   {"state", show_state, NULL},
    {"hotplug", NULL, write_hotplug},  {"grants", show_grants, write_grants},
    {"let_go", NULL, write_let_go},
};

static int open_entry(struct inode* inode, struct file* file) {
    const struct entry* entry = inode->i_private;
    if (!(file->f_mode & FMODE_READ)) {
        file->private_data = NULL;
        return 0;
    }
    return entry->show ? single_open(file, entry->show, NULL) : -EACCES;
}

static int release_entry(struct inode* inode, struct file* file) {
    return file->f_mode & FMODE_READ ? single_release(inode, file) : 0;
}

static ssize_t write_entry(struct file* file, const char __user* from, size_t length,
                           loff_t* position) {
    const struct entry* entry = file_inode(file)->i_private;
    char line[DS_TEXT_MAX + 1];
    int result = take_line(from, length, line, sizeof(line));
    if (!result)
        result = entry->write ? entry->write(line) : -EACCES;
    return result ? result : (ssize_t)length;
}

static const struct file_operations entry_operations = {
    .owner = THIS_MODULE,
    .open = open_entry,
    .read = seq_read,
    .write = write_entry,
    .llseek = seq_lseek,
    .release = release_entry,
};

int davsim_debugfs_init(void) {
    u32 index;
    folder = debugfs_create_dir(DAVSIM_NAME, NULL);
    for (index = 0; index < ARRAY_SIZE(entries); ++index)
        debugfs_create_file(
            entries[index].name,
            (umode_t)((entries[index].show ? 0400 : 0) | (entries[index].write ? 0200 : 0)), folder,
            (void*)&entries[index], &entry_operations);
    return 0; // a kernel without debugfs does without these
}

void davsim_debugfs_exit(void) {
    debugfs_remove_recursive(folder);
}

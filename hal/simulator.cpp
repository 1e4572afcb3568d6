// SPDX-License-Identifier: Apache-2.0
#include "hal/simulator.hpp"

#include "hal/driver_impl.hpp"

#include <algorithm>

namespace asc::hal {

namespace {

// Names as rules spell them: UDIS values carry a prefix that the wire's table has not.
constexpr DriverCommand kCommands[] = {
#define DV_COMMAND(id, module, number, name, size, pointers, mask, scope, effect, errors)          \
    {name, errors, DV_EFFECT_##effect == DV_EFFECT_READ},
#define DV_URD_FUNCTION(id, main, sub, filter, name, in_len, out_len, device, mask, scope, effect, \
                        errors)                                                                    \
    {name, errors, DV_EFFECT_##effect == DV_EFFECT_READ},
#define DV_UDIS_VALUE(id, module, key, length, errors) {"udis." key, errors, true},
#define DV_DMP_FUNCTION(id, opcode, operation, name, in_len, out_len, mask, effect, errors)        \
    {name, errors, DV_EFFECT_##effect == DV_EFFECT_READ},
#include "ioctl/wire/commands.def"
};

constexpr std::string_view kKinds[] = {"other", "open",  "release", "call",  "fault",
                                       "alloc", "free",  "oom",     "ecc",   "page",
                                       "event", "state", "reset",   "clock", "lost"};
static_assert(static_cast<int>(JournalKind::open) == DS_J_OPEN &&
              static_cast<int>(JournalKind::event) == DS_J_EVENT &&
              static_cast<int>(JournalKind::lost) == DS_J_LOST &&
              std::size(kKinds) == DS_J_LOST + 1);

JournalRecord record_from_wire(const ds_journal_record& wire) {
    JournalRecord record;
    if (wire.kind < std::size(kKinds))
        record.kind = static_cast<JournalKind>(wire.kind);
    record.device = wire.device_id == 0xFFFFFFFFU ? -1 : static_cast<int>(wire.device_id);
    record.sequence = wire.sequence;
    record.time_ns = wire.time_ns;
    record.client = wire.client;
    record.code = wire.code;
    record.a = wire.a;
    record.b = wire.b;
    // Command 0 is "unknown", the others stand in the order of the table.
    if (wire.command > 0 && wire.command <= std::size(kCommands))
        record.command = kCommands[wire.command - 1].name;
    return record;
}

} // namespace

static_assert(std::size(kCommands) == DV_CMD_COUNT - 1);

std::string_view to_string(JournalKind kind) {
    return kKinds[static_cast<std::size_t>(kind)];
}

std::span<const DriverCommand> driver_commands() {
    return kCommands;
}

const DriverCommand* find_command(std::string_view name) {
    const auto found = std::ranges::find(kCommands, name, &DriverCommand::name);
    return found == std::end(kCommands) ? nullptr : &*found;
}

Reading<JournalPart> Driver::journal(std::uint64_t cursor) {
    impl_->enter();
    JournalPart part;
    part.next = cursor;
    for (;;) {
        ds_journal_read page{};
        page.size = sizeof(page);
        page.cursor = part.next;
        const Reading<ds_journal_read> answer =
            impl_->flat(impl_->nodes.davsim, DS_JOURNAL_READ, page, impl_->options.timeout);
        if (!answer)
            return answer.absence();
        if (answer->count > DS_JOURNAL_PAGE || answer->cursor < part.next)
            return Absence{Reason::failed, 0, "the journal's page cannot be right"};
        for (std::uint32_t i = 0; i < answer->count; ++i)
            part.records.push_back(record_from_wire(answer->record[i]));
        part.lost += answer->lost;
        part.next = answer->cursor;
        if (answer->count < DS_JOURNAL_PAGE)
            return part;
    }
}

} // namespace asc::hal

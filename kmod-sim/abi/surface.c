// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// The one place where surface rules meet a command.
#include "kmod-sim/abi/internal.h"

enum abi_surface_kind abi_surface(struct abi_call* call, const char* name, uint32_t device,
                                  struct abi_surface* out) {
    struct sim* sim = call->sim;
    const struct fi_rule* rule;
    struct sim_device* target = device == FI_ANY ? NULL : sim_device(sim, device);
    uint32_t load[FI_LOAD_COUNT];
    struct fi_query query = {sim->now_ns, device, call->client->ident.pid, call->client->ident.name,
                             name,        NULL};
    if (target) {
        sim_load(sim, target, load);
        query.load = load;
    }
    rule = fi_fire(&sim->rules, FI_SURFACE, &query);
    if (!rule)
        return ABI_SURFACE_NONE;
    sim_journal(sim, device, DS_J_FAULT, call->request->command, call->client->ordinal, rule->id,
                rule->matches, 0);
    out->error = rule->error;
    out->delay_ns = (uint64_t)rule->delay_ms * 1000000U;
    out->uninterruptible = rule->uninterruptible;
    switch (rule->mode) {
    case FI_MODE_ERR:
        return ABI_SURFACE_ERROR;
    case FI_MODE_DENY:
        return ABI_SURFACE_DENY;
    case FI_MODE_DELAY:
        return ABI_SURFACE_DELAY;
    case FI_MODE_NEVER:
        return ABI_SURFACE_NEVER;
    default:
        return ABI_SURFACE_NONE;
    }
}

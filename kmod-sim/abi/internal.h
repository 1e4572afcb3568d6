// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// What the files of abi/ share. A call is gathered into request->in, a handler reads `in`, fills
// `out` and gives the ioctl's result: 0, a positive driver error, a negative errno, or ABI_PARK.
#ifndef ASC_KMOD_SIM_ABI_INTERNAL_H
#define ASC_KMOD_SIM_ABI_INTERNAL_H

#include "ioctl/wire/memory.h"
#include "kmod-sim/abi/abi.h"
#include "kmod-sim/core/div.h"

#define ABI_PARK (-2147483647 - 1) // a handler's result: the call waits, request->ticket is set

#define ABI_ERESTARTSYS 512 // what a driver's call gives when a signal ends its wait

// Where request->scratch keeps what gather decoded and what must survive a parking.
enum abi_scratch {
    SCRATCH_MODULE = 0,    // what the file was bound to when the call was gathered
    SCRATCH_FLAGS,         // ABI_F_
    SCRATCH_DEADLINE,      // ns, of the call's own wait
    SCRATCH_INPUT_LENGTH,  // bytes in `in`
    SCRATCH_OUTPUT_LENGTH, // bytes the caller offers
    SCRATCH_ROOM,          // UDIS: of the data
    SCRATCH_ALLOC_INDEX,   // HDC: of the session a wait began on
    SCRATCH_HANDLER,       // enum dv_command_id that is dispatched
};
#define ABI_F_SURFACED 1U // the surface rules have had their say
#define ABI_F_WAITED 2U   // the call's own wait has begun
#define ABI_F_KEEP_OUT 4U // the answer is written although the result is not 0
#define ABI_F_QUIET 8U    // a call of a command that changes things, which only asked

struct abi_call {
    struct sim* sim;
    struct abi_request* request;
    struct sim_client* client;
    const struct dv_command_info* info; // of the ioctl, the URD function or the UDIS value
    const uint8_t* in;
    uint8_t* out;
    struct sim_device* device; // the one the call names, once found
};

static inline uint32_t abi_get32(const uint8_t* from) {
    uint32_t value;
    memcpy(&value, from, sizeof(value));
    return value;
}
static inline void abi_put32(uint8_t* to, uint32_t value) {
    memcpy(to, &value, sizeof(value));
}
static inline void abi_put64(uint8_t* to, uint64_t value) {
    memcpy(to, &value, sizeof(value));
}
// Bits 0..count-1; for counts up to 64.
static inline uint64_t abi_low_bits(uint32_t count) {
    return count >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << count) - 1;
}

// ---- call.c ----
unsigned abi_module(const struct sim_client* client); // enum dv_module the file speaks
uint8_t* abi_in(struct abi_request* request);         // valid once the room is settled
uint8_t* abi_out(struct abi_request* request);
int abi_refuse(struct abi_request* request, int32_t result); // ABI_REFUSED
// Makes in_need and out_need known: ABI_GATHERED, or ABI_NEED_ROOM when the host must give buffers.
int abi_settle_room(struct abi_request* request, uint32_t in_need, uint32_t out_need);
// Reads caller memory into `in` at `offset`; 0, or -1 when it is not accessible.
int abi_read(struct abi_request* request, const struct abi_memory* memory, uint32_t offset,
             uint64_t address, uint32_t length);
void abi_piece(struct abi_request* request, uint64_t address, uint32_t offset, uint32_t length);
// Parks the call until `due_ns`; ABI_PARK, or -EAGAIN when no ticket is free. From then on the call
// takes the system section as well.
int32_t abi_park(struct abi_call* call, enum sim_wait wait, uint32_t key, uint64_t due_ns,
                 int uninterruptible);

// ---- access.c ----
int abi_permitted(const struct sim_ident* ident, uint32_t mask); // driver-abi.md 6.3
int abi_visible(const struct sim_client* client, uint32_t device);
// Device `id` as this client may see it: 0 and call->device, or -ENODEV.
int32_t abi_find_device(struct abi_call* call, uint32_t id);
int32_t abi_find_physical(struct abi_call* call, uint32_t physical_id);
// 0, -ENODEV for a lost device, positive 45 while it is being reset.
int32_t abi_working(const struct sim_device* device);
int32_t abi_find_working(struct abi_call* call, uint32_t id);
uint64_t abi_all_devices(const struct sim* sim); // a bit per slot of the machine

// ---- surface.c: rules that make one command lie ----
enum abi_surface_kind {
    ABI_SURFACE_NONE = 0,
    ABI_SURFACE_ERROR,
    ABI_SURFACE_DENY,
    ABI_SURFACE_DELAY,
    ABI_SURFACE_NEVER,
};
struct abi_surface {
    int32_t error; // negative errno or positive driver error
    uint64_t delay_ns;
    int uninterruptible;
};
enum abi_surface_kind abi_surface(struct abi_call* call, const char* name, uint32_t device,
                                  struct abi_surface* out);

// ---- urd.c ----
int abi_urd_gather(struct sim* sim, struct abi_request* request, const struct abi_memory* memory);
int32_t abi_urd_execute(struct abi_call* call);

// ---- handlers ----
int32_t abi_bind(struct abi_call* call);
int32_t abi_unbind(struct abi_call* call);
int32_t abi_module_status(struct abi_call* call);
int32_t abi_uda_execute(struct abi_call* call);
int abi_uda_list_gather(struct sim* sim, struct abi_request* request,
                        const struct abi_memory* memory);
int32_t abi_devmng_execute(struct abi_call* call);
int32_t abi_basic_execute(struct abi_call* call);
int32_t abi_event_execute(struct abi_call* call);
int32_t abi_reset_execute(struct abi_call* call);
int32_t abi_pre_reset(struct abi_call* call); // call->device is set
int32_t abi_rescan(struct abi_call* call);
int32_t abi_udis_execute(struct abi_call* call);
int32_t abi_davsim_execute(struct abi_call* call);

// ---- values.c: what the telemetry shows, for UDIS and DMP alike ----
uint32_t abi_ai_core_percent(const struct sim* sim, const struct sim_device* device);
uint32_t abi_vector_percent(const struct sim_device* device);
uint32_t abi_ai_cpu_percent(const struct sim_device* device);
uint32_t abi_control_cpu_percent(const struct sim_device* device);
uint32_t abi_hbm_percent(const struct sim_device* device);
uint64_t abi_updated_ms(const struct sim* sim, const struct sim_device* device);
uint32_t abi_text_length(const char* text, uint32_t room); // without the terminator
// Controller that serves an address: pages alternate over them.
#define ABI_HBM_CONTROLLERS 8U
uint32_t abi_hbm_controller(uint64_t address);
// The owner whose pid the caller sees as `pid`, or NULL.
const struct sim_owner* abi_owner_of(const struct abi_call* call, uint32_t pid);

#endif

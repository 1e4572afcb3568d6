// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// The real commands on top of the device model: (bound module, ioctl number, argument address, user
// memory) -> core calls. A call has three parts, so that no lock is held over user memory or a
// wait:
//   abi_gather   reads the caller's memory, each word once, into the request            (no lock)
//   abi_execute  runs it; may park it                                                    (sections
//   of request->scope) abi_scatter  writes the answer back; a failed write is EFAULT and the
//   effects stand  (no lock)
// A parked call: the host waits until sim_next_ready() gives request->ticket, then executes again;
// to give up (signal, CANCEL) it calls abi_interrupt. After every execute the host calls
// sim_settle.
#ifndef ASC_KMOD_SIM_ABI_ABI_H
#define ASC_KMOD_SIM_ABI_ABI_H

#include "ioctl/wire/telemetry.h"
#include "kmod-sim/core/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

// The caller's memory. Both return 0, or nonzero when the address is not accessible.
struct abi_memory {
    int (*read)(void* context, void* destination, uint64_t address, uint32_t length);
    int (*write)(void* context, uint64_t address, const void* source, uint32_t length);
    void* context;
};

#define ABI_INLINE_IN 4608 // argument, filter, input; HDC send data up to one DMP packet
#define ABI_INLINE_OUT 4608

#define ABI_DONE 0
#define ABI_PARKED 1

struct abi_request {
    // set by the host
    struct sim_client* client;
    uint32_t number; // ioctl number
    uint32_t thread; // caller's thread id
    uint64_t argument;
    // More room for big transfers: when abi_gather returns ABI_NEED_ROOM, the host gives buffers of
    // at least in_need and out_need bytes and gathers again. NULL: the inline ones serve.
    uint8_t *big_in, *big_out;
    uint32_t big_in_size, big_out_size;
    // out of gather
    uint32_t in_need, out_need;
    uint32_t scope;   // enum dv_scope
    uint32_t device;  // section to lock with DV_SCOPE_DEVICE or BOTH; FI_ANY: all
    uint16_t command; // enum dv_command_id: the most specific one (UDIS value, URD or DMP function)
    // out of execute
    int32_t result;  // of the ioctl: 0, positive driver error, or negative errno
    uint32_t ticket; // of a parked call, else 0
    // private: where the parts of the answer go
    uint32_t in_length, out_length;
    struct {
        uint64_t address;
        uint32_t offset, length; // in the out buffer
    } piece[4];
    uint32_t piece_count;
    uint64_t scratch[16]; // decoded argument between the parts, waits across parkings
    uint8_t in[ABI_INLINE_IN], out[ABI_INLINE_OUT];
};

#define ABI_GATHERED 0
#define ABI_NEED_ROOM 1
#define ABI_REFUSED 2 // request->result says why; nothing to execute, nothing to scatter

// Bytes that abi keeps behind the model in the arena (HDC sessions): the `extra` of sim_arena_size
// and sim_init.
size_t abi_extra_size(void);
// Once, after sim_init.
void abi_init(struct sim* sim);

// Name of a gathered command as rules and traces spell it; cut to the room, terminated.
void abi_command_name(const struct abi_request* request, char name[FI_NAME_MAX]);

// Fields set by the host must be set and the rest may hold anything.
int abi_gather(struct sim* sim, struct abi_request* request, const struct abi_memory* memory);
int abi_execute(struct sim* sim, struct abi_request* request); // ABI_DONE or ABI_PARKED
int abi_scatter(const struct abi_request* request,
                const struct abi_memory* memory); // the ioctl's result
// [S] A signal or CANCEL for a parked call: 1 and request->result = -EINTR (HDC: -ERESTARTSYS, 512,
// because its 4 means another thing) when it ends now; 0 when it may not be interrupted.
int abi_interrupt(struct sim* sim, struct abi_request* request);

// [S+all D] To be called before sim_release: ends the client's sessions.
void abi_release(struct sim* sim, struct sim_client* client);
// [S] 1 when poll(2) on the file would report it readable (HDC data, events of a subscriber).
int abi_readable(const struct sim* sim, const struct sim_client* client);
// [S] When a file may become readable because time passes, SIM_NEVER: data that is under way. What
// else makes one readable counts sim->wakes up.
uint64_t abi_next_readable(const struct sim* sim);

// ---- telemetry pages, where the host can map memory ----
// [S] 0, or why this client may not map `bytes` at the page of `device`: a negative errno.
int32_t abi_telemetry_may_map(const struct sim* sim, const struct sim_client* client,
                              uint64_t device, uint64_t bytes, uint64_t page_bytes, int writable);
// [S+D] Writes what is known of the device now; the host calls it after each step and change.
void abi_telemetry_publish(struct sim* sim, uint32_t device, struct ds_telemetry* page);

#ifdef __cplusplus
}
#endif

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// HDC sessions and what their services keep. It all lives behind the device model in the arena and
// is guarded by the system section.
#ifndef ASC_KMOD_SIM_ABI_HDC_H
#define ASC_KMOD_SIM_ABI_HDC_H

#include "kmod-sim/abi/internal.h"

// driver-abi.md 10.1: the 910B host build has 136 short and 2048 long sessions. Of the long ones
// 256 are kept here. Numbers 0.. are the short pool, the long one follows.
#define HDC_SHORT_SESSIONS 136U
#define HDC_LONG_SESSIONS 256U
#define HDC_SESSIONS (HDC_SHORT_SESSIONS + HDC_LONG_SESSIONS)
#define HDC_QUEUE_MAX 7U         // datagrams of a session; one receive takes at most as many
#define HDC_DATAGRAM_MAX 4126U   // longest that a service sends
#define HDC_CHUNK_BYTES 496U     // of a datagram in one chunk
#define HDC_CHUNKS 512U          // shared by all sessions
#define HDC_NONE 0xFFFFU         // no chunk
#define HDC_KEY_ROOM 0xFFFFFFFFU // SIM_WAIT_HDC: senders wait for chunks
#define HDC_DATAGRAM_CHUNKS 9U   // of the longest
DV_STATIC_ASSERT(HDC_DATAGRAM_CHUNKS* HDC_CHUNK_BYTES >= HDC_DATAGRAM_MAX, "it fits");

// The first chunk of a datagram carries its head; a datagram is seen from ready_ns on.
struct hdc_chunk {
    uint64_t ready_ns;
    uint32_t length;
    uint16_t next_chunk, next_datagram;
    uint8_t data[HDC_CHUNK_BYTES];
};

struct hdc_session {
    uint8_t open;
    uint8_t queued;
    uint16_t first, last; // datagrams
    uint32_t alloc_index; // raised at each allocation of the slot
    uint32_t device, service;
    uint32_t boot_count; // resets of the device when the session began
    uint32_t pid;        // of the process that connected
    uint64_t start_time;
    uint32_t connector, owner; // ordinals of the open files; owner 0: nobody has claimed it
    uint32_t uid, root;
    int32_t timeout[4]; // send, receive, fast send, fast receive: kept for the client
};

#define DMP_ASSEMBLIES 4U
#define DMP_ASSEMBLY_MAX 32768U
#define DMP_REPLIES 8U

struct dmp_key { // driver-abi.md 10.4: parts belong together by process and opcode
    uint32_t used, pid, device, opcode;
    uint32_t length;
    uint64_t touched_ns;
};

struct dmp_state {
    struct dmp_key assembly[DMP_ASSEMBLIES];
    struct dmp_key reply[DMP_REPLIES];
    uint8_t assembly_data[DMP_ASSEMBLIES][DMP_ASSEMBLY_MAX];
    uint8_t reply_data[DMP_REPLIES][DV_DMP_REPLY_TOTAL_MAX];
    uint8_t payload[DV_DMP_REPLY_TOTAL_MAX]; // of the reply being made
    uint8_t datagram[HDC_DATAGRAM_MAX];
};

struct hdc_state {
    uint16_t free_chunk, free_count;
    struct hdc_session session[HDC_SESSIONS];
    struct dmp_state dmp;
    struct hdc_chunk chunk[HDC_CHUNKS];
};

// A service that devices offer. Later parts add theirs to the table in hdc_service.c.
struct hdc_service {
    uint32_t number;
    int is_short; // takes the short pool
    // A datagram from the client; HDC number, 0 taken. Room for one answer is free.
    int32_t (*receive)(struct abi_call* call, uint32_t session, const uint8_t* data,
                       uint32_t length);
    // The process has no open HDC file left.
    void (*forget)(struct hdc_state* hdc, uint32_t pid);
};
const struct hdc_service* hdc_service_of(uint32_t number); // NULL: nobody listens
const struct hdc_service* hdc_service_at(uint32_t index);  // NULL at the end

// ---- hdc.c ----
int abi_hdc_gather(struct sim* sim, struct abi_request* request, const struct abi_memory* memory);
int32_t abi_hdc_execute(struct abi_call* call);
uint32_t abi_hdc_device(const struct abi_call* call); // of the session that is named; FI_ANY

// ---- hdc_pool.c ----
void abi_hdc_init(void* extra);
void abi_hdc_release(struct sim* sim, const struct sim_client* client);
int abi_hdc_readable(const struct sim* sim, const struct sim_client* client);
uint64_t abi_hdc_next(const struct sim* sim); // when data under way arrives
int abi_hdc_holds(const struct sim* sim, const struct sim_client* client, uint32_t device);
void abi_hdc_wake(struct sim* sim); // devices have come or gone: waits look again
// A free slot, taken; -1 when the pool is full. `overflow`: a short session may take a long slot.
int32_t hdc_take(struct sim* sim, int is_short, int overflow);
void hdc_end(struct sim* sim, uint32_t session);
// The device still runs what the session was connected to.
int hdc_alive(struct sim* sim, const struct hdc_session* session);
// Queues a datagram for the client; 0, or -1 when there is no room.
int hdc_queue(struct sim* sim, uint32_t session, const uint8_t* data, uint32_t length,
              uint64_t ready_ns);
// Datagrams that can be received now, and the time of the next one that is still under way.
uint32_t hdc_ready(const struct sim* sim, const struct hdc_session* session, uint64_t* next_ns);
uint32_t hdc_length_of(const struct sim* sim, const struct hdc_session* session, uint32_t index);
void hdc_dequeue(struct sim* sim, uint32_t session, uint8_t* to);

static inline struct hdc_state* hdc_of(const struct sim* sim) {
    return (struct hdc_state*)sim->hdc;
}

// ---- dmp.c ----
int32_t dmp_receive(struct abi_call* call, uint32_t session, const uint8_t* data, uint32_t length);
void dmp_forget(struct hdc_state* hdc, uint32_t pid);

// ---- dmp_functions.c ----
// Runs a function; driver error, 0 with `out` and *out_length (at most DV_DMP_REPLY_TOTAL_MAX).
uint32_t dmp_run(struct abi_call* call, const struct dv_command_info* function,
                 const uint8_t* payload, uint32_t length, uint8_t* out, uint32_t* out_length);

#endif

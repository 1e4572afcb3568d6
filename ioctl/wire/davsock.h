// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// Framing of the socket channel (AF_UNIX, SOCK_SEQPACKET): one message is one packet,
// little-endian.
//
// Life socket: connect, DSOCK_OPEN, DSOCK_OPENED. From then on the socket IS the open file: its end
// of file is the release, also after fork and dup. DSOCK_WHO on it asks for its token again (a
// child after exec). It becomes readable when the driver would make the node readable: a packet of
// one byte lies in it then, of which at most one is unread at a time; after a call the server puts
// it back when the client has taken it and there still is something. A client takes it (without
// waiting) before the call with which it reads, and skips it where it waits for DSOCK_OPENED.
// Call socket: one per process: connect, DSOCK_HELLO, DSOCK_WELCOME; then DSOCK_CALL names a life
// socket by its token, which serves the user who opened it and root alone. Replies carry the call's
// id and come in any order; DSOCK_CANCEL asks to end a parked call, whose reply is then -EINTR
// (HDC: -ERESTARTSYS). An id is free again once its reply has come. The end of a life socket ends
// its parked calls with -EBADF. Control: DSOCK_CONTROL with a JSON text, answered by DSOCK_ANSWER
// with one; its messages may be longer than DSOCK_PAYLOAD_MAX. A message longer than
// DSOCK_INLINE_MAX carries its payload in a memfd sealed against growing, shrinking and writing
// (SCM_RIGHTS), flag DSOCK_FLAG_MEMFD; `length` is then the size inside the memfd. The helper
// process of the chardev channel speaks DSOCK_CALL and DSOCK_REPLY too.
#ifndef ASC_IOCTL_WIRE_DAVSOCK_H
#define ASC_IOCTL_WIRE_DAVSOCK_H

#include "ioctl/wire/types.h"

#define DSOCK_MAGIC 0x31535644U // "DVS1"
#define DSOCK_PROTOCOL 1U
#define DSOCK_INLINE_MAX 65536U // payload bytes in the packet itself
#define DSOCK_PAYLOAD_MAX (4U * 1024U * 1024U)
#define DSOCK_FLAG_MEMFD 1U

enum dsock_type {
    DSOCK_HELLO = 1,
    DSOCK_WELCOME,
    DSOCK_OPEN,
    DSOCK_OPENED,
    DSOCK_WHO,
    DSOCK_CALL,
    DSOCK_REPLY,
    DSOCK_CANCEL,
    DSOCK_CONTROL,
    DSOCK_ANSWER,
    DSOCK_REFUSED, // payload: text of the reason; the server closes after it
};

struct dsock_header {
    uint32_t magic;
    uint16_t type, flags;
    uint32_t length;  // of the payload
    uint32_t call_id; // CALL, REPLY, CANCEL; else 0
};
DV_ASSERT_SIZE(struct dsock_header, 16);

struct dsock_hello {
    uint32_t protocol, reserved;
};

struct dsock_welcome {
    uint32_t protocol, server_pid;
    char backend[64]; // "davsimd VERSION"
};
DV_ASSERT_SIZE(struct dsock_welcome, 72);

struct dsock_open {
    uint32_t protocol, node, index, flags; // enum dv_node; device number; reserved
};
DV_ASSERT_SIZE(struct dsock_open, 16);

struct dsock_opened { // result 0, or -errno as open(2) would give; token 0 then
    int32_t result;
    uint32_t reserved;
    uint64_t token;
};
DV_ASSERT_SIZE(struct dsock_opened, 16);

struct dsock_range { // followed by the bytes of the ranges with direction IN, in order (dv_range)
    uint64_t address;
    uint32_t length, direction;
};

struct dsock_call {
    uint64_t token, argument;
    uint32_t number; // ioctl number
    uint32_t thread; // caller's tid
    uint32_t range_count, reserved;
};
DV_ASSERT_SIZE(struct dsock_call, 32);

struct dsock_write { // bytes of all writes follow after the last of these, in order
    uint64_t address;
    uint32_t length, reserved;
};

struct dsock_reply {
    int32_t result; // of the ioctl: >= 0, or -errno
    uint32_t write_count;
};
DV_ASSERT_SIZE(struct dsock_reply, 8);

#endif

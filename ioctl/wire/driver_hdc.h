// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// HDC: host-device communication on /dev/hisi_hdc (driver-abi.md 10.1).
#ifndef ASC_IOCTL_WIRE_DRIVER_HDC_H
#define ASC_IOCTL_WIRE_DRIVER_HDC_H

#include "ioctl/wire/types.h"

// Section 10. of driver-abi.md.
#define DV_H_PEER_DEVICE 0x07
#define DV_H_CONFIG 0x08
#define DV_H_SERVICE_LEVEL 0x09
#define DV_H_SERVER_CREATE 0x10
#define DV_H_SERVER_DESTROY 0x11
#define DV_H_ACCEPT 0x12
#define DV_H_CONNECT 0x13
#define DV_H_CLOSE 0x14
#define DV_H_SEND 0x15
#define DV_H_PEEK 0x16
#define DV_H_RECEIVE 0x17
#define DV_H_SET_OWNER 0x18
#define DV_H_ATTRIBUTE 0x1A
#define DV_H_TIMEOUTS 0x1B
#define DV_H_UID 0x1C
#define DV_H_PAGE_SIZE 0x1D
#define DV_H_SESSION_INFO 0x1E
#define DV_H_EPOLL_CREATE 0x40
#define DV_H_EPOLL_DESTROY 0x41
#define DV_H_EPOLL_CONTROL 0x42
#define DV_H_EPOLL_WAIT 0x43

#define DV_HDC_ARGUMENT_SIZE 200
#define DV_HDC_SEGMENT_MAX 524288U
#define DV_HDC_SERVICE_DMP 0
#define DV_HDC_SERVICE_FILE 3
#define DV_HDC_SERVICE_PROF 11
#define DV_HDC_SERVICE_UPGRADE 17

#define DV_HDC_WAIT_ALWAYS 0
#define DV_HDC_WAIT_NEVER 1
#define DV_HDC_WAIT_TIMEOUT 2

#define DV_HDC_EVENT_CONNECT 1U
#define DV_HDC_EVENT_DATA 2U
#define DV_HDC_EVENT_FAST 4U
#define DV_HDC_EVENT_CLOSE 8U

// HDC result numbers; the ioctl fails with errno = number. Never 4.
enum dv_hdc_error {
    DV_HDC_GENERAL = 1,
    DV_HDC_PARAMETER = 2,
    DV_HDC_COPY_IN = 3,
    DV_HDC_ALREADY_LISTENING = 5,
    DV_HDC_NOT_LISTENING = 6,
    DV_HDC_NO_SESSION = 9,
    DV_HDC_REFUSED = 11,
    DV_HDC_CONNECT_TIMEOUT = 12,
    DV_HDC_QUEUE_FULL = 13,
    DV_HDC_BAD_LENGTH = 14,
    DV_HDC_REMOTE_CLOSED = 15,
    DV_HDC_BUFFER_SMALL = 16,
    DV_HDC_DEVICE_NOT_READY = 17,
    DV_HDC_DEVICE_RESET = 18,
    DV_HDC_NOT_SUPPORTED = 19,
    DV_HDC_REMOTE_NOT_LISTENING = 20,
    DV_HDC_NO_DATA = 21,
    DV_HDC_SESSION_CLOSED = 22,
    DV_HDC_NO_EPOLL = 26,
    DV_HDC_RECEIVE_TIMEOUT = 27,
    DV_HDC_TRANSMIT_TIMEOUT = 28,
    DV_HDC_SESSION_MISMATCH = 30,
    DV_HDC_MEMORY = 31,
    DV_HDC_PERMISSION = 41,
    DV_HDC_EPOLL_CLOSED = 42,
};

struct dv_hdc_head {
    int32_t result, device_id;
    uint64_t pid; // written by the driver
    uint64_t reserved;
};
DV_ASSERT_SIZE(struct dv_hdc_head, 24);

struct dv_hdc_connect {
    int32_t peer_pid, device_id; // peer_pid -1: any
    uint64_t pid, reserved;
    int32_t service;
    int32_t session;     // out
    int32_t timeout_s;   // client flag bits by default 0
    int32_t alloc_index; // out
    int32_t result;
};
DV_ASSERT_OFFSET(struct dv_hdc_connect, service, 24);
DV_ASSERT_OFFSET(struct dv_hdc_connect, result, 40);

struct dv_hdc_close {
    struct dv_hdc_head head;
    int32_t session;
    int32_t unused[6];
    int32_t alloc_index;
};
DV_ASSERT_OFFSET(struct dv_hdc_close, alloc_index, 52);

struct dv_hdc_send {
    struct dv_hdc_head head;
    int32_t session, pad0;
    uint64_t source;
    int32_t length;
    int32_t unused[5];
    int32_t wait, timeout_ms;
};
DV_ASSERT_OFFSET(struct dv_hdc_send, source, 32);
DV_ASSERT_OFFSET(struct dv_hdc_send, length, 40);
DV_ASSERT_OFFSET(struct dv_hdc_send, wait, 64);

struct dv_hdc_peek {
    struct dv_hdc_head head;
    int32_t session;
    int32_t length; // out
    int32_t wait, timeout_ms;
    int32_t group;
    int32_t count; // out
    int32_t alloc_index;
};
DV_ASSERT_OFFSET(struct dv_hdc_peek, length, 28);
DV_ASSERT_OFFSET(struct dv_hdc_peek, alloc_index, 48);

struct dv_hdc_receive {
    struct dv_hdc_head head;
    int32_t session, pad0;
    uint64_t destination;
    int32_t room;
    int32_t unused[3];
    int32_t length; // out
    int32_t count;  // in
    int32_t group;
};
DV_ASSERT_OFFSET(struct dv_hdc_receive, destination, 32);
DV_ASSERT_OFFSET(struct dv_hdc_receive, length, 56);
DV_ASSERT_OFFSET(struct dv_hdc_receive, group, 64);

struct dv_hdc_set_owner {
    uint64_t unused[3];
    uint64_t parent_pid;
    int32_t session, pad;
};
DV_ASSERT_OFFSET(struct dv_hdc_set_owner, session, 32);

struct dv_hdc_config {
    struct dv_hdc_head head;
    uint32_t segment;
};
struct dv_hdc_page_size {
    struct dv_hdc_head head;
    uint32_t page, huge_page, page_bits;
};
struct dv_hdc_service_level {
    struct dv_hdc_head head;
    int32_t service, level;
};
struct dv_hdc_attribute {
    struct dv_hdc_head head;
    int32_t kind, session, value, alloc_index;
};
DV_ASSERT_OFFSET(struct dv_hdc_attribute, alloc_index, 36);

struct dv_hdc_uid {
    struct dv_hdc_head head;
    int32_t session;
    uint32_t euid, uid, root_flag;
};
struct dv_hdc_session_info {
    struct dv_hdc_head head;
    int32_t function, session;
};
struct dv_hdc_timeouts {
    struct dv_hdc_head head;
    int32_t session, send, receive, fast_send, fast_receive;
};
struct dv_hdc_epoll_event {
    uint32_t event;
    int32_t reserved;
    uint64_t data;
};
struct dv_hdc_epoll_create {
    struct dv_hdc_head head;
    int32_t size_or_fd; // in of destroy: fd; in of create: size
    int32_t epoll_fd;   // out of create
};
struct dv_hdc_epoll_control {
    struct dv_hdc_head head;
    int32_t epoll_fd, operation; // 0 add, 1 delete
    int32_t session_or_device, service;
    struct dv_hdc_epoll_event event;
};
DV_ASSERT_OFFSET(struct dv_hdc_epoll_control, event, 40);
struct dv_hdc_epoll_wait {
    struct dv_hdc_head head;
    int32_t epoll_fd, timeout_ms, max_events;
    int32_t ready;   // out
    uint64_t events; // struct dv_hdc_epoll_event[max_events]
};
DV_ASSERT_OFFSET(struct dv_hdc_epoll_wait, events, 40);

union dv_hdc_argument {
    uint8_t bytes[DV_HDC_ARGUMENT_SIZE];
    struct dv_hdc_head head;
    struct dv_hdc_connect connect;
    struct dv_hdc_close close;
    struct dv_hdc_send send;
    struct dv_hdc_peek peek;
    struct dv_hdc_receive receive;
    struct dv_hdc_set_owner set_owner;
    struct dv_hdc_config config;
    struct dv_hdc_page_size page_size;
    struct dv_hdc_service_level service_level;
    struct dv_hdc_attribute attribute;
    struct dv_hdc_uid uid;
    struct dv_hdc_session_info session_info;
    struct dv_hdc_timeouts timeouts;
    struct dv_hdc_epoll_create epoll_create;
    struct dv_hdc_epoll_control epoll_control;
    struct dv_hdc_epoll_wait epoll_wait;
};
DV_ASSERT_SIZE(union dv_hdc_argument, 200);

#endif

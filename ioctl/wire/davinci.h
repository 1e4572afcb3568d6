// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// The published host interface of the Ascend driver, current generation, written from the project's
// facts document (driver-abi.md; section numbers stand beside each part). Layouts are x86-64 and
// arm64 LP64, little-endian; pointers are u64 user addresses. Nothing here was checked on silicon.
#ifndef ASC_IOCTL_WIRE_DAVINCI_H
#define ASC_IOCTL_WIRE_DAVINCI_H

#include "ioctl/wire/types.h"

// ---- 2. Nodes -----------------------------------------------------------------------------------
#define DV_NODE_MANAGER "/dev/davinci_manager"
#define DV_NODE_DEVICE_PREFIX "/dev/davinci" // followed by the decimal device number
#define DV_NODE_HDC "/dev/hisi_hdc"
#define DV_NODE_SVM "/dev/devmm_svm"

// ---- 3. Module binding --------------------------------------------------------------------------
#define DV_MODULE_NAME_LEN 256
#define DV_IOCTL_BIND DV_IO('Z', 0)
#define DV_IOCTL_UNBIND DV_IO('Z', 1)
#define DV_IOCTL_MODULE_STATUS DV_IO('Z', 2)

#define DV_STATUS_TS_DOWN 1U
#define DV_STATUS_HEARTBEAT_LOST 2U
#define DV_STATUS_LINK_ABNORMAL 4U

struct dv_bind {
    char module_name[DV_MODULE_NAME_LEN];
    int32_t device_id; // in: device; out of MODULE_STATUS: DV_STATUS_ bits
};
DV_ASSERT_SIZE(struct dv_bind, 260);
DV_ASSERT_OFFSET(struct dv_bind, device_id, 256);

// ---- 4. DEVMNG, magic 'M', numbers without size -------------------------------------------------
#define DV_M_PCI_ADDRESS 1
#define DV_M_PLATFORM 3
#define DV_M_DEVICE_STATUS 7
#define DV_M_CORE_SPEC 17
#define DV_M_CORE_IN_USE 18
#define DV_M_DEVICE_INFO 20
#define DV_M_BLACKBOX_INFORM 35
#define DV_M_PRE_RESET 44
#define DV_M_RESCAN 45
#define DV_M_CONTAINER 58
#define DV_M_HOST_KIND 59
#define DV_M_CONTAINER_FLAG 108
#define DV_M_SIGNATURE 112
#define DV_M_CONSOLE_LOG_LEVEL 154
#define DV_M_STARTUP 163
#define DV_M_RESOURCE 175
#define DV_M_LAST 208

// 'M' 7 answers
#define DV_DEVICE_INITIALISING 0
#define DV_DEVICE_WORKING 1
#define DV_DEVICE_EXCEPTION 2
#define DV_DEVICE_SLEEP 3
#define DV_DEVICE_LOST 4

// 'M' 59 flags
#define DV_HOST_PHYSICAL 0x5A6B7C8DU
#define DV_HOST_VIRTUAL_MACHINE 0x1A2B3C4DU
#define DV_HOST_CONTAINER 0xA4B3C2D1U

#define DV_STARTUP_FINISHED 16U

struct dv_pci_address { // 'M' 1
    uint32_t device_id;
    uint8_t bus, device, function, pad;
};
DV_ASSERT_SIZE(struct dv_pci_address, 8);

struct dv_core_spec { // 'M' 17, section 4.3
    uint32_t device_id;
    uint32_t ai_core_count, first_ai_core;
    uint32_t ai_cpu_count, first_ai_cpu;
    uint8_t core_count_level; // 0 invalid
    uint8_t frequency_level;
    uint8_t pad[2];
};
DV_ASSERT_SIZE(struct dv_core_spec, 24);

struct dv_core_in_use { // 'M' 18, section 4.3: 20 bytes, not 24
    uint32_t device_id;
    uint32_t ai_core_count, ai_core_error_bitmap;
    uint32_t ai_cpu_count, ai_cpu_error_bitmap;
};
DV_ASSERT_SIZE(struct dv_core_in_use, 20);

struct dv_container_command { // 'M' 58, section 4.3
    uint32_t device_id;
    uint32_t command; // 0 device list, 1 host pid, 2 host tgid
    uint64_t in, out;
    uint32_t admin, pad;
};
DV_ASSERT_SIZE(struct dv_container_command, 32);
DV_ASSERT_OFFSET(struct dv_container_command, out, 16);
#define DV_CONTAINER_DEVICE_LIST 0
#define DV_CONTAINER_HOST_PID 1
#define DV_CONTAINER_HOST_TGID 2

struct dv_host_kind { // 'M' 59
    uint32_t device_id, flag;
};
DV_ASSERT_SIZE(struct dv_host_kind, 8);

struct dv_signature { // 'M' 112
    int32_t tgid;
    char sign[49];
    uint8_t reserved[7];
};
DV_ASSERT_SIZE(struct dv_signature, 60);

struct dv_startup { // 'M' 163
    uint32_t device_id, process_status, dmp_started;
};
DV_ASSERT_SIZE(struct dv_startup, 12);

struct dv_device_info { // 'M' 20, section 4.1
    uint8_t env_type, pad0[3];
    uint32_t device_id; // in
    uint32_t control_cpu_ip, control_cpu_id, control_cpu_count;
    uint32_t pad1;
    uint64_t control_cpu_bitmap;
    uint32_t control_cpu_little_endian;
    uint32_t ts_cpu_core_count, ai_cpu_core_count, ai_core_count;
    uint64_t ai_cpu_bitmap;
    uint32_t ai_core_id, ai_cpu_core_id;
    uint32_t hardware_version, ts_count;
    uint64_t ai_core_frequency;
    uint64_t cpu_system_count;
    uint64_t monotonic_raw_ns;
    uint32_t vector_core_count, pad2;
    uint64_t vector_core_frequency;
    uint64_t computing_power[1];
    uint32_t ffts_type;
    uint32_t chip_id, die_id;
    uint32_t address_mode;
    uint32_t host_device_connect_type;
    uint32_t mainboard_id;
    char soc_version[32];
    uint64_t ai_core_bitmap[2];
    uint64_t vector_core_bitmap[2];
    uint8_t product_type, pad3[3];
    uint32_t reserved[27];
};
DV_ASSERT_SIZE(struct dv_device_info, 320);
DV_ASSERT_OFFSET(struct dv_device_info, device_id, 4);
DV_ASSERT_OFFSET(struct dv_device_info, control_cpu_count, 16);
DV_ASSERT_OFFSET(struct dv_device_info, control_cpu_bitmap, 24);
DV_ASSERT_OFFSET(struct dv_device_info, ai_cpu_core_count, 40);
DV_ASSERT_OFFSET(struct dv_device_info, ai_core_count, 44);
DV_ASSERT_OFFSET(struct dv_device_info, ai_core_id, 56);
DV_ASSERT_OFFSET(struct dv_device_info, hardware_version, 64);
DV_ASSERT_OFFSET(struct dv_device_info, ai_core_frequency, 72);
DV_ASSERT_OFFSET(struct dv_device_info, cpu_system_count, 80);
DV_ASSERT_OFFSET(struct dv_device_info, monotonic_raw_ns, 88);
DV_ASSERT_OFFSET(struct dv_device_info, vector_core_count, 96);
DV_ASSERT_OFFSET(struct dv_device_info, vector_core_frequency, 104);
DV_ASSERT_OFFSET(struct dv_device_info, computing_power, 112);
DV_ASSERT_OFFSET(struct dv_device_info, ffts_type, 120);
DV_ASSERT_OFFSET(struct dv_device_info, chip_id, 124);
DV_ASSERT_OFFSET(struct dv_device_info, die_id, 128);
DV_ASSERT_OFFSET(struct dv_device_info, address_mode, 132);
DV_ASSERT_OFFSET(struct dv_device_info, host_device_connect_type, 136);
DV_ASSERT_OFFSET(struct dv_device_info, mainboard_id, 140);
DV_ASSERT_OFFSET(struct dv_device_info, soc_version, 144);
DV_ASSERT_OFFSET(struct dv_device_info, ai_core_bitmap, 176);
DV_ASSERT_OFFSET(struct dv_device_info, vector_core_bitmap, 192);
DV_ASSERT_OFFSET(struct dv_device_info, product_type, 208);
DV_ASSERT_OFFSET(struct dv_device_info, reserved, 212);

struct dv_resource { // 'M' 175, section 4.2
    uint32_t device_id;
    uint32_t owner_type, owner_id, resource_type, ts_id;
    uint32_t buffer_len; // in: room, out: bytes filled
    uint8_t buffer[256];
};
DV_ASSERT_SIZE(struct dv_resource, 280);
DV_ASSERT_OFFSET(struct dv_resource, buffer_len, 20);
DV_ASSERT_OFFSET(struct dv_resource, buffer, 24);
#define DV_OWNER_DEVICE 0
#define DV_OWNER_VIRTUAL_DEVICE 1
#define DV_OWNER_PROCESS 2
#define DV_RESOURCE_HBM_TOTAL 4
#define DV_RESOURCE_HBM_FREE 5
#define DV_RESOURCE_DDR_TOTAL 6
#define DV_RESOURCE_DDR_FREE 7
#define DV_RESOURCE_PROCESS_LIST 8
#define DV_RESOURCE_PROCESS_MEMORY 9
#define DV_RESOURCE_CONTAINER_PROCESS_LIST 10
#define DV_PROCESS_LIST_MAX 64

// ---- 5. uda, magic 'U' --------------------------------------------------------------------------
#define DV_U_USER_INFO DV_IOC(DV_IOC_READ, 'U', 0, 20)
#define DV_U_SETUP_TABLE DV_IOC(DV_IOC_WRITE, 'U', 1, 4)
#define DV_U_DEVICE_LIST DV_IOC(DV_IOC_READ | DV_IOC_WRITE, 'U', 2, 16)
#define DV_U_UNIQUE_TO_LOGIC DV_IOC(DV_IOC_READ | DV_IOC_WRITE, 'U', 3, 8)
#define DV_U_LOGIC_TO_UNIQUE DV_IOC(DV_IOC_READ | DV_IOC_WRITE, 'U', 4, 8)
#define DV_U_LOCAL_TO_REMOTE DV_IOC(DV_IOC_READ | DV_IOC_WRITE, 'U', 5, 8)
#define DV_U_REMOTE_TO_LOCAL DV_IOC(DV_IOC_READ | DV_IOC_WRITE, 'U', 6, 8)
DV_STATIC_ASSERT(DV_U_USER_INFO == 0x80145500U, "USER_INFO");
DV_STATIC_ASSERT(DV_U_SETUP_TABLE == 0x40045501U, "SETUP_TABLE");
DV_STATIC_ASSERT(DV_U_DEVICE_LIST == 0xC0105502U, "DEVICE_LIST");
DV_STATIC_ASSERT(DV_U_UNIQUE_TO_LOGIC == 0xC0085503U, "UNIQUE_TO_LOGIC");

#define DV_MAX_DEVICES_HOST 100 // section 5.2
#define DV_MAX_UNIQUE_DEVICES 1124

struct dv_user_info {
    uint32_t admin_flag, local_flag, max_device_count, max_unique_count, unique_management;
};
DV_ASSERT_SIZE(struct dv_user_info, 20);

struct dv_device_list {
    uint32_t start, end; // logic ids, end exclusive
    uint64_t records;    // struct dv_logic_device[end - start]
};
DV_ASSERT_SIZE(struct dv_device_list, 16);

struct dv_logic_device {
    uint8_t valid_and_type; // bit 0 valid, bits 1-7 hardware type
    uint8_t sub_device_id;
    uint16_t physical_id, device_id, unique_id;
};
DV_ASSERT_SIZE(struct dv_logic_device, 8);

struct dv_id_translation {
    uint32_t raw, translated;
};
DV_ASSERT_SIZE(struct dv_id_translation, 8);

// ---- 6. URD -------------------------------------------------------------------------------------
#define DV_IOCTL_URD DV_IO('V', 1)
#define DV_URD_FILTER_MAX 256
#define DV_URD_BUFFER_MAX 4096
#define DV_URD_BIG_OUTPUT_MAX (2U * 1024U * 1024U)

struct dv_urd { // section 6.1
    uint32_t device_id, pad0;
    uint32_t main_command, sub_command;
    uint64_t filter;
    uint32_t filter_len, pad1;
    uint64_t input;
    uint32_t input_len, pad2;
    uint64_t output;
    uint32_t output_len, pad3;
};
DV_ASSERT_SIZE(struct dv_urd, 64);
DV_ASSERT_OFFSET(struct dv_urd, main_command, 8);
DV_ASSERT_OFFSET(struct dv_urd, filter, 16);
DV_ASSERT_OFFSET(struct dv_urd, input, 32);
DV_ASSERT_OFFSET(struct dv_urd, input_len, 40);
DV_ASSERT_OFFSET(struct dv_urd, output, 48);
DV_ASSERT_OFFSET(struct dv_urd, output_len, 56);

// The older generation's argument (section 15): no device id, bound as "DMS".
struct dv_urd_old {
    uint32_t main_command, sub_command;
    uint64_t filter;
    uint32_t filter_len, pad1;
    uint64_t input;
    uint32_t input_len, pad2;
    uint64_t output;
    uint32_t output_len, pad3;
};
DV_ASSERT_SIZE(struct dv_urd_old, 56);

// Positive driver errors, section 6.2
enum dv_error {
    DV_OK = 0,
    DV_E_NO_DEVICE = 1,
    DV_E_INVALID_DEVICE = 2,
    DV_E_INVALID_VALUE = 3,
    DV_E_INVALID_HANDLE = 4,
    DV_E_OUT_OF_MEMORY = 6,
    DV_E_INNER = 7,
    DV_E_PARAMETER = 8,
    DV_E_NOT_INITIALISED = 9,
    DV_E_NOT_EXIST = 11,
    DV_E_BUSY = 13,
    DV_E_NO_RESOURCES = 14,
    DV_E_TIMEOUT = 16,
    DV_E_IOCTL = 17,
    DV_E_CONNECT = 19,
    DV_E_SESSION_CLOSED = 25,
    DV_E_RECEIVE = 26,
    DV_E_SEND = 27,
    DV_E_NOT_READY = 34,
    DV_E_NOT_LISTENING = 35,
    DV_E_WOULD_BLOCK = 36,
    DV_E_FILE = 38,
    DV_E_ALLOCATION = 40,
    DV_E_PEER_REBOOTED = 43,
    DV_E_NO_SESSION = 44,
    DV_E_RESETTING = 45,
    DV_E_NOT_PERMITTED = 46,
    DV_E_TRY_AGAIN = 51,
    DV_E_NO_EVENT = 73,
    DV_E_PARTITION = 86,
    DV_E_OCCUPIED = 87,
    DV_E_PERMISSION = 88,
    DV_E_NOT_SUPPORTED = 0xfffe,
};

// Access masks, section 6.3
#define DV_ACC_ROOT 0x1U
#define DV_ACC_OPERATE 0x2U
#define DV_ACC_USER 0x4U
#define DV_ACC_DM_USER 0x8U
#define DV_ACC_LIMIT_USER 0x1000U
#define DV_ACC_CALLER_BITS 0x100FU
#define DV_ACC_ENV_PHYSICAL 0x10U
#define DV_ACC_ENV_VM 0x20U
#define DV_ACC_ENV_CONTAINER 0x40U
#define DV_ACC_ENV_ADMIN_CONTAINER 0x80U
#define DV_ACC_ENV_BITS 0xF0U
#define DV_ACC_ALL_USERS 0x7FFU
#define DV_ACC_ALL_AND_LIMITED 0x17FFU
#define DV_ACC_EVENT_READ 0x0FFU
#define DV_ACC_RESET 0x091U
#define DV_ACC_EVENT_CHANGE 0x131U

// Main commands, section 6.4
#define DV_MAIN_BASIC 0x45U
#define DV_MAIN_MEMORY 0x47U
#define DV_MAIN_LPM 0x48U
#define DV_MAIN_HOTRESET 0x5DU

// BASIC sub-commands, section 6.5
#define DV_BASIC_EVENT_READ 0
#define DV_BASIC_EVENT_CODES 1
#define DV_BASIC_HEALTH 2
#define DV_BASIC_EVENT_STRING 3
#define DV_BASIC_EVENT_CLEAR 4
#define DV_BASIC_EVENT_DISABLE 5
#define DV_BASIC_EVENT_ENABLE 6
#define DV_BASIC_PCIE_INFO 7
#define DV_BASIC_TOPOLOGY_LOGICAL 14
#define DV_BASIC_EVENT_HISTORY 20
#define DV_BASIC_TOPOLOGY_PHYSICAL 22
#define DV_BASIC_FAULT_INJECT 26
#define DV_BASIC_FAULT_INJECT_INFO 27
#define DV_BASIC_EVENT_CURRENT 28
#define DV_BASIC_CHIP_INFO 29
#define DV_BASIC_BOARD_ID 31
#define DV_BASIC_SLOT_ID 32
#define DV_BASIC_BOM_ID 33
#define DV_BASIC_PCB_ID 34
#define DV_BASIC_BOOT_STATUS 35
#define DV_BASIC_PROBED_COUNT 38
#define DV_BASIC_PROBED_LIST 39
#define DV_BASIC_P2P 40
#define DV_BASIC_CHIP_COUNT 42
#define DV_BASIC_CHIP_LIST 43
#define DV_BASIC_DEVICE_FROM_CHIP 44
#define DV_BASIC_CHIP_FROM_DEVICE 45
#define DV_BASIC_UDIS_GET 56
#define DV_BASIC_UDIS_SET 57

// HOTRESET sub-commands, section 11
#define DV_RESET_WHOLE 0
#define DV_RESET_SET_FLAG 1
#define DV_RESET_CLEAR_FLAG 2
#define DV_RESET_UNBIND 3
#define DV_RESET_RESET 4
#define DV_RESET_REMOVE 5
#define DV_RESET_RESCAN 6
#define DV_RESET_PRE_RESET_A 7
#define DV_RESET_PRE_RESET 8
#define DV_RESET_ALL_DEVICES 0xFFFFFFFFU

// E/35 boot status (dcmi.md 5)
#define DV_BOOT_UNINITIALISED 0U
#define DV_BOOT_BIOS 1U
#define DV_BOOT_OS 2U
#define DV_BOOT_FINISHED 3U
#define DV_BOOT_STARTED 16U

struct dv_chip_info { // E/29, section 8
    uint32_t device_id, register_value;
    char type[32], name[32], version[32];
    uint8_t reserved[8];
};
DV_ASSERT_SIZE(struct dv_chip_info, 112);
DV_ASSERT_OFFSET(struct dv_chip_info, type, 8);
DV_ASSERT_OFFSET(struct dv_chip_info, version, 72);

struct dv_pcie_info { // E/7, section 8
    uint32_t vendor, subsystem_vendor, device, subsystem_device;
    uint32_t bus, slot, function;
    uint32_t davinci_id;
};
DV_ASSERT_SIZE(struct dv_pcie_info, 32);

struct dv_probed_list { // E/39
    uint32_t count, ids[1140];
};
DV_ASSERT_SIZE(struct dv_probed_list, 4564);

struct dv_event_codes { // E/1, section 8
    int32_t count;
    uint32_t code[128];
    uint32_t device_id, reserved[2];
};
DV_ASSERT_SIZE(struct dv_event_codes, 528);
DV_ASSERT_OFFSET(struct dv_event_codes, device_id, 516);

struct dv_event_text_query { // E/3
    uint32_t device_id, code;
};
DV_ASSERT_SIZE(struct dv_event_text_query, 8);

struct dv_p2p { // E/40
    uint32_t operation, device, peer, type;
    int32_t status;
    uint32_t pad;
    uint64_t capability;
};
DV_ASSERT_SIZE(struct dv_p2p, 32);

struct dv_device_pair { // E/14, E/22
    uint32_t first, second;
};
DV_ASSERT_SIZE(struct dv_device_pair, 8);

// Health (E/2, section 8)
#define DV_HEALTH_NORMAL 0U
#define DV_HEALTH_MINOR 1U
#define DV_HEALTH_MAJOR 2U
#define DV_HEALTH_CRITICAL 3U
#define DV_HEALTH_ABSENT 0xFFFFFFFFU

// ---- 7. UDIS ------------------------------------------------------------------------------------
#define DV_UDIS_NAME_LEN 16
#define DV_UDIS_DATA_MAX 208U
#define DV_UDIS_DEVMNG 0U
#define DV_UDIS_MEMORY 1U
#define DV_UDIS_LP 2U
#define DV_UDIS_SVM 3U
#define DV_UDIS_NETWORK 4U
#define DV_UDIS_TS 5U
#define DV_UDIS_APM 6U

struct dv_udis_get {
    uint32_t module;
    char name[DV_UDIS_NAME_LEN];
    uint32_t room; // always 208 from the vendor's client
    uint64_t data;
};
DV_ASSERT_SIZE(struct dv_udis_get, 32);
DV_ASSERT_OFFSET(struct dv_udis_get, room, 20);
DV_ASSERT_OFFSET(struct dv_udis_get, data, 24);

struct dv_udis_reply {
    uint64_t last_update_time;
    uint32_t access_control, length;
};
DV_ASSERT_SIZE(struct dv_udis_reply, 16);

struct dv_udis_set {
    uint32_t module;
    char name[DV_UDIS_NAME_LEN];
    uint32_t access_control;
    uint64_t time;
    uint32_t data_len, pad;
    uint64_t data;
};
DV_ASSERT_SIZE(struct dv_udis_set, 48);
DV_ASSERT_OFFSET(struct dv_udis_set, time, 24);
DV_ASSERT_OFFSET(struct dv_udis_set, data, 40);

struct dv_memory_part {
    uint64_t total_kb, free_kb, reserved[6];
};
struct dv_hbm_mem_info { // system, service, medium; HBM is the medium part
    struct dv_memory_part part[3];
};
DV_ASSERT_SIZE(struct dv_hbm_mem_info, 192);
#define DV_MEMORY_PART_HBM 2

struct dv_ecc_now { // ecc_rlt_cnt
    uint32_t single, uncorrected, valid;
};
DV_ASSERT_SIZE(struct dv_ecc_now, 12);

struct dv_ecc_history { // ecc_his_cnt, DMP 0x0681
    uint32_t single, uncorrected, isolated_single_pages, isolated_double_pages;
};
DV_ASSERT_SIZE(struct dv_ecc_history, 16);

struct dv_single_record { // single_ecc0..7 hold 8 each
    uint32_t hbmc_id, count, address_low, address_high, last_time;
};
DV_ASSERT_SIZE(struct dv_single_record, 20);

struct dv_multi_record { // multi_ecc0..15 hold 4 each
    uint64_t address;
    uint8_t unknown[4];
    uint16_t rank, module_id;
    uint8_t type, module;
    uint16_t bank, row, column;
    int32_t time;
    uint32_t pad;
};
DV_ASSERT_SIZE(struct dv_multi_record, 32);
DV_ASSERT_OFFSET(struct dv_multi_record, rank, 12);
DV_ASSERT_OFFSET(struct dv_multi_record, type, 16);
DV_ASSERT_OFFSET(struct dv_multi_record, bank, 18);
DV_ASSERT_OFFSET(struct dv_multi_record, time, 24);

struct dv_core_utilisation { // aic_util, aiv_util
    uint32_t core_count;
    uint8_t percent[128];
};
DV_ASSERT_SIZE(struct dv_core_utilisation, 132);

// ---- 9. Fault events ----------------------------------------------------------------------------
#define DV_EVENT_SOURCE_DSMI 0
#define DV_EVENT_SOURCE_HAL 1
#define DV_EVENT_FILTER_ID 1ULL
#define DV_EVENT_FILTER_SEVERITY 2ULL
#define DV_EVENT_FILTER_NODE 4ULL
#define DV_EVENT_FILTER_TGID 8ULL
#define DV_EVENT_TIMEOUT_MAX 30000
#define DV_EVENT_QUEUE_DEPTH 256
#define DV_EVENT_HISTORY_MAX 1024
#define DV_EVENT_CURRENT_MAX 128

#define DV_SEVERITY_WARNING 0
#define DV_SEVERITY_MINOR 1
#define DV_SEVERITY_MAJOR 2
#define DV_SEVERITY_CRITICAL 3
#define DV_ASSERTION_RECOVERY 0
#define DV_ASSERTION_OCCURRENCE 1
#define DV_ASSERTION_ONE_OFF 2

struct dv_event_read {
    int32_t source, timeout_ms, device_id;
    uint32_t pad0;
    uint64_t flags;
    uint32_t event_id;
    uint8_t severity, pad1;
    uint16_t node_type;
    uint8_t reserved[32];
};
DV_ASSERT_SIZE(struct dv_event_read, 64);
DV_ASSERT_OFFSET(struct dv_event_read, flags, 16);
DV_ASSERT_OFFSET(struct dv_event_read, severity, 28);
DV_ASSERT_OFFSET(struct dv_event_read, node_type, 30);

struct dv_event {
    uint32_t event_code;
    int32_t pid;
    uint32_t event_id;
    uint16_t device_id; // physical
    uint16_t node_type;
    uint8_t node_id, pad0;
    uint16_t sub_node_type;
    uint8_t sub_node_id, severity, assertion, pad1;
    uint16_t sensor_number, pad2;
    int32_t event_serial, notify_serial;
    uint32_t pad3;
    uint64_t raised_ms; // since the epoch
    char name[256];
    char additional_info[32];
    uint8_t info[4], pad4[4];
};
DV_ASSERT_SIZE(struct dv_event, 344);
DV_ASSERT_OFFSET(struct dv_event, device_id, 12);
DV_ASSERT_OFFSET(struct dv_event, node_id, 16);
DV_ASSERT_OFFSET(struct dv_event, sub_node_type, 18);
DV_ASSERT_OFFSET(struct dv_event, severity, 21);
DV_ASSERT_OFFSET(struct dv_event, assertion, 22);
DV_ASSERT_OFFSET(struct dv_event, sensor_number, 24);
DV_ASSERT_OFFSET(struct dv_event, event_serial, 28);
DV_ASSERT_OFFSET(struct dv_event, notify_serial, 32);
DV_ASSERT_OFFSET(struct dv_event, raised_ms, 40);
DV_ASSERT_OFFSET(struct dv_event, name, 48);
DV_ASSERT_OFFSET(struct dv_event, additional_info, 304);
DV_ASSERT_OFFSET(struct dv_event, info, 336);

struct dv_event_current { // E/28
    uint32_t count, pad;
    struct dv_event record[DV_EVENT_CURRENT_MAX];
};
DV_ASSERT_SIZE(struct dv_event_current, 44040);

struct dv_fault_record { // E/26, E/27, DMP 0x0028; section 9.1
    uint32_t device_id, node_type, node_id, sub_node_type, sub_node_id;
    uint32_t fault_index, event_id, reserved[2];
};
DV_ASSERT_SIZE(struct dv_fault_record, 36);

// Event ids known by name (sections 9 and firmware-and-faults.md 4.2, 4.3)
#define DV_EV_HEARTBEAT_LOST 0x40F84E00U
#define DV_EV_HBM_ISOLATED 0x80E18400U
#define DV_EV_HBM_ISOLATION_FAILED 0x80E01801U
#define DV_EV_HBM_SCRUB_DOUBLE 0x80E01809U
#define DV_EV_HBM_ROWS_16 0x80E18401U
#define DV_EV_HBM_ROWS_64 0x80E18402U
#define DV_EV_HBM_HOT 0x80E00209U
#define DV_EV_HBM_FATAL_TEMPERATURE 0x80E0020BU
#define DV_EV_SOC_HOT 0x80E20207U
#define DV_EV_HBM_SINGLE_LIMIT 0x80E01805U

// ---- 10. HDC, magic 'H', numbers without size ---------------------------------------------------
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

// ---- 10.2 DMP -----------------------------------------------------------------------------------
#define DV_DMP_DATA_MAX 4066U
#define DV_DMP_PAYLOAD_MAX 4054U
#define DV_DMP_REPLY_TOTAL_MAX 4096U
#define DV_DMP_REQUEST_TOTAL_MAX 32767U
#define DV_DMP_LAST_SLICE 0x80U

struct dv_dmp_packet { // 30 bytes, packed; followed by data_len bytes
    uint64_t session;
    int32_t peer_device, source_device;
    int64_t message_id;
    int32_t type; // 0 request, 1 response
    uint16_t data_len;
} __attribute__((packed));
DV_ASSERT_SIZE(struct dv_dmp_packet, 30);

struct dv_dmp_request { // 12 bytes, followed by the payload
    uint8_t lun, operation;
    uint16_t opcode;
    uint32_t offset, length;
} __attribute__((packed));
DV_ASSERT_SIZE(struct dv_dmp_request, 12);

struct dv_dmp_response { // 12 bytes, followed by the payload
    uint16_t error, opcode;
    uint32_t total_length, length;
} __attribute__((packed));
DV_ASSERT_SIZE(struct dv_dmp_response, 12);

struct dv_dmp_flash { // 0x0606 by index
    uint64_t id;
    uint16_t device, vendor;
    uint32_t state;
    uint64_t size;
    uint32_t sectors;
    uint16_t manufacturer;
} __attribute__((packed));
DV_ASSERT_SIZE(struct dv_dmp_flash, 30);

struct dv_dmp_ecc_record { // 0x068B
    uint64_t address;
    uint32_t stack_and_channel, high, low, count;
    int32_t time;
} __attribute__((packed));
DV_ASSERT_SIZE(struct dv_dmp_ecc_record, 28);

struct dv_dmp_ecc_times { // 0x068A
    uint32_t count, time[64];
};
DV_ASSERT_SIZE(struct dv_dmp_ecc_times, 260);

struct dv_dmp_upgrade_state { // 0x0604
    uint8_t status, percent;
};

#define DV_DMP_OP_STATE 0
#define DV_DMP_OP_CONFIGURE 1
#define DV_DMP_OP_FIRMWARE 3
#define DV_DMP_HEALTH 0x0001
#define DV_DMP_TEMPERATURE 0x0003
#define DV_DMP_POWER 0x0004
#define DV_DMP_VOLTAGE 0x000B
#define DV_DMP_BOARD_ID 0x000F
#define DV_DMP_PCB_ID 0x0010
#define DV_DMP_BOM_OR_SLOT 0x001B
#define DV_DMP_ECC_NOW 0x001F
#define DV_DMP_SYSTEM_TIME 0x0020
#define DV_DMP_FAULT_INJECT 0x0028
#define DV_DMP_DIE_ID 0x0602
#define DV_DMP_UPGRADE 0x0603
#define DV_DMP_UPGRADE_STATE 0x0604
#define DV_DMP_UTILISATION 0x0605
#define DV_DMP_FLASH 0x0606
#define DV_DMP_VERSION 0x0607
#define DV_DMP_SET_ENABLE 0x0608
#define DV_DMP_GET_ENABLE 0x060C
#define DV_DMP_SENSOR 0x0611
#define DV_DMP_ERROR_TEXT 0x0625
#define DV_DMP_FREQUENCY 0x0667
#define DV_DMP_ECC_HISTORY 0x0681
#define DV_DMP_ECC_CLEAR 0x0682
#define DV_DMP_ECC_TIMES 0x068A
#define DV_DMP_ECC_RECORD 0x068B
#define DV_DMP_PCIE_ERRORS 0x0690
#define DV_DMP_PCIE_ERRORS_CLEAR 0x0691

#endif

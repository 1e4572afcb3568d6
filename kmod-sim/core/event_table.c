// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// What an event id means: severity (firmware-and-faults.md 4.2, 4.3), text, and the record on the
// wire (driver-abi.md 9).
#include "kmod-sim/core/internal.h"

struct meaning {
    uint32_t id;
    uint8_t severity;
    const char* text;
};

static const struct meaning meanings[] = {
    {DV_EV_HBM_ISOLATION_FAILED, 3, "HBM multi-bit ECC error, isolation of the address failed"},
    {DV_EV_HBM_ISOLATED, 1, "HBM multi-bit ECC error, the address has been isolated"},
    {DV_EV_HBM_SINGLE_LIMIT, 0, "HBM single-bit ECC errors reached the limit"},
    {DV_EV_HBM_SCRUB_DOUBLE, 0, "HBM multi-bit ECC error found by patrol scrub"},
    {DV_EV_HBM_ROWS_16, 0, "isolated HBM rows reached 16"},
    {DV_EV_HBM_ROWS_64, 3, "isolated HBM rows reached 64"},
    {0x80E18404U, 2, "storm of uncorrectable HBM errors, masked for 3 minutes"},
    {0x80E18405U, 1, "HBM sub-health"},
    {DV_EV_HBM_HOT, 1, "HBM temperature above the limit"},
    {DV_EV_HBM_FATAL_TEMPERATURE, 3, "HBM temperature at the fatal level"},
    {0x80E18000U, 2, "HBM controller internal fault"},
    {0x80E18005U, 2, "HBM controller parity error"},
    {0x80E18006U, 0, "HBM controller event"},
    {0x80E18008U, 2, "HBM controller SRAM multi-bit ECC error"},
    {0x80E18009U, 2, "HBM controller bus error"},
    {0x80E1800AU, 2, "HBM controller timeout"},
    {0x80E1800FU, 0, "HBM controller data line parity"},
    {0x80F38003U, 0, "HBM agent configuration error"},
    {0x80F38006U, 0, "HBM agent event"},
    {0x80F38008U, 2, "HBM agent multi-bit ECC error"},
    {0x80F2180DU, 2, "HBM agent mirror error"},
    {0x812F8000U, 2, "chip module error"},
    {DV_EV_HEARTBEAT_LOST, 3, "heartbeat to the device lost or PCIe channel abnormal"},
    {0x80E24E00U, 2, "heartbeat of the low-power subsystem lost"},
    {DV_EV_SOC_HOT, 2, "SoC temperature above the limit"},
    {0x80E3A201U, 2, "voltage regulation error of the power module"},
    {0x80E3A203U, 2, "chip current detection error"},
    {0x80E39200U, 2, "temperature sensor module error"},
    {0x80E38008U, 2, "low-power subsystem multi-bit ECC error"},
    {0x80B98000U, 2, "PCIe module exception"},
    {0x80B98008U, 2, "PCIe multi-bit ECC error"},
    {0x80C98008U, 1, "AI core multi-bit ECC error"},
    {0x80C98002U, 1, "AI core input error"},
    {0x80C98003U, 1, "AI core configuration error"},
    {0x80C9800AU, 1, "AI core timeout"},
    {0x80CB800AU, 1, "vector core timeout"},
    {0x80CF8000U, 2, "SDMA reset failed"},
    {0x80E78000U, 2, "TEE hardware module error"},
    {0x80E58E02U, 2, "security module algorithm error"},
    {0x80818C05U, 2, "compute self-check found a high risk"},
    {0x819B800AU, 2, "HCCS timeout"},
    {0x819B8605U, 1, "HCCS lanes dropped"},
    {0x81078603U, 1, "network link went down"},
    {0x81078605U, 1, "some RoCE lanes are faulty"},
    {0x8C2FA001U, 1, "less than 64 MB of system memory free"},
    {0x8C2FA009U, 0, "device operating system has started"},
    {0x8C084E00U, 1, "heartbeat of adda lost"},
    {0x8C0E4E00U, 1, "heartbeat of slogd lost"},
    {0x8C204E00U, 2, "heartbeat of tsdaemon lost"},
    {0x4C4BA00CU, 2, "driver event on the host"},
    {0x8C4BA00CU, 2, "driver event on the device"},
};

static const struct meaning* find(uint32_t event_id) {
    unsigned index;
    for (index = 0; index < sizeof(meanings) / sizeof(meanings[0]); ++index)
        if (meanings[index].id == event_id)
            return &meanings[index];
    return NULL;
}

uint8_t sim_event_severity(uint32_t event_id) {
    const struct meaning* meaning = find(event_id);
    return meaning ? meaning->severity : DV_SEVERITY_WARNING;
}

const char* sim_event_text(uint32_t event_id) {
    const struct meaning* meaning = find(event_id);
    return meaning ? meaning->text : NULL;
}

// ---- names of the parts of an id ----

struct name {
    uint32_t number;
    const char* text;
};

static const struct name node_types[] = {
    {0x40, "SoC"},          {0x41, "PCIe link"}, {0x42, "HCCS link"},
    {0x50, "CPU core"},     {0x5C, "PCIe"},      {0x5D, "RoCE"},
    {0x63, "TS"},           {0x64, "AI core"},   {0x65, "vector core"},
    {0x66, "L2 buffer"},    {0x67, "SDMA"},      {0x68, "DVPP"},
    {0x6F, "DDR"},          {0x70, "HBM"},       {0x71, "low-power manager"},
    {0x72, "security"},     {0x78, "DDR agent"}, {0x79, "HBM agent"},
    {0x7C, "base service"}, {0x7D, "TS CPU"},    {0x83, "port"},
    {0xC7, "SDMA master"},  {0xCD, "HCCS"},      {0xD1, "HCCS port"},
};

static const struct name sensor_types[] = {
    {0x01, "temperature"}, {0x02, "voltage"},   {0x03, "current"},
    {0x07, "processor"},   {0x09, "power"},     {0x0C, "memory"},
    {0x27, "heartbeat"},   {0xC0, "RAS state"}, {0xC2, "memory error record"},
    {0xC3, "safety"},      {0xC5, "bus"},       {0xC6, "self check"},
    {0xC9, "scheduler"},   {0xD0, "software"},  {0xD1, "hardware"},
    {0xD5, "UB"},
};

static const char* const assertions[] = {"recovery", "occurrence", "one-off"};

static const char* name_of(const struct name* names, unsigned count, uint32_t number) {
    unsigned index;
    for (index = 0; index < count; ++index)
        if (names[index].number == number)
            return names[index].text;
    return "unknown";
}

// ---- the record ----

struct line { // text that is being put together; what does not fit is cut
    char* text;
    size_t room, used;
};

static void add(struct line* line, const char* text) {
    for (; *text && line->used + 1 < line->room; ++text)
        line->text[line->used++] = *text;
}

static void add_number(struct line* line, uint64_t number) {
    char digits[21];
    unsigned first = sizeof(digits) - 1;
    digits[first] = '\0';
    do {
        uint32_t digit;
        number = div_u64_u32(number, 10, &digit);
        digits[--first] = (char)('0' + digit);
    } while (number);
    add(line, &digits[first]);
}

static void write_name(struct line* line, const struct sim_event* event) {
    uint32_t node = (event->event_id >> 17) & 0x7FFU, sensor = (event->event_id >> 9) & 0xFFU;
    const char* sensor_name =
        name_of(sensor_types, sizeof(sensor_types) / sizeof(sensor_types[0]), sensor);
    const char* text = sim_event_text(event->event_id);
    add(line, "node type=");
    add(line, name_of(node_types, sizeof(node_types) / sizeof(node_types[0]), node));
    add(line, ", node id=0-0, sensor type=");
    add(line, sensor_name);
    add(line, ", sensor name=");
    add(line, sensor_name);
    add(line, ", event state=");
    if (text)
        add(line, text);
    else
        add_number(line, event->event_id & 0x1FFU);
    add(line, ", time=");
    add_number(line, event->raised_ms);
    add(line, " ms, event assertion=");
    add(line, event->assertion <= DV_ASSERTION_ONE_OFF ? assertions[event->assertion] : "unknown");
    add(line, ".");
}

void sim_event_to_wire(const struct sim* sim, const struct sim_event* event, uint32_t notify_serial,
                       struct dv_event* out) {
    struct line line = {out->name, sizeof(out->name), 0};
    memset(out, 0, sizeof(*out));
    out->event_code = event->event_id; // nothing is merged here
    out->pid = (int32_t)event->pid;
    out->event_id = event->event_id;
    out->device_id = event->device < sim->limits.device_count
                         ? (uint16_t)sim->device[event->device].config.physical_id
                         : (uint16_t)event->device;
    out->node_type = (uint16_t)((event->event_id >> 17) & 0x7FFU);
    out->sub_node_type = out->node_type;
    out->severity = event->severity;
    out->assertion = event->assertion;
    out->event_serial = event->serial;
    out->notify_serial = (int32_t)notify_serial;
    out->raised_ms = event->raised_ms;
    write_name(&line, event);
    memcpy(out->additional_info, event->info, sizeof(out->additional_info));
}

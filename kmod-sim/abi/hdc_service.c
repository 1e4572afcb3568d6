// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// Which HDC services the devices offer (numbers: driver-abi.md 10.1). Connecting to any other gives
// "nobody listens".
#include "kmod-sim/abi/hdc.h"

static const struct hdc_service services[] = {
    {DV_HDC_SERVICE_DMP, 1, dmp_receive, dmp_forget},
};

const struct hdc_service* hdc_service_at(uint32_t index) {
    return index < sizeof(services) / sizeof(services[0]) ? &services[index] : NULL;
}

const struct hdc_service* hdc_service_of(uint32_t number) {
    uint32_t index;
    for (index = 0; index < sizeof(services) / sizeof(services[0]); ++index)
        if (services[index].number == number)
            return &services[index];
    return NULL;
}

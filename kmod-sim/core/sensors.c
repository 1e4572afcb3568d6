// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// Load, power and temperatures. Power follows the load, temperatures follow power, each first order
// and in integers: a part of what is missing each period, at least one unit, so that the target is
// reached exactly and nothing moves afterwards.
#include "kmod-sim/core/internal.h"

#define PERIOD_NS 100000000U // the telemetry's 100 ms (driver-abi.md 7)
#define POWER_SHIFT 3        // an eighth of the way per period: 0.8 s
#define HEAT_SHIFT 7         // 12.8 s
#define HBM_BACK_MC 2000     // below the limit by this much the alarm goes
#define SOC_BACK_MC 3000

static int32_t toward(int32_t value, int32_t target, unsigned shift) {
    uint32_t distance =
        target > value ? (uint32_t)target - (uint32_t)value : (uint32_t)value - (uint32_t)target;
    uint32_t step = distance >> shift;
    if (step == 0)
        step = distance != 0;
    return target > value ? value + (int32_t)step : value - (int32_t)step;
}

static int32_t power_target_mw(const struct sim_device* device) {
    return (int32_t)(device->declared_load_on ? device->config.power_dw
                                              : device->config.power_idle_dw) *
           100;
}

// The temperature that belongs to the present power: on the line through the idle and the declared
// point, exact in both.
static int32_t heat_target_mc(const struct sim_device* device, int32_t idle_c, int32_t loaded_c) {
    int64_t idle_mw = (int64_t)device->config.power_idle_dw * 100;
    int64_t span = (int64_t)device->config.power_dw * 100 - idle_mw;
    int64_t part = device->sensors.power_mw - idle_mw;
    int64_t rise = ((int64_t)loaded_c - idle_c) * 1000;
    uint64_t size;
    int negative = 0;
    if (span == 0)
        return (device->declared_load_on ? loaded_c : idle_c) * 1000;
    if (span < 0) {
        span = -span;
        negative = !negative;
    }
    if (part < 0) {
        part = -part;
        negative = !negative;
    }
    if (rise < 0) {
        rise = -rise;
        negative = !negative;
    }
    size = mul_div_u64((uint64_t)part, (uint32_t)rise, (uint32_t)span);
    return idle_c * 1000 + (int32_t)(negative ? -(int64_t)size : (int64_t)size);
}

static int32_t soc_target_mc(const struct sim_device* device) {
    return heat_target_mc(device, device->config.temperature_idle_c, device->config.temperature_c);
}

static int32_t hbm_target_mc(const struct sim_device* device) {
    return heat_target_mc(device, device->config.hbm_temperature_idle_c,
                          device->config.hbm_temperature_c);
}

static void watch(struct sim* sim, struct sim_device* device, uint32_t event_id, int32_t value_mc,
                  uint32_t limit_c, int32_t back_mc) {
    int32_t limit_mc = (int32_t)limit_c * 1000;
    if (limit_c == 0)
        return;
    if (value_mc > limit_mc)
        sim_raise(sim, device, event_id, DV_ASSERTION_OCCURRENCE, 0, NULL);
    else if (value_mc <= limit_mc - back_mc)
        sim_raise(sim, device, event_id, DV_ASSERTION_RECOVERY, 0, NULL);
}

static void look_at_limits(struct sim* sim, struct sim_device* device) {
    const struct sim_device_config* config = &device->config;
    struct sim_sensors* now = &device->sensors;
    watch(sim, device, DV_EV_HBM_HOT, now->hbm_temperature_mc, config->hbm_hot_c, HBM_BACK_MC);
    watch(sim, device, DV_EV_HBM_FATAL_TEMPERATURE, now->hbm_temperature_mc, config->hbm_fatal_c,
          HBM_BACK_MC);
    watch(sim, device, DV_EV_SOC_HOT, now->temperature_mc, config->thermal_limit_c, SOC_BACK_MC);
    // Throttled above the limit: half the clock.
    now->ai_core_mhz =
        config->thermal_limit_c && now->temperature_mc > (int32_t)config->thermal_limit_c * 1000
            ? config->ai_core_mhz >> 1
            : config->ai_core_mhz;
}

static int settled(const struct sim_device* device) {
    return device->sensors.power_mw == power_target_mw(device) &&
           device->sensors.temperature_mc == soc_target_mc(device) &&
           device->sensors.hbm_temperature_mc == hbm_target_mc(device);
}

void sim_sensors_start(struct sim* sim, struct sim_device* device) {
    struct sim_sensors* now = &device->sensors;
    now->power_mw = power_target_mw(device);
    now->temperature_mc = soc_target_mc(device);
    now->hbm_temperature_mc = hbm_target_mc(device);
    now->voltage_mv = device->config.voltage_mv;
    device->sensor_next_ns = SIM_NEVER;
    sim_sensors_refresh(device, sim->now_ns);
    look_at_limits(sim, device);
}

void sim_sensors_aim(struct sim* sim, struct sim_device* device) {
    if (device->sensor_next_ns == SIM_NEVER && !settled(device))
        device->sensor_next_ns = sim_later(sim->now_ns, PERIOD_NS);
    sim_touch(sim);
}

void sim_sensors_step(struct sim* sim, struct sim_device* device) {
    struct sim_sensors* now = &device->sensors;
    now->power_mw = toward(now->power_mw, power_target_mw(device), POWER_SHIFT);
    now->temperature_mc = toward(now->temperature_mc, soc_target_mc(device), HEAT_SHIFT);
    now->hbm_temperature_mc = toward(now->hbm_temperature_mc, hbm_target_mc(device), HEAT_SHIFT);
    now->updated_ns = device->sensor_next_ns;
    look_at_limits(sim, device);
    device->sensor_next_ns =
        settled(device) ? SIM_NEVER : sim_later(device->sensor_next_ns, PERIOD_NS);
}

void sim_sensors_refresh(struct sim_device* device, uint64_t at_ns) {
    uint32_t rest;
    if (device->sensor_next_ns != SIM_NEVER || at_ns - device->sensors.updated_ns < PERIOD_NS)
        return;
    div_u64_u32(at_ns, PERIOD_NS, &rest);
    device->sensors.updated_ns = at_ns - rest;
}

uint64_t sim_sensors_stale(uint64_t at_ns) {
    uint32_t rest;
    div_u64_u32(at_ns, PERIOD_NS, &rest);
    return sim_later(at_ns, PERIOD_NS - rest);
}

// ---- what others read ----

static int32_t rounded_c(int32_t mc) {
    uint32_t size = (uint32_t)(mc < 0 ? -mc : mc) + 500;
    int32_t whole = (int32_t)div_u64_u32(size, 1000, NULL);
    return mc < 0 ? -whole : whole;
}

int32_t sim_temperature_c(const struct sim_device* device) {
    return rounded_c(device->sensors.temperature_mc);
}

int32_t sim_hbm_temperature_c(const struct sim_device* device) {
    return rounded_c(device->sensors.hbm_temperature_mc);
}

uint32_t sim_power_dw(const struct sim_device* device) {
    return (uint32_t)div_u64_u32((uint64_t)device->sensors.power_mw + 50, 100, NULL);
}

uint32_t sim_hbm_bandwidth_percent(const struct sim_device* device) {
    return device->declared_load_on ? device->config.load_hbm_bandwidth : 0;
}

void sim_load(const struct sim* sim, const struct sim_device* device,
              uint32_t load[FI_LOAD_COUNT]) {
    int32_t temperature = sim_temperature_c(device);
    (void)sim;
    load[FI_LOAD_HBM_BW] = sim_hbm_bandwidth_percent(device);
    load[FI_LOAD_HBM_USED] = 0;
    if (device->total_pages)
        load[FI_LOAD_HBM_USED] =
            (uint32_t)mul_div_u64(device->used_pages, 100, (uint32_t)device->total_pages);
    load[FI_LOAD_AICORE] = device->declared_load_on ? device->config.load_ai_core : 0;
    load[FI_LOAD_TEMPERATURE] = temperature > 0 ? (uint32_t)temperature : 0;
    load[FI_LOAD_POWER] = sim_power_dw(device);
}

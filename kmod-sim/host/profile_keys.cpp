// SPDX-License-Identifier: Apache-2.0
#include "kmod-sim/host/profile_keys.hpp"

#include <cstdio>
#include <cstring>

namespace asc::sim {

namespace {

using Config = sim_device_config;

constexpr double kAny32 = 4294967295.0;

#define TEXT(field)                                                                                \
    DeviceText {                                                                                   \
        [](Config& c) -> char* { return c.field; }, sizeof(Config{}.field)                         \
    }

const DeviceKey kKeys[] = {
    {"physical_id", &Config::physical_id, 0, 1123, "physical id; the logical one unless given"},
    {"card", &Config::card, 0, 1123, "npu id; counts chips_on_card devices unless given"},
    {"chip", &Config::chip, 0, 7, "chip on the card"},
    {"chips_on_card", &Config::chips_on_card, 1, 8, "chips that share a card"},
    {"pci_vendor", &Config::pci_vendor, 0, 0xFFFF, "PCI vendor"},
    {"pci_device", &Config::pci_device, 0, 0xFFFF, "PCI device"},
    {"pci_subsystem_vendor", &Config::pci_subsystem_vendor, 0, 0xFFFF, "PCI subsystem vendor"},
    {"pci_subsystem_device", &Config::pci_subsystem_device, 0, 0xFFFF, "PCI subsystem device"},
    {"numa_node", &Config::numa_node, 0, 1023, "NUMA node"},
    {"bandwidth_domain", &Config::bandwidth_domain, 0, 1123,
     "devices of one domain share HBM bandwidth; the logical id unless given"},
    {"board_id", &Config::board_id, 0, kAny32, "board id"},
    {"pcb_id", &Config::pcb_id, 0, 255, "PCB id"},
    {"bom_id", &Config::bom_id, 0, kAny32, "BOM id"},
    {"slot_id", &Config::slot_id, 0, kAny32, "slot id; the card unless given"},
    {"mainboard_id", &Config::mainboard_id, 0, kAny32, "mainboard id"},
    {"product_type", &Config::product_type, 0, 255, "product type"},
    {"serial", TEXT(serial), 0, 0, "serial number; made from the logical id unless given"},
    {"chip_type", TEXT(chip_type), 0, 0, "chip type; the driver's clients want 'Ascend'"},
    {"chip_name", TEXT(chip_name), 0, 0, "chip name"},
    {"chip_version", TEXT(chip_version), 0, 0, "chip version"},
    {"soc_version", TEXT(soc_version), 0, 0, "SoC version"},
    {"ai_cores", &Config::ai_core_count, 1, 64, "AI (cube) cores"},
    {"vector_cores", &Config::vector_core_count, 0, 128, "vector cores"},
    {"ai_cpus", &Config::ai_cpu_count, 1, 32, "AI CPU cores"},
    {"control_cpus", &Config::control_cpu_count, 1, 32, "control CPU cores"},
    {"ai_core_mhz", &Config::ai_core_mhz, 1, 10000, "AI core frequency, MHz"},
    {"ai_core_rated_mhz", &Config::ai_core_rated_mhz, 1, 10000, "rated AI core frequency, MHz"},
    {"hbm_mhz", &Config::hbm_mhz, 1, 10000, "HBM frequency, MHz"},
    {"hbm_manufacturer", &Config::hbm_manufacturer, 0, kAny32, "HBM manufacturer id"},
    {"hbm_mib", &Config::hbm_mib, 1, 1048576, "HBM, MiB"},
    {"baseline_mib", &Config::baseline_mib, 0, 1048576,
     "HBM used by the device itself when idle, MiB"},
    {"context_mib", &Config::context_mib, 0, 65536, "HBM that a process' context costs, MiB"},
    {"power_w", DeviceWatt{&Config::power_dw}, 0, 5000,
     "power under the declared load, W; power_idle_w unless given"},
    {"power_idle_w", DeviceWatt{&Config::power_idle_dw}, 0, 5000,
     "power when idle, W; power_w unless given"},
    {"power_limit_w", DeviceWatt{&Config::power_limit_dw}, 0, 5000,
     "power limit, W; 0: the driver does not know"},
    {"temperature_c", &Config::temperature_c, -100, 200,
     "chip temperature under the declared load, C; temperature_idle_c unless given"},
    {"temperature_idle_c", &Config::temperature_idle_c, -100, 200,
     "chip temperature when idle, C; temperature_c unless given"},
    {"hbm_temperature_c", &Config::hbm_temperature_c, -100, 200,
     "HBM temperature under the declared load, C; temperature_c unless given"},
    {"hbm_temperature_idle_c", &Config::hbm_temperature_idle_c, -100, 200,
     "HBM temperature when idle, C; temperature_idle_c unless given"},
    {"voltage_mv", &Config::voltage_mv, 0, 65535, "AI core voltage, mV"},
    {"load.ai_core", &Config::load_ai_core, 0, 100, "declared load of the AI cores, percent"},
    {"load.vector", &Config::load_vector, 0, 100, "declared load of the vector cores, percent"},
    {"load.ai_cpu", &Config::load_ai_cpu, 0, 100, "declared load of the AI CPU, percent"},
    {"load.control_cpu", &Config::load_control_cpu, 0, 100,
     "declared load of the control CPU, percent"},
    {"load.hbm_bandwidth", &Config::load_hbm_bandwidth, 0, 100,
     "declared HBM bandwidth utilisation, percent"},
    {"flash_count", &Config::flash_count, 0, 8, "flash chips"},
    {"reset_ms", &Config::reset_ms, 0, 600000, "time of a reset until the boot begins, ms"},
    {"boot_step_ms", &Config::boot_step_ms, 0, 600000, "time of each boot state, ms"},
    {"scrub_ms", &Config::scrub_ms, 0, 86400000,
     "period of the patrol scrubber, ms; 0: it does not run"},
    {"page_threshold", &Config::page_threshold, 1, 65535,
     "single-bit errors in a page that retire it"},
    {"oom_count", &Config::oom_count, 0, kAny32, "allocations that failed so far"},
    {"thermal_limit_c", &Config::thermal_limit_c, 1, 200, "chip temperature that throttles, C"},
    {"hbm_hot_c", &Config::hbm_hot_c, 1, 200, "HBM temperature that warns, C"},
    {"hbm_fatal_c", &Config::hbm_fatal_c, 1, 200, "HBM temperature that is fatal, C"},
    {"firmware", TEXT(firmware_version), 0, 0, "firmware version"},
};

#undef TEXT

} // namespace

std::span<const DeviceKey> device_keys() {
    return kKeys;
}

DeviceProfile plain_device() {
    DeviceProfile device;
    Config& c = device.config;
    c.chips_on_card = 1;
    c.pci_vendor = c.pci_subsystem_vendor = 0x19E5;
    c.pci_device = 0xD802; // driver-abi.md 2.5
    c.board_id = 0x33;
    c.pcb_id = 1;
    c.bom_id = 1;
    std::strcpy(c.chip_type, "Ascend"); // driver-abi.md 7
    std::strcpy(c.chip_name, "910B");
    std::strcpy(c.chip_version, "V1");
    std::strcpy(c.soc_version, "Ascend910B2");
    c.ai_core_count = 24;
    c.vector_core_count = 48;
    c.ai_cpu_count = 6;
    c.control_cpu_count = 1;
    c.ai_core_mhz = c.ai_core_rated_mhz = 1800;
    c.hbm_mhz = 1600;
    c.hbm_manufacturer = 1;
    c.hbm_mib = 65536;
    c.baseline_known = 1;
    c.power_idle_dw = c.power_dw = 900;
    c.power_limit_dw = 3500;
    c.temperature_idle_c = c.temperature_c = 45;
    c.hbm_temperature_idle_c = c.hbm_temperature_c = 45;
    c.voltage_mv = 850;
    c.flash_count = 1;
    c.reset_ms = 400;
    c.boot_step_ms = 150;
    c.scrub_ms = 60000;
    c.page_threshold = 8;
    c.thermal_limit_c = 95;
    c.hbm_hot_c = 95;
    c.hbm_fatal_c = 105;
    std::strcpy(c.firmware_version, "1.76.22.3.310");
    return device;
}

void number_serial(sim_device_config& config) {
    std::snprintf(config.serial, sizeof(config.serial), "SIM%010u", config.device_id);
}

} // namespace asc::sim

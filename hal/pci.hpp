// SPDX-License-Identifier: Apache-2.0
// PCI facts of a device, from an own walk under a sysfs root; libpci adds the link where sysfs does
// not show it.
#pragma once

#include "hal/wire_types.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace asc::hal {

struct PciDeviceFacts {
    Reading<int> numa_node;          // unsupported where the machine has none
    Reading<std::string> cpu_list;   // local_cpulist
    Reading<std::string> link_speed; // "32.0 GT/s PCIe x16"
};

// The device's entry is taken only when its vendor and device ids are those of the wire: a
// simulated device may have the bus id of a real one.
PciDeviceFacts pci_facts(const std::string& sysfs_root, const std::string& bus_id,
                         const PciIds& ids);
// The domain in which a function with these ids stands at bus:slot.function, when there is just
// one: the wire does not tell it.
std::optional<std::uint32_t> pci_domain(const std::string& sysfs_root, const PciFacts& pci);

} // namespace asc::hal

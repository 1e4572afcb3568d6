// SPDX-License-Identifier: Apache-2.0
#include "hal/pci.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#ifdef ASC_HAVE_PCI
extern "C" {
#include <pci/pci.h>
}
#endif

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>

namespace asc::hal {

namespace {

// First line of a file below `folder`; nothing when it cannot be read.
std::optional<std::string> line_of(const std::string& folder, const char* name) {
    const int fd = open((folder + "/" + name).c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return std::nullopt;
    char text[512];
    const ssize_t length = read(fd, text, sizeof(text));
    close(fd);
    if (length < 0)
        return std::nullopt;
    std::string line(text, static_cast<std::size_t>(length));
    line.resize(std::min(line.find('\n'), line.size()));
    return line;
}

std::optional<std::uint32_t> hex_of(const std::string& folder, const char* name) {
    const auto line = line_of(folder, name);
    if (!line || line->empty())
        return std::nullopt;
    return static_cast<std::uint32_t>(std::strtoul(line->c_str(), nullptr, 16));
}

bool is_device(const std::string& folder, const PciIds& ids) {
    return hex_of(folder, "vendor") == ids.vendor && hex_of(folder, "device") == ids.device;
}

#ifdef ASC_HAVE_PCI
// libpci ends the program on an error unless told otherwise, and it is only asked for an extra.
thread_local std::jmp_buf trouble;
[[noreturn]] void on_error(char*, ...) {
    std::longjmp(trouble, 1);
}
void on_warning(char*, ...) {}

// Link status register of the PCI Express capability; 0 when it cannot be read. No object with a
// destructor lives here, for the jump.
unsigned link_status(pci_access* access, const unsigned (&address)[4]) {
    if (setjmp(trouble) != 0)
        return 0;
    pci_init(access);
    pci_dev* device =
        pci_get_dev(access, static_cast<int>(address[0]), static_cast<int>(address[1]),
                    static_cast<int>(address[2]), static_cast<int>(address[3]));
    pci_fill_info(device, PCI_FILL_CAPS);
    const pci_cap* express = pci_find_cap(device, PCI_CAP_ID_EXP, PCI_CAP_NORMAL);
    const unsigned status =
        express == nullptr
            ? 0
            : pci_read_word(device, static_cast<int>(express->addr) + PCI_EXP_LNKSTA);
    pci_free_dev(device);
    return status;
}

std::optional<std::string> link_by_libpci(const std::string& sysfs_root,
                                          const std::string& bus_id) {
    unsigned address[4] = {};
    if (std::sscanf(bus_id.c_str(), "%x:%x:%x.%x", &address[0], &address[1], &address[2],
                    &address[3]) != 4)
        return std::nullopt;
    pci_access* access = pci_alloc();
    access->method = PCI_ACCESS_SYS_BUS_PCI;
    access->error = on_error;
    access->warning = on_warning;
    std::string name = "sysfs.path";
    std::string path = sysfs_root + "/bus/pci";
    pci_set_param(access, name.data(), path.data());
    const unsigned status = link_status(access, address);
    pci_cleanup(access);
    static constexpr const char* kSpeeds[] = {"", "2.5", "5.0", "8.0", "16.0", "32.0", "64.0"};
    const unsigned speed = status & PCI_EXP_LNKSTA_SPEED;
    const unsigned width = (status & PCI_EXP_LNKSTA_WIDTH) >> 4;
    if (speed == 0 || speed >= std::size(kSpeeds) || width == 0)
        return std::nullopt;
    return std::string(kSpeeds[speed]) + " GT/s PCIe x" + std::to_string(width);
}
#else
std::optional<std::string> link_by_libpci(const std::string&, const std::string&) {
    return std::nullopt;
}
#endif

} // namespace

PciDeviceFacts pci_facts(const std::string& sysfs_root, const std::string& bus_id,
                         const PciIds& ids) {
    PciDeviceFacts facts;
    const Absence missing{Reason::unsupported, 0,
                          "sysfs has no device with this bus id and these ids"};
    facts.numa_node = missing;
    facts.cpu_list = missing;
    facts.link_speed = missing;
    const std::string folder = sysfs_root + "/bus/pci/devices/" + bus_id;
    if (bus_id.empty() || !is_device(folder, ids))
        return facts;
    const Absence unknown{Reason::unsupported, 0, "sysfs does not show it"};
    const auto node = line_of(folder, "numa_node");
    const int number = node ? std::atoi(node->c_str()) : -1;
    facts.numa_node = node && number >= 0 ? Reading<int>(number) : Reading<int>(unknown);
    const auto cpus = line_of(folder, "local_cpulist");
    facts.cpu_list =
        cpus && !cpus->empty() ? Reading<std::string>(*cpus) : Reading<std::string>(unknown);
    const auto speed = line_of(folder, "current_link_speed");
    const auto width = line_of(folder, "current_link_width");
    facts.link_speed = unknown;
    if (speed && width && !speed->empty() && *width != "0")
        facts.link_speed = *speed + " x" + *width;
    else if (const auto link = link_by_libpci(sysfs_root, bus_id))
        facts.link_speed = *link;
    return facts;
}

std::optional<std::uint32_t> pci_domain(const std::string& sysfs_root, const PciFacts& pci) {
    const std::string root = sysfs_root + "/bus/pci/devices";
    DIR* folder = opendir(root.c_str());
    if (folder == nullptr)
        return std::nullopt;
    std::optional<std::uint32_t> found;
    bool more = false;
    const std::string wanted = bus_id_text(0, pci).substr(4); // ":01:00.0"
    while (const dirent* entry = readdir(folder)) {
        const std::string name = entry->d_name;
        const std::size_t colon = name.find(':');
        if (colon == std::string::npos || name.substr(colon) != wanted ||
            !is_device(root + "/" + name, pci.ids))
            continue;
        more = found.has_value();
        found = static_cast<std::uint32_t>(std::strtoul(name.c_str(), nullptr, 16));
    }
    closedir(folder);
    return more ? std::nullopt : found;
}

} // namespace asc::hal

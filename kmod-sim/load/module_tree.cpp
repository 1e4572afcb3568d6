// SPDX-License-Identifier: Apache-2.0
#include "kmod-sim/load/module_tree.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

namespace asc::load {

namespace {

using Done = std::expected<void, std::string>;

// One write: these files take or refuse a value as a whole.
Done put(const std::string& path, const std::string& value) {
    const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return std::unexpected(path + ": " + std::strerror(errno));
    const ssize_t written = write(fd, value.data(), value.size());
    const int error = errno;
    close(fd);
    if (written != static_cast<ssize_t>(value.size()))
        return std::unexpected(path + " refuses '" + value +
                               "': " + (written < 0 ? std::strerror(error) : "taken in part"));
    return {};
}

std::string first_line(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

struct Value {
    const char* name;
    std::string text;
};

std::vector<Value> fields_of(const sim_device_config& config) {
    std::vector<Value> values;
#define U32(name, ...) values.push_back({#name, std::to_string(config.name)});
#define S32(name, ...) values.push_back({#name, std::to_string(config.name)});
#define TEXT(name, ...) values.push_back({#name, config.name});
#include "kmod-sim/core/device_fields.def"
    return values;
}

} // namespace

Done ModuleTree::check(const sim::Profile& profile) const {
    std::error_code error;
    if (!std::filesystem::is_directory(config_, error))
        return std::unexpected(config_ + ": no such folder; load the module (insmod davinci_sim.ko "
                                         "devices=0) and mount configfs "
                                         "(mount -t configfs none /sys/kernel/config)");
    const std::string old_abi = first_line(parameters_ + "/old_abi");
    const std::string wanted = profile.old_abi ? "Y" : "N";
    if (old_abi != wanted)
        return std::unexpected("the profile is of the " +
                               std::string(profile.old_abi ? "older" : "current") +
                               " generation, the module was loaded for the other: load it with "
                               "old_abi=" +
                               (profile.old_abi ? "1" : "0"));
    return {};
}

Done ModuleTree::add_device(const sim::DeviceProfile& device) const {
    const std::string folder = config_ + "/" + std::to_string(device.config.device_id);
    if (mkdir(folder.c_str(), 0755) != 0)
        return std::unexpected(folder + ": " + std::strerror(errno) +
                               (errno == EEXIST   ? "; the device is there already (devices=0?)"
                                : errno == ERANGE ? "; load the module with more slots="
                                                  : ""));
    for (const Value& value : fields_of(device.config))
        if (auto done = put(folder + "/" + value.name, value.text); !done)
            return done;
    const auto pages = std::to_string(device.isolated_pages.size());
    const std::vector<Value> history = {
        {"ecc_single", std::to_string(device.ecc_single)},
        {"ecc_double", std::to_string(device.ecc_double)},
        {"ecc_single_lifetime", std::to_string(device.ecc_single_lifetime)},
        {"ecc_double_lifetime", std::to_string(device.ecc_double_lifetime)},
        {device.isolated_by_double ? "ecc_isolated_double" : "ecc_isolated_single", pages}};
    for (const Value& value : history)
        if (auto done = put(folder + "/" + value.name, value.text); !done)
            return done;
    for (const std::uint32_t page : device.isolated_pages)
        if (auto done = put(folder + "/isolated_page", std::to_string(page)); !done)
            return done;
    const std::string clock = first_line(config_ + "/wall_ms");
    const std::uint64_t now = std::strtoull(clock.c_str(), nullptr, 10) / 1000;
    if (now == 0)
        return std::unexpected(config_ +
                               "/wall_ms tells no time; the module is older than this program");
    const auto records = [&](const std::vector<sim::EccRecord>& all, const char* file) -> Done {
        const std::size_t kept = std::min<std::size_t>(all.size(), SIM_RECORDS_MAX);
        for (std::size_t i = all.size() - kept; i < all.size(); ++i) {
            const std::uint64_t time = now - std::min(now, all[i].age_seconds);
            if (auto done = put(folder + "/" + file, std::to_string(all[i].address) + " " +
                                                         std::to_string(all[i].count) + " " +
                                                         std::to_string(time));
                !done)
                return done;
        }
        return {};
    };
    if (auto done = records(device.single_records, "ecc_single_record"); !done)
        return done;
    if (auto done = records(device.double_records, "ecc_double_record"); !done)
        return done;
    return put(folder + "/enable", "1");
}

Done ModuleTree::add_devices(const sim::Profile& profile) const {
    if (auto done = put(config_ + "/profile", profile.name); !done)
        return done;
    if (auto done = put(config_ + "/driver_version", profile.driver_version); !done)
        return done;
    for (const sim::DeviceProfile& device : profile.devices)
        if (auto done = add_device(device); !done)
            return done;
    return {};
}

Done ModuleTree::remove_devices() const {
    std::error_code error;
    std::vector<std::string> folders;
    for (const auto& entry : std::filesystem::directory_iterator(config_, error))
        if (entry.is_directory())
            folders.push_back(entry.path().string());
    if (error)
        return std::unexpected(config_ + ": " + error.message());
    for (const std::string& folder : folders)
        if (rmdir(folder.c_str()) != 0)
            return std::unexpected(folder + ": " + std::strerror(errno));
    return {};
}

Done ModuleTree::settled() const {
    return put(config_ + "/residents_settled", "1");
}

Done ModuleTree::add_rule(const std::string& text) const {
    if (auto done = put(debug_ + "/rules", text); !done) {
        const std::string why = first_line(debug_ + "/error");
        return std::unexpected(done.error() + (why.empty() ? "" : ": " + why));
    }
    return {};
}

// The module names its rules when they are read: "ID matches=... TEXT".
Done ModuleTree::clear_rule(const std::string& text) const {
    std::ifstream file(debug_ + "/rules");
    std::string id;
    for (std::string line; std::getline(file, line);)
        if (line.ends_with(" " + text))
            id = line.substr(0, line.find(' '));
    if (id.empty())
        return std::unexpected(debug_ + "/rules has no rule '" + text + "'");
    return put(debug_ + "/rules", "clear " + id);
}

} // namespace asc::load

// SPDX-License-Identifier: Apache-2.0
#include "kmod-sim/host/identity.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace asc::sim {

namespace {

constexpr int kCapSysAdmin = 21; // linux/capability.h

// Pid of the first that is scripted: above the largest that Linux gives (2^22), so that it never
// names a process.
constexpr std::uint32_t kScriptedPid = (1U << 22U) + 1;

std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string proc(std::uint32_t pid, const char* name) {
    return "/proc/" + std::to_string(pid) + "/" + name;
}

std::optional<std::uint64_t> number(std::string_view text, int base = 10) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc{} || end == text.data())
        return std::nullopt;
    return value;
}

// The words of line "KEY: word..." of a status file.
std::vector<std::string_view> words(std::string_view status, std::string_view key) {
    std::vector<std::string_view> found;
    const std::size_t at = status.find("\n" + std::string(key));
    if (at == std::string_view::npos)
        return found;
    std::string_view line = status.substr(at + 1 + key.size());
    line = line.substr(0, line.find('\n'));
    while (true) {
        line.remove_prefix(std::min(line.size(), line.find_first_not_of(" \t")));
        if (line.empty())
            return found;
        found.push_back(line.substr(0, line.find_first_of(" \t")));
        line.remove_prefix(found.back().size());
    }
}

// Ids of the groups whose members may operate devices, as far as this machine has them.
std::vector<std::uint32_t> operator_groups() {
    std::vector<std::uint32_t> ids;
    std::ifstream file("/etc/group");
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with("HwHiAiUser:") && !line.starts_with("HwBaseUser:"))
            continue;
        const std::size_t id = line.find(':', line.find(':') + 1);
        if (id == std::string::npos)
            continue;
        if (const auto value = number(std::string_view(line).substr(id + 1)))
            ids.push_back(static_cast<std::uint32_t>(*value));
    }
    return ids;
}

bool may_operate(const Credentials& credentials) {
    static const std::vector<std::uint32_t> ids = operator_groups();
    return std::ranges::any_of(ids, [&](std::uint32_t id) {
        return id == credentials.gid || std::ranges::count(credentials.groups, id) != 0;
    });
}

// NSpid has one pid for each namespace from this one's inwards; it can be read where the
// namespace's own link needs rights that a server without root lacks.
std::uint32_t environment_of(std::uint32_t pid, std::string_view status) {
    if (words(status, "NSpid:").size() < 2)
        return DV_ACC_ENV_PHYSICAL;
    const auto capabilities = words(status, "CapEff:");
    const std::uint64_t bits =
        capabilities.empty() ? 0 : number(capabilities.front(), 16).value_or(0);
    const std::uint64_t user = namespace_of(pid, "user");
    const bool admin = ((bits >> kCapSysAdmin) & 1U) != 0 && user != 0 &&
                       user == namespace_of(static_cast<std::uint32_t>(getpid()), "user");
    return admin ? DV_ACC_ENV_ADMIN_CONTAINER : DV_ACC_ENV_CONTAINER;
}

} // namespace

std::uint64_t namespace_of(std::uint32_t pid, const char* kind) {
    struct stat info {};
    const std::string path = proc(pid, "ns/") + kind;
    return stat(path.c_str(), &info) == 0 ? info.st_ino : 0;
}

std::uint64_t start_time_of(std::uint32_t pid) {
    const std::string stat = read_file(proc(pid, "stat"));
    const std::size_t name_end = stat.rfind(')'); // the name may hold blanks and parentheses
    if (name_end == std::string::npos)
        return 0;
    std::string_view rest = std::string_view(stat).substr(name_end + 1);
    for (int field = 3; field <= 22; ++field) { // the first word after the name is field 3
        const std::size_t start = rest.find_first_not_of(' ');
        if (start == std::string_view::npos)
            return 0;
        rest.remove_prefix(start);
        if (field == 22)
            return number(rest).value_or(0);
        rest.remove_prefix(std::min(rest.size(), rest.find(' ')));
    }
    return 0;
}

sim_ident read_identity(const Credentials& credentials, std::uint64_t cookie,
                        const IdentityPolicy& policy) {
    sim_ident ident{};
    ident.pid = credentials.pid;
    ident.uid = credentials.uid;
    ident.gid = credentials.gid;
    ident.cookie = cookie;
    ident.visible = ~std::uint64_t{0};
    ident.environment = DV_ACC_ENV_PHYSICAL;
    ident.caller = DV_ACC_USER;
    if (credentials.uid == 0)
        ident.caller |= DV_ACC_ROOT;
    if (may_operate(credentials))
        ident.caller |= DV_ACC_OPERATE;
    if (credentials.uid == policy.owner_uid)
        ident.caller |= DS_ACC_SIM_OWNER | (policy.owner_is_root ? DV_ACC_ROOT : 0U);
    if (credentials.pid == 0) // a process of a namespace that this one cannot see
        ident.environment = DV_ACC_ENV_CONTAINER;
    if (credentials.pid == 0)
        return ident;
    const std::string status = read_file(proc(credentials.pid, "status"));
    ident.start_time = start_time_of(credentials.pid);
    ident.pid_namespace = namespace_of(credentials.pid, "pid");
    ident.mount_namespace = namespace_of(credentials.pid, "mnt");
    if (const auto pids = words(status, "NSpid:"); !pids.empty())
        ident.ns_pid = static_cast<std::uint32_t>(number(pids.back()).value_or(0));
    ident.environment = environment_of(credentials.pid, status);
    std::string name = read_file(proc(credentials.pid, "comm"));
    if (name.ends_with('\n'))
        name.pop_back();
    name.copy(ident.name, sizeof(ident.name) - 1);
    return ident;
}

sim_ident self_identity() {
    std::vector<gid_t> groups(static_cast<std::size_t>(std::max(getgroups(0, nullptr), 0)));
    if (!groups.empty())
        groups.resize(static_cast<std::size_t>(
            std::max(getgroups(static_cast<int>(groups.size()), groups.data()), 0)));
    const Credentials self{static_cast<std::uint32_t>(getpid()), geteuid(), getegid(), groups};
    return read_identity(self, 0, {geteuid(), false});
}

sim_ident scripted_identity(std::string_view name, std::uint32_t number) {
    sim_ident ident = self_identity();
    ident.pid = ident.ns_pid = kScriptedPid + number;
    ident.start_time = 0;
    ident.cookie = ident.pid;
    ident.flags = DS_PROCESS_SCRIPTED;
    std::memset(ident.name, 0, sizeof(ident.name));
    name.copy(ident.name, sizeof(ident.name) - 1);
    return ident;
}

} // namespace asc::sim

// SPDX-License-Identifier: Apache-2.0
#include "faultinject/scenario/server_process.hpp"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>

namespace asc::faultinject {

namespace {

using namespace std::chrono_literals;

constexpr auto kStartLimit = 60s; // of a server with real residents on a busy machine
constexpr auto kEndLimit = 10s;
constexpr std::size_t kBaseMax = 60; // a socket's path has 107 bytes

constexpr std::string_view kFiles[] = {"/socket", "/profile.toml"};

std::string socket_of(const PrivateFolder& folder) {
    return folder.path() + "/socket";
}

// For the signal handler, which may do next to nothing: the paths to remove, the folder last.
char to_remove[std::size(kFiles) + 1][128];

extern "C" void remove_and_end(int number) {
    for (const char* path : to_remove)
        if (*path != '\0' && unlink(path) != 0)
            rmdir(path);
    ::signal(number, SIG_DFL);
    raise(number);
}

void remember(const std::string& folder) {
    std::size_t at = 0;
    for (const std::string_view name : kFiles)
        std::snprintf(to_remove[at++], sizeof(to_remove[0]), "%s%s", folder.c_str(), name.data());
    std::snprintf(to_remove[at], sizeof(to_remove[0]), "%s", folder.c_str());
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
        struct sigaction action {};
        if (sigaction(number, nullptr, &action) != 0 || action.sa_handler != SIG_DFL)
            continue; // somebody else's, or ignored
        action.sa_handler = remove_and_end;
        sigaction(number, &action, nullptr);
    }
}

} // namespace

std::expected<PrivateFolder, std::string> PrivateFolder::make() {
    const char* temporary = std::getenv("TMPDIR");
    std::string problem = "no folder for it";
    for (const std::string& base : {std::string(temporary ? temporary : ""), std::string("/tmp")}) {
        if (base.empty() || base.front() != '/' || base.size() > kBaseMax)
            continue;
        std::string folder = base + "/faultinject-XXXXXX";
        if (mkdtemp(folder.data()) != nullptr) {
            remember(folder);
            return PrivateFolder(folder);
        }
        problem = base + ": " + std::strerror(errno);
    }
    return std::unexpected(problem);
}

PrivateFolder::~PrivateFolder() {
    if (path_.empty())
        return;
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
    if (path_ == std::end(to_remove)[-1])
        std::memset(to_remove, 0, sizeof(to_remove));
}

std::expected<std::string, std::string> PrivateFolder::write(const std::string& name,
                                                             const std::string& text) const {
    const std::string path = path_ + "/" + name;
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    if (!file)
        return std::unexpected(path + ": cannot be written: " + std::strerror(errno));
    return path;
}

std::expected<ServerProcess, std::string> ServerProcess::start(const ServerSetup& setup) {
    auto folder = PrivateFolder::make();
    if (!folder)
        return std::unexpected(folder.error());
    std::string profile = setup.profile;
    if (!setup.profile_text.empty()) {
        auto written = folder->write("profile.toml", setup.profile_text);
        if (!written)
            return std::unexpected(written.error());
        profile = *written;
    }
    auto process = Process::start(
        {"davsimd", "--profile", profile, "--seed", std::to_string(setup.seed), "--clock",
         setup.virtual_clock ? "virtual" : "real", "--as-root", "--socket", socket_of(*folder)},
        {});
    if (!process)
        return std::unexpected("no simulator: " + process.error());
    if (auto ready = process->wait_for("export ", kStartLimit); !ready)
        return std::unexpected("no simulator: " + ready.error());
    return ServerProcess(std::move(*folder), std::move(*process));
}

ServerProcess::~ServerProcess() {
    process_.signal(SIGTERM);
    process_.finish(kEndLimit);
}

std::string ServerProcess::backend() const {
    return "unix:" + socket_of(folder_);
}

} // namespace asc::faultinject

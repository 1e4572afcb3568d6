// SPDX-License-Identifier: Apache-2.0
// A simulator in a process of its own, for the life of this object.
#pragma once

#include "faultinject/scenario/process.hpp"

#include <cstdint>
#include <expected>
#include <string>

namespace asc::faultinject {

// A folder that only this user may enter; it goes with the object. One at a time goes with the
// program too when SIGINT, SIGTERM or SIGHUP end that.
class PrivateFolder {
  public:
    static std::expected<PrivateFolder, std::string> make();
    PrivateFolder(PrivateFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
    PrivateFolder& operator=(PrivateFolder&&) = delete;
    ~PrivateFolder();
    const std::string& path() const { return path_; }
    // Writes a file there; the error says why not.
    std::expected<std::string, std::string> write(const std::string& name,
                                                  const std::string& text) const;

  private:
    explicit PrivateFolder(std::string path) : path_(std::move(path)) {}
    std::string path_;
};

struct ServerSetup {
    std::string profile;      // by name or path
    std::string profile_text; // TOML; when it is not empty, in place of that
    std::uint64_t seed = 1;
    bool virtual_clock = true;
};

class ServerProcess {
  public:
    // The server's owner acts as root. The error says why there is none.
    static std::expected<ServerProcess, std::string> start(const ServerSetup& setup);
    ServerProcess(ServerProcess&&) noexcept = default;
    ServerProcess& operator=(ServerProcess&&) = delete;
    ~ServerProcess();
    std::string backend() const; // "unix:PATH"

  private:
    ServerProcess(PrivateFolder folder, Process process)
        : folder_(std::move(folder)), process_(std::move(process)) {}
    PrivateFolder folder_;
    Process process_;
};

} // namespace asc::faultinject

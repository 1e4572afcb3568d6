// SPDX-License-Identifier: Apache-2.0
// The simulator's own small client of its socket: for davsim's verbs and the residents' holders.
// Programs use the HAL.
#pragma once

#include "ioctl/wire/commands.h"
#include "kmod-sim/server/descriptor.hpp"
#include "kmod-sim/server/packet.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>

namespace asc::server {

// Exit statuses of every command but npu-smi (cli-contract).
enum Status {
    kDone = 0,
    kUsage = 2,
    kDenied = 4,
    kNobody = 5,
    kTimeout = 6,
    kMismatch = 7,
    kFailed = 8,
};

struct Failure {
    int status = kFailed;
    std::string text;
};

// The socket that `backend` ("unix:PATH", else ASC_DEVICE) names.
std::expected<std::string, Failure> socket_path(std::string_view backend);

// An open node.
struct Life {
    Descriptor socket;
    std::uint64_t token = 0;
    std::uint16_t module = DV_MOD_NONE; // what call() bound it to
};

class Client {
  public:
    // The server must be of this user or of root.
    static std::expected<Client, Failure> connect(const std::string& path);
    // Opens a node as open(2) does; the error is an errno.
    std::expected<Life, int> open(std::uint32_t node, std::uint32_t index);
    // ioctl(2) on it: >= 0, or -errno. `argument` points to memory of this process.
    int call(Life& life, std::uint32_t number, void* argument);
    // The control node bound to the simulator's extension.
    std::expected<Life, Failure> extension();
    // A question of the control protocol (docs/socket-protocol.md) and its answer; "ok": false
    // becomes a failure.
    std::expected<nlohmann::json, Failure> control(const nlohmann::json& question);
    // The next message on the control socket: after "trace" more of them come.
    std::expected<nlohmann::json, Failure> next_answer();
    int control_socket() const { return control_.get(); }
    // True when a message comes on the control socket within this time.
    bool answer_waits(int milliseconds) const;
    // Returns once the server has closed its end (after "stop").
    void wait_for_end() const;

    std::uint32_t server_pid() const { return server_pid_; }
    std::uint32_t server_uid() const { return server_uid_; }
    const std::string& server_text() const { return server_text_; }

  private:
    std::expected<Descriptor, Failure> dial() const;
    std::expected<void, Failure> ask(int socket, std::uint16_t type, std::uint32_t call_id,
                                     std::span<const std::uint8_t> payload, std::uint16_t expected);

    std::string path_;
    Descriptor calls_, control_;
    std::uint32_t server_pid_ = 0, server_uid_ = 0, next_call_ = 1;
    std::string server_text_;
    std::vector<std::uint8_t> buffer_;
    std::unique_ptr<Packet> packet_;
};

} // namespace asc::server

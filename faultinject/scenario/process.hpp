// SPDX-License-Identifier: Apache-2.0
// A real process: started, watched, ended, and what it wrote.
#pragma once

#include "faultinject/scenario/judge.hpp"

#include <sys/types.h>

#include <chrono>
#include <expected>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace asc::faultinject {

using Variables = std::vector<std::pair<std::string, std::string>>;

// Folder of this program, and the program itself.
std::string program_folder();
std::string program_path();

// An open file that goes by itself.
class File {
  public:
    explicit File(int fd = -1) : fd_(fd) {}
    File(File&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    File& operator=(File&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~File();
    int get() const { return fd_; }
    static File in_memory(const char* name); // get() < 0: errno says why
    std::string content() const;             // from its beginning
    std::size_t size() const;

  private:
    int fd_;
};

class Process {
  public:
    // Standard input is empty; the output is kept in memory. `inherited` files keep their number in
    // the child. The programs of this folder come first in PATH. The error says why it could not be
    // started.
    static std::expected<Process, std::string> start(const std::vector<std::string>& words,
                                                     const Variables& variables,
                                                     const std::vector<int>& inherited = {});
    Process(Process&& other) noexcept;
    Process& operator=(Process&& other) noexcept;
    ~Process(); // ends it

    // Waits for its end; after `limit` it is killed. `meanwhile` is called about every millisecond
    // when it is set.
    Finished finish(std::chrono::milliseconds limit, const std::function<void()>& meanwhile = {});
    // Waits until it has written `text`; the error says why that did not come.
    std::expected<void, std::string> wait_for(const std::string& text,
                                              std::chrono::milliseconds limit);
    void signal(int number) const;
    bool running(); // has not ended yet
    pid_t pid() const { return pid_; }

  private:
    Process() = default;
    bool reap(bool block);
    Finished finished(bool timed_out) const;

    pid_t pid_ = -1; // -1: has been waited for
    int status_ = 0;
    File out_, error_;
};

} // namespace asc::faultinject

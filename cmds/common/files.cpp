// SPDX-License-Identifier: Apache-2.0
#include "cmds/common/files.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace asc::cmds {

namespace {

class Descriptor {
  public:
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (number_ >= 0)
            ::close(number_);
    }
    int get() const { return number_; }

  private:
    int number_;
};

std::unexpected<std::string> failure(const std::string& path, std::string_view what) {
    return std::unexpected(fmt::format("{}: {}: {}", path, what, std::strerror(errno)));
}

bool write_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return false;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

} // namespace

std::expected<void, std::string> write_file(const std::string& path, std::string_view text) {
    struct stat status {};
    // A device or a pipe is written as it is; nothing can be renamed over it.
    const bool special = ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
    const std::string place = special ? path : path + ".new";
    const int flags =
        O_WRONLY | O_CLOEXEC | O_NOCTTY | (special ? 0 : O_CREAT | O_TRUNC | O_NOFOLLOW);
    const Descriptor file(::open(place.c_str(), flags, 0644));
    if (file.get() < 0)
        return failure(place, "cannot be opened");
    const bool written = write_all(file.get(), text) && (special || ::fsync(file.get()) == 0);
    if (!written || (!special && ::rename(place.c_str(), path.c_str()) != 0)) {
        auto result = failure(path, "cannot be written");
        if (!special)
            ::unlink(place.c_str());
        return result;
    }
    return {};
}

std::expected<std::string, std::string> read_file(const std::string& path, std::size_t most_bytes) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
    if (file.get() < 0)
        return failure(path, "cannot be opened");
    std::string text;
    char part[16384];
    for (;;) {
        const ssize_t got = ::read(file.get(), part, sizeof part);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return failure(path, "cannot be read");
        if (got == 0)
            return text;
        text.append(part, static_cast<std::size_t>(got));
        if (text.size() > most_bytes)
            return std::unexpected(fmt::format("{}: larger than {} bytes", path, most_bytes));
    }
}

} // namespace asc::cmds

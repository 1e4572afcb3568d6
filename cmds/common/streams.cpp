// SPDX-License-Identifier: Apache-2.0
#include "cmds/common/streams.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace asc::cmds {

namespace {

constexpr std::size_t kBufferBytes = 64 * 1024;

// 0, or errno of the write that failed.
int write_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return errno;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

// The character set by the names of locale(7), without loading a locale.
Charset charset_of_locale() {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const std::string_view value = environment(name);
        if (value.empty())
            continue;
        std::string lower;
        for (const char c : value.substr(std::min(value.find('.'), value.size())))
            if (c != '-')
                lower += static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
        return lower.starts_with(".utf8") ? Charset::utf8 : Charset::ascii;
    }
    return Charset::ascii;
}

} // namespace

std::string_view environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string_view{} : std::string_view(value);
}

void Output::write(std::string_view text) {
    buffer_.append(text);
    if (buffer_.size() >= kBufferBytes)
        flush();
}

void Output::flush() {
    if (errno_ == 0)
        errno_ = write_all(descriptor_, buffer_);
    buffer_.clear();
}

bool Output::closed() const {
    return errno_ == EPIPE;
}

int Output::error() const {
    return closed() ? 0 : errno_;
}

Style style_of_terminal(bool force_ascii) {
    Style style;
    style.charset = force_ascii ? Charset::ascii : charset_of_locale();
    style.terminal = ::isatty(STDOUT_FILENO) == 1;
    style.colour = style.terminal && environment("NO_COLOR").empty() &&
                   environment("TERM") != "dumb" && !environment("TERM").empty();
    return style;
}

Streams::Streams(std::string program)
    : style(style_of_terminal(false)), program_(std::move(program)),
      vendor_(environment("ASC_COMPAT") == "vendor") {
    std::signal(SIGPIPE, SIG_IGN);
}

void Streams::notice(std::string_view text) {
    out.flush(); // the order on a terminal is the order of events
    write_all(STDERR_FILENO, fmt::format("{}: {}\n", program_, printable(text, style.charset)));
}

void Streams::error(std::string_view text) {
    notice(text);
    if (vendor_)
        out.write(printable(text, style.charset).append("\n"));
}

void Streams::usage_error(std::string_view text, std::string_view usage) {
    error(text);
    write_all(STDERR_FILENO, std::string(usage).append("\n"));
}

int Streams::finish(int status, int when_unwritable) {
    out.flush();
    if (const int error = out.error(); error != 0) {
        notice(fmt::format("standard output: {}", std::strerror(error)));
        return when_unwritable;
    }
    return status;
}

std::string paint(std::string_view text, Colour colour, const Style& style) {
    if (!style.colour)
        return std::string(text);
    constexpr std::array<std::string_view, 4> codes{"31", "33", "32", "1"};
    return fmt::format("\x1b[{}m{}\x1b[0m", codes[static_cast<std::size_t>(colour)], text);
}

} // namespace asc::cmds

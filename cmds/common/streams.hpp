// SPDX-License-Identifier: Apache-2.0
// Where a command's words go: the answer to stdout, everything else to stderr.
#pragma once

#include "cmds/common/text.hpp"

#include <string>
#include <string_view>

namespace asc::cmds {

// Buffered standard output. After a failed write nothing more is written.
class Output {
  public:
    explicit Output(int descriptor = 1) : descriptor_(descriptor) {}
    void write(std::string_view text);
    void flush();
    bool closed() const; // the reader went away (EPIPE)
    int error() const;   // errno of a write that failed for another reason, 0 none

  private:
    int descriptor_;
    int errno_ = 0;
    std::string buffer_;
};

struct Style {
    Charset charset = Charset::ascii; // UTF-8 only when the locale's is
    bool colour = false;              // stdout is a terminal, no NO_COLOR, TERM not dumb
    bool terminal = false;
};
Style style_of_terminal(bool force_ascii);

class Streams {
  public:
    // Ignores SIGPIPE, so that a closed pipe is seen as EPIPE. `program` starts each message.
    explicit Streams(std::string program);

    Style style;
    Output out;

    // "PROGRAM: text\n" on stderr; raw bytes are escaped.
    void notice(std::string_view text);
    // A notice that says why the command fails. With ASC_COMPAT=vendor it stands on stdout too.
    void error(std::string_view text);

    // An error and the line of usage after it: two lines on stderr.
    void usage_error(std::string_view text, std::string_view usage);

    // Flushes. A full disk and the like becomes an error with `when_unwritable` as status.
    int finish(int status, int when_unwritable);

    const std::string& program() const { return program_; }

  private:
    std::string program_;
    bool vendor_;
};

// Environment variable, "" when it is not set.
std::string_view environment(const char* name);

enum class Colour { red, yellow, green, bold };
// The text in colour when `style` has colours.
std::string paint(std::string_view text, Colour colour, const Style& style);

} // namespace asc::cmds

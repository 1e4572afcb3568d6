// SPDX-License-Identifier: Apache-2.0
// Text of others (device and process names, the driver's texts) made fit for a terminal, a table
// and JSON: invalid bytes and control characters are escaped, columns are counted as they are
// displayed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace asc::cmds {

// One character of UTF-8. An invalid byte gives valid = false and length 1.
struct Decoded {
    char32_t code = 0;
    std::size_t length = 1;
    bool valid = false;
};
// The first character of a text that is not empty. Overlong forms, surrogates and what lies above
// U+10FFFF are invalid.
Decoded decode_utf8(std::string_view text);

// Columns of one character on a terminal: 0 combining, 2 East Asian wide, else 1.
int display_width(char32_t code);
// Columns of a valid text.
std::size_t display_width(std::string_view text);

enum class Charset { utf8, ascii };

// For tables and messages: invalid bytes, control characters (C0, C1, DEL) and bidirectional
// controls become \xNN, a backslash stays; with Charset::ascii every other byte above 0x7F too.
std::string printable(std::string_view raw, Charset charset = Charset::utf8);

// For JSON and CSV: valid UTF-8. Invalid bytes become \xNN, everything else stays.
std::string valid_utf8(std::string_view raw);

// Cut to `columns` (the end replaced by "..." when something is lost) and filled with blanks on the
// right to exactly `columns`. `text` is printable.
std::string fit(std::string_view text, std::size_t columns);
// Filled with blanks on the right, never cut.
std::string pad(std::string_view text, std::size_t columns);

// Edits (insert, drop, replace, swap of neighbours) that turn one word into the other.
std::size_t edit_distance(std::string_view from, std::string_view to);

} // namespace asc::cmds

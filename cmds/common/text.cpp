// SPDX-License-Identifier: Apache-2.0
#include "cmds/common/text.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace asc::cmds {

namespace {

struct Range {
    char32_t first, last;
};

// Unicode 15: characters that take no column of their own (Mn, Me, Cf in common use).
constexpr Range kZeroWidth[] = {
    {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x0610, 0x061A},   {0x064B, 0x065F},
    {0x06D6, 0x06DC}, {0x0900, 0x0902}, {0x093C, 0x093C}, {0x0E31, 0x0E31},   {0x0E34, 0x0E3A},
    {0x0E47, 0x0E4E}, {0x1AB0, 0x1ACE}, {0x1DC0, 0x1DFF}, {0x200B, 0x200F},   {0x2028, 0x202E},
    {0x2060, 0x206F}, {0x20D0, 0x20F0}, {0x302A, 0x302D}, {0x3099, 0x309A},   {0xFE00, 0xFE0F},
    {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xE0001, 0xE007F}, {0xE0100, 0xE01EF},
};

// East Asian Width W and F.
constexpr Range kWide[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23EC},
    {0x25FD, 0x25FE},   {0x2614, 0x2615},   {0x2648, 0x2653},   {0x26AA, 0x26AB},
    {0x26BD, 0x26BE},   {0x2705, 0x2705},   {0x274C, 0x274C},   {0x2753, 0x2755},
    {0x2795, 0x2797},   {0x2B1B, 0x2B1C},   {0x2E80, 0x303E},   {0x3041, 0x33FF},
    {0x3400, 0x4DBF},   {0x4E00, 0xA4CF},   {0xA960, 0xA97C},   {0xAC00, 0xD7A3},
    {0xF900, 0xFAFF},   {0xFE10, 0xFE19},   {0xFE30, 0xFE6F},   {0xFF01, 0xFF60},
    {0xFFE0, 0xFFE6},   {0x16FE0, 0x18CFF}, {0x1AFF0, 0x1B2FB}, {0x1F004, 0x1F004},
    {0x1F0CF, 0x1F0CF}, {0x1F18E, 0x1F19A}, {0x1F200, 0x1F320}, {0x1F32D, 0x1F3F0},
    {0x1F3F4, 0x1F64F}, {0x1F680, 0x1F6FC}, {0x1F7E0, 0x1F7EB}, {0x1F90C, 0x1FAFF},
    {0x20000, 0x3FFFD},
};

template <std::size_t N> bool within(const Range (&ranges)[N], char32_t code) {
    const Range* found = std::ranges::lower_bound(ranges, code, {}, &Range::last);
    return found != std::end(ranges) && found->first <= code;
}

// Controls would steer the terminal, bidirectional ones reorder what stands beside them.
bool steers(char32_t code) {
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x061C || code == 0x200E ||
           code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069);
}

void append_escaped(std::string& out, std::string_view bytes) {
    constexpr char digits[] = "0123456789abcdef";
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        out.append("\\x").append(1, digits[byte >> 4]).append(1, digits[byte & 15]);
    }
}

} // namespace

Decoded decode_utf8(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char lead = byte(0);
    if (lead < 0x80)
        return {lead, 1, true};
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || text.size() < length)
        return {lead, 1, false};
    char32_t code = lead & (0xFFU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0) != 0x80)
            return {lead, 1, false};
        code = (code << 6) | (byte(i) & 0x3FU);
    }
    const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
    if (overlong || (code >= 0xD800 && code <= 0xDFFF) || code > 0x10FFFF)
        return {lead, 1, false};
    return {code, length, true};
}

int display_width(char32_t code) {
    if (code < 0x300)
        return 1;
    if (within(kZeroWidth, code))
        return 0;
    return within(kWide, code) ? 2 : 1;
}

std::size_t display_width(std::string_view text) {
    std::size_t columns = 0;
    while (!text.empty()) {
        const Decoded one = decode_utf8(text);
        columns += static_cast<std::size_t>(one.valid ? display_width(one.code) : 1);
        text.remove_prefix(one.length);
    }
    return columns;
}

std::string printable(std::string_view raw, Charset charset) {
    std::string out;
    out.reserve(raw.size());
    while (!raw.empty()) {
        const Decoded one = decode_utf8(raw);
        const std::string_view bytes = raw.substr(0, one.length);
        const bool foreign = charset == Charset::ascii && one.code > 0x7F;
        if (one.valid && !steers(one.code) && !foreign)
            out.append(bytes);
        else
            append_escaped(out, bytes);
        raw.remove_prefix(one.length);
    }
    return out;
}

std::string valid_utf8(std::string_view raw) {
    std::string out;
    out.reserve(raw.size());
    while (!raw.empty()) {
        const Decoded one = decode_utf8(raw);
        if (one.valid)
            out.append(raw.substr(0, one.length));
        else
            append_escaped(out, raw.substr(0, one.length));
        raw.remove_prefix(one.length);
    }
    return out;
}

std::string pad(std::string_view text, std::size_t columns) {
    std::string out(text);
    const std::size_t width = display_width(text);
    if (width < columns)
        out.append(columns - width, ' ');
    return out;
}

std::string fit(std::string_view text, std::size_t columns) {
    if (display_width(text) <= columns)
        return pad(text, columns);
    const std::string_view mark = std::string_view("...").substr(0, columns);
    const std::size_t room = columns - mark.size();
    std::size_t taken = 0, used = 0;
    while (taken < text.size()) {
        const Decoded one = decode_utf8(text.substr(taken));
        const auto width = static_cast<std::size_t>(one.valid ? display_width(one.code) : 1);
        if (used + width > room)
            break;
        used += width;
        taken += one.length;
    }
    return pad(std::string(text.substr(0, taken)).append(mark), columns);
}

std::size_t edit_distance(std::string_view from, std::string_view to) {
    const std::size_t columns = to.size() + 1;
    std::vector<std::size_t> before(columns), above(columns), row(columns);
    for (std::size_t j = 0; j < columns; ++j)
        row[j] = j;
    for (std::size_t i = 1; i <= from.size(); ++i) {
        before.swap(above);
        above.swap(row);
        row[0] = i;
        for (std::size_t j = 1; j < columns; ++j) {
            const bool same = from[i - 1] == to[j - 1];
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0 : 1)});
            if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
    }
    return row.back();
}

} // namespace asc::cmds

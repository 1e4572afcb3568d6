// SPDX-License-Identifier: Apache-2.0
#include "cmds/common/csv.hpp"

#include "cmds/common/text.hpp"

namespace asc::cmds {

std::string csv_field(std::string_view raw) {
    std::string text;
    for (std::string_view rest = raw; !rest.empty();) {
        const std::size_t end = rest.find_first_of("\r\n");
        text += printable(rest.substr(0, end));
        if (end == std::string_view::npos)
            break;
        text += rest[end];
        rest.remove_prefix(end + 1);
    }
    // A leading or trailing blank is data; some readers strip it unless it is quoted.
    const bool blank_edge = !text.empty() && (text.front() == ' ' || text.back() == ' ');
    if (text.find_first_of(",\"\r\n") == std::string::npos && !blank_edge)
        return text;
    std::string quoted = "\"";
    for (const char c : text)
        quoted.append(c == '"' ? 2 : 1, c);
    return quoted.append(1, '"');
}

std::string csv_line(std::span<const std::string> fields) {
    std::string line;
    for (const std::string& field : fields) {
        if (&field != fields.data())
            line += ',';
        line += csv_field(field);
    }
    // A single empty field would be an empty line, which readers skip.
    if (line.empty() && fields.size() == 1)
        line = "\"\"";
    return line.append("\r\n");
}

} // namespace asc::cmds

// SPDX-License-Identifier: Apache-2.0
// Texts of others on their way to a terminal, to CSV and to JSON.
#include "cmds/common/csv.hpp"
#include "cmds/common/json.hpp"
#include "cmds/common/records.hpp"
#include "cmds/common/text.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace asc::cmds;

TEST(Text, DecodesUtf8) {
    EXPECT_EQ(decode_utf8("A").code, U'A');
    EXPECT_EQ(decode_utf8("\xc3\xa9").code, U'\u00e9');
    EXPECT_EQ(decode_utf8("\xe4\xb8\xad").length, 3U);
    EXPECT_EQ(decode_utf8("\xf0\x9f\x98\x80").code, U'\U0001F600');
}

TEST(Text, RefusesWhatIsNoUtf8) {
    for (const std::string_view bytes :
         {"\xf8\x01", "\x80", "\xc0\xaf", "\xc3", "\xe4\xb8", "\xed\xa0\x80", "\xe0\x80\x80",
          "\xf4\x90\x80\x80", "\xf0\x80\x80\x80", "\xff"})
        EXPECT_FALSE(decode_utf8(bytes).valid) << printable(bytes);
}

TEST(Text, EscapesInvalidBytesAndControls) {
    EXPECT_EQ(printable("\xf8\x01"
                        "B"),
              "\\xf8\\x01B");
    EXPECT_EQ(printable("a\x1b[2J,\"b"), "a\\x1b[2J,\"b");
    EXPECT_EQ(printable("tab\tnl\ndel\x7f"), "tab\\x09nl\\x0adel\\x7f");
    EXPECT_EQ(printable("c1\xc2\x9b"
                        "bidi\xe2\x80\xae"),
              "c1\\xc2\\x9bbidi\\xe2\\x80\\xae");
    // Cut inside a character of several bytes.
    EXPECT_EQ(printable("abc\xe4\xb8"), "abc\\xe4\\xb8");
    EXPECT_EQ(printable("\xe4\xb8\xad", Charset::ascii), "\\xe4\\xb8\\xad");
    EXPECT_EQ(printable("\xe4\xb8\xad"), "\xe4\xb8\xad");
}

TEST(Text, CountsColumns) {
    EXPECT_EQ(display_width("abc"), 3U);
    EXPECT_EQ(display_width("\xe4\xb8\xad\xe6\x96\x87"), 4U); // two wide ones
    EXPECT_EQ(display_width("e\xcc\x81"), 1U);                // combining
    EXPECT_EQ(display_width("\xf0\x9f\x98\x80"), 2U);
    EXPECT_EQ(display_width("\xed\x95\x9c"), 2U);
    EXPECT_EQ(display_width(""), 0U);
}

TEST(Text, FitsToColumns) {
    EXPECT_EQ(fit("ab", 4), "ab  ");
    EXPECT_EQ(fit("abcdefgh", 6), "abc...");
    EXPECT_EQ(fit("abcdef", 6), "abcdef");
    EXPECT_EQ(fit("abc", 2), "..");
    // A wide character that does not fit whole leaves a blank.
    EXPECT_EQ(fit("\xe4\xb8\xad\xe6\x96\x87\xe5\xad\x97", 5), "\xe4\xb8\xad...");
    EXPECT_EQ(display_width(fit("\xe4\xb8\xad\xe6\x96\x87\xe5\xad\x97x", 6)), 6U);
    EXPECT_EQ(pad("abcdef", 3), "abcdef");
}

TEST(Text, MeasuresSlips) {
    EXPECT_EQ(edit_distance("reset", "reset"), 0U);
    EXPECT_EQ(edit_distance("rset", "reset"), 1U);
    EXPECT_EQ(edit_distance("rseet", "reset"), 1U); // two neighbours swapped
    EXPECT_EQ(edit_distance("", "abc"), 3U);
    EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(Csv, QuotesByRfc4180) {
    EXPECT_EQ(csv_field("plain"), "plain");
    EXPECT_EQ(csv_field("a,\"b\"\nc"), "\"a,\"\"b\"\"\nc\"");
    EXPECT_EQ(csv_field(" edge"), "\" edge\"");
    EXPECT_EQ(csv_field("a\x1b[2J"), "a\\x1b[2J");
    EXPECT_EQ(csv_field("\xf8"), "\\xf8");
    EXPECT_EQ(csv_field("line\r\nline"), "\"line\r\nline\"");
    const std::vector<std::string> line{"a", "b,c", ""};
    EXPECT_EQ(csv_line(line), "a,\"b,c\",\r\n");
    const std::vector<std::string> empty{""};
    EXPECT_EQ(csv_line(empty), "\"\"\r\n");
}

TEST(JsonText, StaysValidWhateverTheName) {
    for (const std::string name : {"\xf8\x01"
                                   "B",
                                   "a\x1b[2J,\"b", "abc\xe4\xb8", "a,\"b\"\nc"}) {
        const std::string text = json_text(sanitised(Json{{"name", name}}), true);
        const Json back = Json::parse(text, nullptr, false);
        ASSERT_FALSE(back.is_discarded()) << text;
        EXPECT_EQ(back["name"], valid_utf8(name));
        EXPECT_EQ(text.find('\x1b'), std::string::npos);
        EXPECT_EQ(text.find('\n'), text.size() - 1);
    }
    EXPECT_EQ(valid_utf8("\xf8\x01"
                         "B"),
              "\\xf8\x01"
              "B"); // a control character is valid JSON text
}

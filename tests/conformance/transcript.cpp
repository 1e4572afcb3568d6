// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/transcript.hpp"

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace asc::test {

namespace {

// "...", "???", "===": the bytes up to the next offset.
bool is_filler(const std::string& word) {
    return word == "..." || word == std::string(3, '?') || word == "===";
}

class Reader {
  public:
    explicit Reader(std::string path) : path_(std::move(path)) {}
    Transcript read();

  private:
    [[noreturn]] void fail(const std::string& what) const {
        throw std::runtime_error(path_ + ":" + std::to_string(line_) + ": " + what);
    }
    std::uint64_t number(const std::string& text, int base) const;
    void statement(const std::string& verb, const std::string& rest);
    void head(const std::string& verb, const std::string& rest);
    void start_step(const std::string& verb, const std::string& rest);
    void start_block(const std::string& verb, const std::string& rest);
    void end_block();
    void bytes(const std::string& text);
    void fill_to(std::size_t offset);
    void fill(const std::string& word);
    static std::vector<std::string> split(const std::string& text);
    static void pairs(const std::vector<std::string>& words, std::vector<std::string>& plain,
                      std::map<std::string, std::string>& named);
    Step& step() {
        if (out_.exchanges.empty() || out_.exchanges.back().steps.empty())
            fail("no step before it");
        return out_.exchanges.back().steps.back();
    }

    std::string path_;
    int line_ = 0;
    bool in_toml_ = false;
    bool fill_ = false;
    Byte filler_;
    Block* block_ = nullptr;
    std::size_t block_length_ = 0;
    Transcript out_;
};

std::uint64_t Reader::number(const std::string& text, int base) const {
    std::size_t used = 0;
    try {
        const std::uint64_t value = std::stoull(text, &used, base);
        if (used == text.size())
            return value;
    } catch (const std::exception&) {
    }
    fail("not a number: '" + text + "'");
}

std::vector<std::string> Reader::split(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> words;
    for (std::string word; in >> word;)
        words.push_back(word);
    return words;
}

void Reader::pairs(const std::vector<std::string>& words, std::vector<std::string>& plain,
                   std::map<std::string, std::string>& named) {
    for (const std::string& word : words) {
        const std::size_t at = word.find('=');
        if (at == std::string::npos)
            plain.push_back(word);
        else
            named[word.substr(0, at)] = word.substr(at + 1);
    }
}

void Reader::fill_to(std::size_t offset) {
    if (block_->bytes.size() > offset || (block_->bytes.size() < offset && !fill_))
        fail("offset " + std::to_string(offset) + " does not follow " +
             std::to_string(block_->bytes.size()));
    block_->bytes.resize(offset, filler_);
    fill_ = false;
}

void Reader::end_block() {
    if (block_ == nullptr)
        return;
    fill_to(block_length_);
    block_ = nullptr;
}

void Reader::fill(const std::string& word) {
    fill_ = true;
    filler_.kind = word[0] == '?'   ? Byte::Kind::any
                   : word[0] == '=' ? Byte::Kind::unchanged
                                    : Byte::Kind::literal;
}

// The bytes of a line, up to two blanks or the end.
void Reader::bytes(const std::string& text) {
    std::string line = text.substr(0, text.find("  "));
    for (char& c : line)
        if (c == '}')
            c = ' ';
    for (std::string word : split(line)) {
        if (fill_)
            fail("bytes behind a filler");
        if (word.front() == '{') {
            const std::size_t colon = word.find(':');
            if (colon == std::string::npos)
                fail("a marker is {NAME:bytes}");
            word = word.substr(colon + 1);
        }
        Byte byte;
        if (is_filler(word)) {
            fill(word);
            continue;
        }
        if (word == "??")
            byte.kind = Byte::Kind::any;
        else if (word == "==")
            byte.kind = Byte::Kind::unchanged;
        else if (word.size() == 2)
            byte.value = static_cast<std::uint8_t>(number(word, 16));
        else
            fail("not a byte: '" + word + "'");
        block_->bytes.push_back(byte);
    }
    if (block_->bytes.size() > block_length_)
        fail("more bytes than the block has");
}

void Reader::head(const std::string& verb, const std::string& rest) {
    std::vector<std::string> plain;
    Process who;
    if (verb == "title") {
        out_.title = rest;
    } else if (verb == "toml") {
        in_toml_ = true;
    } else if (verb == "only") {
        out_.in_process_only = rest;
    } else {
        pairs(split(rest), plain, who.named);
        if (plain.size() != 1)
            fail(verb + " has one name");
        if (verb == "holder")
            out_.holder_order.push_back(plain[0]);
        (verb == "holder" ? out_.holders : out_.processes)[plain[0]] = who;
    }
}

void Reader::start_step(const std::string& verb, const std::string& rest) {
    if (out_.exchanges.empty())
        fail("'" + verb + "' before the first exchange");
    Step step;
    step.line = line_;
    step.verb = verb;
    step.rest = rest;
    pairs(split(rest), step.words, step.named);
    out_.exchanges.back().steps.push_back(step);
}

void Reader::start_block(const std::string& verb, const std::string& rest) {
    const std::vector<std::string> words = split(rest);
    if (words.size() != 2 || words[0][0] != '@')
        fail(verb + " @ADDRESS LENGTH");
    auto& blocks = verb == "request" ? step().requests : step().replies;
    blocks.push_back({number(words[0].substr(1), 16), {}});
    block_ = &blocks.back();
    block_length_ = number(words[1], 10);
    fill_ = false;
}

void Reader::statement(const std::string& verb, const std::string& rest) {
    end_block();
    if (verb == "title" || verb == "toml" || verb == "only" || verb == "process" ||
        verb == "holder") {
        head(verb, rest);
    } else if (verb == "exchange") {
        const std::size_t blank = rest.find(' ');
        if (blank == std::string::npos)
            fail("exchange SECTION TITLE");
        out_.exchanges.push_back({line_, rest.substr(0, blank), rest.substr(blank + 1), {}});
    } else if (verb == "open" || verb == "close" || verb == "call" || verb == "finish" ||
               verb == "setup") {
        start_step(verb, rest);
    } else if (verb == "request" || verb == "reply") {
        start_block(verb, rest);
    } else if (verb == "result") {
        if (rest == "parked")
            step().parked = true;
        else
            step().result = std::stoi(rest, nullptr, 0);
    } else {
        fail("unknown statement '" + verb + "'");
    }
}

Transcript Reader::read() {
    std::ifstream file(path_);
    if (!file)
        fail("cannot be read");
    for (std::string line; std::getline(file, line);) {
        ++line_;
        if (line.empty() || line[0] == '#')
            continue;
        if (in_toml_ && line.starts_with("| ")) {
            out_.toml += line.substr(2) + "\n";
            continue;
        }
        in_toml_ = false;
        if (block_ != nullptr && is_filler(line.substr(0, 3))) {
            fill(line);
        } else if (block_ != nullptr && line.size() > 6 && line.substr(4, 2) == "  ") {
            fill_to(number(line.substr(0, 4), 16));
            bytes(line.substr(6));
        } else {
            const std::size_t blank = line.find(' ');
            statement(line.substr(0, blank),
                      blank == std::string::npos ? "" : line.substr(blank + 1));
        }
    }
    end_block();
    return out_;
}

} // namespace

Transcript read_transcript(const std::string& path) {
    return Reader(path).read();
}

} // namespace asc::test

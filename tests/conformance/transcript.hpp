// SPDX-License-Identifier: Apache-2.0
// A transcript: exchanges with the driver, request and reply bytes in hex, typed from
// driver-abi.md. The grammar stands in tests/conformance/README.md; run_transcripts.py reads the
// same files.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace asc::test {

// A byte of a block.
struct Byte {
    enum class Kind { literal, any, unchanged } kind = Kind::literal;
    std::uint8_t value = 0;
};

struct Block { // memory at an address
    std::uint64_t address = 0;
    std::vector<Byte> bytes;
};

struct Step {
    int line = 0;
    // "open", "close", "call", "finish", "setup"
    std::string verb;
    std::vector<std::string> words;           // after the verb, without key=value
    std::map<std::string, std::string> named; // key=value
    std::string rest;                         // the text after the verb
    std::vector<Block> requests, replies;
    std::optional<int> result; // none: parked
    bool parked = false;
};

struct Exchange {
    int line = 0;
    std::string section, title;
    std::vector<Step> steps;
};

struct Process {
    std::map<std::string, std::string> named; // pid, caller, environment, visible, device, mib
};

struct Transcript {
    std::string title, toml, in_process_only; // the latter: why it cannot run over the socket
    std::map<std::string, Process> processes, holders;
    std::vector<std::string> holder_order;
    std::vector<Exchange> exchanges;
};

// Throws std::runtime_error "FILE:LINE: what".
Transcript read_transcript(const std::string& path);

} // namespace asc::test

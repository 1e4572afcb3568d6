// SPDX-License-Identifier: Apache-2.0
#include "kmod-sim/host/state_archive.hpp"

namespace asc::sim {

namespace {

std::string shown(const Json& value) {
    if (value.is_array() || value.is_object())
        return std::string(value.is_array() ? "a list of " : "an object of ") +
               std::to_string(value.size());
    std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
    if (text.size() > 60)
        text = text.substr(0, 57) + "...";
    return text;
}

} // namespace

void state_fault(std::string path, std::string expected, const Json& found) {
    throw StateFault{std::move(path), std::move(expected), shown(found)};
}

void state_fault(std::string path, std::string expected, std::string found) {
    throw StateFault{std::move(path), std::move(expected), std::move(found)};
}

std::string bytes_to_json(std::string_view bytes) {
    std::string text;
    for (const char byte : bytes) {
        const auto value = static_cast<unsigned char>(byte);
        if (value < 0x80) {
            text.push_back(byte);
        } else {
            text.push_back(static_cast<char>(0xC0U | (value >> 6U)));
            text.push_back(static_cast<char>(0x80U | (value & 0x3FU)));
        }
    }
    return text;
}

bool json_to_bytes(const std::string& text, std::string& bytes) {
    bytes.clear();
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto first = static_cast<unsigned char>(text[i]);
        if (first < 0x80) {
            bytes.push_back(text[i]);
        } else {
            // The parser has checked that it is UTF-8; only U+0080 to U+00FF stand for a byte.
            if ((first != 0xC2 && first != 0xC3) || i + 1 == text.size())
                return false;
            const auto second = static_cast<unsigned char>(text[++i]);
            bytes.push_back(static_cast<char>(((first & 3U) << 6U) | (second & 0x3FU)));
        }
    }
    return true;
}

StateReader::StateReader(const Json& object, std::string path)
    : object_(object), path_(std::move(path)) {
    if (!object_.is_object())
        state_fault(path_.empty() ? "the file" : path_, "an object", object_);
}

const Json& StateReader::at(const char* name) {
    const auto found = object_.find(name);
    if (found == object_.end())
        state_fault(inside(name), "to be there", std::string("nothing"));
    asked_.insert(name);
    return *found;
}

void StateReader::finish() const {
    for (const auto& [name, value] : object_.items())
        if (!asked_.contains(name))
            state_fault(inside(name.c_str()), "no such field in this version", value);
}

} // namespace asc::sim

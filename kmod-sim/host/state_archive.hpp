// SPDX-License-Identifier: Apache-2.0
// Writing and reading named fields as JSON. One function per struct lists its fields for both
// directions (state_fields.hpp), so that what is written is what is read. The reader checks
// presence, kind and range of each field and names the first that does not fit.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <cstring>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>

namespace asc::sim {

using Json = nlohmann::json;

// The field that does not fit, as a path; what would fit; what stands there.
struct StateFault {
    std::string path, expected, found;
};

[[noreturn]] void state_fault(std::string path, std::string expected, const Json& found);
[[noreturn]] void state_fault(std::string path, std::string expected, std::string found);

// The bytes of a C text as characters of the same number, so that any byte survives (a process may
// have any name).
std::string bytes_to_json(std::string_view bytes);
bool json_to_bytes(const std::string& text, std::string& bytes);

class StateWriter {
  public:
    static constexpr bool kReads = false;

    template <class T>
    void number(const char* name, const T& value, T = std::numeric_limits<T>::min(),
                T = std::numeric_limits<T>::max()) {
        object_[name] = value;
    }
    template <std::size_t N> void text(const char* name, const char (&value)[N]) {
        object_[name] = bytes_to_json({value, strnlen(value, N)});
    }
    // A list of `count` structs; fields(archive, element) lists the fields of one.
    template <class T, std::size_t N, class Count, class Fields>
    void list(const char* name, const T (&elements)[N], const Count& count, Fields fields) {
        Json array = Json::array();
        for (std::size_t i = 0; i < count; ++i)
            array.push_back(object_of(elements[i], fields));
        object_[name] = std::move(array);
    }
    // The used ones of a table in which a place means something.
    template <class T, std::size_t N, class Used, class Fields>
    void sparse(const char* name, const T (&elements)[N], Used used, Fields fields) {
        Json array = Json::array();
        for (std::size_t i = 0; i < N; ++i) {
            if (!used(elements[i]))
                continue;
            Json element = object_of(elements[i], fields);
            element["place"] = i;
            array.push_back(std::move(element));
        }
        object_[name] = std::move(array);
    }
    template <class T, class Fields> void object(const char* name, const T& value, Fields fields) {
        object_[name] = object_of(value, fields);
    }
    Json take() { return std::move(object_); }

  private:
    template <class T, class Fields> static Json object_of(const T& value, Fields fields) {
        StateWriter inner;
        // The field lists serve both directions; this one only reads from the struct.
        fields(inner, const_cast<T&>(value));
        return inner.take();
    }

    Json object_ = Json::object();
};

class StateReader {
  public:
    static constexpr bool kReads = true;

    StateReader(const Json& object, std::string path);

    template <class T>
    void number(const char* name, T& value, T minimum = std::numeric_limits<T>::min(),
                T maximum = std::numeric_limits<T>::max()) {
        const Json& field = at(name);
        const auto fits = [&](auto given) {
            return std::cmp_greater_equal(given, minimum) && std::cmp_less_equal(given, maximum);
        };
        bool good = false;
        if (field.is_number_unsigned()) {
            const auto given = field.get<std::uint64_t>();
            good = fits(given);
            value = good ? static_cast<T>(given) : value;
        } else if (field.is_number_integer()) {
            const auto given = field.get<std::int64_t>();
            good = fits(given);
            value = good ? static_cast<T>(given) : value;
        }
        if (!good)
            state_fault(inside(name),
                        "a whole number from " + std::to_string(minimum) + " to " +
                            std::to_string(maximum),
                        field);
    }
    template <std::size_t N> void text(const char* name, char (&value)[N]) {
        const Json& field = at(name);
        std::string bytes;
        if (!field.is_string() || !json_to_bytes(field.get_ref<const std::string&>(), bytes) ||
            bytes.size() >= N || bytes.find('\0') != std::string::npos)
            state_fault(inside(name), "a text of at most " + std::to_string(N - 1) + " bytes",
                        field);
        std::memset(value, 0, N);
        std::memcpy(value, bytes.data(), bytes.size());
    }
    template <class T, std::size_t N, class Count, class Fields>
    void list(const char* name, T (&elements)[N], Count& count, Fields fields) {
        const Json& array = at(name);
        if (!array.is_array() || array.size() > N)
            state_fault(inside(name), "a list of at most " + std::to_string(N) + " entries", array);
        std::memset(static_cast<void*>(elements), 0, sizeof(elements));
        for (std::size_t i = 0; i < array.size(); ++i) {
            StateReader inner(array[i], inside(name) + "[" + std::to_string(i) + "]");
            fields(inner, elements[i]);
            inner.finish();
        }
        count = static_cast<Count>(array.size());
    }
    template <class T, std::size_t N, class Used, class Fields>
    void sparse(const char* name, T (&elements)[N], Used, Fields fields) {
        const Json& array = at(name);
        if (!array.is_array() || array.size() > N)
            state_fault(inside(name), "a list of at most " + std::to_string(N) + " entries", array);
        std::memset(static_cast<void*>(elements), 0, sizeof(elements));
        std::size_t next = 0;
        for (std::size_t i = 0; i < array.size(); ++i) {
            StateReader inner(array[i], inside(name) + "[" + std::to_string(i) + "]");
            std::size_t place = 0;
            inner.number("place", place, next, N - 1);
            fields(inner, elements[place]);
            inner.finish();
            next = place + 1;
        }
    }
    template <class T, class Fields> void object(const char* name, T& value, Fields fields) {
        StateReader inner(at(name), inside(name));
        fields(inner, value);
        inner.finish();
    }
    const Json& at(const char* name); // refused when it is missing
    std::string inside(const char* name) const { return path_.empty() ? name : path_ + "." + name; }
    const std::string& path() const { return path_; }
    // Refuses fields that nobody asked for: they are of another version.
    void finish() const;

  private:
    const Json& object_;
    std::string path_;
    std::set<std::string> asked_;
};

} // namespace asc::sim

// SPDX-License-Identifier: Apache-2.0
// A value that can be missing. Made once in the HAL and carried unchanged to every output.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace asc::hal {

// Why a value is missing. The spelling of to_string() is the one of JSON.
enum class Reason {
    unsupported,  // the chip, driver or backend has no such value
    denied,       // not permitted (EACCES, EPERM, driver errors 46, 88)
    failed,       // the driver answered with an error; `error` has it
    timeout,      // no answer within the device's deadline
    out_of_range, // the driver's number is impossible (sentinel, torn or absurd)
    lost,         // the device is gone
    list_full,    // the driver's table could not carry the whole truth
    unresolvable, // it exists, but has no name in the caller's namespace
    unknown,      // cannot be told here (for example: no idle baseline on a real driver)
};

std::string_view to_string(Reason reason); // "unsupported", "denied", ...
std::string_view to_cell(Reason reason);   // "NA", "DENIED", "ERR", "TIMEOUT", "LOST", "UNKNOWN"

struct Absence {
    Reason reason = Reason::unknown;
    int error = 0;      // > 0 driver error, < 0 negative errno, 0 none
    std::string detail; // one clause in plain words; may be empty

    bool operator==(const Absence&) const = default;
};

template <class T> class Reading {
  public:
    Reading() : state_(Absence{}) {}
    Reading(T value) : state_(std::move(value)) {}
    Reading(Absence absence) : state_(std::move(absence)) {}
    Reading(Reason reason, int error = 0, std::string detail = {})
        : state_(Absence{reason, error, std::move(detail)}) {}

    explicit operator bool() const { return has_value(); }
    bool has_value() const { return std::holds_alternative<T>(state_); }
    const T& value() const {
        return std::get<T>(state_);
    } // throws std::bad_variant_access when missing
    const T& operator*() const { return std::get<T>(state_); }
    const T* operator->() const { return &std::get<T>(state_); }
    const Absence& absence() const { return std::get<Absence>(state_); }
    std::optional<T> optional() const {
        return has_value() ? std::optional<T>(value()) : std::nullopt;
    }
    // Applies `f` to a present value; an absence is carried along unchanged.
    template <class F> auto map(F f) const -> Reading<decltype(f(std::declval<const T&>()))> {
        if (has_value())
            return f(value());
        return absence();
    }

  private:
    std::variant<T, Absence> state_;
};

} // namespace asc::hal

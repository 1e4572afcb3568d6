// SPDX-License-Identifier: Apache-2.0
#include "cmds/common/error_codes.hpp"

#include <algorithm>
#include <iterator>

namespace asc::cmds {

namespace {

constexpr KnownError kErrors[] = {
#define ERROR_CODE(code, handling, meaning) {code, Handling::handling, meaning},
#include "cmds/common/error_codes.def"
#undef ERROR_CODE
};

} // namespace

const KnownError* known_error(std::uint32_t code) {
    const auto found = std::ranges::find(kErrors, code, &KnownError::code);
    return found == std::end(kErrors) ? nullptr : &*found;
}

std::string_view next_step(Handling handling) {
    switch (handling) {
    case Handling::none:
        return "nothing to do, it is told for the record";
    case Handling::restart_request:
        return "run the request or job again; if it stays for a minute, take the chip out of use";
    case Handling::restart_job:
        return "run the job again; a second time within a day, take the chip out of use";
    case Handling::reset:
        return "end the jobs, reset the chip, run them again";
    case Handling::separate:
        return "take the chip out of use and have it replaced";
    case Handling::watch:
        return "the chip goes on; watch it";
    }
    return {};
}

} // namespace asc::cmds

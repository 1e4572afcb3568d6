// SPDX-License-Identifier: Apache-2.0
#include "hal/reading.hpp"

namespace asc::hal {

std::string_view to_string(Reason reason) {
    switch (reason) {
    case Reason::unsupported:
        return "unsupported";
    case Reason::denied:
        return "denied";
    case Reason::failed:
        return "failed";
    case Reason::timeout:
        return "timeout";
    case Reason::out_of_range:
        return "out_of_range";
    case Reason::lost:
        return "lost";
    case Reason::list_full:
        return "list_full";
    case Reason::unresolvable:
        return "unresolvable";
    case Reason::unknown:
        break;
    }
    return "unknown";
}

std::string_view to_cell(Reason reason) {
    switch (reason) {
    case Reason::unsupported:
        return "NA";
    case Reason::denied:
        return "DENIED";
    case Reason::failed:
    case Reason::out_of_range:
        return "ERR";
    case Reason::timeout:
        return "TIMEOUT";
    case Reason::lost:
        return "LOST";
    case Reason::list_full:
    case Reason::unresolvable:
    case Reason::unknown:
        break;
    }
    return "UNKNOWN";
}

} // namespace asc::hal

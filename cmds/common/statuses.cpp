// SPDX-License-Identifier: Apache-2.0
#include "cmds/common/statuses.hpp"

namespace asc::cmds {

int npu_smi_status_of(hal::ConnectError::Kind kind) {
    using Kind = hal::ConnectError::Kind;
    switch (kind) {
    case Kind::bad_backend:
        return npu_smi_status::bad_parameter;
    case Kind::no_driver:
        return npu_smi_status::no_driver;
    case Kind::denied:
    case Kind::untrusted:
        return npu_smi_status::not_permitted;
    case Kind::busy:
        return npu_smi_status::held;
    case Kind::abi_mismatch:
        return npu_smi_status::abi_mismatch;
    case Kind::timeout:
        return npu_smi_status::timeout;
    case Kind::failed:
        break;
    }
    return npu_smi_status::failed;
}

int npu_smi_status_of(hal::ActionResult::Kind kind, int when_failed) {
    using Kind = hal::ActionResult::Kind;
    switch (kind) {
    case Kind::done:
        return npu_smi_status::ok;
    case Kind::denied:
        return npu_smi_status::not_permitted;
    case Kind::unsupported:
        return npu_smi_status::not_supported;
    case Kind::busy:
        return npu_smi_status::held;
    case Kind::timeout:
    case Kind::lost:
    case Kind::failed:
        break;
    }
    return when_failed;
}

int status_of(hal::ConnectError::Kind kind) {
    using Kind = hal::ConnectError::Kind;
    switch (kind) {
    case Kind::bad_backend:
        return status::usage;
    case Kind::denied:
    case Kind::untrusted:
        return status::not_permitted;
    case Kind::no_driver:
        return status::no_driver;
    case Kind::timeout:
        return status::timeout;
    case Kind::abi_mismatch:
        return status::abi_mismatch;
    case Kind::busy:
    case Kind::failed:
        break;
    }
    return status::failed;
}

} // namespace asc::cmds

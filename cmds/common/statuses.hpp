// SPDX-License-Identifier: Apache-2.0
// Exit statuses (docs/npu-smi.md, "Exit status"). npu-smi keeps the vendor's numbers; every other
// command has the common set.
#pragma once

#include "hal/driver.hpp"

namespace asc::cmds {

// npu-smi: low byte of the vendor's codes (facts of npu-smi, section 3), and what the vendor's tool
// has no number for.
namespace npu_smi_status {
enum : int {
    ok = 0,
    partial = 3,         // the table was printed, but a row failed, timed out, was lost or denied
    no_driver = 5,       // or no device
    timeout = 6,         // nothing answered
    abi_mismatch = 7,    // driver and tool do not fit
    held = 172,          // by another process
    not_answered = 200,  // a question was answered no, or there was nobody to ask
    reset_failed = 201,  // the action was done but the device does not say so
    file = 202,          // a file or standard output could not be read or written
    failed = 211,        // none of the others
    not_permitted = 214, // EACCES, EPERM
    bad_parameter = 215,
    not_supported = 217,
};
} // namespace npu_smi_status

// Every other command.
namespace status {
enum : int {
    ok = 0,
    finding = 1,
    usage = 2,
    partial = 3,
    not_permitted = 4,
    no_driver = 5,
    timeout = 6,
    abi_mismatch = 7,
    failed = 8,
};
} // namespace status

int npu_smi_status_of(hal::ConnectError::Kind kind);
int npu_smi_status_of(hal::ActionResult::Kind kind, int when_failed);
int status_of(hal::ConnectError::Kind kind);

} // namespace asc::cmds

// SPDX-License-Identifier: Apache-2.0
// What the driver's error numbers mean (driver-abi.md 6.2, 10.1).
#include "hal/wire_types.hpp"

#include <cerrno>
#include <cstring>

namespace asc::hal {

namespace {

struct Named {
    std::int32_t error;
    Reason reason;
    const char* text;
};

constexpr Named kDriverErrors[] = {
    {DV_E_NO_DEVICE, Reason::lost, "no device"},
    {DV_E_INVALID_DEVICE, Reason::lost, "invalid device"},
    {DV_E_INVALID_VALUE, Reason::failed, "invalid value"},
    {DV_E_INVALID_HANDLE, Reason::failed, "invalid handle"},
    {DV_E_OUT_OF_MEMORY, Reason::failed, "out of memory"},
    {DV_E_INNER, Reason::failed, "inner error"},
    {DV_E_PARAMETER, Reason::failed, "parameter error"},
    {DV_E_NOT_INITIALISED, Reason::failed, "not initialised"},
    {DV_E_NOT_EXIST, Reason::failed, "does not exist"},
    {DV_E_BUSY, Reason::failed, "busy"},
    {DV_E_NO_RESOURCES, Reason::failed, "no resources"},
    {DV_E_TIMEOUT, Reason::timeout, "the device did not answer the driver in time"},
    {DV_E_IOCTL, Reason::failed, "ioctl failed"},
    {DV_E_CONNECT, Reason::failed, "connect failed"},
    {DV_E_SESSION_CLOSED, Reason::failed, "session closed"},
    {DV_E_RECEIVE, Reason::failed, "receive failed"},
    {DV_E_SEND, Reason::failed, "send failed"},
    {DV_E_NOT_READY, Reason::failed, "device not ready"},
    {DV_E_NOT_LISTENING, Reason::failed, "the device's management service does not listen"},
    {DV_E_WOULD_BLOCK, Reason::failed, "would block"},
    {DV_E_FILE, Reason::failed, "file operation failed"},
    {DV_E_ALLOCATION, Reason::failed, "allocation failed"},
    {DV_E_PEER_REBOOTED, Reason::failed, "the device's process hung or rebooted"},
    {DV_E_NO_SESSION, Reason::failed, "the device has no session left"},
    {DV_E_RESETTING, Reason::failed, "a reset is in progress"},
    {DV_E_NOT_PERMITTED, Reason::denied, "not permitted"},
    {DV_E_TRY_AGAIN, Reason::failed, "not ready, try again"},
    {DV_E_NO_EVENT, Reason::failed, "no event"},
    {DV_E_PARTITION, Reason::failed, "partitions inconsistent"},
    {DV_E_OCCUPIED, Reason::failed, "occupied by another"},
    {DV_E_PERMISSION, Reason::denied, "no permission"},
    {DV_E_NOT_SUPPORTED, Reason::unsupported, "not supported"},
};

} // namespace

Absence absence_of_result(std::int32_t result) {
    if (result > 0) {
        for (const Named& named : kDriverErrors)
            if (named.error == result)
                return {named.reason, result, named.text};
        return {Reason::failed, result, "driver error " + std::to_string(result)};
    }
    switch (-result) {
    case EOPNOTSUPP:
        return {Reason::unsupported, result, "not supported"};
    case EACCES:
    case EPERM:
        return {Reason::denied, result, "not permitted"};
    case ENODEV:
    case ENXIO:
        return {Reason::lost, result, "no such device"};
    case ETIMEDOUT:
        return {Reason::timeout, result, "the driver waited in vain"};
    default:
        return {Reason::failed, result, std::strerror(-result)};
    }
}

std::string error_text(std::int32_t result) {
    return absence_of_result(result).detail;
}

std::int32_t driver_error_of_hdc(std::int32_t result, std::uint32_t operation) {
    if (result >= 0)
        return result;
    const std::int32_t number = -result;
    // "43 channel invalid" and "49 peer rebooted" have no name in the wire's list.
    constexpr std::int32_t kPeerRebooted = 49;
    switch (number) {
    case DV_HDC_DEVICE_NOT_READY:
    case DV_HDC_DEVICE_RESET:
        return DV_E_NOT_READY;
    case DV_HDC_PERMISSION:
    case DV_HDC_SESSION_MISMATCH:
        return DV_E_NOT_PERMITTED;
    case DV_HDC_NO_DATA:
        return DV_E_WOULD_BLOCK;
    case DV_HDC_NOT_SUPPORTED:
        return DV_E_NOT_SUPPORTED;
    case DV_HDC_RECEIVE_TIMEOUT:
    case DV_HDC_TRANSMIT_TIMEOUT:
    case DV_HDC_CONNECT_TIMEOUT:
        return DV_E_TIMEOUT;
    case DV_HDC_REMOTE_NOT_LISTENING:
        return DV_E_NOT_LISTENING;
    case DV_HDC_NO_SESSION:
        return DV_E_NO_SESSION;
    case DV_HDC_PARAMETER:
        return DV_E_PARAMETER;
    case DV_HDC_REMOTE_CLOSED:
    case DV_HDC_SESSION_CLOSED:
        return DV_E_SESSION_CLOSED;
    case kPeerRebooted:
        return operation == DV_H_CONNECT ? DV_E_PEER_REBOOTED : DV_E_SESSION_CLOSED;
    default:
        break;
    }
    switch (operation) {
    case DV_H_CONNECT:
        return DV_E_CONNECT;
    case DV_H_SEND:
        return DV_E_SEND;
    case DV_H_RECEIVE:
    case DV_H_PEEK:
        return DV_E_RECEIVE;
    default:
        return DV_E_INNER;
    }
}

} // namespace asc::hal

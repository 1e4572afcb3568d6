// SPDX-License-Identifier: Apache-2.0
// -t ecc and -t health: what went wrong on the chip.
#include "cmds/common/error_codes.hpp"
#include "cmds/common/times.hpp"
#include "cmds/npu-smi/session.hpp"
#include "cmds/npu-smi/types.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace asc::cmds::npu_smi {

using hal::Ask;
using hal::Reading;

namespace {

template <std::uint32_t hal::EccCounters::*member> Field count(const TypeRow& row) {
    return field(row.device.ecc.map([](const hal::EccCounters& ecc) { return ecc.*member; }));
}

Field pages(const TypeRow& row) {
    return field(row.device.ecc.map([](const hal::EccCounters& ecc) {
        return ecc.pages_isolated_single + ecc.pages_isolated_double;
    }));
}

Field pending(const TypeRow& row) {
    return field(row.device.pages_pending);
}

// The vendor counts no single-bit page as waiting.
Field always_zero(const TypeRow& row) {
    return field(row.device.ecc.map([](const hal::EccCounters&) { return 0U; }));
}

Field records(const Reading<std::vector<hal::EccRecord>>& reading) {
    return field(reading.map([](const std::vector<hal::EccRecord>& list) {
        Json json = Json::array();
        for (const hal::EccRecord& record : list)
            json.push_back(Json{{"address", fmt::format("{:#x}", record.address)},
                                {"count", record.count},
                                {"time", utc_text(record.time_s * 1000)}});
        return json;
    }));
}

constexpr std::size_t kWide = 40; // the vendor's padding of ECC keys

// Short lines first; then the vendor's keys, of which those with "Aggregate" are for life and the
// others since the reset.
#define ECC_ITEMS(memory)                                                                          \
    {"Single Bit Errors", "single_bit", count<&hal::EccCounters::single_bit>},                     \
        {"Double Bit Errors", "double_bit", count<&hal::EccCounters::double_bit>},                 \
        {"Memory Page Offlined", "pages_offlined", pages},                                         \
        {memory " Single Bit Error Count", "", count<&hal::EccCounters::single_bit>, kWide},       \
        {memory " Double Bit Error Count", "", count<&hal::EccCounters::double_bit>, kWide},       \
        {memory " Single Bit Aggregate Total Err Cnt", "single_bit_lifetime",                      \
         count<&hal::EccCounters::single_bit_lifetime>, kWide},                                    \
        {memory " Double Bit Aggregate Total Err Cnt", "double_bit_lifetime",                      \
         count<&hal::EccCounters::double_bit_lifetime>, kWide},                                    \
        {memory " Single Bit Isolated Pages Count", "pages_offlined_single",                       \
         count<&hal::EccCounters::pages_isolated_single>, kWide},                                  \
        {memory " Double Bit Isolated Pages Count", "pages_offlined_double",                       \
         count<&hal::EccCounters::pages_isolated_double>, kWide},                                  \
        {memory " Single Bit Next-Isolated Pages Count", "", always_zero, kWide},                  \
        {memory " Double Bit Next-Isolated Pages Count", "pages_pending", pending, kWide},         \
        {"", "single_bit_records",                                                                 \
         [](const TypeRow& row) { return records(row.device.single_bit_records); }},               \
        {"", "double_bit_records",                                                                 \
         [](const TypeRow& row) { return records(row.device.double_bit_records); }},

constexpr Item kEccItems[] = {ECC_ITEMS("HBM")};
constexpr Item kEccItems310[] = {ECC_ITEMS("DDR")};
#undef ECC_ITEMS

std::string ecc_lines(const TypeRow& row, Charset) {
    std::string text;
    const auto last = [&](std::string_view key, const Reading<std::vector<hal::EccRecord>>& list) {
        if (!list || list->empty())
            return;
        const auto newest = std::ranges::max_element(*list, {}, &hal::EccRecord::time_s);
        text += key_value(
            key, fmt::format("{} at {:#x}", local_text(newest->time_s * 1000), newest->address),
            kWide);
    };
    last("Last Single Bit Error", row.device.single_bit_records);
    last("Last Double Bit Error", row.device.double_bit_records);
    if (row.device.ecc)
        text += key_value("Counts", "since the reset; Aggregate: for life", kWide);
    return text;
}

std::string code_text(std::uint32_t code) {
    return fmt::format("{:04X}", code);
}

Field error_codes(const TypeRow& row) {
    return row.device.error_codes.map([](const std::vector<hal::ErrorCode>& codes) {
        Json list = Json::array();
        std::string text;
        for (const hal::ErrorCode& code : codes) {
            list.push_back(code_text(code.code));
            text += (text.empty() ? "" : " ") + code_text(code.code);
        }
        return Cell{std::move(list), text.empty() ? "NA" : text};
    });
}

// The driver's own text, else what is publicly known of the code.
std::string error_text(const hal::ErrorCode& code) {
    if (code.text && !code.text->empty())
        return *code.text;
    const KnownError* known = known_error(code.code);
    if (known != nullptr)
        return std::string(known->meaning);
    return code.text ? std::string("no text")
                     : std::string(hal::to_cell(code.text.absence().reason));
}

Field error_information(const TypeRow& row) {
    return row.device.error_codes.map([](const std::vector<hal::ErrorCode>& codes) {
        std::string text;
        for (const hal::ErrorCode& code : codes)
            text += (text.empty() ? "" : "; ") + error_text(code);
        return Cell{text, text.empty() ? "NA" : text};
    });
}

constexpr Item kHealthItems[] = {
    {"Health", "health",
     [](const TypeRow& row) {
         const Field health =
             field(row.device.health.map([](hal::Health value) { return hal::to_string(value); }));
         return health.map([&](const Cell& cell) {
             return Cell{cell.value, health_text(row.device)};
         });
     }},
    {"Error Code", "error_codes", error_codes},
    {"Error Information", "", error_information},
    {"", "errors",
     [](const TypeRow& row) {
         return field(row.device.error_codes.map(
             [&](const std::vector<hal::ErrorCode>&) { return errors_json(row.device); }));
     }},
    {"", "double_bit_records",
     [](const TypeRow& row) { return records(row.device.double_bit_records); }},
    {"", "boot_status", [](const TypeRow& row) { return field(row.device.boot_status); }},
    {"", "state",
     [](const TypeRow& row) -> Field {
         return Cell{hal::to_string(row.device.state), {}};
     }},
};

std::string health_lines(const TypeRow& row, Charset) {
    std::string text;
    if (!row.device.error_codes)
        return text;
    if (!row.device.error_codes->empty() && row.device.double_bit_records)
        for (const hal::EccRecord& record : *row.device.double_bit_records)
            text += key_value("Error Address", fmt::format("{:#x}", record.address));
    for (const hal::ErrorCode& code : *row.device.error_codes)
        if (const KnownError* known = known_error(code.code))
            text += key_value("Next Step " + code_text(code.code),
                              std::string(next_step(known->handling)));
    return text;
}

} // namespace

Json errors_json(const hal::DeviceSnapshot& device) {
    Json list = Json::array();
    for (const hal::ErrorCode& code : *device.error_codes) {
        const KnownError* known = known_error(code.code);
        list.push_back(
            Json{{"code", code_text(code.code)},
                 {"text", valid_utf8(error_text(code))},
                 {"next_step", known != nullptr ? Json(next_step(known->handling)) : Json()}});
    }
    return list;
}

const Type kEcc{"ecc", Ask::ecc | Ask::ecc_records, kEccItems, kEccItems310, ecc_lines};
const Type kHealth{"health", Ask::state | Ask::error_texts, kHealthItems, {}, health_lines};

} // namespace asc::cmds::npu_smi

// SPDX-License-Identifier: Apache-2.0
#include "kmod-sim/host/state_check.hpp"

#include "kmod-sim/host/state_archive.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace asc::sim {

namespace {

using Device = struct ::sim_device;

class Check {
  public:
    Check(const Device& device, const std::string& path) : d_(device), path_(path) {}

    void all() {
        sizes();
        extents();
        owners();
        words();
        fills();
        pages();
        sensors();
        faults();
        for (std::uint32_t i = 0; i < d_.disabled_count; ++i)
            for (std::uint32_t k = 0; k < i; ++k)
                if (d_.disabled[i] == d_.disabled[k])
                    refuse(at("disabled", i) + ".event_id", "another one than before it",
                           d_.disabled[i]);
    }

  private:
    template <class T>
    [[noreturn]] void refuse(const std::string& field, const std::string& expected, T found) const {
        state_fault(path_ + "." + field, expected, std::to_string(found));
    }
    template <class T> void equal(const std::string& field, T found, T wanted) const {
        if (found != wanted)
            refuse(field, std::to_string(wanted), found);
    }
    static std::string at(const char* list, std::size_t index) {
        return std::string(list) + "[" + std::to_string(index) + "]";
    }
    std::uint64_t bytes() const { return d_.total_pages << SIM_PAGE_SHIFT; }

    void sizes() const {
        constexpr std::uint64_t kPagesPerMib = (std::uint64_t{1} << 20U) / SIM_PAGE_SIZE;
        equal("total_pages", d_.total_pages, d_.config.hbm_mib * kPagesPerMib);
        equal("baseline_pages", d_.baseline_pages, d_.config.baseline_mib * kPagesPerMib);
        if (d_.baseline_pages > d_.total_pages)
            refuse("baseline_pages", "at most total_pages", d_.baseline_pages);
        if (d_.config.chip >= d_.config.chips_on_card)
            refuse("config.chip", "below chips_on_card", d_.config.chip);
    }

    // Ascending by first page, apart from each other, inside of the memory, each of a known owner.
    void extents() const {
        std::uint64_t end = 0, pages = 0;
        for (std::uint32_t i = 0; i < d_.extent_count; ++i) {
            const sim_extent& extent = d_.extent[i];
            const std::string field = at("extent", i);
            const std::uint64_t needed = (extent.bytes >> SIM_PAGE_SHIFT) +
                                         ((extent.bytes & (SIM_PAGE_SIZE - 1)) != 0 ? 1 : 0);
            equal(field + ".page_count", std::uint64_t{extent.page_count}, needed);
            if (extent.page_count == 0) { // a context without cost
                equal<std::uint32_t>(field + ".first_page", extent.first_page, 0);
                equal<std::uint16_t>(field + ".context", extent.context, 1);
                if (end != 0)
                    refuse(field + ".first_page", "to stand before those with pages",
                           extent.first_page);
            } else {
                const std::uint64_t least = std::max(end, d_.baseline_pages);
                if (extent.first_page < least)
                    refuse(field + ".first_page", std::to_string(least) + " or more",
                           extent.first_page);
                end = std::uint64_t{extent.first_page} + extent.page_count;
                if (end > d_.total_pages)
                    refuse(field + ".page_count", "to end within the memory", extent.page_count);
            }
            if (d_.owner[extent.owner].used == 0)
                refuse(field + ".owner", "the place of an owner", extent.owner);
            for (std::uint32_t k = 0; k < i; ++k)
                if (d_.extent[k].handle == extent.handle)
                    refuse(field + ".handle", "another one than before it", extent.handle);
            pages += extent.page_count;
        }
        equal("used_pages", d_.used_pages, d_.baseline_pages + pages);
    }

    void owners() const {
        std::array<std::uint64_t, SIM_OWNERS_MAX> held{};
        std::array<unsigned, SIM_OWNERS_MAX> contexts{};
        for (std::uint32_t i = 0; i < d_.extent_count; ++i) {
            held[d_.extent[i].owner] += std::uint64_t{d_.extent[i].page_count} << SIM_PAGE_SHIFT;
            contexts[d_.extent[i].owner] += d_.extent[i].context;
        }
        for (std::size_t i = 0; i < SIM_OWNERS_MAX; ++i) {
            const sim_owner& owner = d_.owner[i];
            if (owner.used == 0)
                continue;
            const std::string field = "owner of place " + std::to_string(i);
            equal(field + ".bytes", owner.bytes, held[i]);
            equal<unsigned>(field + ".context", owner.context, contexts[i]);
            if (owner.bytes == 0 && owner.context == 0)
                refuse(field + ".bytes", "something that it holds", owner.bytes);
        }
    }

    void words() const {
        std::uint64_t least = 0;
        for (std::uint32_t i = 0; i < d_.word_count; ++i) {
            const std::uint64_t address = d_.word[i].address;
            if ((address & 7) != 0 || address < least || address >= bytes())
                refuse(at("word", i) + ".address",
                       "a multiple of 8 within the memory, above those before it", address);
            least = address + 8;
        }
    }

    void fills() const {
        std::uint64_t least = 0;
        for (std::uint32_t i = 0; i < d_.fill_count; ++i) {
            const sim_fill& fill = d_.fill[i];
            if ((fill.first & 7) != 0 || fill.first < least)
                refuse(at("fill", i) + ".first", "a multiple of 8, behind those before it",
                       fill.first);
            if ((fill.end & 7) != 0 || fill.end <= fill.first || fill.end > bytes())
                refuse(at("fill", i) + ".end", "a multiple of 8 within the memory, above first",
                       fill.end);
            least = fill.end;
        }
    }

    void pages() const {
        std::uint32_t pending = 0, isolated = 0;
        std::uint64_t least = 0;
        for (std::uint32_t i = 0; i < d_.page_count; ++i) {
            const sim_page& page = d_.page[i];
            if (page.number < least || page.number >= d_.total_pages)
                refuse(at("page", i) + ".number", "a page of the memory, above those before it",
                       page.number);
            least = std::uint64_t{page.number} + 1;
            pending += page.state == SIM_PAGE_PENDING ? 1 : 0;
            isolated += page.state == SIM_PAGE_ISOLATED ? 1 : 0;
        }
        equal("pages_pending", d_.pages_pending, pending);
        equal("pages_isolated", d_.pages_isolated, isolated);
    }

    // Power moves between the idle value and that of the declared load.
    void sensors() const {
        const auto idle = static_cast<std::int32_t>(d_.config.power_idle_dw) * 100;
        const auto loaded = static_cast<std::int32_t>(d_.config.power_dw) * 100;
        const auto [low, high] = std::minmax(idle, loaded);
        if (d_.sensors.power_mw < low || d_.sensors.power_mw > high)
            refuse("sensors.power_mw", std::to_string(low) + " to " + std::to_string(high),
                   d_.sensors.power_mw);
    }

    void faults() const {
        for (std::uint32_t i = 0; i < d_.fault_count; ++i)
            for (std::uint32_t k = 0; k < i; ++k)
                if (d_.fault[i].event_id == d_.fault[k].event_id)
                    refuse(at("fault", i) + ".event_id", "another one than before it",
                           d_.fault[i].event_id);
    }

    const Device& d_;
    const std::string& path_;
};

} // namespace

void check_device(const ::sim& model, const Device& device, const std::string& path) {
    if (device.config.device_id >= model.limits.device_count)
        state_fault(path + ".device_id", "below device_slots",
                    std::to_string(device.config.device_id));
    Check(device, path).all();
}

} // namespace asc::sim

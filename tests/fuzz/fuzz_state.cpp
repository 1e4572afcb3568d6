// SPDX-License-Identifier: Apache-2.0
// The loader of state files: any text is refused with a reason or gives a machine that works. Half
// of the runs replace one value of a good file, so that the checks behind the parser are reached.
#include "kmod-sim/host/state_file.hpp"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <cstring>

namespace {

using nlohmann::json;
using namespace asc::sim;

const json& good_state() {
    static const json state = [] {
        const auto profile =
            parse_profile("[[device]]\n[device.ecc]\nsingle = 1\nisolated_pages = [9]\n"
                          "single_records = [{address = 64, age = 5}]\n"
                          "[[resident]]\ndevice = 0\nmib = 64\nname = \"x\"\n",
                          "fuzz");
        MachineOptions options;
        options.clock = Clock::virtual_time;
        options.rules = {"ecc bits=1 random rate=5"};
        auto machine = Machine::create(*profile, options);
        (*machine)->advance(2000000000);
        return json::parse(save_state(**machine));
    }();
    return state;
}

void use(LoadedState& state) {
    // A machine that was taken must go on, and be savable.
    if (!adopt_scripted(state))
        return;
    if (state.machine->clock() == Clock::virtual_time)
        state.machine->advance(1000000000);
    if (save_state(*state.machine).empty())
        std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2)
        return 0;
    std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
    if ((data[0] & 1) != 0) {
        static const json flat = good_state().flatten();
        std::uint32_t pick = 0;
        std::memcpy(&pick, data + 1, std::min<std::size_t>(sizeof(pick), size - 1));
        json changed = flat;
        auto field = changed.begin();
        std::advance(field, pick % changed.size());
        const json value =
            json::parse(text.substr(std::min<std::size_t>(4, text.size())), nullptr, false);
        if (value.is_discarded() || value.is_structured())
            return 0; // unflatten takes single values alone
        *field = value;
        text = changed.unflatten().dump();
    }
    MachineOptions options;
    options.client_limit = 64;
    if (auto state = load_state(text, options))
        use(*state);
    else if (state.error().empty())
        std::abort();
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// bench_model COUNT [PROFILE]: UDIS temperature queries through gather, execute and scatter,
// journal and rules compiled in, without any host around. Prints nanoseconds a call; callgrind
// counts the same loop.
#include "kmod-sim/host/machine.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

int fail(const char* what) {
    std::fprintf(stderr, "bench_model: %s\n", what);
    return 1;
}

} // namespace

int main(int argc, char** argv) {
    using namespace asc::sim;
    const long count = argc > 1 ? std::atol(argv[1]) : 0;
    if (count < 0 || argc < 2)
        return fail("usage: bench_model COUNT [PROFILE]");
    const auto profile = load_profile(argc > 2 ? argv[2] : "handbook");
    if (!profile)
        return fail(profile.error().c_str());
    MachineOptions options;
    options.clock = Clock::virtual_time;
    auto machine = Machine::create(*profile, options);
    if (!machine)
        return fail(machine.error().c_str());
    const auto ordinal = (*machine)->open(DV_NODE_IS_MANAGER, 0, self_identity());
    if (!ordinal)
        return fail("the manager node does not open");
    dv_bind bind{};
    std::strcpy(bind.module_name, "URD");
    const auto address = [](const void* pointer) {
        return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(pointer));
    };
    if ((*machine)->call(*ordinal, DV_IOCTL_BIND, address(&bind), 1, own_memory()).result != 0)
        return fail("URD does not bind");

    std::int16_t celsius = 0;
    dv_udis_reply reply{};
    dv_udis_get get{};
    get.module = DV_UDIS_LP;
    std::strcpy(get.name, "soc_max_temp");
    get.room = DV_UDIS_DATA_MAX;
    std::uint8_t data[DV_UDIS_DATA_MAX] = {};
    get.data = address(data);
    dv_urd urd{};
    urd.main_command = DV_MAIN_BASIC;
    urd.sub_command = DV_BASIC_UDIS_GET;
    urd.input = address(&get);
    urd.input_len = sizeof(get);
    urd.output = address(&reply);
    urd.output_len = sizeof(reply);

    static abi_request request;
    const int wrong = (*machine)->with_sim([&](sim& model) {
        request.client = sim_client_by_ordinal(&model, *ordinal);
        request.number = DV_IOCTL_URD;
        request.thread = 1;
        request.argument = address(&urd);
        int bad = 0;
        const auto began = std::chrono::steady_clock::now();
        for (long done = 0; done < count; ++done) {
            urd.device_id = static_cast<std::uint32_t>(done & 7) % model.limits.device_count;
            if (abi_gather(&model, &request, &own_memory()) != ABI_GATHERED ||
                abi_execute(&model, &request) != ABI_DONE ||
                abi_scatter(&request, &own_memory()) != 0)
                ++bad;
        }
        const auto took = std::chrono::steady_clock::now() - began;
        if (count > 0)
            std::printf("%.2f\n", std::chrono::duration<double, std::nano>(took).count() /
                                      static_cast<double>(count));
        return bad;
    });
    std::memcpy(&celsius, data, sizeof(celsius));
    if (count > 0 && (wrong != 0 || reply.length != 2 || celsius == 0))
        return fail("a query failed");
    return 0;
}

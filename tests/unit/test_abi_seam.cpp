// SPDX-License-Identifier: Apache-2.0
// The seam of abi.h: what is read and written of the caller's memory, and when.
#include "tests/unit/abi_calls.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace asc::test {
namespace {

constexpr const char* kProfile = R"(
[[device]]
temperature_c = 45
[device.ecc]
single = 2
double = 1
single_records = [ { address = 4096, age = 10 } ]
double_records = [ { address = 8192, age = 10 } ]
[[device]]
id = 1
bus_id = "0000:02:00.0"
)";

// Every command of the table, each with an argument that is accepted.
class AbiSeam : public ::testing::Test {
  protected:
    AbiSeam() : machine(profile_of(kProfile)) {
        const sim_ident root = AbiMachine::ident(4321);
        for (const char* module : {"uda", "DEVMNG", "URD", "davsim"})
            bound[module] = machine.open_bound(module, root);
        hdc = machine.open(DV_NODE_IS_HDC, 0, root);
        session = hdc_connect(machine, hdc);
    }

    using Each = std::function<void(const std::string& name, Shot& shot)>;
    void for_every_query(const Each& each);

    AbiMachine machine;
    std::map<std::string, sim_client*> bound;
    sim_client* hdc = nullptr;
    HdcSession session;
};

std::vector<std::uint8_t> flat_argument(const dv_command_info& info) {
    std::vector<std::uint8_t> bytes(info.in_len, 0);
    if (info.module == DV_MOD_DAVSIM)
        std::memcpy(bytes.data(), &info.in_len, 4);
    return bytes;
}

void AbiSeam::for_every_query(const Each& each) {
    for (unsigned id = 1; id < DV_CMD_COUNT; ++id) {
        const dv_command_info& info = *dv_command(id);
        std::unique_ptr<Shot> shot;
        if (info.effect != DV_EFFECT_READ || id == DV_CMD_URD || id == DV_CMD_OLD_COUNT ||
            id == DV_CMD_OLD_LIST || id == DV_CMD_URD_EVENT_READ || id == DV_CMD_URD_UDIS_GET ||
            id == DV_CMD_UDIS_PROCESS_MEM || id == DV_CMD_SIM_RULE_GET || id == DV_CMD_HDC_PEEK)
            continue;
        if (info.kind == DV_KIND_URD) {
            const std::uint32_t out = info.out_len == DV_LEN_ANY   ? 64
                                      : info.out_len == DV_LEN_BIG ? 3 * sizeof(dv_event)
                                                                   : info.out_len;
            std::vector<std::uint8_t> input(info.in_len, 0);
            if (id == DV_CMD_URD_EVENT_STRING) {
                const std::uint32_t code = DV_EV_HBM_ISOLATED;
                std::memcpy(input.data() + 4, &code, 4);
            }
            shot =
                urd_shot(machine, bound["URD"], info.number >> 8, info.number & 0xFF, input, out);
        } else if (info.kind == DV_KIND_UDIS) {
            std::string name = info.name;
            std::ranges::replace(name, '#', '0');
            shot = udis_shot(machine, bound["URD"], info.module, name);
        } else if (info.kind == DV_KIND_DMP) {
            continue; // travels inside HDC: test_abi_dmp.cpp
        } else if (info.module == DV_MOD_HDC) {
            std::vector<std::uint8_t> argument(DV_HDC_ARGUMENT_SIZE, 0);
            shot = flat_shot(machine, hdc, info.number, argument);
        } else {
            std::vector<std::uint8_t> argument = flat_argument(info);
            if (id == DV_CMD_UDA_LIST) {
                const dv_device_list list{0, 2, kData};
                argument = bytes_of(list);
            } else if (id == DV_CMD_CONTAINER) {
                dv_container_command command{};
                command.command = DV_CONTAINER_HOST_TGID;
                command.out = kData;
                argument = bytes_of(command);
            } else if (id == DV_CMD_RESOURCE) {
                dv_resource resource{};
                resource.owner_type = DV_OWNER_PROCESS;
                resource.resource_type = DV_RESOURCE_PROCESS_LIST;
                resource.buffer_len = 256;
                argument = bytes_of(resource);
            }
            const char* module = info.module == DV_MOD_UDA      ? "uda"
                                 : info.module == DV_MOD_DAVSIM ? "davsim"
                                                                : "DEVMNG";
            shot = flat_shot(machine, bound[module], info.number, argument);
            if (id == DV_CMD_UDA_LIST || id == DV_CMD_CONTAINER)
                shot->memory.add(kData, std::vector<std::uint8_t>(16, 0xA5), false, true);
        }
        each(info.name, *shot);
    }
}

TEST_F(AbiSeam, EveryQueryIsAnswered) {
    unsigned answered = 0;
    for_every_query([&](const std::string& name, Shot& shot) {
        EXPECT_EQ(shot.run(), 0) << name;
        ++answered;
    });
    EXPECT_GT(answered, 60U);
}

// The parts of a call one by one, with room for any answer from the start.
struct Parts {
    explicit Parts(Shot& shot) : memory(shot.memory.access()), request(shot.call.request) {
        request.client = shot.client;
        request.number = shot.number;
        request.argument = kArgument;
        request.thread = 1;
        request.big_in = nullptr;
        request.big_in_size = 0;
        request.big_out = room.data();
        request.big_out_size = static_cast<std::uint32_t>(room.size());
    }
    std::vector<std::uint8_t> room = std::vector<std::uint8_t>(64 * 1024);
    abi_memory memory;
    abi_request& request;
};

// A word that is read twice could have changed in between.
TEST_F(AbiSeam, GatherReadsEveryByteOnce) {
    for_every_query([&](const std::string& name, Shot& shot) {
        Parts parts(shot);
        ASSERT_EQ(abi_gather(machine.model(), &parts.request, &parts.memory), ABI_GATHERED) << name;
        auto reads = shot.memory.read_log;
        ASSERT_FALSE(reads.empty()) << name;
        std::ranges::sort(reads);
        for (std::size_t i = 1; i < reads.size(); ++i)
            EXPECT_LE(reads[i - 1].first + reads[i - 1].second, reads[i].first) << name;
    });
}

TEST_F(AbiSeam, ExecuteTouchesNoMemory) {
    for_every_query([&](const std::string& name, Shot& shot) {
        Parts parts(shot);
        ASSERT_EQ(abi_gather(machine.model(), &parts.request, &parts.memory), ABI_GATHERED) << name;
        EXPECT_EQ(shot.memory.writes, 0U) << name;
        const auto reads = shot.memory.reads;
        ASSERT_EQ(abi_execute(machine.model(), &parts.request), ABI_DONE) << name;
        EXPECT_EQ(shot.memory.reads, reads) << name;
        EXPECT_EQ(shot.memory.writes, 0U) << name;
        EXPECT_EQ(abi_scatter(&parts.request, &parts.memory), 0) << name;
        EXPECT_EQ(shot.memory.reads, reads) << name;
        EXPECT_GT(shot.memory.writes, 0U) << name;
    });
}

// What leaves is the same whatever stood in the request's buffers before.
TEST_F(AbiSeam, NothingUninitialisedLeaves) {
    std::map<std::string, std::vector<std::vector<std::uint8_t>>> first;
    for (const int fill : {0xA5, 0x00, 0xFF}) {
        for_every_query([&](const std::string& name, Shot& shot) {
            std::memset(static_cast<void*>(&shot.call.request), fill, sizeof(abi_request));
            ASSERT_EQ(shot.run(), 0) << name;
            std::vector<std::vector<std::uint8_t>> seen;
            for (const auto address : {kArgument, kOutput, kData})
                seen.push_back(shot.at(address));
            if (fill == 0xA5)
                first[name] = seen;
            else
                EXPECT_EQ(first[name], seen) << name << " with " << fill;
        });
    }
}

// One range of what a call reaches is missing: EFAULT, and no other range is touched afterwards.
TEST_F(AbiSeam, MissingMemoryIsAFault) {
    for_every_query([&](const std::string& name, Shot& shot) {
        const bool to_hdc = shot.client == hdc;
        Shot bare;
        bare.machine = &machine;
        bare.client = shot.client;
        bare.number = shot.number;
        EXPECT_EQ(bare.run(), to_hdc ? -DV_HDC_COPY_IN : -EFAULT) << name << " without argument";
        Shot readable; // the argument alone, and it cannot be written
        readable.machine = &machine;
        readable.client = shot.client;
        readable.number = shot.number;
        readable.memory.add(kArgument, shot.at(kArgument), true, false);
        EXPECT_EQ(readable.run(), to_hdc ? -DV_HDC_GENERAL : -EFAULT) << name << " read-only";
    });
}

TEST_F(AbiSeam, EffectsStandWhenTheAnswerCannotBeWritten) {
    ds_alloc alloc{};
    alloc.size = sizeof(alloc);
    alloc.bytes = 1U << 20U;
    Shot shot;
    shot.machine = &machine;
    shot.client = bound["davsim"];
    shot.number = DS_ALLOC;
    shot.memory.add(kArgument, bytes_of(alloc), true, false);
    const auto before = sim_hbm_used_bytes(machine.device(0));
    EXPECT_EQ(shot.run(), -EFAULT);
    EXPECT_EQ(sim_hbm_used_bytes(machine.device(0)), before + (1U << 20U));
}

TEST_F(AbiSeam, AddressesThatWrapAroundAreFaults) {
    dv_device_list list{0, 2, ~0ULL - 4};
    auto shot = flat_shot(machine, bound["uda"], DV_U_DEVICE_LIST, bytes_of(list));
    EXPECT_EQ(shot->run(), -EFAULT);
    Shot wrap;
    wrap.machine = &machine;
    wrap.client = bound["DEVMNG"];
    wrap.number = DV_IO('M', 20);
    EXPECT_TRUE(machine.begin(wrap.call, wrap.client, wrap.number, ~0ULL - 8, wrap.memory));
    EXPECT_EQ(wrap.call.result, -EFAULT);
    EXPECT_TRUE(machine.begin(wrap.call, wrap.client, wrap.number, 0, wrap.memory));
    EXPECT_EQ(wrap.call.result, -EFAULT);
}

TEST_F(AbiSeam, BigAnswersAskForRoom) {
    auto shot = urd_shot(machine, bound["URD"], 0x45, 20, {0, 0, 0, 0}, 1024 * sizeof(dv_event));
    abi_request& request = shot->call.request;
    request.client = shot->client;
    request.number = shot->number;
    request.argument = kArgument;
    request.big_in = request.big_out = nullptr;
    request.big_in_size = request.big_out_size = 0;
    const abi_memory memory = shot->memory.access();
    ASSERT_EQ(abi_gather(machine.model(), &request, &memory), ABI_NEED_ROOM);
    EXPECT_EQ(request.out_need, 1024 * sizeof(dv_event));
    std::vector<std::uint8_t> small(request.out_need - 1);
    request.big_out = small.data();
    request.big_out_size = request.out_need - 1;
    EXPECT_EQ(abi_gather(machine.model(), &request, &memory), ABI_NEED_ROOM);
    EXPECT_EQ(shot->run(), 0);
}

// Two MiB are allowed there; more than the records is left alone.
TEST_F(AbiSeam, HistoryFillsNoMoreThanItsRecords) {
    const std::uint32_t offered = 2U << 20U, filled = 1024 * sizeof(dv_event);
    auto shot = urd_shot(machine, bound["URD"], 0x45, 20, {0, 0, 0, 0}, offered);
    ASSERT_EQ(shot->run(), 0);
    EXPECT_EQ(shot->at(kOutput)[filled - 1], 0);
    EXPECT_EQ(shot->at(kOutput)[filled], 0xA5);
    auto more = urd_shot(machine, bound["URD"], 0x45, 20, {0, 0, 0, 0}, offered + 1);
    EXPECT_EQ(more->run(), -EINVAL);
}

TEST_F(AbiSeam, AFileThatIsBoundAnewMeanwhileIsNotMixedUp) {
    auto shot = flat_shot(machine, bound["DEVMNG"], DV_IO('M', 7), {0, 0, 0, 0});
    abi_request& request = shot->call.request;
    request.client = shot->client;
    request.number = shot->number;
    request.argument = kArgument;
    request.big_in = request.big_out = nullptr;
    const abi_memory memory = shot->memory.access();
    ASSERT_EQ(abi_gather(machine.model(), &request, &memory), ABI_GATHERED);
    ASSERT_EQ(flat_shot(machine, bound["DEVMNG"], DV_IOCTL_UNBIND, {})->run(), 0);
    ASSERT_EQ(abi_execute(machine.model(), &request), ABI_DONE);
    EXPECT_EQ(request.result, -EINVAL);
    EXPECT_EQ(request.piece_count, 0U);
}

TEST_F(AbiSeam, CallsOnNodesWithoutCommandsAreRefused) {
    sim_client* node = machine.open(DV_NODE_IS_DEVICE, 0, AbiMachine::ident(4321));
    ASSERT_NE(node, nullptr);
    EXPECT_EQ(flat_shot(machine, node, DV_IO('M', 7), {0, 0, 0, 0})->run(), -EINVAL);
    EXPECT_EQ(machine.bind(node, "URD"), -EINVAL); // one binds the control node
}

} // namespace
} // namespace asc::test

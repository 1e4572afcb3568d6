// SPDX-License-Identifier: Apache-2.0
// DMP: every function of the table, slices, replies in parts, hostile packets.
#include "tests/unit/abi_calls.hpp"

#include "tests/unit/abi_inside.hpp"

#include <gtest/gtest.h>

namespace asc::test {
namespace {

class AbiDmp : public ::testing::Test {
  protected:
    explicit AbiDmp(const char* toml = "[[device]]\ntemperature_c = 45\n")
        : machine(profile_of(toml)) {
        file = machine.open(DV_NODE_IS_HDC, 0, AbiMachine::ident(4321));
        session = hdc_connect(machine, file);
    }
    dmp_state& state() { return hdc_of(machine.model())->dmp; }
    DmpAnswer ask(std::uint16_t opcode, std::uint8_t operation = 0,
                  const std::vector<std::uint8_t>& payload = {}, std::uint32_t offset = 0,
                  bool last = true) {
        return dmp(machine, file, session, opcode, operation, payload, offset, last);
    }
    std::uint32_t assemblies() {
        std::uint32_t used = 0;
        for (const dmp_key& key : state().assembly)
            used += key.used;
        return used;
    }

    AbiMachine machine;
    sim_client* file = nullptr;
    HdcSession session;
};

// Payloads that the functions of commands.def accept.
std::vector<std::uint8_t> accepted(const dv_command_info& function) {
    switch (function.id) {
    case DV_CMD_DMP_BOM_OR_SLOT:
        return {1};
    case DV_CMD_DMP_ECC_NOW:
    case DV_CMD_DMP_ECC_HISTORY:
        return {2};
    case DV_CMD_DMP_UPGRADE:
        return {2};
    case DV_CMD_DMP_UTILISATION:
        return {0x0A};
    case DV_CMD_DMP_FLASH:
        return {0xFF};
    case DV_CMD_DMP_VERSION:
        return {3};
    case DV_CMD_DMP_SENSOR:
        return {14};
    case DV_CMD_DMP_ERROR_TEXT:
        return {0x00, 0x84, 0xE1, 0x80, 0x00, 0x01, 0, 0};
    case DV_CMD_DMP_FREQUENCY:
        return {0, 0, 0, 0, 6, 0, 0, 0};
    case DV_CMD_DMP_ECC_RECORD:
        return {0, 0, 0, 0, 1, 2};
    default:
        return std::vector<std::uint8_t>(function.in_len == DV_LEN_ANY ? 0 : function.in_len);
    }
}

std::uint8_t operation_of(unsigned id) {
    switch (id) { // driver-abi.md 10.2
    case DV_CMD_DMP_UPGRADE:
    case DV_CMD_DMP_UPGRADE_STATE:
    case DV_CMD_DMP_VERSION:
        return 3;
    case DV_CMD_DMP_ECC_CLEAR:
        return 1;
    default:
        return 0;
    }
}

TEST_F(AbiDmp, EveryFunctionAnswersItsLength) {
    unsigned answered = 0;
    for (unsigned id = 1; id < DV_CMD_COUNT; ++id) {
        const dv_command_info& function = *dv_command(id);
        if (function.kind != DV_KIND_DMP)
            continue;
        const auto opcode = static_cast<std::uint16_t>(function.number);
        const DmpAnswer answer = ask(opcode, operation_of(id), accepted(function));
        ASSERT_TRUE(answer.came) << function.name;
        EXPECT_EQ(answer.opcode, opcode) << function.name;
        const bool absent = id == DV_CMD_DMP_PCIE_ERRORS || id == DV_CMD_DMP_PCIE_ERRORS_CLEAR ||
                            id == DV_CMD_DMP_ECC_RECORD;
        EXPECT_EQ(answer.error != 0, absent) << function.name << " " << answer.error;
        if (!absent && function.out_len != DV_LEN_ANY) {
            EXPECT_EQ(answer.payload.size(), function.out_len) << function.name;
        }
        EXPECT_EQ(answer.total, answer.payload.size()) << function.name;
        ++answered;
        // a byte more than allowed is a parameter error
        if (function.in_len != DV_LEN_ANY) {
            std::vector<std::uint8_t> more = accepted(function);
            more.push_back(0);
            EXPECT_EQ(ask(opcode, operation_of(id), more).error, 8) << function.name;
        }
        EXPECT_EQ(
            ask(opcode, static_cast<std::uint8_t>(operation_of(id) + 1), accepted(function)).error,
            8)
            << function.name;
    }
    EXPECT_GE(answered, 20U);
}

TEST_F(AbiDmp, UnknownOpcodesAreNotSupported) {
    for (const std::uint16_t opcode :
         {0x0000, 0x0002, 0x0608, 0x060B, 0x060C, 0x063F, 0x0662, 0xFFFF}) {
        const DmpAnswer answer = ask(opcode);
        EXPECT_EQ(answer.error, 0xFFFE) << opcode;
        EXPECT_EQ(answer.opcode, opcode);
    }
}

TEST_F(AbiDmp, ClearingIsForRoot) {
    sim_client* user = machine.open(DV_NODE_IS_HDC, 0, AbiMachine::ident(50, DV_ACC_USER));
    const HdcSession own = hdc_connect(machine, user);
    machine.device(0)->ecc.single_now = 3;
    EXPECT_EQ(dmp(machine, user, own, 0x0682, 1).error, 46);
    EXPECT_EQ(machine.device(0)->ecc.single_now, 3U);
    EXPECT_EQ(ask(0x0682, 1).error, 0);
    EXPECT_EQ(machine.device(0)->ecc.single_now, 0U);
    std::size_t journaled = 0;
    for (const auto& record : machine.journal())
        journaled += record.kind == DS_J_CALL && record.command == DV_CMD_DMP_ECC_CLEAR ? 1 : 0;
    EXPECT_EQ(journaled, 2U); // the refused one is told as well
}

TEST_F(AbiDmp, UpgradeControlsAreForRootAndNotThereYet) {
    EXPECT_EQ(ask(0x0603, 3, {1}).error, 0xFFFE);
    EXPECT_EQ(ask(0x0603, 3, {}).error, 8);
    sim_client* user = machine.open(DV_NODE_IS_HDC, 0, AbiMachine::ident(50, DV_ACC_USER));
    const HdcSession own = hdc_connect(machine, user);
    EXPECT_EQ(dmp(machine, user, own, 0x0603, 3, {1}).error, 46);
    const DmpAnswer list = dmp(machine, user, own, 0x0603, 3, {2});
    ASSERT_EQ(list.error, 0);
    const auto bitmap = value_at<std::uint64_t>(list.payload);
    for (std::uint8_t component = 0; component < 40; ++component) // every listed one has a version
        EXPECT_EQ(ask(0x0607, 3, {component}).error == 0, ((bitmap >> component) & 1) != 0)
            << int(component);
}

TEST_F(AbiDmp, NoUpgradeFromInsideAContainerOrAVirtualMachine) {
    std::uint32_t pid = 60;
    for (const std::uint32_t environment :
         {DV_ACC_ENV_CONTAINER, DV_ACC_ENV_ADMIN_CONTAINER, DV_ACC_ENV_VM}) {
        sim_client* root = machine.open(
            DV_NODE_IS_HDC, 0, AbiMachine::ident(++pid, DV_ACC_USER | DV_ACC_ROOT, environment));
        const HdcSession own = hdc_connect(machine, root);
        EXPECT_EQ(dmp(machine, root, own, 0x0603, 3, {1}).error, 46) << environment;
        EXPECT_EQ(dmp(machine, root, own, 0x0603, 3, {2}).error, 0) << environment;
    }
}

TEST_F(AbiDmp, TheMessageIdIsEchoedBitForBit) {
    auto packet = dmp_packet(0x0003, 0);
    for (std::size_t i = 0; i < 8; ++i)
        packet[16 + i] = static_cast<std::uint8_t>(0xF0 + i);
    packet[8] = 3; // peer and source change places
    packet[12] = 9;
    ASSERT_EQ(send_shot(machine, file, session, packet)->run(), 0);
    auto receive = receive_shot(machine, file, session);
    ASSERT_EQ(receive->run(), 0);
    const auto& reply = receive->at(kData);
    EXPECT_TRUE(std::equal(packet.begin() + 16, packet.begin() + 24, reply.begin() + 16));
    EXPECT_EQ(reply[8], 9);
    EXPECT_EQ(reply[12], 3);
}

TEST_F(AbiDmp, SlicesMakeOneRequest) {
    const std::vector<std::uint8_t> payload = accepted(*dv_find_dmp(0x0625));
    for (std::uint32_t i = 0; i + 1 < payload.size(); ++i) {
        const DmpAnswer taken = ask(0x0625, 0, {payload[i]}, i, false);
        EXPECT_EQ(taken.error, 0);
        EXPECT_EQ(taken.total, 0U);
    }
    EXPECT_EQ(assemblies(), 1U);
    const DmpAnswer whole = ask(0x0625, 0, {payload.back()}, 7, true);
    EXPECT_EQ(whole.error, 0);
    EXPECT_EQ(whole.payload.size(), 256U);
    EXPECT_EQ(assemblies(), 0U);
}

TEST_F(AbiDmp, SlicesThatDoNotFollowAreRefused) {
    EXPECT_EQ(ask(0x0625, 0, {1, 2, 3}, 0, false).error, 0);
    EXPECT_EQ(ask(0x0625, 0, {4}, 4, false).error, 8); // a hole
    EXPECT_EQ(assemblies(), 0U);
    EXPECT_EQ(ask(0x0625, 0, {4}, 3, true).error, 8); // its beginning is gone
    EXPECT_EQ(ask(0x0625, 0, {4}, 3, false).error, 8);
}

TEST_F(AbiDmp, ANewBeginningForgetsTheOldOne) {
    EXPECT_EQ(ask(0x0625, 0, {1, 2, 3}, 0, false).error, 0);
    EXPECT_EQ(ask(0x0625, 0, {0, 0x84, 0xE1}, 0, false).error, 0);
    EXPECT_EQ(assemblies(), 1U);
    EXPECT_EQ(ask(0x0625, 0, {0x80, 16, 0, 0, 0}, 3, true).payload.size(), 16U);
}

TEST_F(AbiDmp, ARequestEndsBelow32767Bytes) {
    const std::vector<std::uint8_t> slice(4054);
    std::uint32_t offset = 0;
    int error = 0;
    for (int i = 0; i < 10 && error == 0; ++i, offset += 4054)
        error = ask(0x0603, 3, slice, offset, false).error;
    EXPECT_EQ(error, 8);
    EXPECT_EQ(offset, 9 * 4054U); // eight slices are 32432 bytes, the ninth is too much
    EXPECT_EQ(assemblies(), 0U);
}

TEST_F(AbiDmp, SlicesOfManyProcessesAreBounded) {
    for (std::uint32_t pid = 100; pid < 120; ++pid) {
        sim_client* other = machine.open(DV_NODE_IS_HDC, 0, AbiMachine::ident(pid));
        const HdcSession own = hdc_connect(machine, other);
        EXPECT_EQ(dmp(machine, other, own, 0x0625, 0, {1}, 0, false).error, 0);
        machine.advance(1000);
        if (pid % 2 == 0)
            machine.close(other);
    }
    EXPECT_LE(assemblies(), DMP_ASSEMBLIES);
    EXPECT_EQ(ask(0x0625, 0, {1}, 0, false).error, 0); // the oldest makes room
}

TEST_F(AbiDmp, TheLastFileOfAProcessTakesItsPartsAlong) {
    EXPECT_EQ(ask(0x0625, 0, {1}, 0, false).error, 0);
    sim_client* second = machine.open(DV_NODE_IS_HDC, 0, AbiMachine::ident(4321));
    machine.close(second);
    EXPECT_EQ(assemblies(), 1U);
    machine.close(file);
    EXPECT_EQ(assemblies(), 0U);
}

TEST_F(AbiDmp, AReplyInPartsIsTheSameBytes) {
    const std::vector<std::uint8_t> payload{0x00, 0x84, 0xE1, 0x80, 0xFF, 0x0F, 0, 0}; // 4095
    const DmpAnswer first = ask(0x0625, 0, payload);
    ASSERT_EQ(first.payload.size(), 4054U);
    EXPECT_EQ(first.total, 4095U);
    for (const std::uint32_t offset : {4054U, 4094U, 1U}) { // any place, as often as wanted
        const DmpAnswer more = ask(0x0625, 0, payload, offset);
        EXPECT_EQ(more.error, 0);
        EXPECT_EQ(more.total, 4095U);
        EXPECT_EQ(more.payload.size(), std::min(4095U - offset, 4054U));
        if (offset == 1) {
            EXPECT_TRUE(
                std::equal(first.payload.begin() + 1, first.payload.end(), more.payload.begin()));
        }
    }
    EXPECT_EQ(ask(0x0625, 0, payload, 4095).error, 8);                        // past the end
    EXPECT_EQ(ask(0x0625, 0, {0, 0x84, 0xE1, 0x80, 1, 0x10, 0, 0}).error, 8); // 4097 is too much
}

TEST_F(AbiDmp, AnotherProcessGetsNoPartOfIt) {
    const std::vector<std::uint8_t> payload{0x00, 0x84, 0xE1, 0x80, 0, 0x10, 0, 0};
    ASSERT_EQ(ask(0x0625, 0, payload).total, 4096U);
    sim_client* other = machine.open(DV_NODE_IS_HDC, 0, AbiMachine::ident(50));
    const HdcSession own = hdc_connect(machine, other);
    EXPECT_EQ(dmp(machine, other, own, 0x0625, 0, payload, 4054).error, 8);
}

TEST_F(AbiDmp, HostilePacketsGetNothingOrAnError) {
    // shorter than a head: nothing can be answered
    EXPECT_EQ(send_shot(machine, file, session, std::vector<std::uint8_t>(29))->run(), 0);
    EXPECT_FALSE(dmp_receive_answer(machine, file, session).came);
    // a response is no request
    auto response = dmp_packet(0x0003, 0);
    response[24] = 1;
    EXPECT_EQ(send_shot(machine, file, session, response)->run(), 0);
    EXPECT_FALSE(dmp_receive_answer(machine, file, session).came);
    // no room for the request's head
    auto cut = dmp_packet(0x0003, 0);
    cut.resize(40);
    cut[28] = 10;
    EXPECT_EQ(send_shot(machine, file, session, cut)->run(), 0);
    const DmpAnswer short_one = dmp_receive_answer(machine, file, session);
    EXPECT_EQ(short_one.error, 8);
    EXPECT_EQ(short_one.opcode, 0x0003);
    // longer than a packet may be, and far longer than anything
    for (const std::size_t size : {4097U, 524288U}) {
        auto big = dmp_packet(0x0003, 0, std::vector<std::uint8_t>(4055));
        big.resize(size);
        EXPECT_EQ(send_shot(machine, file, session, big)->run(), 0);
        EXPECT_EQ(dmp_receive_answer(machine, file, session).error, 8) << size;
    }
    EXPECT_EQ(send_shot(machine, file, session, std::vector<std::uint8_t>(524289))->run(), -14);
}

struct Duo : AbiDmp {
    Duo() : AbiDmp("[[device]]\nchip_name = \"310P\"\npci_device = 54528\n") {}
};

TEST_F(Duo, PcieErrorCountersAreThereOn310P) {
    const DmpAnswer answer = ask(0x0690);
    EXPECT_EQ(answer.error, 0);
    EXPECT_EQ(answer.payload, std::vector<std::uint8_t>(48));
    EXPECT_EQ(ask(0x0691).error, 0);
}

} // namespace
} // namespace asc::test

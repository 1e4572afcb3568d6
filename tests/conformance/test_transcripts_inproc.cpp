// SPDX-License-Identifier: Apache-2.0
// Plays the transcripts directly on abi_*. Environment: ASC_JOURNALS=FOLDER writes each run's
// journal there, for run_transcripts.py to compare with the socket's.
#include "tests/conformance/abi_machine.hpp"
#include "tests/conformance/transcript.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <memory>
#include <sstream>

namespace asc::test {
namespace {

constexpr std::uint8_t kPrefill = 0xA5; // of memory that is only replied to

std::uint32_t caller_bits(const std::string& text) {
    std::uint32_t bits = 0;
    std::istringstream in(text);
    for (std::string word; std::getline(in, word, ',');)
        bits |= word == "root"      ? DV_ACC_ROOT
                : word == "operate" ? DV_ACC_OPERATE
                : word == "user"    ? DV_ACC_USER
                : word == "limited" ? DV_ACC_LIMIT_USER
                : word == "owner"   ? DS_ACC_SIM_OWNER
                                    : throw std::runtime_error("caller=" + word);
    return bits;
}

std::uint32_t environment_bits(const std::string& text) {
    return text == "physical"    ? DV_ACC_ENV_PHYSICAL
           : text == "vm"        ? DV_ACC_ENV_VM
           : text == "container" ? DV_ACC_ENV_CONTAINER
           : text == "admin"     ? DV_ACC_ENV_ADMIN_CONTAINER
                                 : throw std::runtime_error("environment=" + text);
}

std::string value_of(const std::map<std::string, std::string>& named, const char* key,
                     const std::string& fallback) {
    const auto found = named.find(key);
    return found == named.end() ? fallback : found->second;
}

sim_ident identity(const Process& process) {
    const auto& named = process.named;
    sim_ident who =
        AbiMachine::ident(static_cast<std::uint32_t>(std::stoul(value_of(named, "pid", "4321"))),
                          caller_bits(value_of(named, "caller", "root,owner")),
                          environment_bits(value_of(named, "environment", "physical")));
    who.visible = std::stoull(value_of(named, "visible", "0xffffffffffffffff"), nullptr, 0);
    who.ns_pid =
        static_cast<std::uint32_t>(std::stoul(value_of(named, "ns_pid", std::to_string(who.pid))));
    who.pid_namespace = who.mount_namespace = std::stoull(value_of(named, "namespace", "1"));
    return who;
}

// As many slots as the socket server gives to a profile: eight to spare for devices that come
// later.
MachineSetup setup_of(const asc::sim::Profile& profile) {
    MachineSetup setup;
    for (const auto& device : profile.devices)
        setup.device_slots = std::max(setup.device_slots, device.config.device_id + 1 + 8);
    return setup;
}

class Player {
  public:
    explicit Player(const Transcript& transcript)
        : transcript_(transcript),
          machine_(profile_of(transcript.toml), setup_of(profile_of(transcript.toml))) {}
    void play();
    void write_journal(const std::string& path);

  private:
    struct Waiting {
        std::unique_ptr<AbiMachine::Call> call;
        std::unique_ptr<UserMemory> memory;
    };
    sim_ident who(const std::string& name) const;
    void hold(const std::string& name, const Process& holder);
    void setup(const Step& step);
    void open(const Step& step);
    void call(const Step& step);
    void finish(const Step& step);
    static void show_memory(UserMemory& memory, const Step& step);
    void check(const Step& step, UserMemory& memory, std::optional<int> result, bool parked);
    std::string at(const Step& step) const {
        return "line " + std::to_string(step.line) + ", exchange " + exchange_->section + " " +
               exchange_->title;
    }

    const Transcript& transcript_;
    AbiMachine machine_;
    const Exchange* exchange_ = nullptr;
    sim_client* control_ = nullptr; // as the socket's runner has one for setup
    std::map<std::string, sim_client*> files_;
    std::map<std::string, Waiting> waiting_;
};

sim_ident Player::who(const std::string& name) const {
    const auto found = transcript_.processes.find(name);
    if (found != transcript_.processes.end())
        return identity(found->second);
    if (name != "main")
        throw std::runtime_error("no process " + name);
    return identity({});
}

void Player::hold(const std::string& name, const Process& holder) {
    Process process = holder;
    process.named.try_emplace("caller", "user");
    sim_client* file = machine_.open_bound("davsim", identity(process));
    ASSERT_NE(file, nullptr) << name;
    ds_alloc alloc{};
    alloc.size = sizeof(alloc);
    alloc.device_id = static_cast<std::uint32_t>(std::stoul(value_of(holder.named, "device", "0")));
    alloc.bytes = std::stoull(value_of(holder.named, "mib", "0")) << 20U;
    alloc.flags = DS_ALLOC_CONTEXT;
    ASSERT_EQ(machine_.ask(file, DS_ALLOC, alloc), 0) << name;
}

void Player::open(const Step& step) {
    const std::string& node = step.words.at(1);
    const bool as = step.words.size() > 3 && step.words[step.words.size() - 2] == "as";
    const std::uint32_t index =
        node == "device" ? static_cast<std::uint32_t>(std::stoul(step.words.at(2))) : 0;
    files_[step.words[0]] =
        machine_.open(node == "manager"  ? DV_NODE_IS_MANAGER
                      : node == "device" ? DV_NODE_IS_DEVICE
                      : node == "hdc"    ? DV_NODE_IS_HDC
                                         : throw std::runtime_error("node " + node),
                      index, who(as ? step.words.back() : "main"));
    ASSERT_NE(files_[step.words[0]], nullptr) << at(step);
}

void Player::setup(const Step& step) {
    if (step.words.at(0) == "rule") {
        ds_rule_add rule{};
        const std::string text = step.rest.substr(5);
        rule.size = sizeof(rule);
        rule.length = static_cast<std::uint32_t>(text.size());
        std::memcpy(rule.text, text.data(), text.size());
        ASSERT_EQ(machine_.ask(control_, DS_RULE_ADD, rule), 0) << at(step) << ": " << rule.error;
    } else if (step.words[0] == "clear") {
        ds_rule_clear clear{sizeof(clear), 0};
        ASSERT_EQ(machine_.ask(control_, DS_RULE_CLEAR, clear), 0) << at(step);
    } else if (step.words[0] == "advance") {
        ds_clock clock{};
        clock.size = sizeof(clock);
        clock.operation = DS_CLOCK_ADVANCE;
        clock.advance_ns = std::stoull(step.words.at(1)) * 1000000U;
        ASSERT_EQ(machine_.ask(control_, DS_CLOCK, clock), 0) << at(step);
    } else {
        ds_hotplug plug{};
        plug.size = sizeof(plug);
        plug.device_id = static_cast<std::uint32_t>(std::stoul(step.words.at(1)));
        plug.operation = step.words[0] == "lose"      ? DS_HOTPLUG_LOSE
                         : step.words[0] == "restore" ? DS_HOTPLUG_RESTORE
                         : step.words[0] == "remove"
                             ? DS_HOTPLUG_REMOVE
                             : throw std::runtime_error("setup " + step.words[0]);
        ASSERT_EQ(machine_.ask(control_, DS_HOTPLUG, plug), 0) << at(step);
    }
}

void Player::show_memory(UserMemory& memory, const Step& step) {
    for (const Block& block : step.requests) {
        std::vector<std::uint8_t> bytes;
        for (const Byte& byte : block.bytes)
            bytes.push_back(byte.value);
        const bool replied = std::ranges::any_of(
            step.replies, [&](const Block& reply) { return reply.address == block.address; });
        memory.add(block.address, bytes, true, replied);
    }
    for (const Block& block : step.replies)
        if (memory.find(block.address, block.bytes.size()) == nullptr)
            memory.add(block.address, std::vector<std::uint8_t>(block.bytes.size(), kPrefill),
                       false, true);
}

void Player::check(const Step& step, UserMemory& memory, std::optional<int> result, bool parked) {
    EXPECT_EQ(parked, step.parked) << at(step) << (parked ? ": it waits" : ": it ended");
    if (step.result && result) {
        EXPECT_EQ(*result, *step.result) << at(step);
    }
    if (parked)
        return;
    for (const Block& block : step.replies) {
        const auto* range = memory.find(block.address, block.bytes.size());
        ASSERT_NE(range, nullptr) << at(step);
        std::vector<std::uint8_t> before(block.bytes.size(), kPrefill);
        for (const Block& request : step.requests)
            if (request.address == block.address)
                for (std::size_t i = 0; i < before.size() && i < request.bytes.size(); ++i)
                    before[i] = request.bytes[i].value;
        int shown = 0;
        for (std::size_t i = 0; i < block.bytes.size(); ++i) {
            const Byte& byte = block.bytes[i];
            const int want = byte.kind == Byte::Kind::literal     ? byte.value
                             : byte.kind == Byte::Kind::unchanged ? before[i]
                                                                  : range->bytes[i];
            if (range->bytes[i] != want && shown++ < 8)
                ADD_FAILURE() << at(step) << ": byte " << std::hex << "0x" << i
                              << " of the reply at 0x" << block.address << " is "
                              << int(range->bytes[i]) << ", not " << want;
        }
    }
}

void Player::call(const Step& step) {
    sim_client* file = files_.at(step.words.at(0));
    const auto number = static_cast<std::uint32_t>(std::stoul(step.words.at(1), nullptr, 16));
    const std::uint64_t argument = std::stoull(step.words.at(2).substr(1), nullptr, 16);
    const auto thread = static_cast<std::uint32_t>(std::stoul(value_of(step.named, "thread", "1")));
    const int times = std::stoi(value_of(step.named, "times", "1"));
    for (int i = 0; i < times; ++i) {
        Waiting made{std::make_unique<AbiMachine::Call>(), std::make_unique<UserMemory>()};
        show_memory(*made.memory, step);
        const bool ended = machine_.begin(*made.call, file, number, argument, *made.memory, thread);
        check(step, *made.memory, ended ? std::optional(made.call->result) : std::nullopt, !ended);
        if (!ended) {
            ASSERT_EQ(step.words.size(), 5U) << at(step) << ": a call that waits needs 'as NAME'";
            waiting_[step.words[4]] = std::move(made);
        }
    }
}

void Player::finish(const Step& step) {
    Waiting& waiting = waiting_.at(step.words.at(0));
    const bool ended = machine_.resume(*waiting.call);
    check(step, *waiting.memory, ended ? std::optional(waiting.call->result) : std::nullopt,
          !ended);
}

void Player::play() {
    control_ = machine_.open_bound("davsim", who("main"));
    ASSERT_NE(control_, nullptr);
    for (const std::string& name : transcript_.holder_order)
        hold(name, transcript_.holders.at(name));
    for (const Exchange& exchange : transcript_.exchanges) {
        exchange_ = &exchange;
        for (const Step& step : exchange.steps) {
            if (step.verb == "open") {
                open(step);
            } else if (step.verb == "close") {
                machine_.close(files_.at(step.words.at(0)));
                files_.erase(step.words[0]);
            } else if (step.verb == "call") {
                call(step);
            } else if (step.verb == "finish") {
                finish(step);
            } else {
                setup(step);
            }
            if (::testing::Test::HasFatalFailure())
                return;
        }
    }
}

void Player::write_journal(const std::string& path) {
    std::ofstream file(path, std::ios::binary);
    for (const ds_journal_record& record : machine_.journal())
        file.write(reinterpret_cast<const char*>(&record), sizeof(record));
    ASSERT_TRUE(file.flush()) << path;
}

std::filesystem::path folder() {
    return std::filesystem::path(ASC_SOURCE_DIR) / "tests" / "conformance" / "transcripts";
}

std::vector<std::string> names() {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder()))
        if (entry.path().extension() == ".hex")
            found.push_back(entry.path().stem().string());
    std::ranges::sort(found);
    return found;
}

class Transcripts : public ::testing::TestWithParam<std::string> {};

TEST_P(Transcripts, SameBytes) {
    const Transcript transcript = read_transcript((folder() / (GetParam() + ".hex")).string());
    ASSERT_FALSE(transcript.exchanges.empty());
    Player player(transcript);
    player.play();
    if (const char* journals = std::getenv("ASC_JOURNALS"))
        player.write_journal(std::string(journals) + "/" + GetParam() + ".journal");
}

INSTANTIATE_TEST_SUITE_P(All, Transcripts, ::testing::ValuesIn(names()),
                         [](const auto& test) { return test.param; });

// How much is covered: the document's worked exchanges and at least forty more.
TEST(TranscriptFolder, HoldsTheWorkedExchangesAndFortyMore) {
    std::map<std::string, int> sections;
    int more = 0;
    for (const std::string& name : names())
        for (const Exchange& exchange :
             read_transcript((folder() / (name + ".hex")).string()).exchanges) {
            ++sections[exchange.section];
            more += exchange.section.starts_with("17.") ? 0 : 1;
        }
    for (const char* worked : {"17.1", "17.2", "17.3", "17.4", "17.5"})
        EXPECT_GE(sections[worked], 1) << worked;
    EXPECT_GE(more, 40);
}

} // namespace
} // namespace asc::test

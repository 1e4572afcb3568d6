// SPDX-License-Identifier: Apache-2.0
// Which driver is meant, why one cannot be talked to, and what PCI tells of a device.
#include "hal/backend.hpp"
#include "hal/pci.hpp"
#include "tests/unit/hal_nodes.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

using namespace asc::hal;
using asc::test::FakeNodes;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

class HalBackend : public testing::Test {
  protected:
    void SetUp() override {
        unsetenv("ASC_DEVICE");
        char name[] = "/tmp/hal_dev_XXXXXX";
        root_ = mkdtemp(name);
    }
    void TearDown() override {
        unsetenv("ASC_DEVICE");
        fs::remove_all(root_);
    }
    fs::path root_;
};

TEST_F(HalBackend, TheOptionComesFirstThenTheEnvironment) {
    EXPECT_EQ(choose_backend("")->name, "chardev");
    EXPECT_EQ(choose_backend("")->next_argument, "");
    setenv("ASC_DEVICE", "unix:/run/x", 1);
    EXPECT_EQ(choose_backend("")->name, "unix:/run/x");
    EXPECT_EQ(choose_backend("")->kind, Backend::Kind::socket);
    // A follow-up command must not reach another driver when the variable is gone.
    EXPECT_EQ(choose_backend("")->next_argument, "--backend unix:/run/x");
    EXPECT_EQ(choose_backend("inproc:single")->next_argument, "--backend inproc:single");
    EXPECT_EQ(choose_backend("chardev")->name, "chardev");
    EXPECT_EQ(choose_backend("chardev")->next_argument, "--backend chardev");
    EXPECT_EQ(choose_backend("unix:/a b/it's")->next_argument, "--backend 'unix:/a b/it'\\''s'");
    for (const char* bad : {"unix:", "inproc:", "tcp:1", "/dev"}) {
        const auto backend = choose_backend(bad);
        ASSERT_FALSE(backend) << bad;
        EXPECT_EQ(backend.error().kind, ConnectError::Kind::bad_backend);
        EXPECT_THAT(backend.error().text, HasSubstr(bad));
    }
}

TEST_F(HalBackend, AnUnknownProfileIsNamed) {
    ConnectOptions options;
    options.backend = "inproc:no-such-profile";
    const auto driver = Driver::connect(options);
    ASSERT_FALSE(driver);
    EXPECT_EQ(driver.error().kind, ConnectError::Kind::bad_backend);
    EXPECT_THAT(driver.error().text, HasSubstr("no-such-profile"));
}

// B31: each cause has its own kind and text.
TEST_F(HalBackend, WhyANodeCannotBeOpenedIsToldApart) {
    ConnectOptions options;
    options.dev_root = root_;
    auto driver = Driver::connect(options);
    ASSERT_FALSE(driver);
    EXPECT_EQ(driver.error().kind, ConnectError::Kind::no_driver);
    EXPECT_THAT(driver.error().text, HasSubstr("no such node"));

    std::ofstream(root_ / "davinci_manager") << "x";
    fs::permissions(root_ / "davinci_manager", fs::perms(0660));
    FakeNodes nodes("single");
    const auto refused = [&](int error) {
        nodes.opening = [error](const std::string&) { return std::optional<int>(error); };
        auto direct = options;
        direct.isolate = false;
        return nodes.try_connect(direct).error();
    };
    const ConnectError denied = refused(EACCES);
    EXPECT_EQ(denied.kind, ConnectError::Kind::denied);
    EXPECT_THAT(denied.text, HasSubstr("mode 0660"));
    EXPECT_THAT(denied.text, HasSubstr("we are uid " + std::to_string(geteuid())));
    EXPECT_THAT(denied.text, HasSubstr("capabilities"));
    const ConnectError revoked = refused(EPERM);
    EXPECT_EQ(revoked.kind, ConnectError::Kind::denied);
    EXPECT_THAT(revoked.text, HasSubstr("revoked"));
    const ConnectError busy = refused(EBUSY);
    EXPECT_EQ(busy.kind, ConnectError::Kind::busy);
    EXPECT_THAT(busy.text, HasSubstr("in use by another"));
    EXPECT_EQ(refused(ENODEV).kind, ConnectError::Kind::no_driver);
    EXPECT_EQ(refused(EIO).kind, ConnectError::Kind::failed);
}

TEST_F(HalBackend, AnUnreadableNodeIsDeniedForEverybodyElse) {
    if (geteuid() != 0)
        GTEST_SKIP() << "needs root to become somebody else";
    std::ofstream(root_ / "davinci_manager") << "x";
    ASSERT_EQ(chown((root_ / "davinci_manager").c_str(), 1000, 1000), 0);
    fs::permissions(root_ / "davinci_manager", fs::perms(0660));
    fs::permissions(root_, fs::perms(0755));
    const pid_t child = fork();
    if (child == 0) {
        if (setgid(65534) != 0 || setuid(65534) != 0)
            _exit(99);
        ConnectOptions options;
        options.dev_root = root_;
        const auto driver = Driver::connect(options);
        const bool good = !driver && driver.error().kind == ConnectError::Kind::denied &&
                          driver.error().text.find("1000:1000") != std::string::npos &&
                          driver.error().text.find("uid 65534") != std::string::npos;
        _exit(good ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

TEST_F(HalBackend, TheOlderGenerationIsRecognisedAndNamed) {
    asc::sim::MachineOptions options;
    options.old_abi = true;
    FakeNodes nodes("single", options);
    auto driver = nodes.try_connect();
    ASSERT_FALSE(driver);
    EXPECT_EQ(driver.error().kind, ConnectError::Kind::abi_mismatch);
    EXPECT_THAT(driver.error().text, HasSubstr("older interface (DMS"));
}

TEST_F(HalBackend, AnExtensionOfAnotherVersionIsAMismatch) {
    FakeNodes nodes("single");
    nodes.before = [](const FakeNodes::Seen& seen) -> std::optional<int> {
        return seen.number == DS_INFO ? std::optional<int>(-EINVAL) : std::nullopt;
    };
    auto driver = nodes.try_connect();
    ASSERT_FALSE(driver);
    EXPECT_EQ(driver.error().kind, ConnectError::Kind::abi_mismatch);
}

TEST_F(HalBackend, ANodeThatIsNoDriverIsNamed) {
    FakeNodes nodes("single");
    nodes.before = [](const FakeNodes::Seen& seen) -> std::optional<int> {
        return seen.number == DV_IOCTL_BIND ? std::optional<int>(-ENOTTY) : std::nullopt;
    };
    auto driver = nodes.try_connect();
    ASSERT_FALSE(driver);
    EXPECT_EQ(driver.error().kind, ConnectError::Kind::abi_mismatch);
    EXPECT_THAT(driver.error().text, HasSubstr("neither URD nor DMS"));
}

TEST_F(HalBackend, AnEmptyListIsAnAnswerAFailedOneIsNot) {
    FakeNodes nodes("single");
    nodes.after = [](const FakeNodes::Seen& seen, int result) {
        if (seen.number == DV_U_DEVICE_LIST) {
            auto* list = static_cast<dv_device_list*>(seen.argument);
            std::memset(reinterpret_cast<void*>(list->records), 0,
                        (list->end - list->start) * sizeof(dv_logic_device));
        }
        return result;
    };
    EXPECT_TRUE(nodes.connect().devices().empty());
    nodes.after = {};
    for (const auto& [result, kind] : {std::pair{-EACCES, ConnectError::Kind::denied},
                                       {-EBUSY, ConnectError::Kind::busy},
                                       {87, ConnectError::Kind::busy},
                                       {-EIO, ConnectError::Kind::failed}}) {
        nodes.before = [result = result](const FakeNodes::Seen& seen) -> std::optional<int> {
            return seen.number == DV_U_DEVICE_LIST ? std::optional<int>(result) : std::nullopt;
        };
        auto driver = nodes.try_connect();
        ASSERT_FALSE(driver);
        EXPECT_EQ(driver.error().kind, kind) << result;
    }
}

// ---- PCI ----

class HalPci : public HalBackend {
  protected:
    void device(const std::string& bus_id, const std::string& vendor, const std::string& id) {
        folder_ = root_ / "bus" / "pci" / "devices" / bus_id;
        fs::create_directories(folder_);
        write("vendor", vendor);
        write("device", id);
    }
    void write(const char* name, const std::string& text) {
        std::ofstream(folder_ / name) << text << "\n";
    }
    fs::path folder_;
    const PciIds ids_{0x19e5, 0xd802, 0x19e5, 0x100};
};

TEST_F(HalPci, FactsComeFromTheDevicesOwnEntry) {
    device("0000:01:00.0", "0x19e5", "0xd802");
    write("numa_node", "1");
    write("local_cpulist", "24-47");
    write("current_link_speed", "32.0 GT/s PCIe");
    write("current_link_width", "16");
    const PciDeviceFacts facts = pci_facts(root_, "0000:01:00.0", ids_);
    EXPECT_EQ(*facts.numa_node, 1);
    EXPECT_EQ(*facts.cpu_list, "24-47");
    EXPECT_EQ(*facts.link_speed, "32.0 GT/s PCIe x16");
}

TEST_F(HalPci, AnotherDeviceAtTheSameBusIdTellsNothing) {
    device("0000:01:00.0", "0x8086", "0x1234");
    write("numa_node", "1");
    const PciDeviceFacts facts = pci_facts(root_, "0000:01:00.0", ids_);
    EXPECT_EQ(facts.numa_node.absence().reason, Reason::unsupported);
    EXPECT_EQ(facts.link_speed.absence().reason, Reason::unsupported);
    EXPECT_FALSE(pci_facts(root_, "", ids_).numa_node);
    EXPECT_FALSE(pci_facts(root_, "0000:09:00.0", ids_).numa_node);
}

TEST_F(HalPci, NoNodeIsNotNodeZero) {
    device("0000:01:00.0", "0x19e5", "0xd802");
    write("numa_node", "-1");
    EXPECT_FALSE(pci_facts(root_, "0000:01:00.0", ids_).numa_node);
}

TEST_F(HalPci, TheDomainIsFoundWhenThereIsOne) {
    device("0003:01:00.0", "0x19e5", "0xd802");
    device("0000:01:00.0", "0x8086", "0xd802");
    PciFacts pci;
    pci.ids = ids_;
    pci.bus = 1;
    EXPECT_EQ(pci_domain(root_, pci), 3U);
    device("0007:01:00.0", "0x19e5", "0xd802");
    EXPECT_FALSE(pci_domain(root_, pci)) << "two of them: it cannot be told";
    EXPECT_FALSE(pci_domain(root_ / "nothing", pci));
    EXPECT_EQ(bus_id_text(3, pci), "0003:01:00.0");
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
// Whose server the socket channel believes.
#include "hal/channel_socket.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

using namespace asc::hal;
using namespace std::chrono_literals;
using testing::HasSubstr;

namespace {

TEST(HalSocketPath, AServerOfAnotherUserIsNotTrusted) {
    if (geteuid() != 0)
        GTEST_SKIP() << "needs root to become two others";
    char name[] = "/tmp/hal_trust_XXXXXX";
    const std::string folder = mkdtemp(name);
    chmod(folder.c_str(), 0777);
    const std::string path = folder + "/s";
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    const pid_t server = fork();
    if (server == 0) {
        if (setuid(1001) != 0)
            _exit(9);
        const int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strcpy(address.sun_path, path.c_str());
        if (bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0)
            _exit(9);
        chmod(path.c_str(), 0777);
        listen(fd, 4);
        (void)!write(ready[1], "x", 1);
        for (;;)
            pause();
    }
    char byte = 0;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    const pid_t client = fork();
    if (client == 0) {
        if (setuid(1002) != 0)
            _exit(9);
        auto channel = make_socket_channel(path, 300ms);
        _exit(!channel && channel.error().kind == ConnectError::Kind::untrusted ? 0 : 1);
    }
    int status = 0;
    waitpid(client, &status, 0);
    EXPECT_EQ(status, 0);
    // Not by root either: the user's answers would become root's.
    auto channel = make_socket_channel(path, 300ms);
    EXPECT_EQ(channel.error().kind, ConnectError::Kind::untrusted);
    EXPECT_THAT(channel.error().text, HasSubstr("1001"));
    kill(server, SIGKILL);
    waitpid(server, nullptr, 0);
    unlink(path.c_str());
    rmdir(folder.c_str());
    close(ready[0]);
    close(ready[1]);
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
// davsim run: a private simulator for the life of a command. It leaves no process and no file.
#include "kmod-sim/server/child.hpp"
#include "kmod-sim/server/launch.hpp"
#include "kmod-sim/server/verbs.hpp"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

namespace asc::server {

namespace {

using Steady = std::chrono::steady_clock;
constexpr auto kGrace = std::chrono::milliseconds(500); // from SIGTERM to SIGKILL
constexpr int kLookAgainMs = 20;

// A directory that all users may pass through but not list, and in it a socket whose name cannot
// be guessed: the command's children reach it under any uid, others do not find it.
class PrivatePlace {
  public:
    PrivatePlace() {
        const char* temporary = std::getenv("TMPDIR");
        // A socket's path has 107 bytes.
        for (const std::string& base :
             {std::string(temporary ? temporary : ""), std::string("/tmp")}) {
            if (base.empty() || base.size() > 40 || base.front() != '/')
                continue;
            std::string folder = base + "/davsim-XXXXXX";
            if (mkdtemp(folder.data()) != nullptr) {
                folder_ = folder;
                break;
            }
            problem_ = base + ": " + std::strerror(errno);
        }
        if (folder_.empty())
            return;
        std::uint64_t secret[2];
        if (chmod(folder_.c_str(), 0711) != 0 ||
            getrandom(secret, sizeof(secret), 0) != sizeof(secret)) {
            problem_ = folder_ + ": " + std::strerror(errno);
            return;
        }
        char name[40];
        std::snprintf(name, sizeof(name), "/%016llx%016llx",
                      static_cast<unsigned long long>(secret[0]),
                      static_cast<unsigned long long>(secret[1]));
        socket_ = folder_ + name;
    }
    ~PrivatePlace() {
        if (!folder_.empty())
            rmdir(folder_.c_str());
    }
    PrivatePlace(const PrivatePlace&) = delete;
    PrivatePlace& operator=(const PrivatePlace&) = delete;

    const std::string& socket() const { return socket_; } // empty: there is none
    const std::string& problem() const { return problem_; }

  private:
    std::string folder_, socket_, problem_;
};

// A signal of the terminal reaches the command by itself; one that was sent to davsim is passed on.
void pass_on(const signalfd_siginfo& info, pid_t pid) {
    if (info.ssi_code != SI_KERNEL)
        kill(pid, static_cast<int>(info.ssi_signo));
}

// Orphans of the command come to this process; their ends are taken note of as they come.
void reap_orphans(const Server& server, pid_t command) {
    std::vector<pid_t> others = server.residents().pids();
    others.push_back(command);
    for (const pid_t pid : children_of_this(others))
        waitpid(pid, nullptr, WNOHANG);
}

// Ends what the command has left behind. This process is the reaper of all its descendants, so
// none hides behind a parent that has gone.
void end_descendants(Server& server) {
    const auto begin = Steady::now();
    bool told = false;
    while (true) {
        std::vector<pid_t> left;
        for (const pid_t pid : children_of_this(server.residents().pids()))
            if (waitpid(pid, nullptr, WNOHANG) != pid)
                left.push_back(pid);
        if (left.empty())
            return;
        const bool kill_now = Steady::now() - begin > kGrace;
        if (!told || kill_now)
            for (const pid_t pid : left) {
                kill(pid, kill_now ? SIGKILL : SIGTERM);
                kill(pid, SIGCONT); // a stopped one cannot end
            }
        told = true;
        server.turn(kLookAgainMs);
    }
}

} // namespace

int run_verb(const Verb& verb, std::span<const std::string> arguments) {
    Options options(verb, {}, true);
    add_launch_options(options);
    options.add()("beside-real", "run although this machine has a real driver's nodes");
    if (const auto end = options.parse(arguments))
        return *end;
    const auto launch_options = read_launch_options(options);
    if (!launch_options)
        return options.usage_error(launch_options.error());
    if (options.command().empty())
        return options.usage_error("no command to run behind '--'");
    if (!options.has("beside-real") && std::filesystem::exists(DV_NODE_MANAGER))
        return options.fail(kFailed, DV_NODE_MANAGER
                            " exists: a program that does not ask for the simulator would act on "
                            "the real driver. --beside-real runs all the same");

    auto loop = Loop::create();
    if (!loop)
        return options.fail(kFailed, std::string("epoll: ") + std::strerror(loop.error()));
    const PrivatePlace place;
    if (place.socket().empty())
        return options.fail(kFailed, "no place for the socket: " + place.problem());
    pid_t running = -1;
    int ended_by = 0; // a signal that came before there was a command
    bool orphan = false;
    const Signals signals(*loop,
                          {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGCHLD},
                          [&](const signalfd_siginfo& info) {
                              if (info.ssi_signo == SIGCHLD)
                                  orphan = true;
                              else if (running > 0)
                                  pass_on(info, running);
                              else if (info.ssi_signo != SIGWINCH)
                                  ended_by = static_cast<int>(info.ssi_signo);
                          });
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    ServerOptions server_options;
    server_options.path = place.socket();
    server_options.mode = 0666;
    auto server = launch(*loop, *launch_options, server_options);
    if (!server)
        return options.fail(server.error().status, server.error().text);
    if (ended_by != 0)
        return 128 + ended_by;

    const std::string bin = program_folder();
    const char* path = std::getenv("PATH");
    const std::vector<std::pair<std::string, std::string>> variables = {
        {"ASC_DEVICE", "unix:" + place.socket()},
        {"ASC_FIRMWARE_DIR", std::filesystem::path(bin).parent_path() / "firmware"},
        {"PATH", bin + ":" + (path ? path : "/usr/local/bin:/usr/bin:/bin")}};
    auto child = Child::start(options.command(), variables, signals);
    if (!child)
        return options.fail(child.error().first, child.error().second);
    running = child->pid();
    bool ended = false;
    loop->add(child->pidfd(), EPOLLIN, [&](std::uint32_t) {
        ended = child->reap();
        if (ended)
            loop->remove(child->pidfd());
    });
    while (!ended) {
        if (const int error = (*server)->turn()) {
            kill(running, SIGTERM);
            return options.fail(kFailed, std::string("epoll: ") + std::strerror(error));
        }
        if (std::exchange(orphan, false))
            reap_orphans(**server, running);
    }
    running = -1;
    end_descendants(**server);
    return child->status();
}

} // namespace asc::server

// SPDX-License-Identifier: Apache-2.0
// davsim start and davsimd: a simulator that stays.
#include "kmod-sim/server/launch.hpp"
#include "kmod-sim/server/signals.hpp"
#include "kmod-sim/server/verbs.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace asc::server {

namespace po = boost::program_options;

namespace {

// The directory must be this user's alone when it is ours to make; one that exists for other
// things (--socket in /run) is left as it is: the socket's own mode keeps others out.
std::expected<void, Failure> prepare_place(const std::string& path, bool given) {
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    if (!given || !std::filesystem::exists(folder.empty() ? "." : folder))
        if (auto made = private_directory(folder); !made)
            return std::unexpected(Failure{kFailed, made.error()});
    struct stat info {};
    if (lstat(path.c_str(), &info) != 0)
        return {};
    if (!S_ISSOCK(info.st_mode))
        return std::unexpected(Failure{kFailed, path + " exists and is no socket"});
    if (auto running = Client::connect(path))
        return std::unexpected(
            Failure{kFailed, "a simulator is running there already (pid " +
                                 std::to_string(running->server_pid()) +
                                 "); 'davsim stop' ends it, --socket names another place"});
    return {}; // left over from one that was killed: it is replaced
}

// Serves until it is told to end. `ready` runs once, when clients can come.
int serve(const Options& options, const LaunchOptions& launch_options, const std::string& path,
          const std::function<int()>& ready) {
    auto loop = Loop::create();
    if (!loop)
        return options.fail(kFailed, std::string("epoll: ") + std::strerror(loop.error()));
    bool ended = false;
    const Signals signals(*loop, {SIGINT, SIGTERM, SIGHUP},
                          [&](const signalfd_siginfo&) { ended = true; });
    ServerOptions server_options;
    server_options.path = path;
    auto server = launch(*loop, launch_options, server_options);
    if (!server)
        return options.fail(server.error().status, server.error().text);
    if (const int status = ready())
        return status;
    while (!ended && !(*server)->stop_asked())
        if (const int error = (*server)->turn())
            return options.fail(kFailed, std::string("epoll: ") + std::strerror(error));
    return kDone;
}

std::string export_line(const std::string& path) {
    return "export ASC_DEVICE=unix:" + path + "\n";
}

// The parent's part of --detach: waits for the child's first words, which are its line or its
// complaint.
int wait_for_child(const Options& options, pid_t child, int from_child) {
    std::string said;
    char block[512];
    ssize_t got = 0;
    while ((got = ::read(from_child, block, sizeof(block))) > 0 || (got < 0 && errno == EINTR))
        if (got > 0)
            said.append(block, static_cast<std::size_t>(got));
    if (said.starts_with("export "))
        return print(said);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) && WEXITSTATUS(status) != 0
               ? WEXITSTATUS(status)
               : options.fail(kFailed, "it ended at once");
}

int detach(const Options& options, const LaunchOptions& launch_options, const std::string& path) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return options.fail(kFailed, std::string("pipe: ") + std::strerror(errno));
    Descriptor from_child(ends[0]), to_parent(ends[1]);
    const pid_t child = fork();
    if (child < 0)
        return options.fail(kFailed, std::string("fork: ") + std::strerror(errno));
    if (child != 0) {
        to_parent.reset();
        return wait_for_child(options, child, from_child.get());
    }
    from_child.reset();
    setsid();
    const int status = serve(options, launch_options, path, [&] {
        const std::string line = export_line(path);
        if (::write(to_parent.get(), line.data(), line.size()) < 0)
            return static_cast<int>(kFailed);
        to_parent.reset();
        const Descriptor null(::open("/dev/null", O_RDWR | O_CLOEXEC));
        for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
            dup2(null.get(), standard); // the terminal, or the pipe, is the caller's again
        return chdir("/") == 0 ? static_cast<int>(kDone) : static_cast<int>(kFailed);
    });
    to_parent.reset();
    _exit(status);
}

} // namespace

int start_verb(const Verb& verb, std::span<const std::string> arguments) {
    Options options(verb);
    add_launch_options(options);
    options.add()("detach", "go to the background once it is ready")(
        "socket", po::value<std::string>(), "path of the socket")(
        "state", po::value<std::string>(), "start from a file of 'davsim save'");
    if (const auto end = options.parse(arguments))
        return *end;
    auto launch_options = read_launch_options(options);
    if (!launch_options)
        return options.usage_error(launch_options.error());
    launch_options->state = options.text("state");
    if (options.has("state") && options.has("profile"))
        return options.usage_error("--state and --profile exclude each other");
    const std::string given = options.text("socket");
    if (options.has("socket") && given.empty())
        return options.usage_error("--socket needs a path");
    const std::string path =
        given.empty() ? default_socket_path() : std::filesystem::absolute(given).string();
    if (auto placed = prepare_place(path, !given.empty()); !placed)
        return options.fail(placed.error().status, placed.error().text);
    if (options.has("detach"))
        return detach(options, *launch_options, path);
    return serve(options, *launch_options, path, [&] { return print(export_line(path)); });
}

} // namespace asc::server

// SPDX-License-Identifier: Apache-2.0
#include "faultinject/scenario/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

extern char** environ;

namespace asc::faultinject {

namespace {

using Steady = std::chrono::steady_clock;
constexpr std::size_t kOutputMax = 64U << 20U; // of what is looked at
constexpr auto kNap = std::chrono::milliseconds(1);

std::vector<std::string> environment_with(Variables variables) {
    const char* path = std::getenv("PATH");
    variables.emplace_back("PATH",
                           program_folder() + ":" + (path ? path : "/usr/local/bin:/usr/bin:/bin"));
    std::vector<std::string> out;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        if (std::ranges::none_of(variables,
                                 [&](const auto& v) { return text.starts_with(v.first + "="); }))
            out.emplace_back(text);
    }
    for (const auto& [name, value] : variables)
        out.push_back(name + "=" + value);
    return out;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> out;
    for (std::string& text : texts)
        out.push_back(text.data());
    out.push_back(nullptr);
    return out;
}

std::string failed(const std::string& what, int error) {
    return what + ": " + std::strerror(error);
}

} // namespace

std::string program_path() {
    std::error_code error;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
    return error ? "/proc/self/exe" : program.string();
}

std::string program_folder() {
    return std::filesystem::path(program_path()).parent_path().string();
}

File::~File() {
    if (fd_ >= 0)
        close(fd_);
}

File File::in_memory(const char* name) {
    return File(memfd_create(name, MFD_CLOEXEC));
}

std::size_t File::size() const {
    struct stat status {};
    return fstat(fd_, &status) == 0 ? static_cast<std::size_t>(status.st_size) : 0;
}

std::string File::content() const {
    std::string text(std::min(size(), kOutputMax), '\0');
    std::size_t done = 0;
    while (done < text.size()) {
        const ssize_t got =
            pread(fd_, text.data() + done, text.size() - done, static_cast<off_t>(done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        done += static_cast<std::size_t>(got);
    }
    text.resize(done);
    return text;
}

std::expected<Process, std::string> Process::start(const std::vector<std::string>& words,
                                                   const Variables& variables,
                                                   const std::vector<int>& inherited) {
    Process process;
    process.out_ = File::in_memory("stdout");
    process.error_ = File::in_memory("stderr");
    const File nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
    int ends[2];
    if (process.out_.get() < 0 || process.error_.get() < 0 || nothing.get() < 0 ||
        pipe2(ends, O_CLOEXEC) != 0)
        return std::unexpected(failed("no files for a process", errno));
    const File from_child(ends[0]);
    File to_parent(ends[1]);
    // All that needs memory is made before the fork.
    std::vector<std::string> arguments = words, environment = environment_with(variables);
    const std::vector<char*> argv = pointers(arguments), envp = pointers(environment);
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid < 0)
        return std::unexpected(failed("fork", errno));
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(126);
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, nullptr);
        ::signal(SIGPIPE, SIG_DFL);
        dup2(nothing.get(), STDIN_FILENO);
        dup2(process.out_.get(), STDOUT_FILENO);
        dup2(process.error_.get(), STDERR_FILENO);
        for (const int fd : inherited)
            fcntl(fd, F_SETFD, 0);
        environ = const_cast<char**>(envp.data()); // execvp looks along the new PATH
        execvp(argv[0], argv.data());
        const int error = errno;
        if (::write(to_parent.get(), &error, sizeof(error)) < 0)
            _exit(126);
        _exit(127);
    }
    process.pid_ = pid;
    to_parent = File();
    int error = 0;
    ssize_t got = 0;
    do
        got = ::read(from_child.get(), &error, sizeof(error));
    while (got < 0 && errno == EINTR);
    if (got == sizeof(error))
        return std::unexpected(failed(words.front(), error));
    return process;
}

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), status_(other.status_), out_(std::move(other.out_)),
      error_(std::move(other.error_)) {}

Process& Process::operator=(Process&& other) noexcept {
    std::swap(pid_, other.pid_);
    std::swap(status_, other.status_);
    out_ = std::move(other.out_);
    error_ = std::move(other.error_);
    return *this;
}

Process::~Process() {
    if (pid_ < 0)
        return;
    signal(SIGKILL);
    signal(SIGCONT);
    reap(true);
}

bool Process::reap(bool block) {
    if (pid_ < 0)
        return true;
    pid_t got = 0;
    do
        got = waitpid(pid_, &status_, block ? 0 : WNOHANG);
    while (got < 0 && errno == EINTR);
    if (got == 0)
        return false;
    pid_ = -1;
    return true;
}

void Process::signal(int number) const {
    if (pid_ > 0)
        kill(pid_, number);
}

bool Process::running() {
    return !reap(false);
}

Finished Process::finished(bool timed_out) const {
    Finished out;
    out.status = WIFSIGNALED(status_) ? 128 + WTERMSIG(status_) : WEXITSTATUS(status_);
    out.timed_out = timed_out;
    out.out = out_.content();
    out.error = error_.content();
    return out;
}

Finished Process::finish(std::chrono::milliseconds limit, const std::function<void()>& meanwhile) {
    const auto end = Steady::now() + limit;
    const File pidfd(pid_ < 0 ? -1 : static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
    while (!reap(false)) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Steady::now()).count();
        if (left <= 0) {
            signal(SIGKILL);
            signal(SIGCONT);
            reap(true);
            return finished(true);
        }
        if (meanwhile)
            meanwhile();
        pollfd watched{pidfd.get(), POLLIN, 0};
        poll(&watched, pidfd.get() < 0 ? 0 : 1,
             meanwhile || pidfd.get() < 0 ? static_cast<int>(kNap.count())
                                          : static_cast<int>(std::min<std::int64_t>(left, 1000)));
    }
    return finished(false);
}

std::expected<void, std::string> Process::wait_for(const std::string& text,
                                                   std::chrono::milliseconds limit) {
    const auto end = Steady::now() + limit;
    for (;;) {
        const bool over = !running();
        if (out_.content().find(text) != std::string::npos)
            return {};
        if (over) {
            const Finished all = finished(false);
            return std::unexpected("it ended with status " + std::to_string(all.status) +
                                   " before it said '" + text +
                                   "': " + all.error.substr(0, all.error.find('\n')));
        }
        if (Steady::now() > end)
            return std::unexpected("it has not said '" + text + "' in time");
        std::this_thread::sleep_for(kNap);
    }
}

} // namespace asc::faultinject

// SPDX-License-Identifier: Apache-2.0
// davsim save and load: the machine's state as a file.
#include "kmod-sim/server/client.hpp"
#include "kmod-sim/server/launch.hpp"
#include "kmod-sim/server/verbs.hpp"

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace asc::server {

namespace po = boost::program_options;

namespace {

using Json = nlohmann::json;

// Writes beside the file and renames, so that a full disk leaves no half file.
std::expected<void, std::string> write_file(const std::string& path, const std::string& text) {
    const std::string beside = path + ".new";
    const auto failed = [&](const std::string& which) {
        const std::string why = which + ": " + std::strerror(errno);
        ::unlink(beside.c_str());
        return std::unexpected(why);
    };
    const Descriptor file(
        ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file)
        return failed(beside);
    std::size_t done = 0;
    while (done < text.size()) {
        const ssize_t written = ::write(file.get(), text.data() + done, text.size() - done);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return failed(beside);
        done += static_cast<std::size_t>(written);
    }
    if (::fsync(file.get()) != 0 && errno != EINVAL) // EINVAL: not a file that can be synced
        return failed(beside);
    if (::rename(beside.c_str(), path.c_str()) != 0)
        return failed(path);
    return {};
}

} // namespace

std::expected<std::string, std::string> read_state_file(const std::string& path) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file)
        return std::unexpected(path + ": " + std::strerror(errno));
    std::string text;
    char block[65536];
    while (true) {
        const ssize_t got = ::read(file.get(), block, sizeof(block));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return std::unexpected(path + ": " + std::strerror(errno));
        if (got == 0)
            return text;
        text.append(block, static_cast<std::size_t>(got));
        if (text.size() > kControlMax / 2)
            return std::unexpected(path + ": longer than any state");
    }
}

int save_verb(const Verb& verb, std::span<const std::string> arguments) {
    Options options(verb, {"file"});
    options.add()("backend", po::value<std::string>(), "unix:PATH; ASC_DEVICE unless given");
    if (const auto end = options.parse(arguments))
        return *end;
    const std::string file = options.text("file");
    if (file.empty())
        return options.usage_error("the file to write is missing");
    const auto path = socket_path(options.text("backend"));
    if (!path)
        return options.fail(path.error().status, path.error().text);
    auto client = Client::connect(*path);
    if (!client)
        return options.fail(client.error().status, client.error().text);
    const auto answer = client->control({{"verb", "save"}});
    if (!answer)
        return options.fail(answer.error().status, answer.error().text);
    if (!answer->contains("state") || !(*answer)["state"].is_string())
        return options.fail(kMismatch, "the simulator's answer holds no state");
    const std::string text = (*answer)["state"].get<std::string>();
    if (file == "-")
        return print(text);
    if (const auto written = write_file(file, text); !written)
        return options.fail(kFailed, written.error());
    return kDone;
}

int load_verb(const Verb& verb, std::span<const std::string> arguments) {
    Options options(verb, {"file"});
    options.add()("backend", po::value<std::string>(), "unix:PATH; ASC_DEVICE unless given");
    if (const auto end = options.parse(arguments))
        return *end;
    if (!options.has("file"))
        return options.usage_error("the file to load is missing");
    const auto path = socket_path(options.text("backend"));
    if (!path)
        return options.fail(path.error().status, path.error().text);
    const auto text = read_state_file(options.text("file"));
    if (!text)
        return options.fail(kFailed, text.error());
    auto client = Client::connect(*path);
    if (!client)
        return options.fail(client.error().status, client.error().text);
    const auto answer = client->control({{"verb", "load"}, {"state", *text}});
    if (!answer)
        return options.fail(answer.error().status,
                            options.text("file") + ": " + answer.error().text);
    return kDone;
}

} // namespace asc::server

// SPDX-License-Identifier: Apache-2.0
#include "hal/backend.hpp"

#include "hal/channel_chardev.hpp"
#include "hal/channel_socket.hpp"
#ifdef ASC_INPROC
#include "hal/inproc_channel.hpp"
#endif

#include <sys/auxv.h>

#include <cstdlib>

namespace asc::hal {

namespace {

// `text` as one word of a shell command.
std::string quoted(const std::string& text) {
    bool plain = !text.empty();
    for (const char c : text)
        plain =
            plain && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      std::string_view("_-./:,@+=").find(c) != std::string_view::npos);
    if (plain)
        return text;
    std::string word = "'";
    for (const char c : text)
        word += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return word + "'";
}

} // namespace

std::expected<Backend, ConnectError> choose_backend(std::string_view option) {
    std::string text(option);
    const char* source = "--backend";
    if (text.empty() && getauxval(AT_SECURE) == 0) {
        const char* variable = std::getenv("ASC_DEVICE");
        text = variable == nullptr ? "" : variable;
        source = "ASC_DEVICE";
    }
    Backend backend;
    if (text.empty() || text == "chardev") {
        backend.name = "chardev";
        // Said by the option alone: with ASC_DEVICE set the follow-up would go astray without it.
        if (!option.empty())
            backend.next_argument = "--backend chardev";
        return backend;
    }
    const auto part = [&](std::string_view prefix) {
        return text.starts_with(prefix) && text.size() > prefix.size();
    };
    if (part("unix:")) {
        backend.kind = Backend::Kind::socket;
        backend.target = text.substr(5);
    } else if (part("inproc:")) {
        backend.kind = Backend::Kind::inproc;
        backend.target = text.substr(7);
    } else {
        return std::unexpected(ConnectError{ConnectError::Kind::bad_backend, 0,
                                            std::string(source) + ": no backend '" + text +
                                                "'; it is chardev, unix:PATH or inproc:PROFILE"});
    }
    backend.name = text;
    backend.next_argument = "--backend " + quoted(text);
    return backend;
}

std::expected<std::unique_ptr<Channel>, ConnectError> open_channel(const Backend& backend,
                                                                   const ConnectOptions& options) {
    switch (backend.kind) {
    case Backend::Kind::socket:
        return make_socket_channel(backend.target, options.timeout);
    case Backend::Kind::inproc:
#ifdef ASC_INPROC
        return make_inproc_channel(backend.target);
#else
        return std::unexpected(
            ConnectError{ConnectError::Kind::bad_backend, 0,
                         "this build has no in-process simulator (option ASC_INPROC); use 'davsim "
                         "start' and --backend unix:PATH"});
#endif
    case Backend::Kind::chardev:
        break;
    }
    return make_chardev_channel(options.dev_root, options.isolate, system_ops());
}

} // namespace asc::hal

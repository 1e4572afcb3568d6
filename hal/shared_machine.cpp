// SPDX-License-Identifier: Apache-2.0
#include "hal/shared_machine.hpp"

#include "hal/driver_impl.hpp"
#ifdef ASC_INPROC
#include "hal/inproc_channel.hpp"
#endif

namespace asc::hal {

#ifdef ASC_INPROC

struct SharedMachine::State {
    std::unique_ptr<InprocHandle> handle;
};

std::expected<SharedMachine, ConnectError> SharedMachine::create(const MachineSetup& setup) {
    auto handle = share_inproc_machine(setup);
    if (!handle)
        return std::unexpected(std::move(handle.error()));
    return SharedMachine(std::make_unique<State>(State{std::move(*handle)}),
                         "inproc:" + setup.profile);
}

std::expected<Driver, ConnectError> SharedMachine::connect_as(const std::string& name,
                                                              const ConnectOptions& options) const {
    BackendInfo info;
    info.name = backend_;
    return Driver::Impl::connect(state_->handle->channel_as(name), std::move(info), options);
}

#else

struct SharedMachine::State {};

std::expected<SharedMachine, ConnectError> SharedMachine::create(const MachineSetup&) {
    return std::unexpected(
        ConnectError{ConnectError::Kind::bad_backend, 0,
                     "this build has no in-process simulator (option ASC_INPROC)"});
}

std::expected<Driver, ConnectError> SharedMachine::connect_as(const std::string&,
                                                              const ConnectOptions&) const {
    return std::unexpected(ConnectError{});
}

#endif

SharedMachine::SharedMachine(std::unique_ptr<State> state, std::string backend)
    : state_(std::move(state)), backend_(std::move(backend)) {}
SharedMachine::SharedMachine(SharedMachine&&) noexcept = default;
SharedMachine& SharedMachine::operator=(SharedMachine&&) noexcept = default;
SharedMachine::~SharedMachine() = default;

} // namespace asc::hal

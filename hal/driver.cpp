// SPDX-License-Identifier: Apache-2.0
#include "hal/driver.hpp"

#include "hal/driver_impl.hpp"

namespace asc::hal {

std::expected<Driver, ConnectError> Driver::connect(const ConnectOptions& options) {
    auto backend = choose_backend(options.backend);
    if (!backend)
        return std::unexpected(std::move(backend.error()));
    auto channel = open_channel(*backend, options);
    if (!channel)
        return std::unexpected(std::move(channel.error()));
    BackendInfo info;
    info.name = backend->name;
    info.next_argument = backend->next_argument;
    return Impl::connect(std::move(*channel), std::move(info), options);
}

Driver::Driver(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Driver::Driver(Driver&&) noexcept = default;
Driver& Driver::operator=(Driver&&) noexcept = default;
Driver::~Driver() = default;

const BackendInfo& Driver::backend() const {
    return impl_->info;
}

const std::vector<DeviceIds>& Driver::devices() const {
    return impl_->devices;
}

Reading<std::string> Driver::topology(const DeviceIds& a, const DeviceIds& b) {
    impl_->enter();
    Reading<std::string> word;
    Question question(*impl_->channel, impl_->nodes, a, impl_->options.timeout,
                      impl_->now_plus(impl_->options.timeout));
    const dv_device_pair pair{static_cast<std::uint32_t>(a.logical_id),
                              static_cast<std::uint32_t>(b.logical_id)};
    std::uint32_t value = 0;
    question.urd(DV_BASIC_TOPOLOGY_LOGICAL, &pair, sizeof(pair), &value, sizeof(value),
                 [&](const UrdQuery& query) {
                     if (query.call.state == Call::State::done && query.call.result == 0)
                         word = topology_from_wire(value, impl_->is_simulator());
                     else
                         word = question.absence(query.call);
                 });
    impl_->ask(question);
    return word;
}

} // namespace asc::hal

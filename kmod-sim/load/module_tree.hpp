// SPDX-License-Identifier: Apache-2.0
// The kernel module's files: its folder in configfs and its rules in debugfs.
#pragma once

#include "kmod-sim/host/profile.hpp"

#include <cstdint>
#include <expected>
#include <string>

namespace asc::load {

class ModuleTree {
  public:
    ModuleTree(std::string config, std::string debug, std::string parameters)
        : config_(std::move(config)), debug_(std::move(debug)), parameters_(std::move(parameters)) {
    }

    // The module is there, and is of the generation that the profile asks for.
    std::expected<void, std::string> check(const sim::Profile& profile) const;
    // Names the machine and adds every device; the error says which file refused what, and why.
    std::expected<void, std::string> add_devices(const sim::Profile& profile) const;
    // Takes every device of the folder out again.
    std::expected<void, std::string> remove_devices() const;
    std::expected<void, std::string> settled() const;
    std::expected<void, std::string> add_rule(const std::string& text) const;
    std::expected<void, std::string> clear_rule(const std::string& text) const;

  private:
    std::expected<void, std::string> add_device(const sim::DeviceProfile& device) const;
    std::string config_, debug_, parameters_;
};

} // namespace asc::load

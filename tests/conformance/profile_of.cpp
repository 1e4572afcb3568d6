// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/abi_machine.hpp"

#include <stdexcept>

namespace asc::test {

asc::sim::Profile profile_of(const std::string& toml) {
    auto profile = asc::sim::parse_profile(toml, "test");
    if (!profile)
        throw std::invalid_argument(profile.error());
    return *profile;
}

} // namespace asc::test

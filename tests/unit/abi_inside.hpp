// SPDX-License-Identifier: Apache-2.0
// HDC's inner state, for tests that count what is left. C headers as C++ takes them.
#pragma once

#include "kmod-sim/host/model.hpp"

#include <cstring>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wshadow"
extern "C" {
#include "kmod-sim/abi/hdc.h"
}
#pragma GCC diagnostic pop

// SPDX-License-Identifier: Apache-2.0
// The device model's C headers as C++ takes them: there a function that has a struct's name
// (sim_device) hides its constructor, which -Wshadow would report.
#pragma once

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#include "kmod-sim/abi/abi.h"
#pragma GCC diagnostic pop

// SPDX-License-Identifier: Apache-2.0
// Included before every source of the bare model: no rule is ever set, and the compiler knows it.
#include "faultinject/core/rules.h"
#define fi_active(set) 0

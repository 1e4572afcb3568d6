# SPDX-License-Identifier: Apache-2.0
# The HAL: wire to types, scheduling, channels, snapshots, processes, actions.
asc_add_test(test_hal_wire_types SOURCES test_hal_wire_types.cpp LIBS asc_hal)
asc_add_test(test_hal_schedule SOURCES test_hal_schedule.cpp LIBS asc_hal)

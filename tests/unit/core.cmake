# SPDX-License-Identifier: Apache-2.0
# The device model: devices, clients, memory, sensors, reset, events, tickets, journal.
asc_add_test(test_core
    SOURCES test_core_clients.cpp test_core_devices.cpp test_core_events.cpp test_core_journal.cpp
        test_core_memory.cpp test_core_release.cpp test_core_reset.cpp test_core_sensors.cpp
        test_core_tickets.cpp
    LIBS sim_core fi_core)

# SPDX-License-Identifier: Apache-2.0
# The HAL: wire to types, scheduling, channels, snapshots, processes, actions.
asc_add_test(test_hal_wire_types SOURCES test_hal_wire_types.cpp LIBS asc_hal)
asc_add_test(test_hal_schedule SOURCES test_hal_schedule.cpp LIBS asc_hal)
asc_add_test(test_hal_socket SOURCES test_hal_socket.cpp test_hal_socket_trust.cpp LIBS asc_hal)
asc_add_test(test_hal_processes SOURCES test_hal_processes.cpp LIBS asc_hal)
if(TARGET sim_host)
    asc_add_test(test_hal_snapshot SOURCES test_hal_snapshot.cpp LIBS asc_hal sim_host)
    asc_add_test(test_hal_dmp SOURCES test_hal_dmp.cpp LIBS asc_hal sim_host)
    asc_add_test(test_hal_backend SOURCES test_hal_backend.cpp LIBS asc_hal sim_host)
    asc_add_test(test_hal_actions SOURCES test_hal_actions.cpp LIBS asc_hal sim_host)
    asc_add_test(test_hal_helper SOURCES test_hal_helper.cpp LIBS asc_hal sim_host)
    asc_add_test(test_hal_davsimd SOURCES test_hal_davsimd.cpp LIBS asc_hal sim_host)
endif()

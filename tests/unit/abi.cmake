# SPDX-License-Identifier: Apache-2.0
# The driver's commands on top of the device model.
if(TARGET sim_abi AND TARGET sim_host)
  asc_add_test(test_abi_seam SOURCES test_abi_seam.cpp LIBS abi_machine)
  asc_add_test(test_abi_access SOURCES test_abi_access.cpp LIBS abi_machine)
  asc_add_test(test_abi_surface SOURCES test_abi_surface.cpp LIBS abi_machine)
  asc_add_test(test_abi_hdc SOURCES test_abi_hdc.cpp test_abi_dmp.cpp LIBS abi_machine)
  asc_add_test(test_abi_davsim SOURCES test_abi_davsim.cpp LIBS abi_machine)
  asc_add_test(test_abi_telemetry SOURCES test_abi_telemetry.cpp LIBS abi_machine)
endif()

# SPDX-License-Identifier: Apache-2.0
# Macros of the tests' folders.
#
# asc_add_test(NAME SOURCES file... [LIBS target...] [LABELS label...] [TIMEOUT seconds])
#   A GoogleTest program; each of its cases is a ctest test "NAME.Suite.Case". Label: unit unless given.
# asc_add_script_test(NAME COMMAND program argument... [LABELS label...] [TIMEOUT seconds])
#   A command that ends 0 when all holds, 77 when it cannot run here. build/bin stands first in its PATH;
#   ASC_BIN, ASC_SOURCE and ASC_SANITIZE tell it where and under what it runs. Label: cli unless given.
# asc_add_fuzzer(NAME SOURCES file... [LIBS target...] [DICT file])
#   A libFuzzer program (preset fuzz) and its smoke run over tests/fuzz/corpus/NAME as a test. The number
#   of runs is ASC_FUZZ_RUNS.

set(ASC_FUZZ_RUNS 20000 CACHE STRING "Runs of each fuzzer in its smoke test")

# A sanitizer costs time: 5 times is what thread sanitizer needs at worst.
function(asc_test_timeout variable seconds)
    if(NOT seconds)
        set(seconds 60)
    endif()
    if(ASC_SANITIZE)
        math(EXPR seconds "${seconds} * 5")
    endif()
    set(${variable} ${seconds} PARENT_SCOPE)
endfunction()

function(asc_add_test name)
    cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;LIBS;LABELS" ${ARGN})
    if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
        message(FATAL_ERROR "asc_add_test(${name}): SOURCES missing or stray: ${arg_UNPARSED_ARGUMENTS}")
    endif()
    if(NOT arg_LABELS)
        set(arg_LABELS unit)
    endif()
    asc_test_timeout(timeout "${arg_TIMEOUT}")
    add_executable(${name} ${arg_SOURCES})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
    target_compile_definitions(${name} PRIVATE ASC_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
        ASC_BIN_DIR="${CMAKE_BINARY_DIR}/bin")
    target_link_libraries(${name} PRIVATE ${arg_LIBS} GTest::gmock GTest::gtest_main)
    # Cases are listed when ctest starts, not while building: a build needs no run of what it made.
    gtest_discover_tests(${name} TEST_PREFIX "${name}." DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
        WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}" PROPERTIES TIMEOUT ${timeout} LABELS "${arg_LABELS}")
endfunction()

function(asc_add_script_test name)
    cmake_parse_arguments(arg "" "TIMEOUT" "COMMAND;LABELS" ${ARGN})
    if(arg_UNPARSED_ARGUMENTS OR NOT arg_COMMAND)
        message(FATAL_ERROR
            "asc_add_script_test(${name}): COMMAND missing or stray: ${arg_UNPARSED_ARGUMENTS}")
    endif()
    if(NOT arg_LABELS)
        set(arg_LABELS cli)
    endif()
    asc_test_timeout(timeout "${arg_TIMEOUT}")
    add_test(NAME ${name} COMMAND ${arg_COMMAND} WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
    set_tests_properties(${name} PROPERTIES TIMEOUT ${timeout} LABELS "${arg_LABELS}"
        SKIP_RETURN_CODE 77
        ENVIRONMENT "ASC_BIN=${CMAKE_BINARY_DIR}/bin;ASC_SOURCE=${CMAKE_SOURCE_DIR};ASC_SANITIZE=${ASC_SANITIZE}"
        ENVIRONMENT_MODIFICATION "PATH=path_list_prepend:${CMAKE_BINARY_DIR}/bin")
endfunction()

function(asc_add_fuzzer name)
    cmake_parse_arguments(arg "" "DICT" "SOURCES;LIBS" ${ARGN})
    if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
        message(FATAL_ERROR "asc_add_fuzzer(${name}): SOURCES missing or stray: ${arg_UNPARSED_ARGUMENTS}")
    endif()
    if(NOT ASC_FUZZ)
        return()
    endif()
    add_executable(${name} ${arg_SOURCES})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/fuzz")
    target_link_libraries(${name} PRIVATE ${arg_LIBS})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    # New finds go to the build folder; the corpus in the tree is read alone.
    set(found "${CMAKE_BINARY_DIR}/fuzz/found/${name}")
    file(MAKE_DIRECTORY "${found}")
    set(options -runs=${ASC_FUZZ_RUNS} -max_total_time=300 -timeout=10 -print_final_stats=1
        "-artifact_prefix=${CMAKE_BINARY_DIR}/fuzz/${name}-")
    if(arg_DICT)
        cmake_path(ABSOLUTE_PATH arg_DICT)
        list(APPEND options "-dict=${arg_DICT}")
    endif()
    set(corpus "${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${name}")
    if(NOT IS_DIRECTORY "${corpus}")
        set(corpus "")
    endif()
    add_test(NAME ${name} COMMAND ${name} ${options} "${found}" ${corpus})
    set_tests_properties(${name} PROPERTIES TIMEOUT 360 LABELS fuzz)
endfunction()

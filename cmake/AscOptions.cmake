# SPDX-License-Identifier: Apache-2.0
# Compiler options: asc_options for every target, asc_freestanding() for the parts that link in a kernel.

add_library(asc_options INTERFACE)
target_include_directories(asc_options INTERFACE "${CMAKE_SOURCE_DIR}")
target_compile_definitions(asc_options INTERFACE _FILE_OFFSET_BITS=64
    $<$<COMPILE_LANGUAGE:CXX>:ASC_VERSION="${PROJECT_VERSION}">
    $<$<BOOL:${ASC_INPROC}>:ASC_INPROC=1>)
target_compile_options(asc_options INTERFACE -Wall -Wextra -Wshadow -Wpedantic -Werror
    -Wformat=2 -Wundef -Wcast-align -Wvla
    $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes;-Wmissing-prototypes;-Wconversion;-Wno-sign-conversion>
    $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor;-Woverloaded-virtual;-Wold-style-cast>)
# GCC 12 warns of overlapping copies inside std::string where there are none (GCC bug 105651), and with
# sanitizers on it loses track of what is initialised and how long an array is.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(asc_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
    if(ASC_SANITIZE)
        target_compile_options(asc_options INTERFACE -Wno-maybe-uninitialized -Wno-stringop-overflow
            -Wno-array-bounds)
    endif()
endif()

# Batched sources (CMAKE_UNITY_BUILD) are no headers, whatever GCC makes of their place.
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(asc_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
endif()

# libstdc++ 12 uses a deprecated buffer inside std::stable_sort, which clang tells wherever that is made.
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    target_compile_options(asc_options INTERFACE
        $<$<COMPILE_LANGUAGE:CXX>:-Wno-deprecated-declarations>)
endif()

if(ASC_SANITIZE)
    set(sanitize -fsanitize=${ASC_SANITIZE} -fno-omit-frame-pointer)
    if(ASC_SANITIZE MATCHES "undefined")
        list(APPEND sanitize -fno-sanitize-recover=all)
    endif()
    target_compile_options(asc_options INTERFACE ${sanitize})
    target_link_options(asc_options INTERFACE ${sanitize})
endif()

if(ASC_FUZZ)
    if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
        message(FATAL_ERROR "ASC_FUZZ needs clang (preset fuzz), the compiler is ${CMAKE_CXX_COMPILER_ID}")
    endif()
    target_compile_options(asc_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

if(ASC_STATIC)
    set(CMAKE_POSITION_INDEPENDENT_CODE OFF)
    set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
    target_compile_options(asc_options INTERFACE -ffunction-sections -fdata-sections)
    target_link_options(asc_options INTERFACE -static -Wl,--gc-sections)
endif()

# asc_freestanding(TARGET): C that links in any kernel. What it may leave undefined (memcpy, memset,
# memcmp) is proved by tests/lint on plain objects; a sanitizer adds calls of its own and larger frames.
function(asc_freestanding target)
    # Its files keep their own names apart, as a kernel's do, so they are compiled one by one.
    set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
    target_compile_options(${target} PRIVATE
        $<$<COMPILE_LANGUAGE:C>:-ffreestanding;-fno-stack-protector;-fno-common;-mgeneral-regs-only>)
    # GCC turns counting loops into strlen() otherwise, which a kernel need not have.
    if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
        target_compile_options(${target} PRIVATE
            $<$<COMPILE_LANGUAGE:C>:-fno-tree-loop-distribute-patterns>)
    endif()
    if(NOT ASC_SANITIZE AND NOT ASC_FUZZ)
        target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:C>:-Wframe-larger-than=1024>)
    endif()
endfunction()

# SPDX-License-Identifier: Apache-2.0
# Libraries of others. Targets for use: fmt::fmt, nlohmann_json::nlohmann_json,
# tomlplusplus::tomlplusplus, Boost::program_options, asc_udev, asc_pci. The last two are always there
# and define ASC_HAVE_UDEV=1 / ASC_HAVE_PCI=1 only where the library is built in.

# asc_from_headers(TARGET HEADER DEFINITION): a library taken from its headers. Debian has some as shared
# libraries alone, which a static build cannot link.
function(asc_from_headers target header definition)
    find_path(folder ${header} REQUIRED NO_CACHE)
    add_library(${target} INTERFACE IMPORTED GLOBAL)
    set_target_properties(${target} PROPERTIES INTERFACE_COMPILE_DEFINITIONS ${definition}=1
        INTERFACE_INCLUDE_DIRECTORIES "${folder}")
endfunction()

find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)
if(ASC_STATIC)
    set(Boost_USE_STATIC_LIBS ON)
    asc_from_headers(fmt::fmt fmt/format.h FMT_HEADER_ONLY)
    asc_from_headers(tomlplusplus::tomlplusplus toml++/toml.h TOML_HEADER_ONLY)
else()
    find_package(fmt REQUIRED)
    find_package(tomlplusplus REQUIRED)
endif()
find_package(Boost 1.74 REQUIRED COMPONENTS program_options)

# asc_optional_library(TARGET OPTION PKG_CONFIG_MODULE DEFINITION)
function(asc_optional_library target option module definition)
    add_library(${target} INTERFACE)
    if(NOT ${option})
        return()
    endif()
    find_package(PkgConfig REQUIRED)
    pkg_check_modules(${target}_pc REQUIRED IMPORTED_TARGET GLOBAL ${module})
    target_link_libraries(${target} INTERFACE PkgConfig::${target}_pc)
    target_compile_definitions(${target} INTERFACE ${definition}=1)
endfunction()

asc_optional_library(asc_udev ASC_UDEV libudev ASC_HAVE_UDEV)
asc_optional_library(asc_pci ASC_PCI libpci ASC_HAVE_PCI)

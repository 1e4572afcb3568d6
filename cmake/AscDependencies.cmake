# SPDX-License-Identifier: Apache-2.0
# Libraries of others. Targets for use: fmt::fmt, nlohmann_json::nlohmann_json,
# tomlplusplus::tomlplusplus, Boost::program_options, asc_udev, asc_pci. The last two are always there
# and define ASC_HAVE_UDEV=1 / ASC_HAVE_PCI=1 only where the library is built in.

if(ASC_STATIC)
    set(Boost_USE_STATIC_LIBS ON)
endif()

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tomlplusplus REQUIRED)
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

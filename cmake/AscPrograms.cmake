# SPDX-License-Identifier: Apache-2.0

# asc_programs_below(VARIABLE FOLDER): programs and shared libraries of a folder and of those below it.
function(asc_programs_below variable folder)
    set(programs "")
    get_property(targets DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
    foreach(target IN LISTS targets)
        get_target_property(type ${target} TYPE)
        if(type MATCHES "^(EXECUTABLE|SHARED_LIBRARY|MODULE_LIBRARY)$")
            list(APPEND programs ${target})
        endif()
    endforeach()
    get_property(children DIRECTORY "${folder}" PROPERTY SUBDIRECTORIES)
    foreach(child IN LISTS children)
        asc_programs_below(found "${child}")
        list(APPEND programs ${found})
    endforeach()
    set(${variable} "${programs}" PARENT_SCOPE)
endfunction()

# Build rules shared by all folders: language, warnings, sanitizers, and one test program per *_test.c.

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

set(STRIDER_SANITIZE "" CACHE STRING "Sanitizers: address,undefined or thread, or empty")
option(STRIDER_FUZZ "Build the fuzz targets (clang, libFuzzer)" OFF)
option(STRIDER_SLOW_ASSERTS "Costly whole-structure assertions" OFF)

add_compile_definitions(_GNU_SOURCE STRIDER_VERSION="${PROJECT_VERSION}")
add_compile_options(-Wall -Wextra -Wconversion -Wshadow -Wswitch-enum -Wstrict-prototypes -Wmissing-prototypes -Werror
                    -fno-strict-aliasing -fno-omit-frame-pointer)
include_directories(${CMAKE_SOURCE_DIR})

if(STRIDER_SLOW_ASSERTS)
    add_compile_definitions(STRIDER_SLOW_ASSERTS)
endif()
if(STRIDER_SANITIZE)
    add_compile_options(-fsanitize=${STRIDER_SANITIZE} -fno-sanitize-recover=all)
    add_link_options(-fsanitize=${STRIDER_SANITIZE})
endif()
if(STRIDER_FUZZ)
    add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# strider_library(NAME [LINK targets…]): every *.c below this folder but tests, as a static library.
function(strider_library name)
    cmake_parse_arguments(ARG "" "" "LINK;EXCLUDE" ${ARGN})
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.c)
    list(FILTER sources EXCLUDE REGEX "_test\\.c$")
    foreach(pattern ${ARG_EXCLUDE})
        list(FILTER sources EXCLUDE REGEX "${pattern}")
    endforeach()
    if(sources)
        add_library(${name} STATIC ${sources})
        target_link_libraries(${name} PUBLIC ${ARG_LINK})
    else()
        add_library(${name} INTERFACE)
        target_link_libraries(${name} INTERFACE ${ARG_LINK})
    endif()
endfunction()

# strider_tests(LIBRARIES…): each *_test.c below this folder becomes a Criterion program and a ctest of the same name.
# Criterion starts a process a test, which ThreadSanitizer does not survive: under that preset only plain programs run.
function(strider_tests)
    if(NOT CRITERION_FOUND OR STRIDER_SANITIZE MATCHES "thread" OR STRIDER_FUZZ)
        return()
    endif()
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_test.c)
    foreach(source ${sources})
        file(RELATIVE_PATH relative ${CMAKE_SOURCE_DIR} ${source})
        string(REGEX REPLACE "[/.]" "-" name ${relative})
        string(REGEX REPLACE "_test-c$" "" name ${name})
        add_executable(${name}-test ${source})
        # Criterion's macros use GNU idioms that -Wconversion and -Wshadow object to.
        target_compile_options(${name}-test PRIVATE -Wno-conversion -Wno-shadow -Wno-missing-prototypes)
        target_link_libraries(${name}-test PRIVATE ${ARGN} PkgConfig::CRITERION)
        add_test(NAME ${name} COMMAND ${name}-test WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    endforeach()
endfunction()

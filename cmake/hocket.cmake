# SPDX-License-Identifier: Apache-2.0
# How Hocket's targets are declared. Each folder of src/ has one CMakeLists.txt and is one module:
#
#   hocket_module(base SOURCES error.cc arena.cc)
#   hocket_module(transport/shm SOURCES segment.cc DEPENDS base world topo LINK rt)
#   hocket_test(base_test SOURCES result_test.cc arena_test.cc DEPENDS base)
#   hocket_bench(base_bench SOURCES arena_bench.cc DEPENDS base)
#
# A folder below a module (algo/all_reduce) adds to it with hocket_sources(algo ring.cc).

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()

find_program(HOCKET_CCACHE ccache)
if(HOCKET_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${HOCKET_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${HOCKET_CCACHE})
endif()

include(GNUInstallDirs)
find_package(Threads REQUIRED)

# Everything is compiled with these. Source locations in errors name files from src/ on.
add_library(hocket_flags INTERFACE)
target_compile_options(hocket_flags INTERFACE
    -Wall -Wextra -Wshadow -Wconversion -Werror -fvisibility=hidden
    -ffile-prefix-map=${PROJECT_SOURCE_DIR}/src/=)
target_include_directories(hocket_flags INTERFACE
    ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(hocket_flags INTERFACE Threads::Threads)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # At -O0 g++ 12 takes a promise's operator new, a template, for one without a delete.
  target_compile_options(hocket_flags INTERFACE
      $<$<COMPILE_LANGUAGE:CXX>:-Wno-mismatched-new-delete>)
endif()
if(HOCKET_DCHECK)
  target_compile_definitions(hocket_flags INTERFACE HOCKET_DCHECK=1)
endif()

set(hocket_test_environment
    ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1
    UBSAN_OPTIONS=print_stacktrace=1
    TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1)
if(HOCKET_SANITIZE STREQUAL "asan")
  set(hocket_sanitize -fsanitize=address,undefined -fno-sanitize-recover=all)
elseif(HOCKET_SANITIZE STREQUAL "tsan")
  set(hocket_sanitize -fsanitize=thread)
elseif(HOCKET_SANITIZE)
  message(FATAL_ERROR "HOCKET_SANITIZE is '${HOCKET_SANITIZE}', not asan, tsan or empty")
endif()
if(HOCKET_SANITIZE)
  # g++ 12 sees uninitialised values in its own instrumentation.
  target_compile_options(hocket_flags INTERFACE
      ${hocket_sanitize} -fno-omit-frame-pointer -Wno-maybe-uninitialized)
  target_link_options(hocket_flags INTERFACE ${hocket_sanitize})
  set(HOCKET_CASES_SCALE 0.1 CACHE STRING "Share of the random cases; read by src/testing/cases.h")
  list(APPEND hocket_test_environment TEST_CASES_SCALE=${HOCKET_CASES_SCALE})
endif()

# Of what a test's own code takes to compile, most is optimising GoogleTest's macros.
set(hocket_test_options -Og)

# Builds of the tests alone parse the common headers once: one set for modules, one for tests. The
# release does without, and so shows that every file includes what it uses.
set(hocket_precompiled
    <algorithm> <array> <atomic> <coroutine> <cstdint> <cstring> <functional> <memory> <optional>
    <span> <string> <utility> <vector>)
if(HOCKET_TESTS_ONLY)
  if(HOCKET_CCACHE)
    list(PREPEND CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros)
  endif()
  file(WRITE ${PROJECT_BINARY_DIR}/precompiled.cc "int main() {}\n")
  add_library(hocket_precompiled_module OBJECT ${PROJECT_BINARY_DIR}/precompiled.cc)
  target_compile_options(hocket_precompiled_module PRIVATE -fno-exceptions)
  target_link_libraries(hocket_precompiled_module PRIVATE hocket_flags)
  target_precompile_headers(hocket_precompiled_module PRIVATE ${hocket_precompiled})
endif()
if(HOCKET_TESTS_ONLY AND BUILD_TESTING)
  find_package(GTest REQUIRED)
  add_executable(hocket_precompiled_test ${PROJECT_BINARY_DIR}/precompiled.cc)
  target_compile_options(hocket_precompiled_test PRIVATE ${hocket_test_options})
  target_link_libraries(hocket_precompiled_test PRIVATE hocket_flags GTest::gtest)
  target_precompile_headers(hocket_precompiled_test PRIVATE
      ${hocket_precompiled} <gtest/gtest.h>)
endif()

# What `target` compiles begins with the common headers of its kind: module or test.
function(hocket_precompile target kind)
  if(HOCKET_TESTS_ONLY)
    target_precompile_headers(${target} REUSE_FROM hocket_precompiled_${kind})
  endif()
endfunction()

function(hocket_target_name out name)
  string(REPLACE "/" "_" flat ${name})
  set(${out} hocket_${flat} PARENT_SCOPE)
endfunction()

# Parses what follows the name, and fails on any word that is not understood.
macro(hocket_arguments kind name flags one many)
  cmake_parse_arguments(PARSE_ARGV 1 arg "${flags}" "${one}" "${many}")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${kind}(${name}): cannot place '${arg_UNPARSED_ARGUMENTS}'")
  endif()
endmacro()

function(hocket_link target scope)
  target_link_libraries(${target} ${scope} hocket_flags)
  foreach(module IN LISTS arg_DEPENDS)
    string(REPLACE "/" "_" dependency ${module})
    target_link_libraries(${target} ${scope} hocket::${dependency})
  endforeach()
  target_link_libraries(${target} ${scope} ${arg_LINK})
endfunction()

# One folder of src/: a static library hocket_<name>, / becoming _, or headers alone when it names
# no sources. DEPENDS lists the modules whose headers it includes, LINK foreign libraries.
function(hocket_module name)
  hocket_arguments(hocket_module ${name} "" "" "SOURCES;DEPENDS;LINK")
  hocket_target_name(target ${name})
  if(arg_SOURCES)
    add_library(${target} STATIC ${arg_SOURCES})
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>)
    hocket_link(${target} PUBLIC)
    hocket_precompile(${target} module)
  else()
    add_library(${target} INTERFACE)
    hocket_link(${target} INTERFACE)
  endif()
  string(REPLACE "/" "_" alias ${name})
  add_library(hocket::${alias} ALIAS ${target})
endfunction()

# Adds the sources of a folder below the module's own.
function(hocket_sources module)
  hocket_target_name(target ${module})
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  target_sources(${target} PRIVATE ${ARGN})
endfunction()

# A GoogleTest executable build/<preset>/tests/<name>, run by ctest.
#   LABELS    default unit; also conformance, sim, abi, long
#   TIMEOUT   seconds, default 60; sanitizers get four times as much
#   ALONE     no other test beside it: it bounds how long things take
#   SANITIZE  sanitizers it is built and run under: default both; none, asan or tsan
#   ARGS      command line
function(hocket_test name)
  hocket_arguments(hocket_test ${name} ALONE TIMEOUT
      "SOURCES;DEPENDS;LINK;LABELS;SANITIZE;ARGS")
  if(NOT BUILD_TESTING)
    return()
  endif()
  if(HOCKET_SANITIZE AND arg_SANITIZE AND NOT HOCKET_SANITIZE IN_LIST arg_SANITIZE)
    return()
  endif()
  find_package(GTest REQUIRED)
  add_executable(${name} ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES
      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  list(APPEND arg_DEPENDS testing)
  hocket_link(${name} PRIVATE)
  target_link_libraries(${name} PRIVATE GTest::gtest GTest::gtest_main)
  target_compile_options(${name} PRIVATE ${hocket_test_options})
  hocket_precompile(${name} test)
  add_test(NAME ${name} COMMAND ${name} ${arg_ARGS})
  hocket_test_properties(${name} "${arg_LABELS}" "${arg_TIMEOUT}")
  set_tests_properties(${name} PROPERTIES RUN_SERIAL ${arg_ALONE})
endfunction()

# A test that is a command: a script, a comparison of two outputs.
function(hocket_script_test name)
  hocket_arguments(hocket_script_test ${name} "" "TIMEOUT" "COMMAND;LABELS")
  if(BUILD_TESTING AND NOT HOCKET_SANITIZE)
    add_test(NAME ${name} COMMAND ${arg_COMMAND})
    hocket_test_properties(${name} "${arg_LABELS}" "${arg_TIMEOUT}")
  endif()
endfunction()

function(hocket_test_properties name labels timeout)
  if(NOT labels)
    set(labels unit)
  endif()
  if(NOT timeout)
    set(timeout 60)
  endif()
  if(HOCKET_SANITIZE AND HOCKET_CASES_SCALE EQUAL 1)
    math(EXPR timeout "40 * ${timeout}")
  elseif(HOCKET_SANITIZE)
    math(EXPR timeout "4 * ${timeout}")
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT ${timeout}
      ENVIRONMENT "${hocket_test_environment}")
endfunction()

# A Google Benchmark executable build/<preset>/bench/<name>; ctest runs it once, so that it does
# not rot. SMOKE is a filter for that run where all of it would take long.
function(hocket_bench name)
  hocket_arguments(hocket_bench ${name} "" "SMOKE" "SOURCES;DEPENDS;LINK")
  if(NOT arg_SMOKE)
    set(arg_SMOKE .)
  endif()
  if(HOCKET_TESTS_ONLY OR NOT BUILD_TESTING)
    return()
  endif()
  find_package(benchmark REQUIRED)
  add_executable(${name} ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES
      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
  hocket_link(${name} PRIVATE)
  target_link_libraries(${name} PRIVATE benchmark::benchmark benchmark::benchmark_main)
  add_test(NAME ${name} COMMAND ${name} --benchmark_min_time=0.001
      --benchmark_filter=${arg_SMOKE})
  hocket_test_properties(${name} bench 120)
endfunction()

# A program build/<preset>/<name> that people run; it may use exceptions, and includes its own
# headers by their path from the root. INSTALL: also bin/<name>.
function(hocket_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "INSTALL" "" "SOURCES;DEPENDS;LINK")
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  hocket_link(${name} PRIVATE)
  target_link_options(${name} PRIVATE -static-libstdc++ -static-libgcc)
  if(arg_INSTALL)
    install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endfunction()

# lib/lib<name>.so from the objects of module API and whatever they need: target <name>_shared,
# alias hocket::<name>. It exports only what the map names, carries libstdc++ and libgcc inside,
# hidden, and loads with glibc 2.34.
#
#   hocket_shared_library(hocket API api)
function(hocket_shared_library name)
  hocket_arguments(hocket_shared_library ${name} "" "API;MAP" "")
  if(HOCKET_SANITIZE)
    return()
  endif()
  if(NOT arg_MAP)
    set(arg_MAP ${PROJECT_SOURCE_DIR}/cmake/hocket.map)
  endif()
  set(target ${name}_shared)
  hocket_target_name(api ${arg_API})
  add_library(${target} SHARED
      $<TARGET_OBJECTS:${api}> ${PROJECT_SOURCE_DIR}/cmake/glibc_2_34.c)
  add_library(hocket::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES
      OUTPUT_NAME ${name} EXPORT_NAME ${name} LINKER_LANGUAGE CXX LINK_DEPENDS ${arg_MAP}
      VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
  target_include_directories(${target} INTERFACE
      $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
  target_link_libraries(${target} PRIVATE
      $<BUILD_INTERFACE:${api}> $<BUILD_INTERFACE:hocket_flags>)
  target_link_options(${target} PRIVATE
      -static-libstdc++ -static-libgcc -Wl,-z,defs -Wl,--exclude-libs,ALL -Wl,--gc-sections
      -Wl,--version-script=${arg_MAP})
  install(TARGETS ${target} EXPORT hocket LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

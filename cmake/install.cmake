# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` lays down beside the targets: headers, hocket.pc, the CMake package.

if(NOT TARGET hocket_shared)
  return()
endif()
include(CMakePackageConfigHelpers)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/hocket DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

file(RELATIVE_PATH hocket_prefix
    /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)  # from hocket.pc up to the prefix, wherever that is moved
configure_file(${CMAKE_CURRENT_LIST_DIR}/hocket.pc.in ${PROJECT_BINARY_DIR}/hocket.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/hocket.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/hocket)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/hocket-config-version.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/hocket-config-version.cmake DESTINATION ${package})
install(EXPORT hocket NAMESPACE hocket:: FILE hocket-config.cmake DESTINATION ${package})

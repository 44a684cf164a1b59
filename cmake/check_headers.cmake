# SPDX-License-Identifier: Apache-2.0
# Target check_headers: every header of src/ and include/ compiles alone, the public ones also as
# C11. It compiles one file per header that includes nothing else.

file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
     ${PROJECT_SOURCE_DIR}/src/*.h ${PROJECT_SOURCE_DIR}/include/*.h)
set(sources)
foreach(header IN LISTS headers)
  string(REGEX REPLACE "^(src|include)/" "" path ${header})
  set(languages cc)
  if(header MATCHES "^include/")
    list(APPEND languages c)
  endif()
  foreach(language IN LISTS languages)
    set(source ${PROJECT_BINARY_DIR}/check_headers/${path}.${language})
    file(CONFIGURE OUTPUT ${source} CONTENT "#include \"${path}\"\n" @ONLY)
    list(APPEND sources ${source})
  endforeach()
endforeach()

if(sources)
  find_package(GTest REQUIRED)
  add_library(check_headers OBJECT EXCLUDE_FROM_ALL ${sources})
  target_link_libraries(check_headers PRIVATE hocket_flags GTest::gtest)
  target_compile_options(check_headers PRIVATE
      $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>
      $<$<COMPILE_LANGUAGE:C>:-pedantic>)
endif()

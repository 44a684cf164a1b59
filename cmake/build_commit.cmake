# SPDX-License-Identifier: Apache-2.0
# Writes the source that says which commit is built; leaves it alone when nothing changed.
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT commit)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#include \"tools/hocket/report.h\"
const char* hocket::tools::build_commit() { return \"${commit}\"; }
" @ONLY)

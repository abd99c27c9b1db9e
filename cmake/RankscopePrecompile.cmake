# What nearly every file of a target includes is parsed once, not in each of them, and not once for each target either: all
# targets of a kind share what was parsed, since they are compiled with the same flags (GCC accepts another level of -O).
option(RANKSCOPE_PRECOMPILE "Parse common headers once; without it GCC warns of array bounds and string overflows, too" ON)
set(rankscope_headers_base <algorithm> <array> <charconv> <cmath> <cstdint> <filesystem> <functional> <map> <memory> <numeric>
  <optional> <set> <span> <string> <string_view> <tuple> <utility> <vector> <rankscope/core/format.h> <rankscope/core/result.h>)
set(rankscope_headers_model <rankscope/core/model/run_parts.h>)
if(RANKSCOPE_UNITY AND NOT RANKSCOPE_UNITY_BYTES) # where units are small, a change of a section is to rebuild only what shows it
  list(APPEND rankscope_headers_model <rankscope/core/model/run.h> <rankscope/analyzer/report.h>)
endif()
set(rankscope_headers_tests <gmock/gmock.h> <gtest/gtest.h>)

# rankscope_precompile(<target> [MODEL] [TESTS]): MODEL for those that may see the analyzer, TESTS for tests.
function(rankscope_precompile target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "MODEL;TESTS" "" "")
  if(NOT RANKSCOPE_PRECOMPILE)
    return()
  endif()
  set(headers ${rankscope_headers_base})
  set(owner rankscope_precompiled)
  foreach(kind model tests)
    string(TOUPPER ${kind} option)
    if(arg_${option})
      list(APPEND headers ${rankscope_headers_${kind}})
      string(APPEND owner _${kind})
    endif()
  endforeach()
  if(NOT TARGET ${owner})
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/precompiled/empty.cpp CONTENT "")
    add_library(${owner} OBJECT ${PROJECT_BINARY_DIR}/precompiled/empty.cpp)
    set_target_properties(${owner} PROPERTIES EXPORT_COMPILE_COMMANDS OFF AUTOMOC OFF UNITY_BUILD OFF)
    # ccache preprocesses with the precompiled header that it is to replace, and so cannot see that a header has changed.
    set_target_properties(${owner} PROPERTIES CXX_COMPILER_LAUNCHER "")
    # Not linked: what is precompiled for a library comes before it.
    target_include_directories(${owner} PRIVATE ${PROJECT_SOURCE_DIR}/core/include ${PROJECT_SOURCE_DIR}/analyzer/include)
    target_link_libraries(${owner} PRIVATE tl::expected rankscope_flags)
    if(arg_TESTS)
      target_link_libraries(${owner} PRIVATE GTest::gmock rankscope_tests_flags)
    endif()
    rankscope_allow_precompiled(${owner})
    target_precompile_headers(${owner} PRIVATE ${headers})
  endif()
  rankscope_allow_precompiled(${target})
  target_precompile_headers(${target} REUSE_FROM ${owner})
endfunction()

# In a precompiled header GCC 12 forgets that std::string is not ours, and warns inside of it, wrongly.
function(rankscope_allow_precompiled target)
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread>)
endfunction()

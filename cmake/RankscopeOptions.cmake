# Options, compiler settings and output folders. What is missing on this machine is switched off and said, never a crash.
option(RANKSCOPE_TESTS "Build the tests" ON)
option(RANKSCOPE_BENCH "Build the benchmarks" ON)
option(RANKSCOPE_WERROR "Treat warnings as errors" ON)
set(RANKSCOPE_TRAINER AUTO CACHE STRING "Reference trainer (needs libtorch): AUTO, ON or OFF")
set_property(CACHE RANKSCOPE_TRAINER PROPERTY STRINGS AUTO ON OFF)
set(RANKSCOPE_GUI AUTO CACHE STRING "Timeline viewer (needs Qt 6): AUTO, ON or OFF")
set_property(CACHE RANKSCOPE_GUI PROPERTY STRINGS AUTO ON OFF)
set(RANKSCOPE_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined or thread")
option(RANKSCOPE_FOR_CLANG "No options that clang-tidy cannot read, which takes GCC's commands (scripts/tidy)" OFF)
option(RANKSCOPE_FUZZ "Build the fuzz targets as libFuzzer programs (clang only; scripts/fuzz)" OFF)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
add_compile_options(-fPIC) # programs, too, so that all targets can share precompiled headers
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

find_program(RANKSCOPE_CCACHE ccache)  # set to nothing: without it
if(RANKSCOPE_CCACHE)
  # Files with a precompiled header are kept only if ccache may judge by its content (ccache's manual, "Precompiled
  # headers").
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${RANKSCOPE_CCACHE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  endif()
endif()

# GCC looks for memory that it can use again whenever its heap has grown, also through all of a precompiled header. Not to look
# below 1 GB saved a fifth of the time of one unit (verdict of the analyzer), for 150 MB more memory.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT RANKSCOPE_FOR_CLANG)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=1000000>)
endif()

# lld takes a quarter of the time of GNU ld, which is what a change of one file in dev waits for.
find_program(RANKSCOPE_LLD ld.lld)
if(RANKSCOPE_LLD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_link_options(-fuse-ld=lld)
endif()
# rankscope_link_portably(<target>): what users take to other machines is linked by GNU ld, whose symbol versions are tested.
function(rankscope_link_portably target)
  if(RANKSCOPE_LLD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_link_options(${target} PRIVATE -fuse-ld=bfd)
  endif()
endfunction()

# Nothing takes a static library elsewhere: it names its objects and copies none, which in dev were 870 MB after each change.
if(CMAKE_AR MATCHES "ar$" AND NOT APPLE)
  set(CMAKE_CXX_ARCHIVE_CREATE "<CMAKE_AR> qcT <TARGET> <LINK_FLAGS> <OBJECTS>")
  set(CMAKE_CXX_ARCHIVE_APPEND "<CMAKE_AR> qT <TARGET> <LINK_FLAGS> <OBJECTS>")
endif()

# Flags that every target of ours is compiled with; linked by rankscope_module and its siblings.
add_library(rankscope_flags INTERFACE)
target_compile_options(rankscope_flags INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion
  -Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual)
# In large units a local may be named like something in a neighbouring file.
target_compile_options(rankscope_flags INTERFACE $<$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wshadow>)
# Tests spend their time in the libraries; optimizing what EXPECT_EQ expands to takes longer than it saves.
add_library(rankscope_tests_flags INTERFACE)
if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo" OR CMAKE_BUILD_TYPE STREQUAL "Release")
  target_compile_options(rankscope_tests_flags INTERFACE -O1)
elseif(CMAKE_BUILD_TYPE STREQUAL "Debug" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(rankscope_tests_flags INTERFACE -g1) # lines, but no variables, of the tests alone
endif()
# Not -Wnull-dereference: at -O2 GCC 12 reports it inside the standard library's own headers.
if(RANKSCOPE_WERROR)
  target_compile_options(rankscope_flags INTERFACE -Werror)
endif()
if(RANKSCOPE_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "rankscope: RANKSCOPE_FUZZ needs clang, not ${CMAKE_CXX_COMPILER_ID}: use scripts/fuzz")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(RANKSCOPE_SANITIZE)
  # Applied to everything, so that no object is left uninstrumented. UBSan findings end the program.
  add_compile_options(-fsanitize=${RANKSCOPE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${RANKSCOPE_SANITIZE})
  # GCC 12 reports false positives from inlined library code when it instruments.
  target_compile_options(rankscope_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()

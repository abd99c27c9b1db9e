# The modules of rankscope and the only arrows allowed between them. scripts/check_layers.py reads this table, too.
# cmake-format: off
set(RANKSCOPE_ALLOWED_core       "")
set(RANKSCOPE_ALLOWED_collectors core)
set(RANKSCOPE_ALLOWED_trainer    core collectors)
set(RANKSCOPE_ALLOWED_analyzer   core)
set(RANKSCOPE_ALLOWED_gui        core analyzer)
set(RANKSCOPE_ALLOWED_cli        core collectors analyzer)
set(RANKSCOPE_ALLOWED_python     core collectors analyzer)
set(RANKSCOPE_ALLOWED_tests      core collectors trainer analyzer gui cli python)
# The subjects of a module (folders of its src and include), from low to high: a file includes what stands in its own
# subject or before it. Files beside the folders may use all of them. scripts/check_layers.py holds this, too.
set(RANKSCOPE_SUBJECTS_core secrets model lod recording recording/format recording/write recording/gather recording/live
    recording/decode recording/thin digest)
set(RANKSCOPE_SUBJECTS_collectors settings spool dumps host nvml cupti pm doctor launch inject/recorder inject/c10d inject/nccl inject/nvtx
    inject/nvml inject/cupti inject)
set(RANKSCOPE_SUBJECTS_analyzer
    words math render clocks steps rules collectives importers/shared importers/nsys importers/kineto importers/flight_recorder importers/nccl_ras importers alignment
    split thinned devices data_loading python_stacks launches kernels fusable copies operators overlap memory predicted flops pipeline bandwidth
    tcp_links replay critical_path what_if blame efficiency stragglers trend hang hta facts verdict quality findings scaling compare
    digest pack tables exports/shared exports/perfetto exports/chrome exports/kineto exports/tensorboard exports/sqlite exports)
set(RANKSCOPE_SUBJECTS_trainer
    layout options data launch plan costs checkpoint engine engine/comm cuda engine/layers engine/tensor engine/models
    engine/step engine/data_parallel engine/worker engine/pipeline engine/devices engine/training modes)
# cmake-format: on

# rankscope_module(<name> [PART <part>] USES <module>... SOURCES <file>... [PRIVATE_LIBRARIES <target>...]
# [PUBLIC_LIBRARIES <target>...]) makes the static library rankscope_<name>, linked as rankscope::<name>. Its public headers
# are <name>/include; nobody else sees <name>/src. An arrow that the table lacks is an error here, and every public header
# must compile alone. A module of several libraries calls it once for each part, in a folder of its own: the library is
# then rankscope_<name>_<part>, and USES may name other parts of the same module.
function(rankscope_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PART" "USES;SOURCES;PRIVATE_LIBRARIES;PUBLIC_LIBRARIES")
  rankscope_check_arrows(${name} ${arg_USES})
  set(id ${name})
  if(arg_PART)
    set(id ${name}_${arg_PART})
  endif()
  add_library(rankscope_${id} STATIC ${arg_SOURCES})
  add_library(rankscope::${id} ALIAS rankscope_${id})
  target_include_directories(rankscope_${id} PRIVATE src)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/include/*.h)
  target_sources(rankscope_${id} PUBLIC FILE_SET HEADERS BASE_DIRS include FILES ${headers})
  list(TRANSFORM arg_USES PREPEND rankscope::)
  target_link_libraries(rankscope_${id}
    PUBLIC ${arg_USES} ${arg_PUBLIC_LIBRARIES} PRIVATE ${arg_PRIVATE_LIBRARIES} rankscope_flags)
  set_target_properties(rankscope_${id} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
  rankscope_large_units(rankscope_${id} ${name} ${arg_USES})
endfunction()

# rankscope_program(<target> MODULE <name> USES <module>... SOURCES <file>... [LIBRARIES <target>...] [OWN_UNITS]); with
# OWN_UNITS the caller sees to large units and precompiled headers himself.
function(rankscope_program target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "OWN_UNITS" "MODULE" "USES;SOURCES;LIBRARIES")
  rankscope_check_arrows(${arg_MODULE} ${arg_USES})
  add_executable(${target} ${arg_SOURCES})
  rankscope_harden(${target})
  list(TRANSFORM arg_USES PREPEND rankscope::)
  target_link_libraries(${target} PRIVATE ${arg_USES} ${arg_LIBRARIES} rankscope_flags)
  if(NOT arg_OWN_UNITS)
    rankscope_large_units(${target} ${arg_MODULE} ${arg_USES})
  endif()
endfunction()

# Large units (unless ALONE) and precompiled headers for a target that uses these modules; with TESTS for one that has tests.
function(rankscope_large_units target)
  set(uses ${ARGN})
  list(TRANSFORM uses REPLACE "^rankscope::" "")
  set(kinds "")
  if("analyzer" IN_LIST uses)
    list(APPEND kinds MODEL)
  endif()
  if("TESTS" IN_LIST uses)
    list(APPEND kinds TESTS)
  endif()
  if(NOT "ALONE" IN_LIST uses)
    rankscope_unity(${target})
  endif()
  rankscope_precompile(${target} ${kinds})
endfunction()

function(rankscope_check_arrows name)
  foreach(used IN LISTS ARGN)
    if(NOT used MATCHES "^${name}(_|$)" AND NOT used IN_LIST RANKSCOPE_ALLOWED_${name})
      message(FATAL_ERROR "rankscope: ${name} may not use ${used}; it may use: ${RANKSCOPE_ALLOWED_${name}} "
                          "(the table is in cmake/RankscopeModule.cmake)")
    endif()
  endforeach()
endfunction()

# What is built and what is left out, as the last lines of a configuration.
set_property(GLOBAL PROPERTY RANKSCOPE_SUMMARY "")
function(rankscope_note text)
  set_property(GLOBAL APPEND PROPERTY RANKSCOPE_SUMMARY "${text}")
endfunction()
function(rankscope_summary)
  get_property(lines GLOBAL PROPERTY RANKSCOPE_SUMMARY)
  foreach(line IN LISTS lines)
    message(STATUS "rankscope: ${line}")
  endforeach()
endfunction()

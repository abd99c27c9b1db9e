# Large units: most of the time of a small file is spent on reading headers and on instantiating the same templates again.
# So the files of a folder are compiled together, up to RANKSCOPE_UNITY_SIZE of them, unless RANKSCOPE_UNITY is off, which
# is quicker to rebuild after a change of one file. Names in the anonymous namespaces of a folder must therefore differ.
set(RANKSCOPE_UNITY ON CACHE STRING "Compile the files of a folder together: ON, OFF (but for what includes libtorch), or NEVER")
set_property(CACHE RANKSCOPE_UNITY PROPERTY STRINGS ON OFF NEVER)
set(RANKSCOPE_UNITY_SIZE 24 CACHE STRING "The most files that are compiled together")

# rankscope_unity(<target> [ALWAYS]) does so with the sources that the target has so far; main.cpp, and what has compiler
# options of its own, stay apart. ALWAYS: also where RANKSCOPE_UNITY is off.
function(rankscope_unity target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "ALWAYS" "" "")
  if(RANKSCOPE_UNITY STREQUAL "NEVER" OR NOT (RANKSCOPE_UNITY OR arg_ALWAYS))
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "(^|/)main\\.cpp$")
  set(folders "")
  foreach(source IN LISTS sources)
    get_filename_component(path ${source} ABSOLUTE)
    get_filename_component(folder ${path} DIRECTORY)
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${folder})
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    list(APPEND folders ${folder})
    list(APPEND of_${folder} ${source})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder IN LISTS folders)
    # As many units as needed, of about the same size.
    list(LENGTH of_${folder} files)
    math(EXPR units "(${files} + ${RANKSCOPE_UNITY_SIZE} - 1) / ${RANKSCOPE_UNITY_SIZE}")
    math(EXPR size "(${files} + ${units} - 1) / ${units}")
    set(index 0)
    foreach(source IN LISTS of_${folder})
      math(EXPR unit "${index} / ${size} + 1")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${unit})
      math(EXPR index "${index} + 1")
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # In such a unit a class of a header may have a member of an anonymous namespace.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()

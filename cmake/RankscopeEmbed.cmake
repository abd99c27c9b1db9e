# rankscope_embed(<target> NAMESPACE <namespace> HEADER <header> FILES <file>...) compiles files into a target:
# <name>.<ext> becomes the function <name>_<ext>() that the header declares, returning {text, SHA-256}. Run as a script
# (cmake -P) it writes one such source file from -Dinput, -Doutput, -Dheader and -Dnamespace.
if(CMAKE_SCRIPT_MODE_FILE)
  file(READ "${input}" hex HEX)
  file(SHA256 "${input}" digest)
  get_filename_component(name "${input}" NAME)
  string(MAKE_C_IDENTIFIER "${name}" function)
  # Bytes, 32 to a line: no limit of string literals, no character that could end one.
  string(REGEX REPLACE "(................................................................)" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
  file(WRITE "${output}" "// Made from ${name} by cmake/RankscopeEmbed.cmake.
#include \"${header}\"

namespace ${namespace} {

static constexpr char bytes[] = {
${bytes}};

Asset ${function}() { return {{bytes, sizeof bytes}, \"${digest}\"}; }

}  // namespace ${namespace}
")
  return()
endif()

function(rankscope_embed target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "NAMESPACE;HEADER" "FILES")
  foreach(file IN LISTS arg_FILES)
    get_filename_component(name ${file} NAME)
    set(source ${CMAKE_CURRENT_BINARY_DIR}/embedded/${name}.cpp)
    add_custom_command(OUTPUT ${source}
      COMMAND ${CMAKE_COMMAND} -Dinput=${CMAKE_CURRENT_SOURCE_DIR}/${file} -Doutput=${source} -Dheader=${arg_HEADER}
              -Dnamespace=${arg_NAMESPACE} -P ${PROJECT_SOURCE_DIR}/cmake/RankscopeEmbed.cmake
      DEPENDS ${file} ${PROJECT_SOURCE_DIR}/cmake/RankscopeEmbed.cmake
      COMMENT "Embedding ${name}" VERBATIM)
    target_sources(${target} PRIVATE ${source})
  endforeach()
endfunction()

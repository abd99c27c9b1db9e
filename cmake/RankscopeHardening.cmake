# What makes errors in our programs harder to exploit: they read files of others. ctest hardening.programs looks at the results.
#
# Optimized builds only: _FORTIFY_SOURCE needs optimization, and sanitizers find more than both.
if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug" AND NOT RANKSCOPE_SANITIZE)
  add_compile_options(-fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
  set(RANKSCOPE_HARDENED_CODE ON)
endif()

# rankscope_harden(<program>): at an address that differs from run to run, with all symbols bound before the first of our
# instructions, so that the tables of addresses can be read-only.
function(rankscope_harden target)
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    target_link_options(${target} PRIVATE -pie -Wl,-z,relro -Wl,-z,now)
  endif()
endfunction()

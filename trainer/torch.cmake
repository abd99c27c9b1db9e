# Finds libtorch without find_package(Torch): that one asks for the CUDA toolkit, and its libtorch.so pulls in CUDA
# libraries that a machine without a GPU does not need (docs/torch.md). Sets RANKSCOPE_TORCH_FOUND and, if so, makes the
# target rankscope_torch, and rankscope_torch_cuda where the CUDA part can be built.
set(RANKSCOPE_TORCH_DIR "" CACHE PATH "Folder of libtorch (contains include/ and lib/); empty: .venv, then python3")

function(rankscope_find_torch)
  set(candidates ${RANKSCOPE_TORCH_DIR})
  if(NOT RANKSCOPE_TORCH_DIR)
    file(GLOB candidates ${CMAKE_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch)
    # find_spec only looks; importing torch would load gigabytes and fail with the lean set of wheels.
    find_program(RANKSCOPE_PYTHON3 python3)
    if(NOT candidates AND RANKSCOPE_PYTHON3)
      execute_process(
        COMMAND ${RANKSCOPE_PYTHON3} -c "import importlib.util as u; s = u.find_spec('torch'); print(s.submodule_search_locations[0] if s else '')"
        OUTPUT_VARIABLE candidates OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    endif()
  endif()
  set(RANKSCOPE_TORCH_FOUND OFF PARENT_SCOPE)
  foreach(folder IN LISTS candidates)
    if(EXISTS ${folder}/lib/libtorch_cpu.so AND EXISTS ${folder}/lib/libc10.so
       AND EXISTS ${folder}/include/torch/csrc/distributed/c10d/ProcessGroupGloo.hpp)
      set(RANKSCOPE_TORCH_FOUND ON PARENT_SCOPE)
      rankscope_torch_target(${folder})
      return()
    endif()
  endforeach()
endfunction()

function(rankscope_torch_target folder)
  set(version "unknown version")
  if(EXISTS ${folder}/version.py)
    file(STRINGS ${folder}/version.py line REGEX "^__version__")
    string(REGEX REPLACE ".*'(.*)'.*" "\\1" version "${line}")
  endif()
  rankscope_note("torch ${version} in ${folder}")
  foreach(library torch_cpu c10)
    add_library(rankscope_${library} SHARED IMPORTED GLOBAL)
    set_target_properties(rankscope_${library} PROPERTIES IMPORTED_LOCATION ${folder}/lib/lib${library}.so)
  endforeach()
  add_library(rankscope_torch INTERFACE)
  target_include_directories(rankscope_torch SYSTEM INTERFACE
    ${folder}/include ${folder}/include/torch/csrc/api/include ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/gloo_shim)
  # Without these two the c10d headers are silently empty.
  target_compile_definitions(rankscope_torch INTERFACE USE_C10D_GLOO USE_DISTRIBUTED RANKSCOPE_TORCH_VERSION="${version}")
  # libtorch is built with it, and some classes of its headers have members without it (at::RecordFunction).
  target_compile_definitions(rankscope_torch INTERFACE NDEBUG)
  # The wheel brings headers of its own fmt release, which come before the system's, but no library of it.
  target_compile_definitions(rankscope_torch INTERFACE FMT_HEADER_ONLY=1)
  # libtorch_cpu needs libraries of NVIDIA wheels, which its own RPATH finds at run time; ld need not.
  target_link_options(rankscope_torch INTERFACE -Wl,--allow-shlib-undefined)
  target_link_libraries(rankscope_torch INTERFACE rankscope_torch_cpu rankscope_c10)
  rankscope_torch_cuda_target(${folder})
endfunction()

# The target rankscope_torch_cuda, for the trainer's CUDA part alone, where libtorch has CUDA and the headers that its own
# headers include are here: those of a toolkit, or of the NVIDIA wheels beside torch. No nvcc is needed.
function(rankscope_torch_cuda_target folder)
  foreach(library torch_cuda c10_cuda)
    if(NOT EXISTS ${folder}/lib/lib${library}.so)
      rankscope_note("trainer: its CUDA part is left out: this torch has no lib${library}.so")
      return()
    endif()
  endforeach()
  set(include_folders "")
  file(GLOB wheels ${folder}/../nvidia/*/include)
  foreach(header cuda_runtime_api.h cublas_v2.h cusparse.h cusolverDn.h nccl.h)
    find_path(found ${header} HINTS ${wheels} /usr/local/cuda/include NO_CACHE)
    if(NOT found)
      rankscope_note("trainer: its CUDA part is left out: ${header} was not found (CUDA toolkit, or the NVIDIA wheels of torch)")
      return()
    endif()
    list(APPEND include_folders ${found})
    unset(found)
  endforeach()
  list(REMOVE_DUPLICATES include_folders)
  foreach(library torch_cuda c10_cuda)
    add_library(rankscope_lib${library} SHARED IMPORTED GLOBAL)
    set_target_properties(rankscope_lib${library} PROPERTIES IMPORTED_LOCATION ${folder}/lib/lib${library}.so)
  endforeach()
  add_library(rankscope_torch_cuda INTERFACE)
  target_include_directories(rankscope_torch_cuda SYSTEM INTERFACE ${include_folders})
  target_compile_definitions(rankscope_torch_cuda INTERFACE USE_C10D_NCCL)
  target_link_libraries(rankscope_torch_cuda INTERFACE rankscope_torch rankscope_libtorch_cuda rankscope_libc10_cuda)
endfunction()

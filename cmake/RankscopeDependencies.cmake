# Third-party libraries; docs/dependencies.md has the list with the reasons.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(tl-expected REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(SQLite3 REQUIRED)
find_path(RANKSCOPE_ZSTD_INCLUDE zstd.h REQUIRED)
find_library(RANKSCOPE_ZSTD_LIBRARY zstd REQUIRED)
add_library(rankscope_zstd INTERFACE)
target_include_directories(rankscope_zstd SYSTEM INTERFACE ${RANKSCOPE_ZSTD_INCLUDE})
target_link_libraries(rankscope_zstd INTERFACE ${RANKSCOPE_ZSTD_LIBRARY})
if(RANKSCOPE_TESTS)
  find_package(GTest REQUIRED)
endif()
if(RANKSCOPE_BENCH)
  find_package(benchmark QUIET)
  if(NOT benchmark_FOUND)
    set(RANKSCOPE_BENCH OFF)
    message(STATUS "rankscope: no Google Benchmark (libbenchmark-dev): benchmarks are not built")
  endif()
endif()

# NVTX is header-only; without the CUDA toolkit the PyPI package nvidia-nvtx carries the same headers.
find_path(RANKSCOPE_NVTX_INCLUDE nvtx3/nvToolsExt.h
  HINTS ${RANKSCOPE_NVTX_DIR} /usr/local/cuda/include
  PATHS ${CMAKE_SOURCE_DIR}/.venv
  PATH_SUFFIXES include)
if(NOT RANKSCOPE_NVTX_INCLUDE)
  file(GLOB candidates ${CMAKE_SOURCE_DIR}/.venv/lib/python3*/site-packages/nvidia/*/include/nvtx3/nvToolsExt.h
       ${CMAKE_SOURCE_DIR}/.venv/lib/python3*/site-packages/nvidia/nvtx/include/nvtx3/nvToolsExt.h)
  if(candidates)
    list(GET candidates 0 first)
    get_filename_component(folder ${first} DIRECTORY)
    get_filename_component(folder ${folder} DIRECTORY)
    set(RANKSCOPE_NVTX_INCLUDE ${folder} CACHE PATH "Folder that holds nvtx3/" FORCE)
  endif()
endif()

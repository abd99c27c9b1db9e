// The real libnccl of this machine.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace rankscope::collectors::testing {

/// Named by RANKSCOPE_TEST_NCCL, or where the toolkit and the system's packages have it; empty: there is none.
inline std::string nccl_library() {
  if (const char* const named = std::getenv("RANKSCOPE_TEST_NCCL")) return named;
  for (const char* const path : {"/usr/local/cuda/lib64/libnccl.so.2", "/usr/local/cuda/lib/libnccl.so.2",
                                 "/usr/lib/x86_64-linux-gnu/libnccl.so.2"})
    if (std::filesystem::exists(path)) return path;
  return {};
}
inline constexpr const char* no_nccl = "no libnccl.so.2; name one with RANKSCOPE_TEST_NCCL";

}  // namespace rankscope::collectors::testing

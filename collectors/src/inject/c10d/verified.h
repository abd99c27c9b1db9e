// The builds of PyTorch whose collectives the recorder has been verified with.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace rankscope::inject::c10d {

/// What is used of the layouts of a version of PyTorch.
struct Layout {
  std::size_t reduce_root = 0;  ///< offset of ReduceOptions::rootRank; that of the other options is 0
};

/// As the table names it, for what this library was built for.
#if defined(__x86_64__)
inline constexpr std::string_view architecture_here = "x86-64";
#elif defined(__aarch64__)
inline constexpr std::string_view architecture_here = "aarch64";
#else
inline constexpr std::string_view architecture_here = "this architecture";
#endif

/// Of torch.__version__. Only of releases as pytorch.org and PyPI have them, for CPUs and CUDA ("2.11.0+cu130"): builds
/// of vendors and pre-releases may differ from the release of the same number.
[[nodiscard]] std::optional<Layout> layout_of(std::string_view version,
                                              std::string_view architecture = architecture_here);

}  // namespace rankscope::inject::c10d

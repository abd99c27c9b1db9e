// Runs that are compared under the names A and B.
#pragma once

#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankscope/analyzer/compare/compare.h"
#include "rankscope/core/format.h"

namespace rankscope::testing {

inline analyzer::Comparison compare_runs(const Run& a, const Run& b, const analyzer::ReportOptions& options = {}) {
  return analyzer::compare(analyzer::digest(a, options, {"A", "a"}), analyzer::digest(b, options, {"B", "b"}));
}

inline std::vector<std::string> names_of(const std::vector<analyzer::KeyChange>& keys) {
  std::vector<std::string> names;
  for (const analyzer::KeyChange& row : keys) names.push_back(row.key.name);
  return names;
}

/// One GPU: three kernels after each other in each step, with seeded noise.
inline std::string gpu_text(int steps, std::uint64_t seed, std::string_view more = {}) {
  std::mt19937_64 random{seed};
  std::normal_distribution<double> normal(1, 0.01);
  std::string text =
      "@run source=kineto clock=same_host clock_error=1000\n@rank 0 meta.global_batch=32 meta.dtype=f32\n"
      "@lane 0 main kind=thread number=1\n@lane 0 s7 kind=stream number=7 device=0\n";
  text += more;
  std::int64_t now = 0;
  for (int step = 0; step < steps; ++step) {
    const std::int64_t begin = now;
    for (const auto& [name, ms] : {std::pair{"gemm", 6}, std::pair{"softmax", 3}, std::pair{"norm", 1}}) {
      const auto length = static_cast<std::int64_t>(ms * 1e6 * normal(random));
      text += format("0 compute {} {} {} lane=s7 grid=@\"[8,1,1]\" block=@\"[128,1,1]\"\n", now, now + length, name);
      now += length + 1000;
    }
    text += format("0 step {} {} step index={}\n", begin, now, step);
  }
  return text;
}

}  // namespace rankscope::testing

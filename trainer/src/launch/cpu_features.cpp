#include "rankscope/trainer/launch/cpu_features.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <sstream>

namespace rankscope::trainer {
namespace {

constexpr std::array<std::string_view, 3> with_bf16{"avx512_bf16", "amx_bf16", "bf16"};  // the last one on Arm

}  // namespace

std::string cpu_features() {
  std::ifstream file{"/proc/cpuinfo"};
  return {std::istreambuf_iterator<char>{file}, {}};
}

bool computes_bf16(std::string_view features) {
  std::istringstream words{std::string{features}};
  return std::any_of(std::istream_iterator<std::string>{words}, {},
                     [](const std::string& word) { return std::ranges::find(with_bf16, word) != with_bf16.end(); });
}

}  // namespace rankscope::trainer

#include "rankscope/trainer/layout/stage_split.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "rankscope/core/format.h"
#include "rankscope/core/numbers.h"

namespace rankscope::trainer {
namespace {

Result<std::vector<std::size_t>> numbers_of(const std::string& split) {
  std::vector<std::size_t> numbers;
  std::string_view rest = split;
  while (true) {
    const auto number = take_number<std::size_t>(rest, {.least = 1});
    if (!number || (!rest.empty() && rest.front() != ',')) {
      return fail(ErrorKind::usage,
                  format("--split {}: must be the number of blocks in each part, such as 2,1,3", split));
    }
    numbers.push_back(*number);
    if (rest.empty()) return numbers;
    rest.remove_prefix(1);
  }
}

}  // namespace

std::vector<std::size_t> balanced_split(std::span<const double> costs, std::size_t stages) {
  RS_CHECK(stages >= 1 && costs.size() >= stages);
  const std::size_t blocks = costs.size();
  std::vector<double> sum(blocks + 1, 0.0);
  std::partial_sum(costs.begin(), costs.end(), sum.begin() + 1);
  // least[s][b]: cost of the costliest of s stages made of the first b blocks; cut[s][b]: where the last of them
  // begins.
  const double never = std::numeric_limits<double>::infinity();
  std::vector<std::vector<double>> least(stages + 1, std::vector<double>(blocks + 1, never));
  std::vector<std::vector<std::size_t>> cut(stages + 1, std::vector<std::size_t>(blocks + 1, 0));
  least[0][0] = 0;
  for (std::size_t stage = 1; stage <= stages; ++stage)
    for (std::size_t end = stage; end <= blocks; ++end)
      for (std::size_t begin = stage - 1; begin < end; ++begin) {
        const double cost = std::max(least[stage - 1][begin], sum[end] - sum[begin]);
        if (cost >= least[stage][end]) continue;
        least[stage][end] = cost;
        cut[stage][end] = begin;
      }
  std::vector<std::size_t> sizes(stages);
  for (std::size_t stage = stages, end = blocks; stage > 0; --stage) {
    sizes[stage - 1] = end - cut[stage][end];
    end = cut[stage][end];
  }
  return sizes;
}

Result<std::vector<std::size_t>> split_blocks(const std::string& split, std::span<const double> costs,
                                              std::size_t parts, const SplitWords& words) {
  if (costs.size() < parts) {
    return fail(ErrorKind::usage,
                format("{} {} cannot share the {} of the model {}; use fewer {}, or a model with more blocks (gpt and "
                       "mlp: more --layers)",
                       parts, words.parts, counted(costs.size(), "block"), words.model, words.fewer));
  }
  if (split.empty()) return balanced_split(costs, parts);
  RS_TRY(const auto sizes, numbers_of(split));
  if (sizes.size() != parts) {
    return fail(ErrorKind::usage, format("--split {}: it has {}, but the number of {} is {}", split,
                                         counted(sizes.size(), "part"), words.parts, parts));
  }
  std::size_t total = 0;
  for (const std::size_t size : sizes) total += std::min(size, costs.size() + 1);  // no sum of damage overflows
  if (total != costs.size()) {
    return fail(ErrorKind::usage, format("--split {}: its parts do not add up to the {} of the model {}", split,
                                         counted(costs.size(), "block"), words.model));
  }
  return sizes;
}

}  // namespace rankscope::trainer

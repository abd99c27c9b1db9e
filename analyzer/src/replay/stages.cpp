#include "replay/stages.h"

#include <charconv>

namespace rankscope::analyzer::replay {
namespace {

std::int64_t number_in(std::string_view text) {
  std::int64_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && number >= 0 ? number : -1;
}

}  // namespace

std::vector<std::int64_t> stages_of(const Graph& graph) {
  std::vector<std::int64_t> stages;
  for (const RankId rank : graph.ranks) {
    const Process& process = graph.run->process_of(rank);
    std::int64_t stage = number_in(graph.run->metadata(process, "stage"));
    if (stage < 0) stage = number_in(graph.run->metadata(process, "pp_rank"));
    if (stage < 0) return {};
    stages.push_back(stage);
  }
  return stages;
}

}  // namespace rankscope::analyzer::replay

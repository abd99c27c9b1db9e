#include <algorithm>
#include <nlohmann/json.hpp>

#include "python_stacks/parts.h"

namespace rankscope::analyzer {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::size_t most_lines = 20;  // of a rank: the rest is short

Json line_json(const RankCode& code, const CodeLine& line) {
  return {{"function", line.function},
          {"file", line.file},
          {"line", line.line},
          {"phase", name_of(line.phase)},
          {"ns_per_step", code.per_step(line.ns)},
          {"samples", line.samples}};
}

Json rank_json(const RankCode& code) {
  Json out{{"rank", code.rank.value},
           {"steps", code.steps},
           {"samples", code.samples},
           {"garbage_collection_ns_per_step", code.per_step(code.pauses_ns)},
           {"garbage_collection_pauses", code.pauses},
           {"lines", Json::array()},
           {"lines_left_out", code.lines.size() - std::min(code.lines.size(), most_lines)}};
  for (std::size_t i = 0; i < std::min(code.lines.size(), most_lines); ++i)
    out["lines"].push_back(line_json(code, code.lines[i]));
  return out;
}

}  // namespace

Json python_stacks_json(const PythonStacksSection& section) {
  Json out{{"ranks", Json::array()}};
  for (const RankCode& code : section.ranks) out["ranks"].push_back(rank_json(code));
  return out;
}

}  // namespace rankscope::analyzer

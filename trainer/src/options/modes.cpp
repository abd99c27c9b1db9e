#include "rankscope/trainer/options/modes.h"

#include <algorithm>
#include <vector>

#include "rankscope/core/format.h"
#include "rankscope/trainer/options/options.h"

namespace rankscope::trainer {

Result<const ModeTraits*> find_mode(std::string_view name) {
  const auto* const mode = std::ranges::find(all_modes, name, &ModeTraits::name);
  if (mode != all_modes.end()) return mode;
  return fail(ErrorKind::usage, format("--parallel {}: no such mode; choose from: {}", name, mode_summaries()));
}

const ModeTraits& mode_named(std::string_view name) {
  const auto mode = find_mode(name);
  RS_CHECK(mode.has_value());
  return **mode;
}

std::string modes_that_take(ModeOption option) {
  std::vector<std::string_view> names;
  for (const ModeTraits& mode : all_modes)
    if (mode.takes.contain(option)) names.push_back(mode.name);
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += format("{}{}", i == 0 ? "" : i + 1 == names.size() ? " and " : ", ", names[i]);
  return text;
}

std::string mode_summaries() {
  std::string text;
  for (const ModeTraits& mode : all_modes)
    text += format("{}{} ({})", text.empty() ? "" : ", ", mode.name, mode.summary);
  return text;
}

std::string mode_lines() {
  std::string text;
  for (const ModeTraits& mode : all_modes)
    text += format("{}\t{}\t{}\t{}\n", mode.name, mode.runs_on_one_rank() ? "one" : "any", name_of(mode.model),
                   mode.summary);
  return text;
}

}  // namespace rankscope::trainer

// The parallel modes that exist.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "rankscope/core/result.h"
#include "rankscope/trainer/launch/placement.h"
#include "rankscope/trainer/options/options.h"

namespace rankscope::trainer {

enum class ModeRanks : std::uint8_t { one, any };

/// One way to share the work. `run` trains as one rank and returns the exit status.
struct Mode {
  std::string_view id;
  std::string_view summary;
  ModeRanks ranks;
  Result<int> (*run)(const TrainOptions&, const Placement&);
};

[[nodiscard]] std::span<const Mode> all_modes();
/// The mode of that name, if it fits `world_size` ranks; else a sentence that names what exists.
[[nodiscard]] Result<Mode> find_mode(const std::string& id, int world_size);
/// "ddp: ..., single: ..." for --help.
[[nodiscard]] std::string list_modes();

}  // namespace rankscope::trainer

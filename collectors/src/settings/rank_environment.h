// Which rank a process is, told by the variables of its launcher.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace rankscope::collectors {

/// -1 = not told.
struct RankEnvironment {
  std::int32_t rank = -1;
  std::int32_t world_size = -1;
  std::int32_t local_rank = -1;
  std::int32_t local_world_size = -1;
  std::string source{};   ///< variable that told the rank, e.g. "RANK"
  std::string problem{};  ///< what contradicts itself; empty = nothing
  bool operator==(const RankEnvironment&) const = default;
};

/// Value of an environment variable, or null.
using Lookup = std::function<const char*(const char* name)>;

/// What is asked: the variable the user named (`--rank-env`, empty: none), and the command line of the process, since
/// the agent of torchrun, accelerate or deepspeed stands in a Slurm or MPI task without being a rank itself.
struct RankQuestion {
  std::string rank_env{};
  std::string command_line{};
};

/// In order: --rank-env, torchrun (RANK), Slurm steps (SLURM_PROCID), Open MPI, PMI.
[[nodiscard]] RankEnvironment find_rank(const Lookup& lookup, const RankQuestion& question = {});

/// True for the variables by which launchers tell a process its rank, among them `rank_env` (empty: none).
[[nodiscard]] bool tells_rank(std::string_view variable, std::string_view rank_env = {});

/// True for launchers that start ranks themselves.
[[nodiscard]] bool is_launch_agent(std::string_view command_line);

/// The n-th of Slurm's "2(x3),1" (2, 2, 2, 1), or -1.
[[nodiscard]] std::int32_t tasks_on_node(std::string_view tasks_per_node, std::int32_t node);

}  // namespace rankscope::collectors

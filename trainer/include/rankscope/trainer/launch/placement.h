// Which rank this process is, as torchrun, Slurm, Open MPI, PMI or our own launcher say it in the environment.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/core/result.h"

namespace rankscope::trainer {

/// Who serves the store at which the ranks meet.
enum class StoreServer : std::uint8_t { rank_zero, agent };

/// A rank's place among the others.
struct Placement {
  int rank = 0;
  int world_size = 1;
  int local_rank = 0;
  int local_world_size = 1;
  int node = 0;
  std::string source{};  ///< "torchrun", "Slurm", ...
  std::string master_address = "127.0.0.1";
  int master_port = 0;
  StoreServer server = StoreServer::rank_zero;
  int restarts = 0;               ///< times that a launcher has started all ranks again
  std::string attempt{};          ///< prefix of all keys, equal on all ranks of one attempt
  std::optional<int> store_fd{};  ///< listening socket inherited from our launcher
  std::optional<int> gpu{};       ///< first of its GPUs, once that is decided; none: it trains on the CPU
  bool shares_gpu = false;        ///< other ranks may have the same one
  bool operator==(const Placement&) const = default;
};

/// Returns the value of an environment variable, or nothing.
using Environment = std::function<std::optional<std::string>(std::string_view name)>;
[[nodiscard]] std::optional<std::string> process_environment(std::string_view name);

/// The placement that a launcher has set; nothing where there is none (then we launch ourselves). Order of precedence:
/// RANK + WORLD_SIZE, Slurm step, Open MPI, PMI.
[[nodiscard]] Result<std::optional<Placement>> placement_from(const Environment& environment);

/// Expands a Slurm node list: `n[01-03,7],gpu-a` is n01 n02 n03 n7 gpu-a.
[[nodiscard]] Result<std::vector<std::string>> expand_nodelist(std::string_view list);

/// Expands Slurm task counts: `2(x3),1` is 2 2 2 1.
[[nodiscard]] Result<std::vector<int>> expand_task_counts(std::string_view counts);

}  // namespace rankscope::trainer

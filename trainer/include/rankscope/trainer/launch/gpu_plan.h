// Which GPU a rank trains on, and when it trains on the CPU after all.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rankscope/core/result.h"
#include "rankscope/trainer/launch/placement.h"
#include "rankscope/trainer/options/options.h"

namespace rankscope::trainer {

/// What NVIDIA's driver says of this machine.
struct GpuDriver {
  int devices = 0;        ///< that this process may use
  std::string problem{};  ///< why a GPU that is here cannot be used
};

/// Loads the driver's library, if there is one, and asks it. CUDA_VISIBLE_DEVICES counts.
[[nodiscard]] GpuDriver find_gpus();

/// Where a rank computes.
struct GpuChoice {
  std::optional<int> first{};  ///< of the GPUs of the rank, as the driver counts them; none: the CPU
  std::string reason{};        ///< why it is the CPU although a GPU is here
};

/// As many GPUs for each rank of a host as its mode has devices, those of rank 0 first. Where GPUs are asked for and
/// cannot be had: an error of kind usage.
[[nodiscard]] Result<GpuChoice> choose_gpu(const TrainOptions& options, const Placement& place,
                                           const GpuDriver& driver);

using EnvironmentVariable = std::pair<std::string, std::string>;

/// What CUDA and c10d read when they start; what the user has set stays. Groups have a stream each, which must not wait
/// for one another because they share a hardware queue, and a lost rank is reported by an exception, not by an abort.
[[nodiscard]] std::vector<EnvironmentVariable> gpu_environment();

/// What makes NCCL take each rank for a host of its own: it refuses ranks of one host on one GPU.
/// They then talk through sockets, so that times say nothing about a network.
[[nodiscard]] std::vector<EnvironmentVariable> sharing_environment(int rank);

/// Where one rank trains.
struct RankDevice {
  int rank = 0;
  std::string host{};
  std::string device{};    ///< UUID of its first GPU, or "cpu"
  bool may_share = false;  ///< its GPU with others
};
/// What cannot work, as a sentence, "" where all is well: ranks on CPUs and GPUs, or two of them on one GPU.
[[nodiscard]] std::string device_conflict(std::span<const RankDevice> ranks);

}  // namespace rankscope::trainer

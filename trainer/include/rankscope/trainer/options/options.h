// Everything the command line of the trainer says.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rankscope/core/result.h"
#include "rankscope/trainer/options/fault.h"
#include "rankscope/trainer/options/option_groups.h"

namespace rankscope::trainer {

struct TrainOptions {
  std::string mode = "ddp";
  std::int64_t steps = 0;  ///< 0: what the epochs say, else 20
  std::int64_t epochs = 0;
  std::int64_t global_batch = 0;
  std::int64_t batch_per_device = 0;
  int accumulate = 1;
  std::uint64_t seed = 1;
  int threads = 1;
  int devices = 0;  ///< of each process; 0: two where the mode has several
  DataType dtype = DataType::f32;
  std::int64_t log_every = 10;
  std::chrono::seconds timeout{30};
  DeviceOptions device;
  ModelOptions model;
  DataOptions data;
  OptimizerOptions optimizer;
  DdpOptions ddp;
  PipelineOptions pipeline;
  TileOptions tile;
  MeshOptions mesh;
  CheckpointOptions checkpoints;
  ValidationOptions validation;
  std::int64_t check_replicas = 0;  ///< steps between two comparisons of what ranks should have alike; 0: none
  bool sync_batch_norm = false;
  LaunchOptions launch;
  PaceOptions pace;
  std::vector<Fault> faults;
  std::string dump_gradients;
};

/// What main does next: train, say what training would need (--explain), or print `text` and end with 0 (--help,
/// --version).
struct CommandLine {
  TrainOptions options;
  std::optional<std::string> text;
  bool explains = false;
};

/// `modes` is the list of parallel modes for --help. A wrong option is an error of kind usage.
[[nodiscard]] Result<CommandLine> parse_command_line(int argc, const char* const* argv, const std::string& modes);

/// Batch sizes after --global-batch or --batch-per-device have been divided over the devices.
struct BatchSizes {
  std::int64_t global = 0;
  std::int64_t per_device = 0;  ///< of one micro-step
};
/// `usual`: samples per device where neither option is given.
[[nodiscard]] Result<BatchSizes> batch_sizes(const TrainOptions& options, int devices, std::int64_t usual);

/// Whether it works on images with rows and columns from its first layer to its head.
[[nodiscard]] bool is_convolutional(ModelKind kind);
/// Modes in which every rank has some stages of the model.
[[nodiscard]] bool is_pipeline(const std::string& mode);
/// Modes in which every rank has a part of each layer.
[[nodiscard]] bool is_tensor_parallel(const std::string& mode);

/// Of "zero1" to "zero3"; none of other modes.
[[nodiscard]] ZeroStage zero_stage(const std::string& mode);
[[nodiscard]] std::string name_of(ModelKind kind);
[[nodiscard]] std::string name_of(DataType type);

}  // namespace rankscope::trainer

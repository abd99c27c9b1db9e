// Everything the command line of the trainer says.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rankscope/core/result.h"
#include "rankscope/trainer/options/fault.h"
#include "rankscope/trainer/options/modes.h"
#include "rankscope/trainer/options/option_groups.h"

namespace rankscope::trainer {

/// The command line of the trainer, read but not checked against the machine (plan_run does that).
struct TrainOptions {
  const ModeTraits* mode = &mode_named("ddp");
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
/// --version, --list-modes).
struct CommandLine {
  TrainOptions options;
  std::optional<std::string> text;
  bool explains = false;
};

/// A wrong option is an error of kind usage.
[[nodiscard]] Result<CommandLine> parse_command_line(int argc, const char* const* argv);

/// Batch sizes after --global-batch or --batch-per-device have been divided over the devices.
struct BatchSizes {
  std::int64_t global = 0;
  std::int64_t per_device = 0;  ///< of one micro-step
};
/// `usual`: samples per device where neither option is given.
[[nodiscard]] Result<BatchSizes> batch_sizes(const TrainOptions& options, int devices, std::int64_t usual);

/// Whether it works on images with rows and columns from its first layer to its head.
[[nodiscard]] bool is_convolutional(ModelKind kind);
/// "cnn, resnet18, ...".
[[nodiscard]] std::string convolutional_models();

/// Refuses options that contradict each other, or that the mode or the model has no use for: nothing that was asked for
/// is left undone in silence.
[[nodiscard]] Result<void> check_together(const TrainOptions& options);

/// What follows from the number of ranks: refuses a mode of one process on several, and gives a gpt whose heads nobody
/// has chosen at least one for each rank that shares its layers.
[[nodiscard]] Result<void> fit_to_ranks(TrainOptions& options, int world_size);

/// Whether ranks that share layers share the sequence, too.
[[nodiscard]] bool splits_sequence(const TrainOptions& options);

[[nodiscard]] std::string name_of(ModelKind kind);
[[nodiscard]] std::string name_of(DataType type);

}  // namespace rankscope::trainer

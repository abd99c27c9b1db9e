// What options say of one subject each; 0 and empty texts stand for what was not given.
#pragma once

#include <cstdint>
#include <string>

#include "rankscope/trainer/layout/mesh.h"
#include "rankscope/trainer/options/learning_rate.h"
#include "rankscope/trainer/options/sequence_lengths.h"

namespace rankscope::trainer {

/// The order is that of choices::models, which names them.
enum class ModelKind : std::uint8_t { mlp, gpt, cnn, resnet18, resnet50, resnet152, wide_resnet, efficientnet };
/// The default sizes of a model: small enough to train on a few cores, or as it is used.
enum class Scale : std::uint8_t { tiny, full };
/// It decides how much state there is for each parameter.
enum class OptimizerKind : std::uint8_t { sgd, adamw };
/// Of parameters and activations, except where mixed precision keeps them apart.
enum class DataType : std::uint8_t {
  f32,
  f64,
  bf16,  ///< mixed precision: forwards compute in bf16, parameters and their gradients are f32
};
/// The trainer's own reducer, or that of PyTorch (c10d), to compare them.
enum class DdpImplementation : std::uint8_t { own, c10d };
/// `automatic`: GPUs where all ranks can have them, else the CPU.
enum class DeviceWish : std::uint8_t { automatic, cpu, cuda };
/// Whether blocks take a given time instead of what the machine makes of them.
enum class PaceMode : std::uint8_t { automatic, off, fixed };

/// Which model, and how large.
struct ModelOptions {
  ModelKind kind = ModelKind::mlp;
  Scale scale = Scale::tiny;
  std::int64_t layers = 0;  ///< 0: what the scale says; so for the next three
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t sequence = 0;
  bool unused_head = false;  ///< an extra head that odd steps leave out of the loss; for --find-unused
};

/// Where ranks compute.
struct DeviceOptions {
  DeviceWish wish = DeviceWish::automatic;
  bool share_gpu = false;  ///< ranks may have the same GPU, for tests
};

/// Where samples come from, and how they are loaded.
struct DataOptions {
  std::string folder;   ///< empty: generated data
  std::string dataset;  ///< empty: what the folder holds
  std::int64_t samples = 4096;
  SequenceLengths lengths{};  ///< of samples of tokens
  int workers = 1;
};

/// How parameters are updated.
struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::sgd;
  double learning_rate = 0;  ///< 0: 0.05 for sgd, 0.001 for adamw
  double momentum = 0.9;
  double weight_decay = 0;
  RatePlan rate;
};

/// How copies of a model keep their gradients equal.
struct DdpOptions {
  DdpImplementation implementation = DdpImplementation::own;
  double bucket_mb = 0;  ///< 0: 25, or 0.5 for tiny models so that they, too, have several buckets
  bool find_unused = false;
  bool broadcast_buffers = true;
  bool operator==(const DdpOptions&) const = default;
};

/// How a pipeline divides model and batch; only modes with stages read them.
struct PipelineOptions {
  std::string schedule;            ///< a name or the path of a CSV file; empty: 1f1b
  std::int32_t micro_batches = 0;  ///< 0: two per rank
  std::int32_t chunks = 0;         ///< stages of each rank; 0: 2 where the schedule has several
  std::string split;               ///< blocks of each stage, "2,1,3"; empty: balanced
  std::string write_schedule;      ///< file to write the schedule to
  bool operator==(const PipelineOptions&) const = default;
};

/// How the mode tile cuts images.
struct TileOptions {
  std::string grid;            ///< rows x columns, "2x2"; empty: a row for each rank
  bool exchange_halos = true;  ///< false: borders of tiles are filled like those of images
  bool operator==(const TileOptions&) const = default;
};

/// How the mode 3d arranges its ranks.
struct MeshOptions {
  MeshShape shape{.data = 0, .tensor = 0, .pipeline = 0};  ///< 0: not given
  SequenceParallel sequence = SequenceParallel::no;
  bool zero1 = false;  ///< the optimizer's state in shards over the copies
  bool operator==(const MeshOptions&) const = default;
};

/// Whether a run begins where an earlier one was saved.
enum class Resume : std::uint8_t {
  no,
  yes,       ///< from the latest checkpoint
  if_saved,  ///< where there is one
};

/// When and where a run is saved.
struct CheckpointOptions {
  std::string folder;      ///< empty: nothing is saved
  std::int64_t every = 0;  ///< steps between two checkpoints; 0: at the end only
  int keep = 2;
  Resume resume = Resume::no;
};

/// When the loss is measured on samples that are not trained on.
struct ValidationOptions {
  std::int64_t every = 0;    ///< steps between two passes, one of which follows the last step; 0: none
  std::int64_t samples = 0;  ///< of a pass; 0: 512, or all there are if fewer
  bool operator==(const ValidationOptions&) const = default;
};

/// How many processes are started, and how they find each other.
struct LaunchOptions {
  int ranks = 0;  ///< per node; 0: what the launcher says, else 1
  int nodes = 1;
  int node_rank = 0;
  std::string master_address = "127.0.0.1";
  int master_port = 0;  ///< 0: a free one
  std::string log_folder;
  int restarts = 0;        ///< of all ranks after one was lost
  bool bind_cpus = false;  ///< each rank to cores of its own
};

/// How long a step is made to take.
struct PaceOptions {
  PaceMode mode = PaceMode::automatic;
  bool given = false;  ///< automatic by default paces only where ranks outnumber cores
  double milliseconds = 0;
};

}  // namespace rankscope::trainer

// What a parallel mode asks of its ranks, by arithmetic: memory for parameters and all that is as large as they are,
// and bytes that a rank gives to others in a step. Activations are not part of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rankscope/trainer/layout/tile_plan.h"
#include "rankscope/trainer/options/options.h"
#include "rankscope/trainer/plan/run_plan.h"

namespace rankscope::trainer {

/// A parameter as one rank has it, which may be a part of the model's.
struct ParameterSize {
  std::string name{};                 ///< "layer0.qkv.weight"
  std::vector<std::int64_t> shape{};  ///< of what a rank has of it
  bool has_gradient_terms = false;    ///< its gradient is summed over the ranks that share the layer

  [[nodiscard]] std::int64_t elements() const;
};

/// A layer of which each rank of a tensor group has a part (docs/tensor.md).
struct SharedLayer {
  /// Whether ranks have columns of the weight, and so all of the input, or rows, and so all of the output.
  enum class Kind : std::uint8_t { column, row };
  Kind kind = Kind::column;
  std::int64_t elements = 0;         ///< of the whole input of a column, or output of a row, for one sample
  bool input_needs_gradient = true;  ///< samples do not
};

/// A layer of images (docs/tile.md), for one sample and the whole image.
struct ImageLayer {
  Window window{};
  std::int64_t channels = 0;  ///< of its input; so the next two
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  bool input_needs_gradient = true;
};

/// A mean over the image.
struct ImageMeanSize {
  std::int64_t channels = 0;
  bool on_tiles = false;  ///< its gradient is summed, too
};

/// What predictions need to know of one block of the model.
struct BlockSize {
  std::string name{};
  std::vector<ParameterSize> parameters{};  ///< in the order in which the model has them
  std::int64_t buffer_bytes = 0;
  std::int64_t float_buffer_bytes = 0;  ///< of those that come from rank 0 in each step
  std::int64_t output = 0;              ///< elements for one sample, of all ranks that share it
  std::vector<std::int64_t> norms{};    ///< channels of each batch normalization
  std::vector<SharedLayer> shared{};
  std::vector<ImageLayer> windows{};
  std::vector<ImageMeanSize> means{};
};

/// The same of a whole model, so that predictions need no libtorch.
struct ModelSize {
  std::vector<BlockSize> blocks{};    ///< a second head is the last one
  std::vector<std::size_t> split{};   ///< blocks of each stage or device; empty: not spread
  std::int64_t element_bytes = 4;     ///< of a parameter, and of its gradient
  std::int64_t activation_bytes = 4;  ///< of an element that layers give to one another, and of its gradient
  std::int64_t sample_bytes = 0;      ///< of one sample's input
  std::int64_t labels = 1;            ///< of one sample
  bool shares_loss = false;           ///< each rank of a tensor group has a part of the logits
};

/// How long something takes memory.
enum class Held : std::uint8_t {
  always,   ///< also between two steps
  at_most,  ///< at the moment of a step when most is held
};

/// One reason for which a rank needs memory, and the formula that gives the bytes.
struct MemoryCost {
  std::string what{};
  std::int64_t bytes = 0;
  Held held = Held::always;
  std::string formula{};
  bool operator==(const MemoryCost&) const = default;
};

/// Bytes that a rank gives into operations of one kind: of an all-reduce, broadcast or send its tensor, of an
/// all-gather or reduce-scatter the part of one rank, as recordings have it (metrics.md 6).
struct TrafficCost {
  std::string group{};
  std::string op{};
  std::int64_t operations = 0;
  std::int64_t bytes = 0;  ///< of all of them, in a step
  std::string formula{};
  std::int64_t every = 1;  ///< only in each so many steps
  bool operator==(const TrafficCost&) const = default;
};

/// What a rank will hold and send, for ranks that differ in nothing that matters.
struct RankCost {
  int rank = 0;
  std::string has{};  ///< "stages 0 and 3"; empty where all ranks have the same
  std::vector<MemoryCost> memory{};
  std::vector<TrafficCost> traffic{};

  [[nodiscard]] std::int64_t always() const;
  [[nodiscard]] std::int64_t at_most() const;
  /// In a step that does not log losses.
  [[nodiscard]] std::int64_t sent() const;
};

/// What costs_of() computes from; it refers to its parts, which must outlive it.
struct CostQuestion {
  const TrainOptions& options;
  const RunPlan& plan;  ///< of any rank
  int ranks = 1;
  const ModelSize& model;
};

/// One entry per kind of rank: where all are alike only rank 0, of a pipeline the first rank of each place, of tiles
/// all.
[[nodiscard]] std::vector<RankCost> costs_of(const CostQuestion& question);

/// The one with most memory in a step, then most bytes; the lowest of several.
[[nodiscard]] const RankCost& largest(const std::vector<RankCost>& ranks);

/// For people: tables of that rank and, where ranks differ, of all kinds.
[[nodiscard]] std::string cost_text(const CostQuestion& question, const std::vector<RankCost>& ranks);

}  // namespace rankscope::trainer

// What each mode sends in a step: the operations of trainer/src/engine, counted.
#include "costs/parts.h"
#include "rankscope/core/format.h"

namespace rankscope::trainer {
namespace {

constexpr std::int64_t loss_bytes = 3 * 8;  // its sum, right predictions and samples

class TrafficOf {
 public:
  explicit TrafficOf(const RankPart& part)
      : part_(part),
        question_(part.question),
        options_(part.options()),
        mode_(*options_.mode),
        width_(part.element_bytes()),
        activation_(part.activation_bytes()) {}

  std::vector<TrafficCost> all() {
    if (mode_.devices == DeviceUse::replicas) add_replicas();
    if (mode_.devices == DeviceUse::chain) add_copies();
    if (question_.ranks == 1) return std::move(found_);
    if (mode_.averages_whole()) add_buckets();
    if (sends_buffers(question_)) add_buffers();
    if (options_.sync_batch_norm && mode_.work != Work::tiles) add_norms("batch norm");
    if (mode_.work == Work::tiles) add_tiles();
    if (sharers_of(question_) > 1) add_shared_layers();
    if (mode_.has_stages()) add_transfers();
    if (mode_.work == Work::mesh && copies_of(question_) > 1) add_stage_copies();
    add_losses();
    return std::move(found_);
  }

 private:
  /// Lines of one kind become one.
  void add(std::string group, const char* op, std::int64_t operations, std::int64_t bytes, std::string formula) {
    if (operations == 0) return;
    for (TrafficCost& known : found_) {
      if (known.group != group || known.op != op || known.formula != formula) continue;
      known.operations += operations;
      known.bytes += bytes;
      return;
    }
    found_.push_back({std::move(group), op, operations, bytes, std::move(formula)});
  }
  [[nodiscard]] std::int64_t samples() const {
    const std::int64_t all = question_.plan.batch.per_device;
    return question_.plan.pipeline ? all / question_.plan.pipeline->micro_batches : all;
  }
  /// How often the model is run in a step.
  [[nodiscard]] std::int64_t runs() const {
    return question_.plan.pipeline ? question_.plan.pipeline->micro_batches : options_.accumulate;
  }
  [[nodiscard]] std::string of_mesh(const char* name) const {
    if (mode_.work != Work::mesh) return name;
    const Mesh mesh{question_.plan.mesh->shape(), part_.rank};
    const std::string kind = name;
    const int first = (kind == "tp"   ? mesh.tensor_group()
                       : kind == "dp" ? mesh.data_group()
                                      : mesh.pipeline_group())
                          .front();
    return format("{} of {}", name, first);
  }

  void add_buckets() {
    const std::string group{mode_.group};
    for (const auto& blocks : part_.chunks) {
      switch (mode_.zero) {
        case ZeroStage::none: {
          const FlatLayout layout = bucket_layout(blocks, question_, 1);
          const std::int64_t parameters = parameter_bytes(blocks, width_);
          add(group, "allreduce", static_cast<std::int64_t>(layout.units().size()), parameters,
              "gradients, once per step: as large as the parameters");
          if (options_.ddp.find_unused) {
            const auto count = static_cast<std::int64_t>(parameter_sizes(blocks, width_).size());
            add(group, "allreduce", 1, 4 * count, "4 B per parameter tensor, to show whether it was used");
          }
          break;
        }
        case ZeroStage::optimizer:
        case ZeroStage::gradients:
          add_zero_buckets(bucket_layout(blocks, question_, question_.ranks));
          break;
        case ZeroStage::parameters:
          add_zero_units(unit_layout(blocks, question_.ranks));
          break;
      }
    }
  }
  void add_zero_buckets(const FlatLayout& layout) {
    const auto count = static_cast<std::int64_t>(layout.units().size());
    const std::int64_t own = padded_elements(layout) / layout.ranks() * width_;
    const std::int64_t reductions = mode_.zero == ZeroStage::optimizer ? 1 : options_.accumulate;
    add("dp", "reduce_scatter", reductions * count, reductions * own,
        reductions > 1 ? format("1/{} of the gradients, in each of {} micro-steps", layout.ranks(), reductions)
                       : format("1/{} of the gradients", layout.ranks()));
    add("dp", "allgather", count, own, format("1/{} of the parameters, after the update", layout.ranks()));
  }
  void add_zero_units(const FlatLayout& layout) {
    const auto count = static_cast<std::int64_t>(layout.units().size());
    const std::int64_t own = padded_elements(layout) / layout.ranks() * width_;
    const std::string often = options_.accumulate > 1 ? format(", in each of {} micro-steps", options_.accumulate) : "";
    add("dp", "allgather", 2 * options_.accumulate * count, 2 * options_.accumulate * own,
        format("1/{} of the parameters, before forward and again before backward{}", layout.ranks(), often));
    add("dp", "reduce_scatter", options_.accumulate * count, options_.accumulate * own,
        format("1/{} of the gradients{}", layout.ranks(), often));
  }

  void add_buffers() {
    for (const auto& blocks : part_.chunks) {
      std::int64_t bytes = 0;
      for (const auto& block : blocks) bytes += block.float_buffer_bytes;
      if (bytes > 0) add("dp", "broadcast", 1, bytes, "statistics of BatchNorm, from rank 0");
    }
  }

  void add_norms(const char* group) {
    const std::int64_t forwards = mode_.zero == ZeroStage::parameters ? 2 : 1;  // backward computes it again
    for (const auto& blocks : part_.chunks)
      for (const auto& block : blocks)
        for (const std::int64_t channels : block.norms) {
          add(group, "allgather", runs() * forwards, runs() * forwards * (2 * channels + 1) * width_,
              "2c + 1 values of each BatchNorm with c channels, in forward");
          add(group, "allreduce", runs(), runs() * 2 * channels * width_, "2c values of each BatchNorm, in backward");
        }
  }

  void add_tiles() {
    add_norms("tile halo");
    for (const auto& block : part_.chunks.front()) {
      for (const ImageMeanSize& mean : block.means) {
        const std::int64_t often = runs() * (mean.on_tiles ? 2 : 1);
        add("tile halo", "allreduce", often, often * samples() * mean.channels * width_,
            "samples x channels, for each mean over the image");
      }
      if (!options_.tile.exchange_halos) continue;
      for (const ImageLayer& layer : block.windows) add_halos(layer);
    }
  }
  // Rows first, then columns of what has halos of rows by then.
  void add_halos(const ImageLayer& layer) {
    const TileGrid& grid = *question_.plan.tiles;
    const int row = part_.rank / grid.columns;
    const int column = part_.rank % grid.columns;
    const Halo halo = halo_of(layer.window);
    const std::int64_t rows = layer.rows / grid.rows;
    const std::int64_t columns = layer.columns / grid.columns;
    const std::int64_t extended = rows + (grid.rows > 1 ? halo.before + halo.after : 0);
    add_halo(layer, halo, row > 0, row + 1 < grid.rows, columns);
    add_halo(layer, halo, column > 0, column + 1 < grid.columns, extended);
  }
  // To the tile before goes what it needs behind it, and the other way round; in backward the gradients of what came.
  void add_halo(const ImageLayer& layer, const Halo& halo, bool has_before, bool has_after, std::int64_t length) {
    const std::int64_t line = samples() * layer.channels * length * activation_;
    const auto send = [&](std::int64_t lines, const char* formula) {
      if (lines > 0) add("tile halo", "send", runs(), runs() * lines * line, formula);
    };
    constexpr auto forward = "samples x channels x halo, for each layer and neighbour in forward";
    constexpr auto backward = "samples x channels x halo, for the gradients of each layer and neighbour in backward";
    if (has_before) send(halo.after, forward);
    if (has_after) send(halo.before, forward);
    if (!layer.input_needs_gradient) return;
    if (has_before) send(halo.before, backward);
    if (has_after) send(halo.after, backward);
  }

  void add_shared_layers() {
    const std::string group = of_mesh("tp");
    for (std::size_t i = 0; i < part_.chunks.size(); ++i) {
      const auto& blocks = part_.chunks[i];
      for (const auto& block : blocks)
        for (const SharedLayer& layer : block.shared) add_shared_layer(group, layer);
      if (const std::int64_t terms = elements_with_terms(blocks); terms > 0) {
        add(group, "allreduce", 1, terms * width_,
            "gradients of norms, position embeddings and the biases of row-parallel layers, once per step");
      }
      if (question_.model.shares_loss && has_last(i)) {
        add(group, "allreduce", 3 * runs(), 3 * runs() * samples() * question_.model.labels * width_,
            "3 values per label: largest logit, sum of exponentials, logit of the target");
      }
    }
  }
  [[nodiscard]] bool has_last(std::size_t chunk) const {
    return !question_.plan.pipeline || part_.stages[chunk] + 1 == question_.plan.pipeline->stages();
  }
  void add_shared_layer(const std::string& group, const SharedLayer& layer) {
    const std::int64_t whole = runs() * samples() * layer.elements * activation_;
    const bool is_column = layer.kind == SharedLayer::Kind::column;
    if (!splits_sequence(options_)) {
      if (is_column && layer.input_needs_gradient)
        add(group, "allreduce", runs(), whole, "gradient of the input of each column-parallel layer");
      if (!is_column) add(group, "allreduce", runs(), whole, "output of each row-parallel layer");
      return;
    }
    const std::int64_t own = whole / sharers_of(question_);
    if (is_column) {
      add(group, "allgather", 2 * runs(), 2 * own,
          "input of each column-parallel layer for this rank's tokens, in forward and backward");
      if (layer.input_needs_gradient)
        add(group, "reduce_scatter", runs(), own,
            "gradient of each column-parallel layer's input for this rank's tokens");
    } else {
      add(group, "reduce_scatter", runs(), own, "output of each row-parallel layer for this rank's tokens");
      add(group, "allgather", runs(), own, "gradient of each row-parallel layer's output for this rank's tokens");
    }
  }

  /// Ranks that share a block have its whole output each, unless it ends with a layer split by columns, or they share
  /// the sequence.
  [[nodiscard]] std::int64_t parts_of_output(const BlockSize& block) const {
    const bool ends_split = !block.shared.empty() && block.shared.back().kind == SharedLayer::Kind::column;
    return ends_split || splits_sequence(options_) ? sharers_of(question_) : 1;
  }

  void add_transfers() {
    const PipelinePlan& plan = *question_.plan.pipeline;
    const auto rank_of = [&](std::int32_t stage) { return plan.rank_of_stage[static_cast<std::size_t>(stage)]; };
    const auto bytes = [&](const BlockSize& block) {
      return runs() * samples() * block.output / parts_of_output(block) * activation_;
    };
    for (std::size_t i = 0; i < part_.chunks.size(); ++i) {
      const std::int32_t stage = part_.stages[i];
      const std::int32_t own = rank_of(stage);
      if (stage + 1 < plan.stages() && rank_of(stage + 1) != own) {
        add(of_mesh("pp forward"), "send", runs(), bytes(part_.chunks[i].back()),
            "output of a stage, for each micro-batch");
      }
      if (stage > 0 && rank_of(stage - 1) != own) {
        // Blocks of all stages lie behind one another.
        const BlockSize& before = *(part_.chunks[i].data() - 1);
        add(of_mesh("pp backward"), "send", runs(), bytes(before), "gradient of a stage's input, for each micro-batch");
      }
    }
  }

  void add_stage_copies() {
    const int ranks = copies_of(question_);
    for (const auto& blocks : part_.chunks) {
      const FlatLayout layout = bucket_layout(blocks, question_, ranks);
      const auto count = static_cast<std::int64_t>(layout.units().size());
      const std::int64_t bytes = padded_elements(layout) * width_;
      if (!options_.mesh.zero1) {
        add(of_mesh("dp"), "allreduce", count, bytes, "gradients and the padding of their buckets");
        continue;
      }
      add(of_mesh("dp"), "reduce_scatter", count, bytes / ranks, format("1/{} of the gradients", ranks));
      add(of_mesh("dp"), "allgather", count, bytes / ranks, format("1/{} of the parameters, after the update", ranks));
    }
  }

  void add_losses() {
    found_.push_back({std::string{mode_.group}, "allreduce", 1, loss_bytes, "losses", options_.log_every});
  }

  // One process with several devices: copies among them.
  void add_copies() {
    for (std::size_t i = 0; i + 1 < part_.chunks.size(); ++i) {
      const std::int64_t output = samples() * part_.chunks[i].back().output * activation_;
      add("devices", "copy", 2 * runs(), 2 * runs() * output,
          "output of each device except the last, and its gradient");
    }
  }
  void add_replicas() {
    const std::int64_t others = options_.devices - 1;
    const auto& blocks = part_.chunks.front();
    const std::int64_t parameters = parameter_bytes(blocks, width_);
    std::int64_t state = parameters;
    for (const auto& block : blocks) state += block.buffer_bytes;
    const std::int64_t logits = samples() * blocks.back().output * activation_;
    const auto add_each = [&](const char* op, std::int64_t bytes, std::string formula) {
      if (others > 0) add("devices", op, others * runs(), others * runs() * bytes, std::move(formula));
    };
    add_each("broadcast", state, format("{} x parameters and buffers, before each forward", others));
    add_each("scatter", samples() * question_.model.sample_bytes, format("{} x the samples of a device", others));
    add_each("gather", logits, format("{} x the logits of a device", others));
    add_each("scatter", logits, format("{} x the gradients of a device's logits", others));
    add_each("reduce", parameters, format("{} x the gradients, after each backward", others));
  }

  const RankPart& part_;
  const CostQuestion& question_;
  const TrainOptions& options_;
  const ModeTraits& mode_;
  std::int64_t width_;       // of an element of parameters, statistics and losses
  std::int64_t activation_;  // of one of activations
  std::vector<TrafficCost> found_;
};

}  // namespace

std::vector<TrafficCost> traffic_of(const RankPart& part) { return TrafficOf{part}.all(); }

}  // namespace rankscope::trainer

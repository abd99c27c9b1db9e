#include "engine/explain.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/batch_norm.h"
#include "engine/model.h"
#include "engine/progress.h"
#include "engine/sample_feed.h"
#include "engine/spatial_layers.h"
#include "engine/tensor_layers.h"
#include "engine/tiles.h"
#include "rankscope/trainer/costs.h"
#include "rankscope/trainer/pace.h"
#include "rankscope/trainer/run_plan.h"
#include "rankscope/trainer/stage_split.h"

namespace rankscope::trainer {
namespace {

/// Of a group that is only there to be counted: building a model sends nothing.
class NoTransport final : public Transport {
 public:
  void run(Operation&) override { RS_CHECK(!"an operation in --explain"); }
};

Comm uncontacted(int ranks) {
  std::vector<int> members(static_cast<std::size_t>(ranks));
  std::iota(members.begin(), members.end(), 0);
  return Comm{Group{.name = "explained", .members = std::move(members)}, std::make_unique<NoTransport>()};
}

/// A run of the options, as far as one process can know it.
struct Explained {
  const TrainOptions& options;
  const SampleSource& source;
  RunPlan plan;
  int ranks;

  [[nodiscard]] int sharers() const {
    if (plan.mesh) return plan.mesh->shape().tensor;
    return is_tensor_parallel(options.mode) ? ranks : 1;
  }
  [[nodiscard]] SequenceParallel sequence() const {
    return options.mode == "tp+sp" ? SequenceParallel::yes : options.mesh.sequence;
  }
  /// Stages, or devices of a process, over which the blocks are spread; 1 where they are not.
  [[nodiscard]] int parts() const {
    if (plan.pipeline) return plan.pipeline->stages();
    return options.mode == "mp" || options.mode == "ddp+mp" ? options.devices : 1;
  }
  [[nodiscard]] ModelOptions model() const {
    return parts() > 1 || plan.pipeline ? deep_enough(options.model, parts()) : options.model;
  }
};

void add_parameters(BlockSize& size, const Block& block) {
  for (const auto& parameter : block.named_parameters()) {
    size.parameters.push_back({.name = size.name + "." + parameter.key(),
                               .shape = parameter.value().sizes().vec(),
                               .has_gradient_terms = block.gradient_terms().contains(parameter.key())});
  }
  for (const auto& buffer : block.buffers()) {
    const auto bytes = static_cast<std::int64_t>(buffer.nbytes());
    size.buffer_bytes += bytes;
    if (buffer.is_floating_point()) size.float_buffer_bytes += bytes;
  }
}

// Layers that are split: of tokens a layer works on each.
void add_shared_layers(BlockSize& size, const Block& block, std::int64_t tokens, bool takes_samples) {
  for (const auto& module : block.modules()) {
    if (const auto* linear = dynamic_cast<const TensorLinearImpl*>(module.get())) {
      if (linear->share == LinearShare::whole) continue;
      const bool column = linear->share == LinearShare::column;
      size.shared.push_back(
          {.kind = column ? SharedLayer::Kind::column : SharedLayer::Kind::row,
           .elements = tokens * (column ? linear->options.in_features() : linear->options.out_features()),
           .input_needs_gradient = !takes_samples});
    } else if (const auto* embedding = dynamic_cast<const TensorEmbeddingImpl*>(module.get())) {
      size.shared.push_back({.kind = SharedLayer::Kind::row, .elements = tokens * embedding->options.embedding_dim()});
    }
  }
}

// After a forward of the whole model, in which layers of images have seen their inputs.
void add_image_layers(BlockSize& size, const Block& block, bool takes_samples) {
  for (const auto& module : block.modules()) {
    if (const auto* norm = dynamic_cast<const BatchNorm2dImpl*>(module.get())) {
      size.norms.push_back(norm->options.num_features());
    }
    const auto* layer = dynamic_cast<const SpatialLayer*>(module.get());
    if (const auto* mean = dynamic_cast<const ImageMeanImpl*>(module.get())) {
      size.means.push_back({.channels = layer->channels_seen(), .on_tiles = mean->use() == MeanUse::on_tiles});
    } else if (layer != nullptr) {
      size.windows.push_back({.window = layer->window(),
                              .channels = layer->channels_seen(),
                              .rows = layer->rows_seen(),
                              .columns = layer->columns_seen(),
                              .input_needs_gradient = !takes_samples});
      takes_samples = false;  // only the first layer of the model does
    }
  }
}

/// Elements that each block makes of one sample; statistics stay as they are.
std::vector<std::int64_t> outputs_of(Model& model, const at::Tensor& sample) {
  const torch::NoGradGuard no_grad;
  model.eval();
  std::vector<std::int64_t> outputs;
  at::Tensor flowing = sample;
  for (const auto& block : model.blocks()) {
    flowing = block->forward(flowing);
    outputs.push_back(flowing.numel());
  }
  model.train();
  return outputs;
}

Result<std::vector<std::size_t>> split_of(const Explained& run, const Model& model) {
  if (run.parts() == 1 && !run.plan.pipeline) return std::vector<std::size_t>{};
  const bool stages = run.plan.pipeline.has_value();
  return split_blocks(
      run.options.pipeline.split, block_shares(work_of_blocks(model)), static_cast<std::size_t>(run.parts()),
      {name_of(run.options.model.kind), stages ? "stages" : "devices", stages ? "ranks or chunks" : "--devices"});
}

/// Refuses tiles that layers cannot be cut into, as training does.
Result<void> check_tiles(const Explained& run, Model& model, const at::Tensor& sample) {
  if (!run.plan.tiles || run.ranks == 1) return {};
  Comm group = uncontacted(run.ranks);
  return spread_over_tiles(model, sample, std::make_shared<const Tiles>(group, *run.plan.tiles, true));
}

Result<ModelSize> size_of_model(const Explained& run) {
  const TrainOptions& options = run.options;
  Comm group = uncontacted(run.sharers());
  TensorSplit split;
  if (run.sharers() > 1) split = {.comm = &group, .sequence = run.sequence()};
  RS_TRY(const auto whole, build_model(run.model(), run.source.shape(), options.dtype, options.seed));
  std::shared_ptr<Model> own = whole;
  if (split.is_split()) {
    RS_TRY(own, build_model(run.model(), run.source.shape(), options.dtype, options.seed, split));
  }
  const Inputs sample = first_samples(run.source, 1, options.dtype);
  ModelSize size{.element_bytes = static_cast<std::int64_t>(c10::elementSize(torch_type(options.dtype))),
                 .sample_bytes = static_cast<std::int64_t>(sample.data.nbytes()),
                 .labels = sample.labels.numel(),
                 .shares_loss = split.is_split() && options.model.kind == ModelKind::gpt};
  const auto outputs = outputs_of(*whole, sample.data);
  const auto names = own->named_children().keys();
  const std::int64_t tokens = std::max<std::int64_t>(1, run.source.shape().sequence);
  for (std::size_t i = 0; i < own->blocks().size(); ++i) {
    BlockSize& block = size.blocks.emplace_back(BlockSize{.name = names[i], .output = outputs[i]});
    add_parameters(block, *own->blocks()[i]);
    if (split.is_split()) add_shared_layers(block, *own->blocks()[i], tokens, i == 0);
    add_image_layers(block, *whole->blocks()[i], i == 0);
  }
  if (own->has_auxiliary()) add_parameters(size.blocks.emplace_back(BlockSize{.name = "auxiliary"}), *own->auxiliary());
  RS_TRY(size.split, split_of(run, *own));
  RS_TRY_VOID(check_tiles(run, *whole, sample.data));
  return size;
}

/// Of several kinds of rank that of `rank`: of a mesh all with its place in the pipeline are alike.
const RankCost& cost_of(const std::vector<RankCost>& costs, const RunPlan& plan, int rank) {
  const auto is_alike = [&](const RankCost& cost) {
    if (!plan.mesh) return cost.rank == rank;
    const MeshShape& shape = plan.mesh->shape();
    return Mesh{shape, cost.rank}.position().pipeline == Mesh{shape, rank}.position().pipeline;
  };
  const auto found = std::ranges::find_if(costs, is_alike);
  RS_CHECK(found != costs.end() || costs.size() == 1);  // one for all, where all are alike
  return found == costs.end() ? costs.front() : *found;
}

}  // namespace

Result<void> note_predicted(const TrainOptions& options, const SampleSource& source, const RunPlan& plan,
                            const Placement& place) {
  RS_TRY(const ModelSize size,
         size_of_model({.options = options, .source = source, .plan = plan, .ranks = place.world_size}));
  const CostQuestion question{.options = options, .plan = plan, .ranks = place.world_size, .model = size};
  const auto costs = costs_of(question);
  const RankCost& own = cost_of(costs, plan, place.rank);
  note("predicted_held_bytes", std::to_string(own.always()));
  note("predicted_sent_bytes", std::to_string(own.sent()));
  return {};
}

Result<std::string> explain(const TrainOptions& options, int ranks) {
  RS_TRY(const auto source, open_samples(options));
  RS_TRY(const RunPlan plan, plan_run(options, {.world_size = ranks}, source->samples()));
  RS_TRY(const ModelSize size, size_of_model({.options = options, .source = *source, .plan = plan, .ranks = ranks}));
  const CostQuestion question{.options = options, .plan = plan, .ranks = ranks, .model = size};
  return cost_text(question, costs_of(question));
}

}  // namespace rankscope::trainer

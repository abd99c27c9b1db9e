#include "engine/worker/explain.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/layers/batch_norm.h"
#include "engine/layers/precision.h"
#include "engine/models/image_layers.h"
#include "engine/models/model.h"
#include "engine/note.h"
#include "engine/step/progress.h"
#include "engine/step/sample_feed.h"
#include "engine/tensor/spatial_layers.h"
#include "engine/tensor/tensor_layers.h"
#include "engine/tensor/tiles.h"
#include "engine/worker/worker.h"
#include "rankscope/collectors/annotate.h"
#include "rankscope/trainer/costs/costs.h"
#include "rankscope/trainer/layout/stage_split.h"
#include "rankscope/trainer/plan/pace.h"
#include "rankscope/trainer/plan/run_plan.h"

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
    return options.mode->work == Work::layers ? ranks : 1;
  }
  [[nodiscard]] SequenceParallel sequence() const {
    return splits_sequence(options) ? SequenceParallel::yes : SequenceParallel::no;
  }
  /// Stages, or devices of a process, over which the blocks are spread; 1 where they are not.
  [[nodiscard]] int parts() const {
    if (plan.pipeline) return plan.pipeline->stages();
    return options.mode->devices == DeviceUse::chain ? options.devices : 1;
  }
  [[nodiscard]] ModelOptions model() const {
    return parts() > 1 || plan.pipeline ? deep_enough(options.model, parts()) : options.model;
  }
  [[nodiscard]] Result<std::shared_ptr<Model>> build(const TensorSplit& split = {}) const {
    return build_model(model(), source.shape(), options.dtype, options.seed, split);
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

/// Of a rank with `model`, which has done a forward where its layers are not split; `outputs` are those of its blocks.
Result<ModelSize> size_of(const Explained& run, const Model& model, const std::vector<std::int64_t>& outputs) {
  const TrainOptions& options = run.options;
  const bool is_split = run.sharers() > 1;
  const Inputs sample = first_samples(run.source, 1, options.dtype);
  ModelSize size{.element_bytes = static_cast<std::int64_t>(c10::elementSize(torch_type(options.dtype))),
                 .activation_bytes = static_cast<std::int64_t>(c10::elementSize(activation_type(options.dtype))),
                 .sample_bytes = static_cast<std::int64_t>(sample.data.nbytes()),
                 .labels = sample.labels.numel(),
                 .shares_loss = is_split && options.model.kind == ModelKind::gpt};
  const auto names = model.named_children().keys();
  const std::int64_t tokens = std::max<std::int64_t>(1, run.source.shape().sequence);
  for (std::size_t i = 0; i < model.blocks().size(); ++i) {
    const Block& of_model = *model.blocks()[i];
    BlockSize& block = size.blocks.emplace_back(BlockSize{.name = names[i], .output = outputs[i]});
    add_parameters(block, of_model);
    if (is_split) add_shared_layers(block, of_model, tokens, i == 0);
    add_image_layers(block, of_model, i == 0);
  }
  if (model.has_auxiliary())
    add_parameters(size.blocks.emplace_back(BlockSize{.name = "auxiliary"}), *model.auxiliary());
  RS_TRY(size.split, split_of(run, model));
  return size;
}

Result<ModelSize> size_of_new_model(const Explained& run) {
  const at::Tensor sample = first_samples(run.source, 1, run.options.dtype).data;
  RS_TRY(const auto whole, run.build());
  const auto outputs = outputs_of(*whole, sample);
  RS_TRY_VOID(check_tiles(run, *whole, sample));
  if (run.sharers() == 1) return size_of(run, *whole, outputs);
  Comm group = uncontacted(run.sharers());
  RS_TRY(const auto own, run.build({.comm = &group, .sequence = run.sequence()}));
  return size_of(run, *own, outputs);
}

/// Of a rank that has `model` and asks nobody. Split layers cannot run by themselves; what they give is of interest
/// only where there are stages, for which a whole model shows it.
Result<ModelSize> size_of_own(const Explained& run, Model& model) {
  std::vector<std::int64_t> outputs(model.blocks().size());
  if (run.sharers() == 1 || run.parts() > 1) {
    const at::Tensor sample = first_samples(run.source, 1, run.options.dtype).data;
    std::shared_ptr<Model> whole;
    if (run.sharers() > 1) {
      RS_TRY(whole, run.build());
    }
    outputs = outputs_of(whole ? *whole : model, sample);
  }
  return size_of(run, model, outputs);
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

Result<void> note_predicted(const WorkerPlan& run, Model& model) {
  if (annotate::detail::api() == nullptr) return {};
  const int ranks = run.place.world_size;
  RS_TRY(const ModelSize size,
         size_of_own({.options = run.options, .source = run.source, .plan = run.plan, .ranks = ranks}, model));
  const CostQuestion question{.options = run.options, .plan = run.plan, .ranks = ranks, .model = size};
  const auto costs = costs_of(question);
  const RankCost& own = cost_of(costs, run.plan, run.place.rank);
  note("predicted_held_bytes", std::to_string(own.always()));
  note("predicted_sent_bytes", std::to_string(own.sent()));
  return {};
}

Result<std::string> explain(const TrainOptions& options, int ranks) {
  RS_TRY(const auto source, open_samples(options));
  RS_TRY(const RunPlan plan, plan_run(options, {.world_size = ranks}, source->samples()));
  RS_TRY(const ModelSize size,
         size_of_new_model({.options = options, .source = *source, .plan = plan, .ranks = ranks}));
  const CostQuestion question{.options = options, .plan = plan, .ranks = ranks, .model = size};
  return cost_text(question, costs_of(question));
}

}  // namespace rankscope::trainer

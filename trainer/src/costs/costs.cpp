#include "rankscope/trainer/costs/costs.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>

#include "costs/parts.h"
#include "rankscope/core/format.h"
#include "rankscope/trainer/layout/buckets.h"

namespace rankscope::trainer {
namespace {

std::vector<std::span<const BlockSize>> cut(const ModelSize& model) {
  const std::span<const BlockSize> all{model.blocks};
  if (model.split.empty()) return {all};
  std::vector<std::span<const BlockSize>> chunks;
  std::size_t begin = 0;
  for (const std::size_t size : model.split) {
    chunks.push_back(all.subspan(begin, size));
    begin += size;
  }
  RS_CHECK(begin == all.size());
  return chunks;
}

std::string listed(const std::vector<std::int32_t>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const char* const before = i == 0 ? "" : i + 1 == numbers.size() ? " and " : ", ";
    text += format("{}{}", before, numbers[i]);
  }
  return text;
}

RankCost cost_of(const RankPart& part, std::string has) {
  return {.rank = part.rank, .has = std::move(has), .memory = memory_of(part), .traffic = traffic_of(part)};
}

std::vector<RankCost> of_pipeline(const CostQuestion& question) {
  const PipelinePlan& plan = *question.plan.pipeline;
  const auto chunks = cut(question.model);
  std::vector<RankCost> costs;
  for (std::int32_t place = 0; place < static_cast<std::int32_t>(plan.ranks.size()); ++place) {
    const auto& mesh = question.plan.mesh;
    RankPart part{.question = question, .rank = place, .chunks = {}, .stages = plan.stages_of(place)};
    if (mesh) part.rank = mesh->rank_at({.data = 0, .tensor = 0, .pipeline = place});
    for (const std::int32_t stage : part.stages) part.chunks.push_back(chunks[static_cast<std::size_t>(stage)]);
    const char* const name = part.stages.size() == 1 ? "stage" : "stages";
    costs.push_back(cost_of(part, format("{} {}", name, listed(part.stages))));
  }
  return costs;
}

std::vector<RankCost> of_tiles(const CostQuestion& question) {
  const TileGrid& grid = *question.plan.tiles;
  std::vector<RankCost> costs;
  for (int rank = 0; rank < question.ranks; ++rank) {
    costs.push_back(cost_of({.question = question, .rank = rank, .chunks = cut(question.model)},
                            format("tile {}, {}", rank / grid.columns, rank % grid.columns)));
  }
  return costs;
}

}  // namespace

std::int64_t ParameterSize::elements() const {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>{});
}

std::int64_t RankCost::always() const {
  std::int64_t sum = 0;
  for (const MemoryCost& cost : memory)
    if (cost.held == Held::always) sum += cost.bytes;
  return sum;
}

std::int64_t RankCost::at_most() const {
  std::int64_t sum = 0;
  for (const MemoryCost& cost : memory) sum += cost.bytes;
  return sum;
}

std::int64_t RankCost::sent() const {
  std::int64_t sum = 0;
  for (const TrafficCost& cost : traffic)
    if (cost.every == 1) sum += cost.bytes;
  return sum;
}

int copies_of(const CostQuestion& question) {
  if (question.plan.mesh) return question.plan.mesh->shape().data;
  return question.options.mode->work == Work::copies ? question.ranks : 1;
}

int sharers_of(const CostQuestion& question) {
  if (question.plan.mesh) return question.plan.mesh->shape().tensor;
  return question.options.mode->work == Work::layers ? question.ranks : 1;
}

bool sends_buffers(const CostQuestion& question) {
  const TrainOptions& options = question.options;
  return question.ranks > 1 && options.mode->work == Work::copies && options.ddp.broadcast_buffers &&
         !options.sync_batch_norm;
}

std::vector<std::size_t> parameter_sizes(std::span<const BlockSize> blocks, std::int64_t element_bytes) {
  std::vector<std::size_t> sizes;
  for (const auto& block : blocks)
    for (const auto& parameter : block.parameters)
      sizes.push_back(static_cast<std::size_t>(parameter.elements() * element_bytes));
  return sizes;
}

std::int64_t parameter_bytes(std::span<const BlockSize> blocks, std::int64_t element_bytes) {
  const auto sizes = parameter_sizes(blocks, element_bytes);
  return static_cast<std::int64_t>(std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}));
}

std::int64_t elements_with_terms(std::span<const BlockSize> blocks) {
  std::int64_t sum = 0;
  for (const auto& block : blocks)
    for (const auto& parameter : block.parameters)
      if (parameter.has_gradient_terms) sum += parameter.elements();
  return sum;
}

FlatLayout bucket_layout(std::span<const BlockSize> blocks, const CostQuestion& question, int ranks) {
  const auto bytes = parameter_sizes(blocks, question.model.element_bytes);
  std::vector<std::int64_t> elements;
  for (const std::size_t size : bytes)
    elements.push_back(static_cast<std::int64_t>(size) / question.model.element_bytes);
  const BucketCaps caps = bucket_caps(question.options.ddp.bucket_mb, question.options.model.scale == Scale::tiny);
  return FlatLayout{elements, assign_buckets(bytes, reverse_order(bytes.size()), caps), ranks};
}

FlatLayout unit_layout(std::span<const BlockSize> blocks, int ranks) {
  std::vector<std::int64_t> elements;
  std::vector<std::vector<std::size_t>> units;
  for (const auto& block : blocks) {
    auto& unit = units.emplace_back();
    for (const auto& parameter : block.parameters) {
      unit.push_back(elements.size());
      elements.push_back(parameter.elements());
    }
  }
  return FlatLayout{elements, std::move(units), ranks};
}

std::int64_t padded_elements(const FlatLayout& layout) {
  std::int64_t sum = 0;
  for (const FlatUnit& unit : layout.units()) sum += unit.padded;
  return sum;
}

std::vector<RankCost> costs_of(const CostQuestion& question) {
  if (question.plan.pipeline) return of_pipeline(question);
  if (question.plan.tiles && question.ranks > 1) return of_tiles(question);
  return {cost_of({.question = question, .rank = 0, .chunks = cut(question.model)}, "")};
}

const RankCost& largest(const std::vector<RankCost>& ranks) {
  RS_CHECK(!ranks.empty());
  return *std::ranges::max_element(ranks, [](const RankCost& a, const RankCost& b) {
    return std::tuple{a.at_most(), a.sent(), -a.rank} < std::tuple{b.at_most(), b.sent(), -b.rank};
  });
}

}  // namespace rankscope::trainer

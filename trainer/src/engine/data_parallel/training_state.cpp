#include "engine/data_parallel/training_state.h"

#include "rankscope/core/format.h"

namespace rankscope::trainer {
namespace {

ElementType element_type(at::ScalarType type) {
  RS_CHECK(type == at::kDouble || type == at::kFloat);
  return type == at::kDouble ? ElementType::f64 : ElementType::f32;
}

std::vector<NamedTensor> floating_buffers(const Model& model) {
  std::vector<NamedTensor> all;
  for (const auto& buffer : model.named_buffers())
    if (buffer.value().is_floating_point()) all.push_back({buffer.key(), buffer.value()});
  return all;
}

/// The part of a split parameter is a tensor of its own.
std::string saved_name(const std::string& name, const TensorPart& part) {
  if (part.parts == 1) return name;
  return part_name(name, "tp", static_cast<int>(part.part), static_cast<int>(part.parts));
}

StateTensor whole(std::string name, const at::Tensor& values, const TensorPart& part, const StateHolders& holders) {
  StateTensor state{.tensor = {std::move(name), element_type(values.scalar_type()), values.sizes().vec()},
                    .range = {0, values.numel()},
                    .values = values};
  const bool is_part = part.parts > 1;
  if (is_part && holders.of_parts.empty()) state.holder = StateHolder::this_rank;
  state.replicas = is_part ? holders.of_parts : holders.of_wholes;
  return state;
}

struct Owned {
  OwnedRange range;
  NamedTensor parameter;
  TensorPart part;
};

std::vector<Owned> owned_parameters(const Model& model, const FlatLayout& layout, int rank) {
  std::vector<NamedTensor> parameters;
  for (const auto& parameter : model.named_parameters()) parameters.push_back({parameter.key(), parameter.value()});
  std::vector<Owned> owned;
  for (const OwnedRange& range : layout.owned_by(rank)) {
    const NamedTensor& parameter = parameters[range.parameter];
    owned.push_back({range, parameter, model.part_of(parameter.name)});
  }
  return owned;
}

at::Tensor piece(const at::Tensor& shard, const OwnedRange& range) {
  return shard.narrow(0, range.at, range.end - range.begin);
}

}  // namespace

void add_whole(TrainingState& state, const Model& model, const FlatOptimizer& optimizer, const StateHolders& holders) {
  std::size_t index = 0;
  for (const auto& parameter : model.named_parameters()) {
    const TensorPart part = model.part_of(parameter.key());
    state.push_back(whole(saved_name(parameter.key(), part), parameter.value().detach(), part, holders));
    for (const auto& [name, values] : optimizer.state(index)) {
      state.push_back(whole(format("{}/{}", saved_name(parameter.key(), part), name), values, part, holders));
    }
    ++index;
  }
}

void add_sharded(TrainingState& state, const Model& model, OwnerOfShards owner, const std::vector<at::Tensor>& shards,
                 const FlatOptimizer& optimizer, bool keeps_wholes) {
  for (const auto& [range, parameter, part] : owned_parameters(model, owner.layout, owner.rank)) {
    const bool keeps = keeps_wholes || part.parts > 1;
    const auto add = [&, &own = range, &like = parameter.tensor](std::string name, const at::Tensor& shard) {
      state.push_back({.tensor = {std::move(name), element_type(shard.scalar_type()), like.sizes().vec()},
                       .range = {own.begin, own.end},
                       .values = piece(shard, own),
                       .holder = keeps ? StateHolder::this_rank : StateHolder::other_rank});
    };
    const std::string name = saved_name(parameter.name, part);
    add(name, shards[range.unit]);
    for (const auto& [of, values] : optimizer.state(range.unit)) add(format("{}/{}", name, of), values);
  }
}

void add_buffers(TrainingState& state, const Model& model, bool is_keeper) {
  for (const auto& [name, values] : floating_buffers(model)) {
    state.push_back({.tensor = {name, element_type(values.scalar_type()), values.sizes().vec()},
                     .range = {0, values.numel()},
                     .values = values,
                     .holder = is_keeper ? StateHolder::this_rank : StateHolder::other_rank});
  }
}

Result<void> restore_whole(const std::vector<at::Tensor>& values, std::size_t& next, const Model& model,
                           FlatOptimizer& optimizer, std::int64_t steps) {
  const torch::NoGradGuard no_grad;
  std::size_t index = 0;
  for (const auto& parameter : model.parameters()) {
    parameter.copy_(values[next++].view_as(parameter));
    std::vector<NamedTensor> moments = optimizer.state(index);
    for (auto& [name, moment] : moments) moment = values[next++].view_as(parameter);
    RS_TRY_VOID(optimizer.restore(index, steps, moments));
    ++index;
  }
  return {};
}

Result<void> restore_sharded(const std::vector<at::Tensor>& values, std::size_t& next, OwnerOfShards owner,
                             const std::vector<at::Tensor>& shards, FlatOptimizer& optimizer, std::int64_t steps) {
  const torch::NoGradGuard no_grad;
  std::vector<std::vector<NamedTensor>> moments;
  for (std::size_t unit = 0; unit < shards.size(); ++unit) {
    moments.push_back(optimizer.state(unit));
    for (auto& [name, moment] : moments.back()) moment = moment.clone();
  }
  for (const OwnedRange& range : owner.layout.owned_by(owner.rank)) {
    piece(shards[range.unit], range).copy_(values[next++]);
    for (auto& [name, moment] : moments[range.unit]) piece(moment, range).copy_(values[next++]);
  }
  for (std::size_t unit = 0; unit < shards.size(); ++unit) {
    RS_TRY_VOID(optimizer.restore(unit, steps, moments[unit]));
  }
  return {};
}

void restore_buffers(const std::vector<at::Tensor>& values, std::size_t& next, const Model& model) {
  const torch::NoGradGuard no_grad;
  for (auto& [name, buffer] : floating_buffers(model)) buffer.copy_(values[next++].view_as(buffer));
}

}  // namespace rankscope::trainer

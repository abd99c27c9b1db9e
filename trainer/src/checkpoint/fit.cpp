// Whether a checkpoint belongs to what is about to be trained.
#include "checkpoint/fit.h"

#include <map>
#include <optional>

#include "checkpoint/strict_json.h"
#include "rankscope/core/format.h"
#include "rankscope/trainer/checkpoint/load.h"

namespace rankscope::trainer {
namespace {

tl::unexpected<Error> misfit(const Checkpoint& checkpoint, std::string_view what) {
  return fail(ErrorKind::usage, format("{}: is a checkpoint of another training: {}", checkpoint.path(), what));
}

std::optional<std::string> value_of(const NamedOptions& options, const std::string& name) {
  const auto found = options.find(name);
  return found == options.end() ? std::nullopt : std::optional{found->second};
}

std::string shown(const std::optional<std::string>& value) { return value ? in_quotes(*value) : "not set"; }

std::string shown(const TensorInfo& tensor) {
  std::string shape;
  for (const std::int64_t size : tensor.shape) shape += format("{}{}", shape.empty() ? "" : ", ", size);
  return format("{} [{}]", name_of(tensor.type), shape);
}

Result<void> check_model(const Checkpoint& checkpoint, const NamedOptions& model) {
  const NamedOptions& saved = checkpoint.manifest().facts.model;
  NamedOptions names = saved;
  names.insert(model.begin(), model.end());
  for (const auto& [name, value] : names) {
    const auto there = value_of(saved, name);
    const auto here = value_of(model, name);
    if (there != here)
      return misfit(checkpoint, format("the model's {} is {} there and {} here", name, shown(there), shown(here)));
  }
  return {};
}

Result<void> check_tensors(const Checkpoint& checkpoint, std::span<const TensorInfo> tensors, Expected expected) {
  std::map<std::string_view, const TensorInfo*> saved;
  for (const TensorInfo& tensor : checkpoint.manifest().tensors) saved.emplace(tensor.name, &tensor);
  for (const TensorInfo& tensor : tensors) {
    const auto found = saved.find(tensor.name);
    if (found == saved.end()) return misfit(checkpoint, why_missing(checkpoint.manifest(), tensor.name));
    if (*found->second != tensor)
      return misfit(checkpoint,
                    format("tensor {} is {} there and {} here", tensor.name, shown(*found->second), shown(tensor)));
    if (expected == Expected::all_tensors) saved.erase(found);
  }
  if (expected == Expected::some_tensors || saved.empty()) return {};
  return misfit(checkpoint, format("it has a tensor {}, which is not known here", saved.begin()->first));
}

std::string_view without_part(std::string_view tensor) { return tensor.substr(0, tensor.find('@')); }

}  // namespace

std::string why_missing(const CheckpointManifest& manifest, const std::string& tensor) {
  const ModeSizes& sizes = manifest.facts.sizes;
  for (const TensorInfo& other : manifest.tensors)
    if (without_part(other.name) == without_part(tensor))
      return format(
          "it has no {}, but {}: parts of a tensor are only read as they were split; train with {}", tensor, other.name,
          sizes.mode == "3d" ? format("--parallel 3d --dp {} --tp {} --pp {}", sizes.dp, sizes.tp, sizes.pp)
                             : format("--parallel {} on {}", sizes.mode,
                                      counted(static_cast<std::uint64_t>(sizes.dp * sizes.tp * sizes.pp), "rank")));
  return format("it has no tensor {}", tensor);
}

Result<void> check_fits(const Checkpoint& checkpoint, const NamedOptions& model, const std::string& optimizer,
                        std::span<const TensorInfo> tensors, Expected expected) {
  RS_TRY_VOID(check_model(checkpoint, model));
  const std::string& saved = checkpoint.manifest().facts.optimizer;
  if (saved != optimizer)
    return misfit(checkpoint, format("its optimizer is {}, here it is {}", in_quotes(saved), in_quotes(optimizer)));
  return check_tensors(checkpoint, tensors, expected);
}

}  // namespace rankscope::trainer

// The parameters of a model in flat units, and the ranks that own them in equal shards.
#pragma once

#include <string>
#include <vector>

#include "engine/comm/comm.h"
#include "engine/models/model.h"
#include "engine/step/step_parts.h"
#include "rankscope/trainer/layout/flat_layout.h"

namespace rankscope::trainer {

class FlatParameters {
 public:
  /// `units`: parameters by their indices. `comm` is the group of the owners; null for one process alone.
  FlatParameters(const Model& model, std::vector<std::vector<std::size_t>> units, Comm* comm);

  [[nodiscard]] const FlatLayout& layout() const { return layout_; }
  [[nodiscard]] std::size_t units() const { return layout_.units().size(); }
  [[nodiscard]] const std::string& name(std::size_t parameter) const { return parameters_[parameter].name; }

  /// A tensor of the length of a unit.
  [[nodiscard]] at::Tensor empty(std::size_t unit) const;
  /// The same with zeros.
  [[nodiscard]] at::Tensor zeros(std::size_t unit) const;
  /// The part of such a tensor that is this rank's.
  [[nodiscard]] at::Tensor own_part(const at::Tensor& flat) const;
  /// The part of such a tensor that is the unit's k-th parameter, in the shape of it.
  [[nodiscard]] at::Tensor part_of(const at::Tensor& flat, std::size_t unit, std::size_t k) const;

  /// The parameters of a unit behind one another, as rank 0 has them; the parameters become views of it.
  [[nodiscard]] Result<at::Tensor> flattened(std::size_t unit, const std::string& label) const;
  /// The parameters of a unit become views of `flat`.
  void put(std::size_t unit, const at::Tensor& flat) const;
  /// The parameters of a unit keep their shapes and have no memory; each element is not a number.
  void take_away(std::size_t unit) const;

  /// Of each parameter what `shards` (one per unit) of all ranks hold, in the model's order. All ranks call this.
  [[nodiscard]] Result<std::vector<NamedTensor>> gathered(const std::vector<at::Tensor>& shards,
                                                          const std::string& label) const;

 private:
  [[nodiscard]] at::TensorOptions options() const;

  std::vector<NamedTensor> parameters_;
  FlatLayout layout_;
  Comm* comm_;
  at::Tensor nothing_;  // one element
};

}  // namespace rankscope::trainer

// What models are chains of (models/model.h).
#pragma once

#include <map>
#include <set>
#include <string>

#include "engine/libtorch.h"
#include "rankscope/trainer/layout/tensor_part.h"

namespace rankscope::trainer {

/// One link of the chain.
class Block : public torch::nn::Module {
 public:
  virtual at::Tensor forward(const at::Tensor& input) = 0;
  double work = 0;  ///< FLOPs of forward for one sample

  /// Keeps only a part of a parameter; `path` is its name within the block.
  void keep(const std::string& path, const TensorPart& part);
  [[nodiscard]] TensorPart part_of(const std::string& path) const;

  /// What backward finds for this parameter is one term of its gradient, the others are on the other ranks of the
  /// split.
  void has_gradient_terms(const std::string& path) { gradient_terms_.insert(path); }
  [[nodiscard]] const std::set<std::string>& gradient_terms() const { return gradient_terms_; }

 private:
  std::map<std::string, TensorPart> parts_;
  std::set<std::string> gradient_terms_;
};

}  // namespace rankscope::trainer

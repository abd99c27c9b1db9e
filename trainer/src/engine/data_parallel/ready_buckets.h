// Gradients become ready one after the other while backward runs; buckets of them are full strictly in index order, so
// that all ranks reduce them in the same one.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/models/model.h"
#include "rankscope/core/result.h"

namespace rankscope::trainer {

class ReadyBuckets {
 public:
  struct Place {
    std::size_t bucket = 0;
    std::size_t position = 0;  ///< in the bucket
  };
  /// Both are called by the thread that runs backward.
  struct Events {
    std::function<void(std::size_t parameter, Place place)> ready;  ///< its gradient is complete
    std::function<void(std::size_t bucket)> full;  ///< all of its gradients are, and all buckets before it were full
  };

  /// Installs hooks on the parameters. Hooks that shall run before them are installed earlier.
  ReadyBuckets(const Model& model, Events events);
  ReadyBuckets(const ReadyBuckets&) = delete;
  ReadyBuckets& operator=(const ReadyBuckets&) = delete;

  /// Parameters by their indices, each once.
  void assign(const std::vector<std::vector<std::size_t>>& buckets);
  void watch();   ///< of the next backward each gradient is told
  void ignore();  ///< of the next backward none is
  /// A parameter that backward does not reach counts as well.
  void set_ready(std::size_t parameter);

  /// An error that names a parameter without a gradient, if there is one: its bucket was never full. `advice` ends it.
  [[nodiscard]] Result<void> check_all_full(const std::string& advice) const;
  /// In which parameters have become ready since watch().
  [[nodiscard]] const std::vector<std::int64_t>& order() const { return order_; }

  [[nodiscard]] const std::vector<at::Tensor>& parameters() const { return parameters_; }
  [[nodiscard]] const torch::autograd::Node* accumulator(std::size_t parameter) const {
    return accumulators_[parameter].get();
  }

 private:
  void install_hook(std::size_t parameter);

  Events events_;
  std::vector<std::string> names_;
  std::vector<at::Tensor> parameters_;
  std::vector<std::shared_ptr<torch::autograd::Node>> accumulators_;
  std::vector<Place> places_;         // of each parameter
  std::vector<std::size_t> sizes_;    // parameters in each bucket
  std::vector<std::size_t> missing_;  // those that are not ready
  std::vector<bool> ready_;
  std::vector<std::int64_t> order_;
  std::size_t next_ = 0;  // the first bucket that is not full
  bool watching_ = false;
};

/// The error of a parameter that backward has not reached.
[[nodiscard]] tl::unexpected<Error> no_gradient(const std::string& parameter, const std::string& advice);

}  // namespace rankscope::trainer

// Parameters that are in shards, and there as a whole only while they are needed (ZeRO stage 3).
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "engine/data_parallel/flat_parameters.h"

namespace rankscope::trainer {

/// What fails in its calls between forward and backward is thrown, since autograd hears of failures as exceptions only.
class ShardedUnits {
 public:
  ShardedUnits(const Model& model, std::vector<std::vector<std::size_t>> units, Comm* comm)
      : flat_(model, std::move(units), comm), comm_(comm), units_(flat_.units()) {}

  /// Keeps this rank's shards of rank 0's parameters. All others are gone afterwards.
  [[nodiscard]] Result<void> shard();

  /// Begins to gather a unit, unless that has begun.
  void fetch(std::size_t unit, const std::string& label);
  /// The parameters of a unit that was fetched have their values from here on.
  void take(std::size_t unit);
  void give_back(std::size_t unit);

  /// Begins to reduce the gradients of a unit's parameters into the shards of their owners, who add them up until
  /// drop_gradient(). While one unit is on its way the next one computes, not more.
  void reduce(std::size_t unit, const std::vector<at::Tensor>& gradients, const std::string& label,
              std::chrono::nanoseconds delay);
  /// Waits for the last reduction.
  [[nodiscard]] Result<void> finish_reduction();
  [[nodiscard]] const at::Tensor& gradient(std::size_t unit) const { return units_[unit].gradient; }
  void drop_gradient(std::size_t unit) { units_[unit].gradient.reset(); }

  [[nodiscard]] const FlatParameters& flat() const { return flat_; }
  [[nodiscard]] const std::vector<at::Tensor>& shards() const { return shards_; }

 private:
  struct Unit {
    at::Tensor whole;
    Handle gathering;
    at::Tensor reduced;  // gradients on their way, the own part of which is wanted
    Handle reducing;
    at::Tensor gradient;  // of the own shard
  };

  FlatParameters flat_;
  Comm* comm_;
  std::vector<Unit> units_;
  std::vector<at::Tensor> shards_;
  Unit* reducing_ = nullptr;
};

}  // namespace rankscope::trainer

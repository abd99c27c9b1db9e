// One step of one pipeline: who runs which micro-batch when, by the rules of data dependence alone.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "synthetic/worker.h"

namespace rankscope::synthetic {

/// The ranks of one data-parallel replica: per place in the pipeline its tensor-parallel ranks.
using Team = std::vector<Worker*>;
using Teams = std::vector<Team>;

class Pipeline {
 public:
  /// All of one step but its data, gradients and optimizer. Ends with the last action of each rank.
  static void run(const Plan& plan, const Teams& teams, std::int64_t step) { Pipeline{plan, teams, step}.run(); }

 private:
  /// Which activation or gradient: into which stage, of which micro-batch, for which tensor-parallel rank.
  struct Parcel {
    bool is_forward = true;
    std::int32_t stage = 0;
    std::int32_t micro_batch = 0;
    std::int32_t tp = 0;
    auto operator<=>(const Parcel&) const = default;
  };
  struct Transfer {
    Worker* sender = nullptr;
    Worker* receiver = nullptr;
    Pending send;
    Pending receive;
    std::optional<std::int64_t> finish;
  };

  Pipeline(const Plan& plan, const Teams& teams, std::int64_t step);
  void run();
  [[nodiscard]] bool try_next(std::int32_t place);
  [[nodiscard]] std::int32_t stage(std::int32_t place, const PipelineAction& action) const;
  [[nodiscard]] std::optional<std::int32_t> stage_before(std::int32_t place, const PipelineAction& action) const;
  [[nodiscard]] std::int32_t place_of_stage(std::int32_t stage) const;
  void expect(std::int32_t place, std::size_t next);
  void act(std::int32_t place, const PipelineAction& action);
  void work(const Team& team, std::int32_t place, const PipelineAction& action);
  void exchange(const Team& team);
  void pass_on(std::int32_t place, const PipelineAction& action);
  void settle(Transfer& transfer) const;
  void enqueue_gradients(Worker& worker, std::int32_t layer) const;

  const Plan& plan_;
  const Teams& teams_;
  std::int64_t step_;
  std::vector<std::vector<PipelineAction>> orders_;
  std::vector<std::size_t> next_;
  std::map<Parcel, Transfer> transfers_;
  std::int32_t operators_per_action_ = 1;
};

}  // namespace rankscope::synthetic

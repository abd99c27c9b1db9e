// What the hook in recorded Python programs marked: where their code was, and pauses of the garbage collector.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "rankscope/analyzer/python_stacks/section.h"
#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer {

/// The marks of all ranks.
class PythonSamples {
 public:
  /// The run must outlive it.
  explicit PythonSamples(const Run& run);

  [[nodiscard]] bool has(RankId rank) const;
  /// What was sampled inside these windows of a rank, which ascend; one window is one step. Those that the sampler did
  /// not see the end of are none.
  [[nodiscard]] RankCode over(RankId rank, std::span<const TimeRange> windows) const;

 private:
  struct Sample {
    RunTime time{};
    StringId place{};
    std::int64_t ns = 0;  ///< since the sample before it
    bool of_worker = false;
  };
  struct Pause {
    RunTime end{};
    std::int64_t ns = 0;
  };
  struct OfProcess {
    std::vector<Sample> samples;
    std::vector<Pause> pauses;
    RunTime last_sample = RunTime::min();  ///< of the training thread
    RunTime end = RunTime::min();          ///< when the sampler ended; min: not recorded
  };
  void note(const Mark& mark, OfProcess& process) const;
  [[nodiscard]] const OfProcess* process_of(RankId rank) const;
  static std::span<const TimeRange> sampled(const OfProcess& process, std::span<const TimeRange> windows);

  const Run& run_;
  std::map<std::uint32_t, OfProcess> processes_;  // by their row
};

}  // namespace rankscope::analyzer

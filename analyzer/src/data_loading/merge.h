// The global half of data loading: a row for each rank (metrics.md 2.8).
#pragma once

#include "data_loading/local.h"
#include "rankscope/analyzer/data_loading/section.h"
#include "rankscope/analyzer/section.h"
#include "steps/counted_windows.h"

namespace rankscope::analyzer {

/// Ranks are added in the order of their numbers.
class DataLoadingMerge {
 public:
  /// `counted` in the time of the part.
  void add(RankId rank, const CountedWindows& counted, const DataLoadingPart& part);
  /// Missing where no rank waited or loaded.
  [[nodiscard]] Section<DataLoadingSection> finish() &&;

 private:
  DataLoadingSection section_;
};

}  // namespace rankscope::analyzer

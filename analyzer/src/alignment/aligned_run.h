// A run in run time together with what is known of its clocks.
#pragma once

#include <memory>
#include <utility>

#include "alignment/align.h"
#include "clocks/clock_trust.h"

namespace rankscope::analyzer {

/// The recording must outlive it.
class AlignedRun {
 public:
  explicit AlignedRun(const Run& recorded) : AlignedRun(recorded, align_clocks(recorded)) {}

  [[nodiscard]] const Run& run() const { return moved_ ? *moved_ : recorded_; }
  [[nodiscard]] const ClockTrust& clocks() const { return clocks_; }

 private:
  AlignedRun(const Run& recorded, Alignment aligned)
      : recorded_(recorded), moved_(std::move(aligned.moved)), clocks_(run(), std::move(aligned.model)) {}

  const Run& recorded_;
  std::shared_ptr<const Run> moved_;  // null: nothing had to be moved
  ClockTrust clocks_;
};

}  // namespace rankscope::analyzer

// Recordings that panels are tried on.
#pragma once

#include <memory>

#include "gui/waiting.h"
#include "rankscope/core/model/run_parts.h"
#include "rankscope/gui/models/session/closer_looks.h"
#include "support/synthetic_recording.h"

namespace rankscope::testing {

/// Four ranks, of which rank 2 computes 1.5 times as long; eight steps.
[[nodiscard]] inline std::shared_ptr<const Run> run_with_slow_rank() {
  return recorded({.ranks = 4, .steps = 8, .faults = {synthetic::fault_from("slow:rank=2,factor=1.5")}});
}

/// False if report and closer look are not there within 20 s.
[[nodiscard]] inline bool shows(gui::Session& session, std::shared_ptr<const Run> run) {
  session.show(std::move(run));
  const gui::CloserLooks& looks = gui::CloserLooks::of(session);
  return becomes_ready(session) && comes_true([&looks] { return looks.look() != nullptr; });
}

/// The n-th span of a kind on a rank, in the order of the run.
[[nodiscard]] SpanId nth_span(const Run& run, RankId rank, SpanKind kind, int n = 0);

}  // namespace rankscope::testing

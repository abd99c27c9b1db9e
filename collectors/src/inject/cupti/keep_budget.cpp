#include "inject/cupti/keep_budget.h"

#include <cstdlib>

#include "inject/recorder/recorder.h"
#include "inject/recorder/thread_state.h"
#include "rankscope/core/format.h"
#include "rankscope/core/numbers.h"
#include "rankscope/core/recording/tick_clock.h"

namespace rankscope::inject::cupti {
namespace {

std::int64_t monotonic_ns() { return static_cast<std::int64_t>(recording::TickClock::now_monotonic()); }

/// RANKSCOPE_BUDGET_AFTER_S: what the start of a program costs for so long is not judged.
int seconds_until_exceeded() {
  const char* const text = std::getenv("RANKSCOPE_BUDGET_AFTER_S");
  return leading_number<int>(text == nullptr ? "" : text).value_or(Budget::usual_seconds);
}

constexpr const char* calls_left_out =
    "after this was noticed, only the calls with which NCCL launches kernels were recorded";
constexpr const char* no_call_left_out =
    "this version of CUPTI cannot leave out individual calls; use --cuda-graphs graph, --window, or CUDA 12.5 or newer";

}  // namespace

void begin_budget(Budget& budget) { budget.begin(asked_budget(), seconds_until_exceeded(), monotonic_ns()); }

void keep_budget(Budget& budget, Kinds& kinds, const collectors::cupti::Functions& call) {
  if (!budget.is_exceeded(monotonic_ns())) return;
  const bool thinned = kinds.thin(call);
  if (thinned) count(Trouble::calls_thinned);
  ThreadState* const state = here();
  if (state == nullptr) return;
  state->pen().metadata(
      "cupti_budget",
      format("recording CUDA calls made the program run about {:.0f} % longer, but --budget allows {:g} %: {}",
             100 * budget.last_share(), 100 * asked_budget(), thinned ? calls_left_out : no_call_left_out));
}

}  // namespace rankscope::inject::cupti

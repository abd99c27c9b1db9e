// Native recording -> Run: 10 M events of 8 ranks, written through the recorder's own writer and gathered as after a
// run.
#include <benchmark/benchmark.h>

#include "bench/large_recording.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/recording/recording.h"

namespace rankscope::recording {
namespace {

void read_10M_events(benchmark::State& state) {
  static const bench::LargeRecording recording;
  std::size_t spans = 0;
  for ([[maybe_unused]] const auto turn : state) {
    const auto run = read_recording(recording.folder());
    if (!run) return state.SkipWithError(run.error().message.c_str());
    spans = (*run)->spans().size();
  }
  state.counters["spans"] = static_cast<double>(spans);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(spans));
}
BENCHMARK(read_10M_events)->Unit(benchmark::kMillisecond)->UseRealTime()->MeasureProcessCPUTime();

}  // namespace
}  // namespace rankscope::recording

// Cost of an NVTX push and pop with the recorder attached, against the same calls without: both in one run.
#include <benchmark/benchmark.h>
#include <stdlib.h>
#include <time.h>

#include <filesystem>
#include <string>

#include "rankscope/core/recording/recording.h"

extern "C" void nvtx_pairs_plain(long count);
extern "C" void nvtx_pairs_recorded(long count);

namespace {

namespace fs = std::filesystem;
constexpr long pairs = 50'000;  // of one measurement: 1.6 MB, well within the ring
constexpr long batch = 1'000;

/// Lets the recorder ready new chunks, so that what is measured is recording and not dropping.
void rest(const benchmark::State&) {
  const timespec time{.tv_sec = 0, .tv_nsec = 30'000'000};
  nanosleep(&time, nullptr);
}

template <void (*call)(long)>
void push_pop(benchmark::State& state) {
  while (state.KeepRunningBatch(batch)) call(batch);  // an iteration is a pair
}

void register_case(const char* name, void (*function)(benchmark::State&)) {
  benchmark::RegisterBenchmark(name, function)
      ->Iterations(pairs)
      ->Repetitions(51)
      ->Setup(rest)
      ->ReportAggregatesOnly(true);
}

std::uint64_t dropped_in(const fs::path& folder) {
  std::uint64_t dropped = 0;
  for (const auto& entry : fs::directory_iterator{folder}) {
    if (const auto gathered = rankscope::recording::gather_segment(entry.path(), folder / "gathered"))
      dropped += gathered->events_dropped;
  }
  return dropped;
}

}  // namespace

int main(int count, char** words) {
  std::string folder = (fs::temp_directory_path() / "rankscope-bench-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return 1;
  unsetenv("NVTX_INJECTION64_PATH");
  nvtx_pairs_plain(1);  // this copy has looked for a tool now, and found none
  setenv("NVTX_INJECTION64_PATH", RANKSCOPE_BENCH_LIBRARY, 1);
  setenv("RANKSCOPE_SEGMENTS", folder.c_str(), 1);
  setenv("RANKSCOPE_RING_KIB", "16384", 1);
  nvtx_pairs_recorded(1);
  register_case("nvtx_push_pop/plain", push_pop<nvtx_pairs_plain>);
  register_case("nvtx_push_pop/recorded", push_pop<nvtx_pairs_recorded>);
  benchmark::Initialize(&count, words);
  benchmark::RunSpecifiedBenchmarks();
  const std::uint64_t dropped = dropped_in(folder);
  fs::remove_all(folder);
  if (dropped > 0)
    std::fprintf(stderr, "%lu events were dropped: the figures are too good\n", static_cast<unsigned long>(dropped));
  return dropped > 0 ? 1 : 0;
}

// What a timeline of 64 lanes costs before anything is painted: 50 M events, 1920 pixels, one thread.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>

#include "rankscope/core/lod/row_lod.h"

namespace rankscope::lod {
namespace {

constexpr std::size_t lanes = 64;
constexpr std::size_t events = 50'000'000;
constexpr std::uint32_t pixels = 1920;

std::vector<Span> lane_of(std::uint32_t seed) {
  std::mt19937 engine{seed};
  const auto random = [&engine] { return static_cast<std::int64_t>(engine()); };
  std::vector<Span> spans(events / lanes);
  std::int64_t time = 0;
  for (Span& span : spans) {
    const std::int64_t gap = random() % 4000;
    const std::int64_t length = random() % 16 == 0 ? random() % 60'000 : random() % 6'000;
    span.time = {at(time + gap), at(time + gap + length)};
    span.name = StringId{static_cast<std::uint32_t>(random() % 300)};
    span.kind = SpanKind::compute;
    time += gap + length;
  }
  return spans;
}

struct Input {
  std::vector<std::vector<Span>> spans;
  std::vector<RowLod> rows;
  TimeRange extent{at(0), at(0)};

  Input() {
    for (std::uint32_t lane = 0; lane < lanes; ++lane) spans.push_back(lane_of(lane));
    for (const auto& lane : spans) rows.emplace_back(lane, 0);
    for (const auto& lane : spans) extent.end = std::max(extent.end, lane.back().time.end);
  }
};

const Input& input() {
  static const Input input;
  return input;
}

/// All rows of a frame that shows one n-th of the run.
void lod_query(benchmark::State& state) {
  const Input& in = input();
  const nanoseconds length = in.extent.length() / state.range(0);
  RunTime begin = in.extent.begin;
  std::size_t pieces = 0;
  for (auto _ : state) {
    const View view{{begin, begin + length}, pixels};
    pieces = 0;
    for (const RowLod& row : in.rows) pieces += row.pieces(view).size();
    begin += length / 7;
    if (begin + length > in.extent.end) begin = in.extent.begin;
  }
  std::size_t bytes = 0;
  for (const RowLod& row : in.rows) bytes += row.byte_count();
  state.counters["pieces"] = static_cast<double>(pieces);
  state.counters["bytes_per_event"] = static_cast<double>(bytes) / static_cast<double>(events);
}

void lod_build(benchmark::State& state) {
  for (auto _ : state)
    for (const auto& lane : input().spans) benchmark::DoNotOptimize(RowLod(lane, 0).byte_count());
}

BENCHMARK(lod_query)->Arg(1)->Arg(4)->Arg(100)->Arg(1000)->Arg(100'000)->Unit(benchmark::kMillisecond);
BENCHMARK(lod_build)->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace rankscope::lod

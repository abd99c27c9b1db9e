// Search by name and statistics of all that is in sight, over 10 M spans of 8 ranks with 4,096 names.
#include <benchmark/benchmark.h>

#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/model/run_builder.h"
#include "rankscope/gui/models/search/search_model.h"
#include "rankscope/gui/models/statistics/lane_blocks.h"
#include "rankscope/gui/models/statistics/range_statistics.h"

namespace rankscope::gui {
namespace {

constexpr std::int64_t events = 10'000'000;
constexpr std::uint32_t ranks = 8;
constexpr std::int64_t lanes_of_rank = 4;
constexpr std::uint32_t name_count = 4'096;

/// Groups of ten: one span around nine.
void fill_lane(RunBuilder& builder, LaneId lane, const std::vector<StringId>& names) {
  constexpr std::int64_t spans = events / ranks / lanes_of_rank;
  for (std::int64_t i = 0; i < spans; ++i) {
    const auto name = names[static_cast<std::size_t>(i * 2'654'435'761 % name_count)];
    const std::int64_t begin = i / 10 * 1'000 + (i % 10) * 100;
    const std::int64_t end = i % 10 == 0 ? begin + 1'000 : begin + 50 + i % 37;
    builder.add_span(lane, SpanKind::compute, name, {at(begin), at(end)});
  }
}

const std::shared_ptr<const Run>& run() {
  static const std::shared_ptr<const Run> built = [] {
    RunBuilder builder;
    std::vector<StringId> names;
    for (std::uint32_t i = 0; i < name_count; ++i)
      names.push_back(builder.intern(
          format("void at::native::vectorized_elementwise_kernel<{}, at::native::Functor{}<float>>(int)", i % 8, i)));
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const auto process = builder.add_process({.rank = RankId{rank}, .pid = rank + 1});
      for (std::int64_t lane = 0; lane < lanes_of_rank; ++lane)
        fill_lane(builder, builder.add_lane(process, LaneKind::stream, format("stream {}", lane), lane, 0), names);
    }
    return *std::move(builder).build();
  }();
  return built;
}

void index_names(benchmark::State& state) {
  const Run& searched = *run();
  for ([[maybe_unused]] const auto turn : state) benchmark::DoNotOptimize(SpanNames{searched});
}
BENCHMARK(index_names)->Unit(benchmark::kMillisecond)->UseRealTime()->MeasureProcessCPUTime();

void search_for(benchmark::State& state, const char* text, SearchSyntax syntax, SearchOrder order) {
  const Run& searched = *run();
  const SpanNames names{searched};
  std::uint64_t hits = 0;
  for ([[maybe_unused]] const auto turn : state)
    hits = (**search(searched, names, {QString::fromLatin1(text), syntax, order}, {})).hits;
  state.counters["hits"] = static_cast<double>(hits);
}
BENCHMARK_CAPTURE(search_for, one_name, "functor77<", SearchSyntax::plain, SearchOrder::earliest)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->MeasureProcessCPUTime();
BENCHMARK_CAPTURE(search_for, every_event_by_time, "kernel", SearchSyntax::plain, SearchOrder::earliest)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->MeasureProcessCPUTime();
BENCHMARK_CAPTURE(search_for, every_event_by_duration, "kernel", SearchSyntax::plain, SearchOrder::longest)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->MeasureProcessCPUTime();
BENCHMARK_CAPTURE(search_for, regex, "Functor\\d*7<", SearchSyntax::regex, SearchOrder::earliest)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->MeasureProcessCPUTime();

/// `percent` of the run in its middle, without the split of ranks.
void names_of_range(benchmark::State& state) {
  const RangeSource source{run(), std::make_shared<const LaneBlocks>(*run()), nullptr};
  const TimeRange all = run()->extent();
  const RunTime middle = all.begin + all.length() / 2;
  const nanoseconds half = all.length() * state.range(0) / 200;
  for ([[maybe_unused]] const auto turn : state)
    benchmark::DoNotOptimize(answer(source, {{middle - half, middle + half}}, {}));
}
BENCHMARK(names_of_range)->Arg(1)->Arg(100)->Unit(benchmark::kMillisecond)->UseRealTime()->MeasureProcessCPUTime();

}  // namespace
}  // namespace rankscope::gui

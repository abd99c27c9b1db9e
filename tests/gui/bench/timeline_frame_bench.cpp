// One frame of the timeline: level of detail and painting of 64 lanes with 50 M events at 1920x1080, along a fixed way
// of zooms and moves; and of 16 counters with 16 M samples. Counters: median and 95th percentile of a frame in ms.
#include <benchmark/benchmark.h>

#include <QApplication>
#include <algorithm>
#include <chrono>

#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/model/run_builder.h"
#include "timeline/scene.h"

namespace rankscope::gui {
namespace {

constexpr std::uint32_t lanes = 64;
constexpr double row_height = 16;
constexpr std::uint32_t counters = 16;
constexpr double counter_height = 40;

std::shared_ptr<const Run> run_of(std::int64_t events) {
  RunBuilder builder;
  std::vector<StringId> names;
  for (int i = 0; i < 300; ++i) names.push_back(builder.intern(format("kernel_of_layer_{}_gemm_128x64", i)));
  std::uint64_t state = 1;
  const auto random = [&state](std::uint64_t most) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::int64_t>((state >> 33) % most);
  };
  for (std::uint32_t rank = 0; rank < lanes; ++rank) {
    const std::uint32_t process = builder.add_process({.rank = RankId{rank}, .pid = rank + 1});
    const LaneId lane = builder.add_lane(process, LaneKind::stream, "stream 7", 7, 0);
    std::int64_t time = 0;
    for (std::int64_t i = 0; i < events / lanes; ++i) {
      const std::int64_t begin = time + random(4'000);
      time = begin + (random(16) == 0 ? random(60'000) : random(6'000));
      const SpanKind kind = random(8) == 0 ? SpanKind::comm : SpanKind::compute;
      builder.add_span(lane, kind, names[static_cast<std::size_t>(random(300))], {at(begin), at(time)});
    }
  }
  return *std::move(builder).build();
}

Scene scene_of(const std::shared_ptr<const Run>& run) {
  Scene scene;
  scene.facts = std::make_shared<const Facts>(Facts{.run = run, .lod = lod::RunLod::build(run, {})});
  scene.time = run->extent();
  scene.width = 1920;
  scene.height = 1080;
  scene.row_height = row_height;
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    Track track;
    track.lane = LaneId{lane};
    track.rank = RankId{lane};
    track.height = row_height;
    scene.tracks.push_back({track, lane * row_height});
  }
  return scene;
}

/// In by a tenth per frame to 20 us, with moves to both sides, and out again.
std::vector<TimeRange> way(TimeRange all) {
  std::vector<TimeRange> ranges;
  TimeScale scale{.time = all, .left = 0, .width = 1920};
  const auto add = [&](TimeRange range) {
    scale.time = range;
    ranges.push_back(range);
  };
  while (scale.time.length() > nanoseconds{20'000}) {
    add(scale.zoomed(0.9, 700));
    add(scale.panned(ranges.size() % 4 == 0 ? -150 : 40));
  }
  while (scale.time.length() < all.length()) add(scale.zoomed(1.25, 960));
  return ranges;
}

/// Paints along the way once per iteration.
void paint_way(benchmark::State& state, Scene& scene) {
  std::vector<double> frames;
  for (auto _ : state)
    for (const TimeRange range : way(scene.facts->run->extent())) {
      scene.time = range;
      const auto begin = std::chrono::steady_clock::now();
      benchmark::DoNotOptimize(paint(scene).constBits());
      frames.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
    }
  std::ranges::sort(frames);
  state.counters["frames"] = static_cast<double>(frames.size());
  state.counters["median_ms"] = frames[frames.size() / 2];
  state.counters["p95_ms"] = frames[frames.size() * 95 / 100];
}

void timeline_frame(benchmark::State& state) {
  Scene scene = scene_of(run_of(state.range(0)));
  paint_way(state, scene);
  state.counters["lod_bytes_per_event"] =
      static_cast<double>(scene.facts->lod->byte_count()) / static_cast<double>(state.range(0));
}

std::shared_ptr<const Run> run_of_samples(std::int64_t samples) {
  RunBuilder builder;
  const StringId name = builder.intern("allocated_bytes");
  for (std::uint32_t rank = 0; rank < counters; ++rank) {
    const std::uint32_t process = builder.add_process({.rank = RankId{rank}, .pid = rank + 1});
    for (std::int64_t i = 0; i < samples / counters; ++i)
      builder.add_sample(process, name, at(i * 3'000), static_cast<double>(i * 7919 % 1'000'003));
  }
  return *std::move(builder).build();
}

void counters_frame(benchmark::State& state) {
  Scene scene = scene_of(run_of_samples(state.range(0)));
  scene.tracks.clear();
  for (std::uint32_t counter = 0; counter < counters; ++counter) {
    Track track;
    track.kind = TrackKind::counter;
    track.counter = counter;
    track.rank = RankId{counter};
    track.height = counter_height;
    scene.tracks.push_back({track, counter * counter_height});
  }
  paint_way(state, scene);
}

BENCHMARK(timeline_frame)->Arg(50'000'000)->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK(counters_frame)->Arg(16'000'000)->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace rankscope::gui

int main(int argc, char** argv) {
  if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  const QApplication application(argc, argv);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}

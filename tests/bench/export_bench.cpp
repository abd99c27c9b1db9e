// Speed of the exports: slices with three integer arguments, on 8 ranks with 4 lanes each, written to memory.
#include <benchmark/benchmark.h>

#include <filesystem>

#include "rankscope/analyzer/export.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run_builder.h"

namespace {

using namespace rankscope;

constexpr int ranks = 8;
constexpr int lanes = 4;
constexpr int slices_per_lane = 1 << 16;
constexpr std::int64_t slices = std::int64_t{ranks} * lanes * slices_per_lane;  // 2.1 million
constexpr int names = 300;

/// Names are about 75 characters long, as those of kernels are.
std::vector<StringId> intern_names(RunBuilder& builder) {
  std::vector<StringId> ids;
  for (int i = 0; i < names; ++i)
    ids.push_back(
        builder.intern(format("void at::native::elementwise_kernel<128, {}, gpu_kernel_impl<{}>>(int)", i % 8, i)));
  return ids;
}

const Run& run() {
  static const std::shared_ptr<const Run> made = [] {
    RunBuilder builder;
    const auto ids = intern_names(builder);
    const StringId stream = builder.intern("stream");
    const StringId correlation = builder.intern("correlation");
    const StringId device = builder.intern("device");
    for (int rank = 0; rank < ranks; ++rank) {
      const auto process = builder.add_process({.rank = RankId{static_cast<std::uint32_t>(rank)}, .pid = 1000 + rank});
      for (int lane = 0; lane < lanes; ++lane) {
        const auto on = builder.add_lane(process, LaneKind::stream, format("stream {}", lane), lane, 0);
        for (int i = 0; i < slices_per_lane; ++i) {
          const std::int64_t begin = std::int64_t{i} * 3000 + lane * 500;
          const auto span = builder.add_span(on, SpanKind::compute, ids[static_cast<std::size_t>(i * 7 % names)],
                                             {at(begin), at(begin + 2500)});
          builder.add_attribute(span, stream, std::int64_t{lane});
          builder.add_attribute(span, correlation, std::int64_t{i} * lanes + lane);
          builder.add_attribute(span, device, std::int64_t{rank});
        }
      }
    }
    return *std::move(builder).build();
  }();
  return *made;
}

void export_to(benchmark::State& state, std::string_view id) {
  const auto file = std::filesystem::path{"/dev/shm"} / format("rankscope_export_bench.{}", id);
  for (const auto& format : analyzer::exports()) {
    if (format.id != id) continue;
    for ([[maybe_unused]] const auto turn : state) {
      const auto written = format.write(run(), file, {});
      if (!written) state.SkipWithError(written.error().message.c_str());
    }
    state.counters["slices/s"] =
        benchmark::Counter(static_cast<double>(slices), benchmark::Counter::kIsIterationInvariantRate);
    std::error_code failed;
    state.counters["B/slice"] =
        static_cast<double>(std::filesystem::file_size(file, failed)) / static_cast<double>(slices);
  }
  std::filesystem::remove(file);
}

void export_perfetto(benchmark::State& state) { export_to(state, "perfetto"); }
void export_chrome(benchmark::State& state) { export_to(state, "chrome"); }
void export_sqlite(benchmark::State& state) { export_to(state, "sqlite"); }
BENCHMARK(export_perfetto)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()->UseRealTime();
BENCHMARK(export_chrome)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()->UseRealTime();
BENCHMARK(export_sqlite)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()->UseRealTime();

}  // namespace

// Critical path and what-if of 8 ranks with 200,000 events each: launches, kernels and an allreduce per hundred of
// them.
#include <benchmark/benchmark.h>

#include <array>

#include "collectives/find.h"
#include "critical_path/parts.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run_builder.h"
#include "replay/build.h"
#include "replay/simulate.h"
#include "what_if/find.h"

namespace rankscope::analyzer::replay {
namespace {

constexpr std::uint32_t ranks = 8;
constexpr std::int64_t steps = 10;
constexpr std::int64_t kernels_per_step = 10'000;  // each with its launch: 200,000 events per rank
constexpr std::int64_t kernels_per_bucket = 100;
constexpr std::int64_t kernel_ns = 10'000;
constexpr std::int64_t launch_ns = 4'000;

class Writer {
 public:
  Writer() {
    builder_.info().clock = {"same_host", nanoseconds{1'000}};
    builder_.info().world_size = ranks;
    std::vector<RankId> members;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) members.push_back(RankId{rank});
    group_ = builder_.add_group("dp", members);
    for (int i = 0; i < 50; ++i) names_.push_back(builder_.intern(format("kernel_{}", i)));
  }

  std::shared_ptr<const Run> run() && {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) add_rank(rank);
    auto run = std::move(builder_).build();
    return run ? *run : nullptr;
  }

 private:
  void add_rank(std::uint32_t rank) {
    const std::uint32_t process = builder_.add_process({.rank = RankId{rank}, .pid = rank + 1});
    const LaneId host = builder_.add_lane(process, LaneKind::thread, "main", 1);
    const LaneId compute = builder_.add_lane(process, LaneKind::stream, "stream 7", 7, 0);
    const LaneId comm = builder_.add_lane(process, LaneKind::stream, "stream 20", 20, 0);
    const std::int64_t own_ns = kernel_ns + (rank == 3 ? 2'000 : 0);  // one rank is slower
    const std::int64_t step_ns = kernels_per_step * (kernel_ns + 2'000) + 1'000'000;
    for (std::int64_t step = 0; step < steps; ++step) {
      const std::int64_t begin = step * step_ns;
      const std::uint32_t mark =
          builder_.add_span(host, SpanKind::step, builder_.intern("step"), {at(begin), at(begin + step_ns)});
      builder_.add_attribute(mark, builder_.intern("index"), step);
      for (std::int64_t i = 0; i < kernels_per_step; ++i) {
        const std::int64_t called = begin + i * launch_ns;
        const std::int64_t started = begin + 10'000 + i * own_ns;
        const std::uint32_t launch = call(host, called);
        const std::uint32_t kernel =
            builder_.add_span(compute, SpanKind::compute, names_[static_cast<std::size_t>(i) % names_.size()],
                              {at(started), at(started + own_ns)});
        builder_.add_link(LinkKind::launch, launch, kernel);
        if (i % kernels_per_bucket == kernels_per_bucket - 1)
          add_bucket(rank, {host, comm}, called, begin + 10'000 + (i + 1) * (kernel_ns + 2'000), started + own_ns);
      }
    }
  }

  std::uint32_t call(LaneId host, std::int64_t called) {
    return builder_.add_span(host, SpanKind::runtime, builder_.intern("cudaLaunchKernel"),
                             {at(called), at(called + launch_ns / 2)});
  }

  /// Ends with the slowest rank.
  void add_bucket(std::uint32_t rank, std::array<LaneId, 2> lanes, std::int64_t called, std::int64_t ended,
                  std::int64_t started) {
    const StringId op = builder_.intern("allreduce");
    const std::uint32_t launch = call(lanes[0], called + launch_ns / 2);
    const std::uint32_t span = builder_.add_span(lanes[1], SpanKind::comm, op, {at(started), at(ended + 50'000)});
    builder_.add_link(LinkKind::launch, launch, span);
    builder_.add_collective({.rank = RankId{rank},
                             .group = group_,
                             .op = op,
                             .dtype = builder_.intern("f32"),
                             .sequence = sequence_[rank]++,
                             .bytes = 1 << 20,
                             .enqueued = at(called),
                             .started = at(started),
                             .finished = at(ended + 50'000),
                             .lane = lanes[1],
                             .enqueued_on = lanes[0],
                             .span_ticket = span});
  }

  RunBuilder builder_;
  GroupId group_;
  std::vector<StringId> names_;
  std::array<std::int64_t, ranks> sequence_{};
};

struct Input {
  std::shared_ptr<const Run> run = Writer().run();
  ClockTrust clocks{*run};
  StepsResult steps = find_steps(*run, clocks, {});
  Matching matching = match_collectives(*run, clocks);
  Section<Graph> graph = build_graph(*run, steps.section, matching, clocks);
};

const Input& input() {
  static const Input input;
  return input;
}

void all(benchmark::State& state) {
  const Input& in = input();
  for (auto _ : state) {
    const auto graph = build_graph(*in.run, in.steps.section, in.matching, in.clocks);
    benchmark::DoNotOptimize(critical_path(*graph, slack_of(*graph)));
    const std::vector<std::uint32_t> classes(graph->ranks.size(), 0);
    benchmark::DoNotOptimize(what_if(*graph, ItemPeers(*graph, classes)));
  }
}
void build(benchmark::State& state) {
  const Input& in = input();
  for (auto _ : state) benchmark::DoNotOptimize(build_graph(*in.run, in.steps.section, in.matching, in.clocks));
  state.counters["nodes"] = static_cast<double>(in.graph->nodes.size());
}
void one_simulation(benchmark::State& state) {
  const Graph& graph = *input().graph;
  const Scenario scenario = as_measured(graph);
  for (auto _ : state) benchmark::DoNotOptimize(simulate(graph, scenario));
}
void path(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(critical_path(*input().graph, slack_of(*input().graph)));
}

BENCHMARK(all)->Unit(benchmark::kMillisecond);
BENCHMARK(build)->Unit(benchmark::kMillisecond);
BENCHMARK(one_simulation)->Unit(benchmark::kMillisecond);
BENCHMARK(path)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace rankscope::analyzer::replay

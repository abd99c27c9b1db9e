// Graphs of runs written as text.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/synthetic_run.h"
#include "collectives/find.h"
#include "rankscope/core/format.h"
#include "replay/build.h"
#include "what_if/fix.h"

namespace rankscope::analyzer::replay {

/// A run with its graph, all ranks in one class.
struct Replayed {
  explicit Replayed(std::shared_ptr<const Run> of) : run(std::move(of)) {
    const ClockTrust clocks{*run};
    graph = build_graph(*run, find_steps(*run, clocks, {}).section, match_collectives(*run, clocks), clocks);
    if (graph) classes.assign(graph->ranks.size(), 0);
  }
  explicit Replayed(std::string_view text) : Replayed(testing::run_of(text)) {}

  /// All steps together with these fixes, in ns; -1 where they cannot be applied.
  [[nodiscard]] std::int64_t with(const std::vector<std::string_view>& texts) const {
    std::vector<Fix> fixes;
    for (const std::string_view text : texts) {
      const auto fix = parse_fix(text);
      if (!fix) return -1;
      fixes.push_back(*fix);
    }
    const auto fixed = apply_fixes(*graph, ItemPeers(*graph, classes), fixes);
    return fixed ? total_ns(*graph, fixed->scenario) : -1;
  }

  std::shared_ptr<const Run> run;
  Section<Graph> graph = unavailable("not built");
  std::vector<std::uint32_t> classes;
};

/// Two ranks, one step of 100 ns each; rank 1 computes 80 ns, rank 0 only 40, and then both exchange for 20 ns.
inline constexpr std::string_view two_ranks = R"(
@run clock=same_host clock_error=0
@group dp 0,1
0 step 0 100 step index=0
0 forward 0 40 forward
0 wait 40 100 wait
0 comm 40 100 allreduce group=dp seq=0 enqueued=40 on=main
1 step 0 100 step index=0
1 forward 0 80 forward
1 wait 80 100 wait
1 comm 80 100 allreduce group=dp seq=0 enqueued=80 on=main
)";

/// The same two ranks as the stages of a pipeline, on hosts a and b.
inline std::string two_stages() {
  constexpr std::string_view group = "@group dp 0,1\n";
  std::string text{two_ranks};
  return text.insert(text.find(group) + group.size(), "@rank 0 host=a meta.stage=0\n@rank 1 host=b meta.stage=1\n");
}

/// One rank with an accelerator: each of three kernels of 100 ns is launched 50 ns after the one before.
inline constexpr std::string_view three_kernels = R"(
@run
@rank 0 pid=1
@lane 0 main kind=thread number=1
@lane 0 "stream 7" kind=stream number=7 device=0
0 step 0 1000 step index=0 lane=main
0 runtime 50 60 cudaLaunchKernel lane=main
0 runtime 100 110 cudaLaunchKernel lane=main
0 runtime 150 160 cudaLaunchKernel lane=main
0 compute 70 170 first lane="stream 7"
0 compute 170 270 second lane="stream 7"
0 compute 270 370 third lane="stream 7"
0 runtime 200 380 cudaDeviceSynchronize lane=main
@link launch 1 4
@link launch 2 5
@link launch 3 6
)";

/// Each computes 40 ns, rank 2 does 30 ns of work in addition that no other does; then
/// 20 ns of transfer.
inline std::string with_extra_work(int ranks, std::string_view others_also) {
  std::string text = "@run clock=same_host clock_error=0\n@group dp 0,1,2,3\n";
  if (ranks < 4) text = "@run clock=same_host clock_error=0\n@group dp 2,3\n";
  for (int rank = 4 - ranks; rank < 4; ++rank) {
    const bool extra = rank == 2;
    const int ready = extra || !others_also.empty() ? 70 : 40;
    text += format("{0} step 0 90 step index=0\n{0} forward 0 40 forward\n", rank);
    if (ready == 70) text += format("{} optimizer 40 70 {}\n", rank, extra ? "extra" : others_also);
    text +=
        format("{0} wait {1} 90 wait\n{0} comm {1} 90 allreduce group=dp seq=0 enqueued={1} on=main\n", rank, ready);
  }
  return text;
}

}  // namespace rankscope::analyzer::replay

// A report by hand: four ranks of which rank 2 computes slower, 20 steps.
#pragma once

#include <memory>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/model/run_parts.h"
#include "rankscope/core/model/text.h"

namespace rankscope::analyzer {

/// A run with one group, for the names that a report refers to.
inline std::shared_ptr<const Run> sample_run() {
  return run_from_text(
             "@run world_size=4\n@group dp 0,1,2,3\n"
             "0 comm 10 50 allreduce group=dp seq=0 bytes=4096\n1 comm 20 50 allreduce group=dp seq=0 bytes=4096\n"
             "2 comm 40 50 allreduce group=dp seq=0 bytes=4096\n3 comm 15 50 allreduce group=dp seq=0 bytes=4096\n")
      .value();
}

inline StepsSection sample_steps(std::int64_t count) {
  StepsSection steps;
  steps.source = "step spans";
  for (std::int64_t i = 0; i < count; ++i) {
    steps.steps.push_back(
        {.index = i, .time = {at(i * 45'600'000), at((i + 1) * 45'600'000)}, .complete = true, .warm_up = i == 0});
  }
  steps.median_ns = steps.mean_ns = 45'600'000;
  steps.p90_ns = 47'000'000;
  steps.jitter = 0.012;
  return steps;
}

inline RankRow sample_rank(std::uint32_t rank, std::int64_t compute_ns) {
  RankRow row;
  row.rank = RankId{rank};
  row.host = "n0";
  row.device = "cpu";
  row.total.window_ns = 45'600'000;
  row.total.compute_ns = compute_ns;
  row.total.idle_ns = 1'000'001;
  row.total.exposed_comm_ns = row.total.window_ns - compute_ns - row.total.idle_ns;
  row.total.overlapped_comm_ns = 5'000'000;
  row.total.comm_ns = row.total.exposed_comm_ns + row.total.overlapped_comm_ns;
  row.total.wait_ns = row.total.comm_ns - 2'000'000;
  row.total.transfer_ns = 2'000'000;
  row.total.idle_causes_ns = {600'001, 0, 400'000, 0, 0};
  row.overlap_ratio.value = 0.25;
  row.busy.value = 0.978;
  row.compute.value = static_cast<double>(compute_ns) / 45'600'000;
  row.per_step = std::vector<TimeSplit>(1, row.total);
  row.why_no_memory = "no allocator counters in the recording";
  return row;
}

CollectivesSection sample_collectives(const Run& run);

inline EfficiencySection sample_efficiency() {
  EfficiencySection section;
  section.run = {.ranks = 4,
                 .compute_ns = 72'000'000,
                 .most_compute_ns = 20'000'000,
                 .most_active_ns = 24'000'000,
                 .longest_ns = 25'000'000,
                 .most_computing = RankId{2},
                 .most_active = RankId{1},
                 .longest = RankId{0}};
  section.ledger[static_cast<std::size_t>(LedgerPart::compute)] = 72'000'000;
  section.ledger[static_cast<std::size_t>(LedgerPart::idle_host)] = 28'000'000;
  section.whole_ns = 100'000'000;
  set_network(section, unavailable("no replay"));
  return section;
}

inline BlameSection sample_blame() {
  BlameSection section;
  section.total_ns = 740'000'000;
  section.window_ns = 2'000'000'000;
  section.rank_steps = 80;
  section.ranks = 4;
  section.rows.push_back({.rank = RankId{2}});
  section.rows.front().direct_ns[0] = 740'000'000;
  section.rows.push_back({.rank = RankId{1}, .waited_ns = 740'000'000});
  section.pairs.push_back({RankId{1}, RankId{2}, 740'000'000});
  section.groups.push_back({.id = GroupId{0},
                            .group = "dp",
                            .op = "allreduce",
                            .count = 19,
                            .ns = 740'000'000,
                            .most_waited_for = RankId{2},
                            .most_waited_for_ns = 740'000'000});
  section.method = "run time";
  return section;
}

inline BandwidthSection sample_bandwidth() {
  BandwidthSection section;
  BandwidthRow& row = section.rows.emplace_back();
  row.group = "dp";
  row.op = "allreduce";
  row.group_size = 4;
  row.size = {1'000, 3'000};
  row.count = row.too_short = 19;
  row.why_none = "too short";
  section.margins.push_back({.rank = RankId{0}, .collective_bytes = 77'824});
  return section;
}

inline Straggler slow_rank_2() {
  return {.rank = RankId{2},
          .kind = StragglerKind::compute,
          .persistence = Persistence::persistent,
          .certainty = Certainty::fact,
          .severity = FindingSeverity::critical,
          .slowdown = 1.4801,
          .lag_ns_per_step = 12'345'678,
          .gain_ns_per_step = 12'000'000,
          .evidence = "compute +12.3 ms per step against the median of its peers"};
}

/// Everything available and nothing wrong.
inline Report clean_report(const Run& run) {
  Report report;
  report.source = "rankscope";
  report.world_size = 4;
  report.duration_ns = 912'000'000;
  report.clock = {.method = "same_host", .error = nanoseconds{1000}};
  report.steps = sample_steps(20);
  std::vector<RankRow> rows;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    report.ranks.push_back(RankId{rank});
    rows.push_back(sample_rank(rank, 25'000'000));
    report.rank_facts.push_back({.rank = RankId{rank},
                                 .host = "n0",
                                 .program = "rankscope-train",
                                 .ending = Ending::exited,
                                 .exit_status = 0,
                                 .cpu_percent = 41.0,
                                 .peak_rss_bytes = 512'000'000});
  }
  report.rank_rows = rows;
  report.kernels = unavailable(std::string{no_accelerator}, Missed::no);
  report.operators = unavailable("no operators or annotations were recorded");
  report.copies = unavailable(std::string{no_accelerator}, Missed::no);
  report.collectives = sample_collectives(run);
  report.efficiency = sample_efficiency();
  report.blame = sample_blame();
  report.bandwidth = sample_bandwidth();
  report.stragglers =
      StragglersSection{.rows = {},
                        .compared = "Each rank is compared with 3 peers; the times are medians of 19 steps.",
                        .cannot_tell = "",
                        .smallest_detectable = 1.06};
  report.findings = std::vector<Finding>{};
  report.facts = {{"model", "gpt tiny"}, {"pace", "20 ms per block"}};
  return report;
}

inline Report slow_report(const Run& run) {
  auto report = clean_report(run);
  (*report.rank_rows)[2] = sample_rank(2, 37'345'678);
  report.stragglers->rows = {slow_rank_2()};
  report.findings =
      std::vector<Finding>{{.id = "straggler.compute",
                            .severity = FindingSeverity::critical,
                            .title = "Rank 2 computes more slowly than its peers",
                            .evidence = "37.3 ms of compute per step, 25.0 ms on its peers",
                            .advice = "Look at the clock, the power limit and the neighbours of that device.",
                            .gain_ns_per_step = 12'000'000,
                            .rank = RankId{2},
                            .step = {}}};
  return report;
}

}  // namespace rankscope::analyzer

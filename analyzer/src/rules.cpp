// docs/findings.md ends in this table. A row without a function belongs to the rule above it.
#include "rules.h"

#include <array>

#include "bandwidth/parts.h"
#include "blame/parts.h"
#include "collectives/parts.h"
#include "copies/parts.h"
#include "data_loading/parts.h"
#include "devices/parts.h"
#include "efficiency/parts.h"
#include "fusable/parts.h"
#include "hang/parts.h"
#include "kernels/parts.h"
#include "memory/parts.h"
#include "overlap/parts.h"
#include "pipeline/parts.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "split/parts.h"
#include "stragglers/parts.h"
#include "tcp_links/parts.h"
#include "trend/parts.h"

namespace rankscope::analyzer {

namespace {

constexpr std::array all_rules{
    Rule{"rank_lost, lost_at_start, job_stopped, ranks_missing",
         "ranks that died, hung, never joined or were not recorded; the finding shows which rank was the first, and in "
         "which step",
         "recorder stopped by a signal / ranks not recorded, or all ranks stopped together / ranks lost, or the job "
         "hung",
         judge_lost_ranks},
    Rule{"straggler.*",
         "a rank whose own work takes longer than that of its peers: all the time, from a certain step on, or now and "
         "then",
         "slowdown 1.05 / 1.10 / 1.25 (with two or three ranks: 1.15 / 1.25 / -), or the gain", judge_stragglers},
    Rule{finding_id::unequal_data_wait,
         "if ranks cannot be compared by own time: a rank that waits longer than its peers for its data in at least "
         "two thirds of the steps",
         "5 % / 10 % / - of a step", judge_unequal_ranks, true},
    Rule{finding_id::unequal_host_time,
         "if ranks cannot be compared by own time: a rank that spends more host time outside recorded work than its "
         "peers; at most minor with two or three ranks, since the rank may be waiting for another rank",
         "5 % / 10 % / - of a step", nullptr},
    Rule{"unequal.step_time",
         "if ranks cannot be compared by own time: a rank whose steps are longer than those of its peers, unless "
         "unequal.data_wait or unequal.host_time already reports the rank",
         "5 % / 10 % / - of a step", nullptr},
    Rule{"unequal.cpu_use",
         "if ranks cannot be compared by own time: a rank that uses more CPU than its peers (with four or more ranks, "
         "also a "
         "rank that uses less)",
         "a difference of 25 % of a core, and a ratio of 1.25 / - / -", nullptr},
    Rule{"unequal.steps", "if ranks cannot be compared by own time: a rank with fewer steps than its peers",
         "2 steps and 5 % fewer / - / -", nullptr},
    Rule{finding_id::waited_for,
         "in runs without steps: a rank that arrives last far more often than chance explains and that causes at least "
         "80 % of the waiting",
         "2 % of the time / - / -", judge_waiting_without_steps},
    Rule{"desync", "ranks that disagree about the order, the type or the size of their collectives",
         "- / any disagreement / if the job hung", judge_desyncs},
    Rule{"imbalance.rotating", "ranks with uneven work, if the slowest rank changes from step to step",
         "the gain, if the own time of the slowest rank is at least 5 % above the mean of all ranks", judge_rotation},
    Rule{"step_time.change",
         "steps that take longer from a certain step on, unless the steps return to their earlier length or a slow "
         "rank explains the change",
         "longer by 5 % / 10 % / 25 %", judge_step_change},
    Rule{"step_time.odd", "single steps that are much longer than their neighbours and that no slow rank explains",
         "the gain", judge_odd_steps},
    Rule{finding_id::exposed_communication,
         "time in which only communication runs, except waiting that is explained by a finding about a slow rank, a "
         "slow connection or unequal compute",
         "10 % / 20 % / 35 % of the time", judge_exposed_communication, true},
    Rule{"slow_group, slow_link",
         "a group, link, sender or receiver whose bus bandwidth is lower than that of comparable ones, or lower than "
         "earlier in the run, if the loss costs the ranks involved at least 2 % of their time",
         "0.8 / 0.6 / 0.4 of the usual speed, and at least 2 % / 10 % / 25 % of the time", judge_slow_paths, true},
    Rule{finding_id::slow_tcp_link,
         "a TCP connection between two ranks on which data waits longer for the network than on other connections",
         "the gain", judge_tcp_links, true},
    Rule{finding_id::exposed_copies,
         "time in which only copies run (in runs without steps, only accelerators are considered, from their first to "
         "their last device work)",
         "10 % / 20 % / 35 % of the time", judge_exposed_copies, true},
    Rule{"contention", "kernels that take longer while communication runs at the same time", "the gain",
         judge_contention},
    Rule{"pipeline.bubble", "a pipeline that is idle for longer than its schedule requires",
         "5 / 10 / 20 percentage points", judge_pipeline},
    Rule{finding_id::data_loading, "ranks that wait for their training data", "3 % / 10 % / 25 % of the time",
         judge_data_loading, true},
    Rule{
        finding_id::idle,
        "time in which nothing runs; time spent waiting for data is left out (in runs without steps, only accelerators "
        "are considered, from their first to their last device work)",
        "10 % / 25 % / 50 % of the time", judge_idle, true},
    Rule{finding_id::synchronizations,
         "accelerators that run out of work because the host waits for them (for example in .item() or synchronize)",
         "the gain", judge_synchronizations, true},
    Rule{finding_id::blocking_copies,
         "accelerators that run out of work while a copy blocks the host or reads from pageable memory", "the gain",
         judge_blocking_copies, true},
    Rule{finding_id::allocations,
         "accelerators that run out of work while the host allocates or frees device or pinned memory after the first "
         "step (in runs without steps: after the first device work)",
         "the gain", judge_allocations, true},
    Rule{"tensor_cores",
         "matrix products and convolutions that, according to the names of their kernels, do not use the device's "
         "tensor cores",
         "10 % / 25 % / - of the time", judge_tensor_cores, true},
    Rule{"gpu_throttled",
         "a GPU that, according to NVML, is slowed down by heat or by the power brake of its server, unless its rank "
         "is already reported as slow; power caps are left out",
         "10 % / 50 % / - of the samples", judge_throttling, true},
    Rule{"fusable", "several pointwise kernels in a row, which could perhaps be fused into one",
         "the gain, or such kernels take 20 % / - / - of the time", judge_fusable, true},
    Rule{"efficiency.load_balance", "ranks that compute more than others, unless a slow rank explains the difference",
         "load balance 90 % / 80 % / 65 %", judge_efficiency, true},
    Rule{"efficiency.communication",
         "copies and communication that no computation hides, unless another finding covers them",
         "communication efficiency 90 % / 80 % / 65 %", nullptr},
    Rule{finding_id::efficiency,
         "ranks that spend only a small part of their time computing, if no other finding explains this",
         "parallel efficiency 80 % / 65 % / 50 %", nullptr},
    Rule{"memory_near_limit", "a device whose memory is nearly full at the peak", "10 % / 5 % / 2 % left",
         judge_memory},
    Rule{"memory_fragmentation",
         "memory that the framework reserves but does not use, if more than half of the device's memory is reserved",
         "15 % / 25 % / 40 % unused", nullptr},
    Rule{"memory_imbalance",
         "a rank that needs at least 64 MiB more memory than its peers; at most minor if it is not known which "
         "ranks do equal work",
         "1.15 / 1.30 / 1.50 times the median of the peers", nullptr},
    Rule{"memory_growth", "memory peaks that grow from step to step (a leak), by at least 64 MiB and 5 % in total",
         "any growth / device full within ten times the number of recorded steps / -", nullptr},
    Rule{"memory_growth.host", "resident memory of a process that grows from step to step, by at least 10 % in total",
         "any growth / - / -", nullptr},
    Rule{"profiler_overhead",
         "the profiler itself slowed down the job, so that the reported times are longer than in a run without the "
         "profiler",
         "2 % / 10 % / - of the time", judge_profiler_overhead, true},
};

}  // namespace

std::span<const Rule> rules() { return all_rules; }

std::string rules_as_markdown() {
  std::string text = "| id | finds | minor / major / critical |\n|---|---|---|\n";
  for (const Rule& rule : rules()) text += format("| `{}` | {} | {} |\n", rule.id, rule.finds, rule.limits);
  return text;
}

}  // namespace rankscope::analyzer

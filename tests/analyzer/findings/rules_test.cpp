#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <vector>

#include "analyzer/synthetic_run.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "rules.h"

namespace rankscope::analyzer {
namespace {

using testing::make;
using testing::run_of;
using testing::StepPlan;
using testing::SyntheticRun;

const Finding* find(const Report& report, std::string_view id) {
  const auto found = std::ranges::find(*report.findings, id, &Finding::id);
  return found == report.findings->end() ? nullptr : &*found;
}

constexpr std::string_view head =
    "@rank 0 pid=1 host=n0\n@device 0 0 name=H100 meta.computeMajor=9\n@lane 0 main kind=thread number=1\n"
    "@lane 0 s7 kind=stream number=7 device=0\n";

std::string kernel(std::int64_t begin, std::int64_t end, std::string_view name) {
  return format("0 compute {} {} {} lane=s7\n", begin, end, name);
}

/// Ten steps of `length` ns; `body` writes what is in one that begins then.
std::string ten_steps(std::int64_t length, const std::function<std::string(std::int64_t begin)>& body) {
  std::string text{head};
  for (std::int64_t step = 0; step <= 10; ++step) {
    text += format("0 step {} {} step index={} lane=main\n", step * length, (step + 1) * length - 1, step);
    text += body(step * length);
  }
  return text;
}

Report report_on(const std::string& text) { return analyze(*run_of(text), {}); }

/// Code that reads findings would otherwise look for ids that no rule has.
TEST(Rules, WhatOtherCodeNamesIsInTheTable) {
  for (const std::string_view named :
       {finding_id::rank_lost, finding_id::lost_at_start, finding_id::job_stopped, finding_id::ranks_missing,
        finding_family::straggler, finding_family::unequal, finding_family::imbalance, finding_family::step_time,
        finding_family::efficiency, finding_family::slow_path})
    EXPECT_TRUE(std::ranges::any_of(rules(), [named](const Rule& rule) { return rule.id.find(named) != rule.id.npos; }))
        << named;
}

TEST(Rules, MatrixProductsWithoutTensorCoresAreFound) {
  const auto product = [](std::string_view name) {
    return report_on(ten_steps(1000, [name](std::int64_t at) {
      return kernel(at, at + 300, name) + kernel(at + 300, at + 1000, "other_kernel");
    }));
  };
  const Report slow = product("volta_sgemm_128x32_nt");
  const Finding* const finding = find(slow, "tensor_cores");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->severity, FindingSeverity::major);
  EXPECT_NE(finding->evidence.find("300 ns per step and rank"), std::string::npos) << finding->evidence;
  EXPECT_EQ(find(product("sm90_xmma_gemm_bf16bf16"), "tensor_cores"), nullptr) << "uses them";
  EXPECT_EQ(find(product("layer_norm"), "tensor_cores"), nullptr) << "is no matrix product";
}

/// The device computes 60 of 100 µs and copies for one; the host waits in a call and launches the next step's kernel
/// late.
Report report_on_waiting(std::string_view call) {
  std::string text = ten_steps(100'000, [call](std::int64_t at) {
    return format("0 op {} {} aten::item lane=main\n0 runtime {} {} {} lane=main\n", at + 1000, at + 91000, at + 2000,
                  at + 61500, call) +
           format("0 runtime {} {} cudaLaunchKernel lane=main\n", at + 99000, at + 99500) +
           kernel(at, at + 60000, "gemm_bf16_tensorop") +
           format("0 memory {} {} \"Memcpy DtoH (Device -> Pageable)\" lane=s7\n", at + 60000, at + 61000);
  });
  for (int step = 0; step < 10; ++step) {
    text += format("@link launch {} {}\n", step * 6 + 3, step * 6 + 10);
    if (call == "cudaMemcpy") text += format("@link launch {} {}\n", step * 6 + 2, step * 6 + 5);
  }
  return report_on(text);
}

TEST(Rules, ACallThatKeepsTheDeviceWaitingIsFoundWithItsOperator) {
  const Report sync = report_on_waiting("cudaStreamSynchronize");
  const Finding* const finding = find(sync, "synchronizations");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->evidence.find("cudaStreamSynchronize in aten::item"), std::string::npos) << finding->evidence;
  EXPECT_EQ(finding->severity, FindingSeverity::critical);
  EXPECT_NEAR(static_cast<double>(finding->gain_ns_per_step), 38e3, 1e3);
  EXPECT_EQ(find(sync, "blocking_copies"), nullptr);
  const Report copy = report_on_waiting("cudaMemcpy");
  EXPECT_NE(find(copy, "blocking_copies"), nullptr);
  EXPECT_EQ(find(copy, "synchronizations"), nullptr);
}

/// The host copies pageable memory with a call that has the name of an asynchronous one, while the device runs dry.
TEST(Rules, ACopyOfPageableMemoryHoldsTheHostUpWhateverItsName) {
  std::string text = ten_steps(100'000, [](std::int64_t at) {
    return format("0 op {} {} aten::copy_ lane=main\n0 runtime {} {} cudaMemcpyAsync lane=main\n", at + 50000,
                  at + 92000, at + 50500, at + 91500) +
           kernel(at, at + 50000, "gemm_bf16_tensorop") +
           format("0 memory {} {} \"Memcpy HtoD (Pageable -> Device)\" lane=s7\n", at + 91000, at + 92000) +
           kernel(at + 92000, at + 100'000, "gemm_bf16_tensorop");
  });
  for (int step = 0; step <= 10; ++step) text += format("@link launch {} {}\n", step * 6 + 2, step * 6 + 4);
  const Report report = report_on(text);
  const Finding* const finding = find(report, "blocking_copies");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->advice.find("pin_memory=True"), std::string::npos);
  EXPECT_NEAR(static_cast<double>(finding->gain_ns_per_step), 40e3, 2e3);
}

TEST(Rules, ConvolutionsOfCudnnWithoutTensorCoresAreFound) {
  const Report report = report_on(ten_steps(1000, [](std::int64_t at) {
    return kernel(at, at + 300, "cudnn_infer_volta_scudnn_128x64_relu_small_nn_v1") +
           kernel(at + 300, at + 1000, "other_kernel");
  }));
  EXPECT_NE(find(report, "tensor_cores"), nullptr);
}

TEST(Rules, WhatKeptTheDeviceIdleInOneStepAloneIsSaid) {
  const Report report = report_on(ten_steps(100'000, [](std::int64_t at) {
    const std::int64_t busy = at == 500'000 ? 1000 : 98'000;
    return format("0 op {} {} aten::{} lane=main\n", at, at + 99'900, at == 500'000 ? "stall" : "usual") +
           kernel(at, at + busy, "gemm_bf16_tensorop");
  }));
  const Finding* const finding = find(report, "idle");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->evidence.find("of it in step 5 alone"), std::string::npos) << finding->evidence;
}

TEST(Rules, RowsOfPointwiseKernelsAreFound) {
  const Report report = report_on(ten_steps(1000, [](std::int64_t at) {
    return kernel(at, at + 100, "elementwise_kernel_a") + kernel(at + 150, at + 250, "elementwise_kernel_b") +
           kernel(at + 250, at + 1000, "reduce");
  }));
  const Finding* const finding = find(report, "fusable");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->gain_ns_per_step, 50);
  EXPECT_EQ(finding->severity, FindingSeverity::minor);
  EXPECT_EQ(finding->title, "25 % of the time goes to sequences of pointwise kernels");
  EXPECT_EQ(finding->evidence,
            "20 % of the time is spent in the kernels, 5 % in the gaps between them (50 ns per step and rank; this is "
            "also counted as idle time); the costliest sequence (250 ns per step and rank) is elementwise_kernel_a → "
            "elementwise_kernel_b");
  EXPECT_EQ(finding->advice.find("torch"), std::string::npos) << "no PyTorch was seen";
}

TEST(Rules, OddStepsAreFoundUnlessARankStalls) {
  const auto odd = [](std::uint32_t ranks_hit) {
    SyntheticRun plan;
    plan.steps = 40;
    plan.fault = [ranks_hit](StepPlan& step, std::uint32_t rank, std::int64_t index) {
      if (rank < ranks_hit && (index == 11 || index == 29)) step.stall = 200;
    };
    return analyze(*make(plan), {});
  };
  const Report all = odd(4);
  const Finding* const finding = find(all, "step_time.odd");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->title, "2 steps take much longer than their neighbours");
  EXPECT_NE(finding->evidence.find("ranks 0–3: own time 300 ms instead of 100 ms (mainly time on the host)"),
            std::string::npos)
      << finding->evidence;
  EXPECT_NEAR(static_cast<double>(finding->gain_ns_per_step), 400e6 / 40, 1e6);
  const Report one = odd(1);
  EXPECT_EQ(find(one, "step_time.odd"), nullptr);
  EXPECT_EQ(one.stragglers->rows.size(), 1U) << "it says whose they are";
}

TEST(Rules, OddStepsOfOthersAreFoundBesideASlowRank) {
  SyntheticRun plan;
  plan.steps = 40;
  plan.fault = [](StepPlan& step, std::uint32_t rank, std::int64_t index) {
    if (rank == 2) step.forward *= 1.5, step.backward *= 1.5;
    if (rank < 2 && index == 11) step.stall = 400;
  };
  const Report report = analyze(*make(plan), {});
  ASSERT_EQ(report.stragglers->rows.size(), 1U);
  const Finding* const finding = find(report, "step_time.odd");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->step, 11);
}

TEST(Rules, AllocationsCostNothingWhileTheDeviceIsBusy) {
  const auto found = [](std::int64_t kernel_end, std::string_view call = "cudaMalloc", std::string_view more = {}) {
    std::string text = ten_steps(100'000, [kernel_end, call](std::int64_t at) {
      return format("0 runtime {} {} {} lane=main\n", at + 10'000, at + 90'000, call) +
             format("0 runtime {} {} cudaLaunchKernel lane=main\n", at + 95'000, at + 96'000) +
             kernel(at, at + kernel_end, "gemm_bf16_tensorop");
    });
    for (int step = 0; step < 10; ++step) text += format("@link launch {} {}\n", step * 4 + 2, step * 4 + 7);
    return report_on(text + std::string{more});
  };
  const Report busy = found(100'000);
  ASSERT_FALSE(busy.copies->allocations.empty());
  EXPECT_EQ(find(busy, "allocations"), nullptr) << "the host is slow, but nobody waits for it";
  const Report dry = found(30'000);
  const Finding* const finding = find(dry, "allocations");
  ASSERT_NE(finding, nullptr);
  EXPECT_NEAR(static_cast<double>(finding->gain_ns_per_step), 60'000, 8'000) << "from the kernel's end on";
  EXPECT_EQ(finding->advice, "Allocate once and reuse the buffers, or use cudaMallocAsync.");
  const Report torch = found(30'000, "cudaMalloc", "0 op 0 1000 aten::empty lane=main\n");
  EXPECT_NE(find(torch, "allocations")->advice.find("empty_cache"), std::string::npos) << "the calls recur";
  const Report pinned = found(30'000, "cudaHostAlloc", "0 op 0 1000 aten::empty lane=main\n");
  EXPECT_EQ(find(pinned, "allocations")->advice, "Allocate pinned memory once, and reuse it.");
}

TEST(Rules, SharesOfStepsAreNotMixedWithWholeRecordings) {
  std::string text = ten_steps(1000, [](std::int64_t at) {
    return kernel(at, at + 100, "elementwise_kernel_a") + kernel(at + 150, at + 250, "elementwise_kernel_b") +
           kernel(at + 250, at + 1000, "reduce");
  });
  text += "@rank 1 pid=2 host=n0\n@lane 1 s7 kind=stream number=7 device=0\n1 compute 0 1000000 other lane=s7\n";
  const Report report = report_on(text);
  const Finding* const finding = find(report, "fusable");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->gain_ns_per_step, 50);
  EXPECT_EQ(finding->title, "25 % of the time goes to sequences of pointwise kernels");
}

TEST(Rules, EachIsInTheTableOnceAndEndsInItsLimits) {
  const std::string table = rules_as_markdown();
  for (const Rule& rule : rules()) {
    const std::string row = format("| `{}` | {} | {} |\n", rule.id, rule.finds, rule.limits);
    const std::size_t first = table.find(row);
    ASSERT_NE(first, std::string::npos) << rule.id;
    EXPECT_EQ(table.find(format("| `{}` |", rule.id), first + 1), std::string::npos) << rule.id;
    EXPECT_FALSE(rule.finds.empty() || rule.limits.empty()) << rule.id;
  }
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(table, '\n')), rules().size() + 2) << "and the head";
}

/// Two stages of two ranks, of which the second computes `second` ms per step; then all wait for each other.
std::string two_stages(std::int64_t second) {
  std::string text = "@run clock=same_host\n@group all 0,1,2,3\n";
  for (int rank = 0; rank < 4; ++rank) text += format("@rank {} host=n0 meta.stage={}\n", rank, rank / 2);
  for (std::int64_t step = 0; step < 20; ++step)
    for (int rank = 0; rank < 4; ++rank) {
      const std::int64_t begin = step * 110'000'000;
      const std::int64_t end = begin + (rank < 2 ? 100'000'000 : second * 1'000'000);
      text += format("{0} step {1} {2} step index={3}\n{0} op {1} {4} work\n{0} comm {4} {5} allreduce group=all\n",
                     rank, begin, begin + 110'000'000, step, end, begin + 102'000'000);
    }
  return text;
}

TEST(Rules, UnequalStagesAreNotSharedEvenly) {
  EXPECT_EQ(find(report_on(two_stages(98)), "efficiency.load_balance"), nullptr);
  const Report report = report_on(two_stages(50));
  const Finding* const finding = find(report, "efficiency.load_balance");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->severity, FindingSeverity::major);
  EXPECT_EQ(finding->title, "the work is not shared evenly: load balance 75 %");
  EXPECT_EQ(finding->gain_ns_per_step, 25'000'000);
  EXPECT_NE(finding->evidence.find("stage 1 (ranks 2, 3) computes 50.0 ms, stage 0"), std::string::npos)
      << finding->evidence;
}

TEST(Rules, AnUnevenRankIsSaidOnceAsAStraggler) {
  SyntheticRun plan;
  plan.fault = [](StepPlan& step, std::uint32_t rank, std::int64_t) {
    step.data = 0.5;
    step.transfer = 2;
    if (rank == 1) step.forward *= 3;
  };
  const Report report = analyze(*make(plan), {});
  EXPECT_NE(find(report, "straggler.compute"), nullptr);
  EXPECT_LT(report.efficiency->run.load_balance(), 0.9);
  for (const Finding& finding : *report.findings) EXPECT_FALSE(finding.id.starts_with("efficiency")) << finding.id;
}

TEST(Rules, ASlowGroupIsAFindingWithItsRanks) {
  std::string text = "@run clock=same_host\n@group a 0,1\n@group b 2,3\n@group c 4,5\n";
  for (std::int64_t step = 0; step < 20; ++step)
    for (int rank = 0; rank < 6; ++rank) {
      const std::int64_t begin = step * 100'000'000;
      const std::int64_t moved = begin + 60'000'000 + (rank / 2 == 1 ? 30'000'000 : 10'000'000);
      text += format(
          "{0} step {1} {2} step index={3}\n{0} op {1} {4} work\n"
          "{0} comm {4} {5} allreduce group={6} seq={7} bytes=1000000\n",
          rank, begin, begin + 100'000'000, step, begin + 60'000'000, moved, static_cast<char>('a' + rank / 2),
          step + 1);
    }
  const Report report = report_on(text);
  const Finding* const finding = find(report, "slow_group");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->severity, FindingSeverity::major) << "a third of the speed, but only a fifth of the time";
  EXPECT_EQ(finding->advice.find("NCCL"), std::string::npos) << "no accelerator was recorded: " << finding->advice;
  EXPECT_EQ(finding->title, "group b (ranks 2, 3) moves data at 0.33 times the usual speed");
  EXPECT_EQ(finding->gain_ns_per_step, 20'000'000);
}

TEST(Rules, GroupsThatBecomeSlowTogetherAreToldInFewFindings) {
  constexpr int groups = 8;
  std::string text = "@run clock=same_host\n";
  for (int group = 0; group < groups; ++group) text += format("@group g{} {},{}\n", group, 2 * group, 2 * group + 1);
  for (std::int64_t step = 0; step < 40; ++step)
    for (int rank = 0; rank < 2 * groups; ++rank) {
      const std::int64_t begin = step * 100'000'000;
      const std::int64_t moved = begin + 60'000'000 + (step >= 20 ? 30'000'000 : 10'000'000);
      text += format(
          "{0} step {1} {2} step index={3}\n{0} op {1} {4} work\n"
          "{0} comm {4} {5} allreduce group=g{6} seq={7} bytes=1000000\n",
          rank, begin, begin + 100'000'000, step, begin + 60'000'000, moved, rank / 2, step + 1);
    }
  const Report report = report_on(text);
  ASSERT_TRUE(report.bandwidth);
  EXPECT_EQ(report.bandwidth->slow.size(), 8U) << "the section has all of them";
  std::vector<std::string> told;
  for (const Finding& finding : *report.findings)
    if (finding.id == "slow_group") told.push_back(finding.evidence);
  ASSERT_EQ(told.size(), 3U);
  EXPECT_TRUE(std::ranges::any_of(told, [](const std::string& evidence) {
    return evidence.find("also became slow in step ") != std::string::npos;
  }));
}

TEST(Rules, OddStepsOfSeveralRanksNameNone) {
  const auto odd = [](const std::array<std::vector<std::uint32_t>, 3>& ranks) {
    SyntheticRun plan;
    plan.ranks = 8;
    plan.steps = 60;
    plan.fault = [ranks](StepPlan& step, std::uint32_t rank, std::int64_t index) {
      for (std::size_t i = 0; i < ranks.size(); ++i)
        if (index == 10 + 20 * static_cast<std::int64_t>(i) && std::ranges::count(ranks[i], rank) > 0)
          step.forward += 250;
    };
    const Report report = analyze(*make(plan), {});
    const Finding* const finding = find(report, "step_time.odd");
    return finding == nullptr ? std::optional<Finding>{} : *finding;
  };
  const auto several = odd({std::vector<std::uint32_t>{0, 1, 2, 3}, {3, 5, 6}, {3, 7}});
  ASSERT_TRUE(several);
  EXPECT_EQ(several->rank, std::nullopt) << several->title;
}

}  // namespace
}  // namespace rankscope::analyzer

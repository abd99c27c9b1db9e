// The line of the user's code in which a slow rank loses its time, from samples of Python's stacks (metrics.md 9.9).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <nlohmann/json.hpp>

#include "analyzer/synthetic_run.h"
#include "python_stacks/slow_code.h"
#include "rankscope/analyzer/render.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {
namespace {

using ::testing::HasSubstr;
using testing::make;
using ::testing::Not;
using testing::run_of;
using testing::StepPlan;
using testing::SyntheticRun;
using testing::text_of;

std::string sample(RankId rank, std::int64_t time, std::int64_t ns, std::string_view place,
                   std::string_view more = "") {
  return format("{} mark {} \"{}\" lane=\"python stacks\" ns={}{}\n", rank.value, time, place, ns, more);
}

/// As many samples as fit into the stretch, one every 4 ms.
std::string samples(RankId rank, std::int64_t middle, std::int64_t ns, std::string_view place,
                    std::string_view more = "") {
  const std::int64_t count = std::max<std::int64_t>(1, ns / 4'000'000);
  std::string text;
  for (std::int64_t i = 0; i < count; ++i)
    text += sample(rank, middle - ns / 2 + (2 * i + 1) * ns / (2 * count), ns / count, place, more);
  return text;
}

/// What is marked for a span of the main thread that lasted `ns` around `middle`.
using Marks = std::function<std::string(RankId rank, SpanKind kind, std::int64_t middle, std::int64_t ns)>;

/// Samples of each part of a step; host time is what is left between data and forward.
std::string usual_marks(RankId rank, SpanKind kind, std::int64_t middle, std::int64_t ns) {
  switch (kind) {
    case SpanKind::data:
      return samples(rank, middle, ns, "Tokens.__getitem__ data.py:31");
    case SpanKind::user:
      return samples(rank, middle, ns, "main.<locals>.log train loop.py:12");
    case SpanKind::forward:
      return samples(rank, middle, ns, "Net.forward net.py:5");
    case SpanKind::wait:
      return sample(rank, middle, 50 * ns, "main train loop.py:99");
    default:
      return {};
  }
}

std::string with_samples(const SyntheticRun& plan, const Marks& marks = usual_marks) {
  std::string text = text_of(plan);
  const auto run = run_of(text);
  for (const Lane& lane : run->lanes()) {
    RunTime data_end{};
    for (const Span& span : run->spans_of(lane)) {
      const std::int64_t ns = span.time.length().count();
      const std::int64_t begin = span.time.begin.time_since_epoch().count();
      if (span.kind == SpanKind::data) data_end = span.time.end;
      if (span.kind == SpanKind::forward) {
        const std::int64_t idle = (span.time.begin - data_end).count();
        text += marks(lane.rank, SpanKind::user, begin - idle / 2, idle);
      }
      text += marks(lane.rank, span.kind, begin + ns / 2, ns);
    }
  }
  return text;
}

struct Analyzed {
  Report report;
  std::string text;
  nlohmann::json json;
};

Analyzed analyzed(const std::string& text) {
  const auto run = run_of(text);
  Analyzed result{analyze(*run, {}), {}, {}};
  result.text = render_text(result.report, *run, {}, Colour::no);
  result.json = nlohmann::json::parse(render_json(result.report, *run, {}));
  return result;
}

/// The only straggler, which must be rank 2.
Straggler slow_rank(const Analyzed& run) {
  EXPECT_TRUE(run.report.stragglers);
  if (!run.report.stragglers || run.report.stragglers->rows.size() != 1) {
    ADD_FAILURE() << "not one straggler";
    return {};
  }
  EXPECT_EQ(run.report.stragglers->rows[0].rank, RankId{2});
  return run.report.stragglers->rows[0];
}

SyntheticRun slow(double StepPlan::*part, double ms) {
  SyntheticRun plan;
  plan.noise = 0.0005;
  plan.fault = [part, ms](StepPlan& step, std::uint32_t rank, std::int64_t) {
    if (rank == 2) step.*part = ms;
  };
  return plan;
}

TEST(PythonStacks, NameTheLineOfARankThatLoadsItsDataSlowly) {
  const Analyzed run = analyzed(with_samples(slow(&StepPlan::data, 45)));
  const Straggler row = slow_rank(run);
  ASSERT_TRUE(row.code);
  EXPECT_EQ(row.code->function, "Tokens.__getitem__");
  EXPECT_EQ(row.code->file, "data.py");
  EXPECT_EQ(row.code->line, 31);
  EXPECT_NEAR(static_cast<double>(row.code->ns_per_step), 45e6, 0.5e6);
  EXPECT_NEAR(static_cast<double>(row.code->peers_ns_per_step), 5e6, 0.5e6);
  EXPECT_EQ(run.json["stragglers"][0]["code"]["function"], "Tokens.__getitem__");
  EXPECT_EQ(run.json["stragglers"][0]["code"]["peers_ns_per_step"], row.code->peers_ns_per_step);
  EXPECT_THAT(run.report.findings->at(0).evidence, HasSubstr("; the time goes into Tokens.__getitem__ (data.py:31), "
                                                             "which takes about 45 ms per step on this rank (from "));
  EXPECT_THAT(run.report.findings->at(0).evidence, HasSubstr(" ms on its peers"));
  EXPECT_THAT(run.text, HasSubstr("PYTHON CODE"));
}

TEST(PythonStacks, NameTheLineOutsideOfAllWorkOfARankWithASlowHost) {
  const Straggler row = slow_rank(analyzed(with_samples(slow(&StepPlan::stall, 40))));
  ASSERT_TRUE(row.code) << "waiting for others is longer on the peers, and is not code";
  EXPECT_EQ(row.code->function, "main.<locals>.log");
  EXPECT_EQ(row.code->file, "train loop.py");
  EXPECT_EQ(row.code->line, 12);
}

TEST(PythonStacks, NameTheLineThatComputesLonger) {
  const Straggler row = slow_rank(analyzed(with_samples(slow(&StepPlan::forward, 80))));
  ASSERT_TRUE(row.code);
  EXPECT_EQ(row.code->function, "Net.forward");
}

/// Three ranks with a GPU each, of which the last has a slow loader: in most of that time its GPU is still busy with
/// the step before, and after it the GPU waits for launches, which its peers had hidden behind communication.
std::string slow_loader_beside_a_busy_gpu() {
  constexpr std::int64_t ms = 1'000'000;
  std::string text = "@run world_size=3 clock=same_host clock_error=1000\n@group dp 0,1,2\n";
  for (int rank = 0; rank < 3; ++rank)
    text += format(
        "@lane {0} main kind=thread number=1\n@lane {0} \"python stacks\" kind=thread number=2\n"
        "@lane {0} s7 kind=stream number=7 device=0\n",
        rank);
  const auto add = [&text](int rank, std::string_view kind, std::int64_t begin, std::int64_t end,
                           std::string_view rest) { text += format("{} {} {} {} {}\n", rank, kind, begin, end, rest); };
  for (int step = 0; step < 20; ++step) {
    const std::int64_t begin = step * 100 * ms, end = begin + 100 * ms;
    for (int rank = 0; rank < 3; ++rank) {
      const bool slow = rank == 2;
      const std::int64_t loaded = begin + (slow ? 50 : 5) * ms, launched = begin + (slow ? 80 : 10) * ms;
      add(rank, "step", begin, end, format("step index={} lane=main", step));
      add(rank, "data", begin, loaded, "next_batch lane=main");
      add(rank, "forward", loaded, end, "forward lane=main");
      if (slow) add(rank, "compute", begin, begin + 40 * ms, "adam lane=s7");
      add(rank, "compute", launched, launched + (slow ? 10 : 50) * ms, "gemm lane=s7");
      add(rank, "comm", launched + (slow ? 10 : 50) * ms, end,
          format("allreduce group=dp seq={} bytes=1000 lane=s7", step));
      text += samples(RankId{static_cast<std::uint32_t>(rank)}, (begin + loaded) / 2, loaded - begin,
                      "Tokens.__getitem__ data.py:31");
    }
  }
  return text;
}

TEST(PythonStacks, ShowASlowLoaderWhoseTimeABusyGpuHides) {
  const Straggler row = slow_rank(analyzed(slow_loader_beside_a_busy_gpu()));
  EXPECT_EQ(row.kind, StragglerKind::data);
  ASSERT_TRUE(row.code);
  EXPECT_EQ(row.code->function, "Tokens.__getitem__");
  EXPECT_THAT(row.evidence, HasSubstr("is kept idle by its host for"));
  EXPECT_THAT(row.evidence, HasSubstr("; samples of its Python code show that it is late because it loads data"));
}

TEST(PythonStacks, StandInTheVerdict) {
  const std::string text = analyzed(with_samples(slow(&StepPlan::data, 45))).text;
  EXPECT_THAT(text.substr(0, text.find("RUN")), HasSubstr("Tokens.__getitem__ (data.py:31)"));
}

TEST(PythonStacks, NameWorkersThatLoadRatherThanTheLineThatWaitsForThem) {
  const auto marks = [](RankId rank, SpanKind kind, std::int64_t middle, std::int64_t ns) {
    if (kind != SpanKind::data) return std::string{};
    return samples(rank, middle, ns, "main train.py:7") +
           samples(rank, middle, 2 * ns, "Tokens.read data.py:40", format(" worker={}", 100 + rank.value));
  };
  const Analyzed run = analyzed(with_samples(slow(&StepPlan::data, 45), marks));
  const Straggler row = slow_rank(run);
  ASSERT_TRUE(row.code);
  EXPECT_EQ(row.code->function, "Tokens.read");
  EXPECT_NEAR(static_cast<double>(row.code->ns_per_step), 90e6, 2e6) << "some fall outside of the first step";
  EXPECT_EQ(run.json["python_stacks"]["ranks"][2]["samples"], 20 * 11) << "of the training thread";
}

TEST(PythonStacks, NameNothingFromTooFewSamples) {
  std::int64_t told = 0;
  const auto marks = [&told](RankId rank, SpanKind kind, std::int64_t middle, std::int64_t ns) {
    const bool few = rank != RankId{2} || (kind == SpanKind::data && ++told > 3);
    return kind == SpanKind::data && !few ? usual_marks(rank, kind, middle, ns) : std::string{};
  };
  const Analyzed run = analyzed(with_samples(slow(&StepPlan::data, 45), marks) +
                                sample(RankId{0}, 1000, 1, "main a.py:1") + sample(RankId{1}, 1000, 1, "main a.py:1"));
  EXPECT_FALSE(slow_rank(run).code);
  EXPECT_FALSE(run.json["stragglers"][0].contains("code"));
}

TEST(PythonStacks, AreNotMissedWhereNothingWasSampled) {
  const Analyzed run = analyzed(text_of(slow(&StepPlan::data, 45)));
  EXPECT_FALSE(slow_rank(run).code);
  EXPECT_EQ(run.json["python_stacks"], nlohmann::json({{"unavailable", no_python_code}}));
  EXPECT_THAT(run.text, Not(HasSubstr("python")));
}

TEST(PythonStacks, NameNobodyInAnEvenRun) {
  const Analyzed run = analyzed(with_samples(slow(&StepPlan::data, 5)));
  EXPECT_TRUE(run.report.stragglers->rows.empty());
  EXPECT_THAT(run.text, HasSubstr("No function takes clearly longer on one rank than on the others."));
}

TEST(PythonStacks, NameTheGarbageCollectorWhereItsPausesExplainTheHost) {
  const auto marks = [](RankId rank, SpanKind kind, std::int64_t middle, std::int64_t ns) {
    std::string text = usual_marks(rank, kind, middle, ns);
    if (kind == SpanKind::user && rank == RankId{2})
      text += format("{} mark {} \"garbage collection\" lane=main ns={}\n", rank.value, middle, 9 * ns / 10);
    return text;
  };
  const Analyzed run = analyzed(with_samples(slow(&StepPlan::stall, 40), marks));
  const Straggler row = slow_rank(run);
  ASSERT_TRUE(row.pauses);
  EXPECT_NEAR(static_cast<double>(row.pauses->ns_per_step), 36e6, 1e6);
  EXPECT_EQ(row.pauses->peers_ns_per_step, 0);
  EXPECT_EQ(run.json["stragglers"][0]["garbage_collection"]["ns_per_step"], row.pauses->ns_per_step);
  EXPECT_THAT(run.report.findings->at(0).evidence, HasSubstr("its garbage collector takes 35"));
}

TEST(PythonStacks, IgnoreDamagedMarks) {
  std::string text = text_of(slow(&StepPlan::data, 45));
  text += sample(RankId{2}, 5'000'000, -5, "f a.py:1") + sample(RankId{2}, 5'000'000, 5, "without a place") +
          sample(RankId{2}, 5'000'000, 5, "f a.py:") + sample(RankId{2}, 5'000'000, 5, "?") +
          "2 mark 6000000 \"f a.py:1\" lane=\"python stacks\" ns=many\n";
  EXPECT_FALSE(slow_rank(analyzed(text)).code);
}

TEST(SlowCode, IsShownWithTheDigitsThatItsSamplesAllow) {
  SlowCode code{"spin", "a.py", 5, 38'200'000, 0, 0, 0, 14};
  EXPECT_EQ(slow_code_text(code),
            "spin (a.py:5), which takes about 38 ms per step on this rank (from 14 samples), and nothing on its peers");
  code.samples = 10'000;
  code.peers_ns_per_step = 40'000;
  EXPECT_THAT(slow_code_text(code), HasSubstr("about 38.2 ms per step on this rank (from 10000 samples), and almost "
                                              "nothing on"));
}

TEST(SlowCode, IsALineWhoseFunctionIsUsedByAllRanks) {
  const auto line = [](std::int64_t number, std::int64_t samples) {
    return CodeLine{.function = "work", .file = "a.py", .line = number, .samples = samples, .ns = samples * 100};
  };
  const RankCode own{.rank = RankId{1}, .steps = 10, .samples = 48, .lines = {line(45, 24), line(43, 24)}};
  const std::array peers{RankCode{.rank = RankId{0}, .steps = 10, .samples = 31, .lines = {line(43, 31)}}};
  const std::array phases{CodePhase::host};
  EXPECT_EQ(slow_code(own, peers, phases, 1), (SlowCode{"work", "a.py", 45, 240, 0, 0, 0, 24}));
}

TEST(SlowCode, IsTheWholeFunctionWhereNoLineMakesHalfOfTheDifference) {
  RankCode own{.rank = RankId{0}, .steps = 10, .samples = 60, .lines = {}};
  for (const std::int64_t line : {3, 4, 5})
    own.lines.push_back({.function = "spin", .file = "a.py", .line = line, .samples = 20, .ns = 600 + 10 * line});
  const std::array peers{RankCode{.rank = RankId{1}, .steps = 10, .samples = 60, .lines = {}}};
  const std::array phases{CodePhase::host};
  const auto code = slow_code(own, peers, phases, 1);
  ASSERT_TRUE(code);
  EXPECT_EQ(*code, (SlowCode{"spin", "a.py", 5, 192, 0, 0, 0, 60}));
  EXPECT_EQ(slow_code(own, peers, phases, 1000), std::nullopt) << "less than asked for";
  EXPECT_EQ(slow_code(own, {}, phases, 1), std::nullopt) << "nobody to compare with";
  const std::array data{CodePhase::data};
  EXPECT_EQ(slow_code(own, peers, data, 1), std::nullopt);
}

TEST(SlowCode, IsComparedWithTheMedianOfTheOthers) {
  const auto code = [](std::uint32_t rank, std::int64_t samples) {
    RankCode one{.rank = RankId{rank}, .steps = 1, .samples = 100, .lines = {}};
    if (samples > 0)
      one.lines.push_back({.function = "f", .file = "a.py", .line = 3, .samples = samples, .ns = samples});
    return one;
  };
  const std::array phases{CodePhase::host};
  const auto peers_of_last = [&](const std::vector<std::int64_t>& samples) {
    std::vector<RankCode> codes;
    for (std::size_t i = 0; i < samples.size(); ++i) codes.push_back(code(static_cast<std::uint32_t>(i), samples[i]));
    const auto found = CodeOfPeers{codes, phases}.slow_code(samples.size() - 1, {});
    return found ? found->peers_ns_per_step : -1;
  };
  EXPECT_EQ(peers_of_last({3, 90}), 3);
  EXPECT_EQ(peers_of_last({3, 7, 90}), 5);
  EXPECT_EQ(peers_of_last({0, 0, 7, 90}), 0);
  EXPECT_EQ(peers_of_last({0, 4, 7, 90}), 4);
  EXPECT_EQ(peers_of_last({0, 200, 9, 4, 90}), 6);
  EXPECT_EQ(peers_of_last({90, 90, 90}), -1);
}

}  // namespace
}  // namespace rankscope::analyzer

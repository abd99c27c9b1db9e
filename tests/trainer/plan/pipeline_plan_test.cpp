#include "rankscope/trainer/plan/pipeline_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "rankscope/core/format.h"

namespace rankscope::trainer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Most micro-batches whose activations a rank holds at a time, each chunk by itself: from F until B or W is done.
std::int32_t peak_live(std::span<const StageAction> actions) {
  std::set<std::pair<std::int32_t, std::int32_t>> live;
  std::size_t peak = 0;
  for (const StageAction& action : actions) {
    const std::pair which{action.stage, action.micro_batch};
    if (action.part == PipelinePart::forward) live.insert(which);
    if (action.part == PipelinePart::backward || action.part == PipelinePart::backward_weight) live.erase(which);
    peak = std::max(peak, live.size());
  }
  return static_cast<std::int32_t>(peak);
}

PipelineOptions options_of(const std::string& schedule, int micro_batches = 0, int chunks = 0) {
  PipelineOptions options;
  options.schedule = schedule;
  options.micro_batches = micro_batches;
  options.chunks = chunks;
  return options;
}

PipelinePlan planned(const std::string& schedule, int ranks, int micro_batches, int chunks = 0) {
  auto plan = plan_pipeline(options_of(schedule, micro_batches, chunks), ranks);
  EXPECT_TRUE(plan) << plan.error().message;
  return plan.value_or(PipelinePlan{});
}

std::string csv_of(const std::string& schedule, int chunks = 0) {
  return schedule_csv(planned(schedule, 2, 4, chunks));
}

// The golden lists of docs/pipeline.md for 2 ranks and 4 micro-batches.
TEST(PipelinePlan, EmitsTheOrdersOfThePapers) {
  EXPECT_EQ(csv_of("gpipe"), "0F0,0F1,0F2,0F3,0B0,0B1,0B2,0B3\n1F0,1F1,1F2,1F3,1B0,1B1,1B2,1B3\n");
  EXPECT_EQ(csv_of("1f1b"), "0F0,0F1,0B0,0F2,0B1,0F3,0B2,0B3\n1F0,1B0,1F1,1B1,1F2,1B2,1F3,1B3\n");
  EXPECT_EQ(csv_of("interleaved"),
            "0F0,0F1,2F0,2F1,0F2,2B0,0F3,2B1,2F2,0B0,2F3,0B1,2B2,2B3,0B2,0B3\n"
            "1F0,1F1,3F0,3B0,3F1,3B1,1F2,1B0,1F3,1B1,3F2,3B2,3F3,3B3,1B2,1B3\n");
  EXPECT_EQ(csv_of("zb-h1"),
            "0F0,0F1,0I0,0W0,0F2,0I1,0W1,0F3,0I2,0W2,0I3,0W3\n1F0,1I0,1F1,1I1,1W0,1F2,1I2,1W1,1F3,1I3,1W2,1W3\n");
  EXPECT_EQ(csv_of("zb-interleaved"),
            "0F0,0F1,2F0,2F1,2I0,2W0,0F2,2I1,2W1,0F3,0I0,0W0,2F2,0I1,0W1,2F3,2I2,2W2,2I3,2W3,0I2,0W2,0I3,0W3\n"
            "1F0,1F1,3F0,3I0,3F1,3I1,3W0,1F2,1I0,3W1,1F3,1I1,1W0,3F2,3I2,1W1,3F3,3I3,3W2,1I2,3W3,1I3,1W2,1W3\n");
  EXPECT_EQ(csv_of("zb-v"),
            "0F0,0F1,0F2,3F0,3I0,3W0,3F1,3I1,3W1,0F3,0I0,0W0,3F2,3I2,3W2,0I1,0W1,3F3,3I3,3W3,0I2,0W2,0I3,0W3\n"
            "1F0,2F0,1F1,2F1,2I0,2W0,1F2,1I0,1W0,2F2,2I1,2W1,1F3,1I1,1W1,2F3,2I2,2W2,1I2,2I3,1I3,1W2,2W3,1W3\n");
}

/// All schedules for up to 8 ranks and 32 micro-batches.
template <class Body>
void for_every_plan(Body body) {
  for (const PipelineSchedule schedule : all_pipeline_schedules)
    for (std::int32_t ranks = 1; ranks <= 8; ++ranks)
      for (std::int32_t micro = 1; micro <= 32; ++micro)
        for (std::int32_t chunks = 1; chunks <= 3; ++chunks)
          if (const PipelineShape shape{ranks, micro, chunks}; fits(schedule, shape)) {
            SCOPED_TRACE(format("{} p={} m={} v={}", name_of(schedule), ranks, micro, chunks));
            body(schedule, shape, planned(std::string{name_of(schedule)}, ranks, micro, chunks));
          }
}

TEST(PipelinePlan, NoneOfThemEverStandsStill) {
  int plans = 0;
  for_every_plan([&](PipelineSchedule, const PipelineShape&, const PipelinePlan& plan) {
    EXPECT_FALSE(standstill_of(plan));
    ++plans;
  });
  EXPECT_GT(plans, 1500);
}

TEST(PipelinePlan, SurvivesTheWayIntoAFileAndBack) {
  for_every_plan([](PipelineSchedule, const PipelineShape&, const PipelinePlan& plan) {
    const auto read = read_schedule(schedule_csv(plan), plan.schedule);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, plan);
  });
}

// The closed forms of docs/pipeline.md.
std::int32_t theory_of_peak(PipelineSchedule schedule, const PipelineShape& shape, std::int32_t rank) {
  const std::int32_t p = shape.ranks;
  const std::int32_t m = shape.micro_batches;
  const std::int32_t v = shape.chunks;
  const std::int32_t per = m / std::max(1, m / p);
  switch (schedule) {
    case PipelineSchedule::gpipe:
      return m;
    case PipelineSchedule::one_f_one_b:
      return std::min(m, p - rank);
    case PipelineSchedule::interleaved:
      return std::min(v * m, (v - 1) * per + 2 * (p - 1 - rank) + 1);
    case PipelineSchedule::zb_h1:
      return std::min(m, p);
    case PipelineSchedule::zb_v:
      return m >= 2 * p - 1 ? 2 * p : -1;
    case PipelineSchedule::zb_interleaved:
      return -1;  // no closed form is known
  }
  return -1;
}

TEST(PipelinePlan, HoldsAsManyMicroBatchesAsTheorySays) {
  int compared = 0;
  for_every_plan([&](PipelineSchedule schedule, const PipelineShape& shape, const PipelinePlan& plan) {
    for (std::int32_t rank = 0; rank < shape.ranks; ++rank) {
      const std::int32_t theory = theory_of_peak(schedule, shape, rank);
      if (theory < 0) continue;
      EXPECT_EQ(peak_live(plan.ranks[static_cast<std::size_t>(rank)]), theory) << "rank " << rank;
      ++compared;
    }
  });
  EXPECT_GT(compared, 5000);
}

TEST(PipelinePlan, HoldsWhatTheTableOfPeaksSays) {
  const auto peaks = [](const std::string& schedule, int ranks, int micro) {
    std::vector<std::int32_t> all;
    for (const auto& actions : planned(schedule, ranks, micro).ranks) all.push_back(peak_live(actions));
    return all;
  };
  EXPECT_THAT(peaks("interleaved", 4, 8), ElementsAre(11, 9, 7, 5));
  EXPECT_THAT(peaks("zb-interleaved", 4, 8), ElementsAre(8, 8, 8, 8));
  EXPECT_THAT(peaks("zb-v", 4, 8), ElementsAre(8, 8, 8, 8));
  EXPECT_THAT(peaks("1f1b", 2, 4), ElementsAre(2, 1));
}

TEST(PipelinePlan, EveryParcelThatIsSentIsNeededOnceAndComesInTheOrderOfSending) {
  for_every_plan([](PipelineSchedule, const PipelineShape& shape, const PipelinePlan& plan) {
    std::map<Parcel, int> sent;
    for (const auto& actions : plan.ranks)
      for (const StageAction& action : actions)
        if (const auto parcel = made_by(plan, action)) ++sent[*parcel];
    std::map<Parcel, int> needed;
    std::size_t received = 0;
    for (std::int32_t rank = 0; rank < shape.ranks; ++rank) {
      for (const StageAction& action : plan.ranks[static_cast<std::size_t>(rank)])
        if (const auto parcel = needed_by(plan, action)) ++needed[*parcel];
      for (const Channel& channel : channels_to(plan, rank)) {
        EXPECT_NE(channel.from, rank);
        received += channel.parcels.size();
        const std::set<Parcel> own(channel.parcels.begin(), channel.parcels.end());
        std::vector<Parcel> as_sent;
        for (const StageAction& action : plan.ranks[static_cast<std::size_t>(channel.from)])
          if (const auto parcel = made_by(plan, action); parcel && own.contains(*parcel)) as_sent.push_back(*parcel);
        EXPECT_EQ(channel.parcels, as_sent);
      }
    }
    EXPECT_EQ(received, sent.size());
    EXPECT_EQ(needed, sent) << "each is sent once and needed once";
    for (const auto& [parcel, times] : sent) EXPECT_EQ(times, 1);
  });
}

TEST(PipelinePlan, StagesLieInTheShapeOfAVUnderZbV) {
  EXPECT_THAT(planned("zb-v", 3, 6).rank_of_stage, ElementsAre(0, 1, 2, 2, 1, 0));
  EXPECT_THAT(planned("interleaved", 3, 6).rank_of_stage, ElementsAre(0, 1, 2, 0, 1, 2));
  EXPECT_THAT(planned("zb-v", 3, 6).stages_of(1), ElementsAre(1, 4));
}

std::string refused(const PipelineOptions& options, int ranks) {
  const auto plan = plan_pipeline(options, ranks);
  EXPECT_FALSE(plan);
  if (!plan) {
    EXPECT_EQ(plan.error().kind, ErrorKind::usage);
  }
  return plan ? "" : plan.error().message;
}

TEST(PipelinePlan, SaysWhatAScheduleTakes) {
  EXPECT_EQ(refused(options_of("gpipe", 0, 2), 2), "--schedule gpipe needs exactly one chunk per rank, not --chunks 2");
  EXPECT_EQ(refused(options_of("zb-v", 0, 3), 2), "--schedule zb-v needs exactly 2 chunks per rank, not --chunks 3");
  EXPECT_EQ(refused(options_of("interleaved", 0, 1), 2),
            "--schedule interleaved needs at least 2 chunks per rank, not --chunks 1");
  EXPECT_EQ(refused(options_of("interleaved", 9), 4),
            "--schedule interleaved on 4 ranks does not support --micro-batches 9; use 8 or 10");
  EXPECT_THAT(refused(options_of("2f2b"), 2),
              HasSubstr("neither a file nor the name of a schedule; choose from: gpipe, 1f1b,"));
}

std::string wrong(const std::string& csv) {
  const auto plan = read_schedule(csv, "s.csv");
  EXPECT_FALSE(plan);
  if (!plan) {
    EXPECT_EQ(plan.error().kind, ErrorKind::usage);
  }
  return plan ? "" : plan.error().message;
}

TEST(ScheduleFile, MayHaveEmptyCellsAndBlanks) {
  const auto plan = read_schedule("0F0, 0F1,,,0B0,0B1\r\n,1F0,1B0,1F1,1B1,\n\n", "s.csv");
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(schedule_csv(*plan), "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n");
  EXPECT_EQ(plan->micro_batches, 2);
}

TEST(ScheduleFile, ErrorsNameTheLineAndWhatIsWrongInIt) {
  EXPECT_EQ(wrong("\n \n"),
            "--schedule s.csv: it contains no schedule; write one line per rank with actions such as 0F0,0F1,0B0,0B1");
  EXPECT_EQ(wrong("0F0,0B0\n1F0,1X0\n"),
            "--schedule s.csv: line 2: '1X0' is not an action; write the number of a stage, a letter (F, B, I or W) "
            "and the number of a micro-batch, such as 1F0");
  EXPECT_THAT(wrong("0F0,0B99999999\n"), HasSubstr("line 1: '0B99999999' is not an action"));
  EXPECT_THAT(wrong("0F0,-1B0\n"), HasSubstr("line 1: '-1B0' is not an action"));
  EXPECT_THAT(wrong("0F0,0B0\n\n1F0,1B0\n"), HasSubstr("line 2: it has no action"));
  EXPECT_EQ(wrong("0F0,0B0\n0F1,0B1\n"),
            "--schedule s.csv: line 2: 0F1: stage 0 belongs to line 1; write all actions of a stage in one line");
  EXPECT_EQ(wrong("0F0,0B0,0F0\n"), "--schedule s.csv: line 1: 0F0 appears twice");
  EXPECT_EQ(wrong("0F0,0B0\n2F0,2B0\n"), "--schedule s.csv: line 2: there is a stage 2, but no line has stage 1");
  EXPECT_EQ(wrong("0F0,0B0,0F1,0B1\n1F0,1B0\n"),
            "--schedule s.csv: line 2: stage 1 has no micro-batch 1, but other stages have micro-batches up to 1");
  EXPECT_EQ(wrong("0B0\n"), "--schedule s.csv: line 1: 0F0 is missing");
  EXPECT_EQ(wrong("0B0,0F0\n"), "--schedule s.csv: line 1: 0B0 must come after 0F0");
  EXPECT_EQ(wrong("0F0,0W0,0I0\n"), "--schedule s.csv: line 1: 0W0 must come after 0I0");
  EXPECT_EQ(wrong("0F0,0I0\n"),
            "--schedule s.csv: line 1: 0F0 has no complete backward pass: it needs 0B0, or 0I0 and 0W0");
  EXPECT_EQ(wrong("0F0,0B0,0W0\n"),
            "--schedule s.csv: line 1: 0B0 appears together with its parts I and W: a backward pass is either whole or "
            "split");
}

TEST(ScheduleFile, AScheduleThatWouldStandStillIsRefused) {
  EXPECT_EQ(wrong("0F0,0B0,0F1,0B1\n1F1,1B1,1F0,1B0\n"),
            "--schedule s.csv: line 1: the schedule cannot continue with 0B0 (action 2): 1B0 must come first, but can "
            "never run");
  EXPECT_EQ(wrong("0F0,0I0,0W0,0F1,0I1,0W1\n1F1,1I1,1W1,1F0,1I0,1W0\n"),
            "--schedule s.csv: line 1: the schedule cannot continue with 0I0 (action 2): 1I0 must come first, but can "
            "never run");
}

}  // namespace
}  // namespace rankscope::trainer

#include "rankscope/core/pipeline_orders.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "rankscope/core/format.h"

namespace rankscope {
namespace {

/// "0F0 1B2": stage, part, micro-batch, as torch writes its schedules.
std::string written(PipelineSchedule schedule, const PipelineShape& shape, std::int32_t rank) {
  std::string text;
  for (const PipelineAction& action : pipeline_order(schedule, shape, rank))
    text += format("{}{}{}{}", text.empty() ? "" : " ", stage_of(schedule, shape, rank, action.chunk),
                   letter_of(action.part), action.micro_batch);
  return text;
}

TEST(PipelineOrders, AreThoseOfThePapers) {
  using enum PipelineSchedule;
  const PipelineShape one{.ranks = 2, .micro_batches = 4, .chunks = 1};
  const PipelineShape two{.ranks = 2, .micro_batches = 4, .chunks = 2};
  EXPECT_EQ(written(gpipe, one, 1), "1F0 1F1 1F2 1F3 1B0 1B1 1B2 1B3");
  EXPECT_EQ(written(one_f_one_b, one, 0), "0F0 0F1 0B0 0F2 0B1 0F3 0B2 0B3");
  EXPECT_EQ(written(one_f_one_b, one, 1), "1F0 1B0 1F1 1B1 1F2 1B2 1F3 1B3");
  EXPECT_EQ(written(interleaved, two, 0), "0F0 0F1 2F0 2F1 0F2 2B0 0F3 2B1 2F2 0B0 2F3 0B1 2B2 2B3 0B2 0B3");
  EXPECT_EQ(written(interleaved, two, 1), "1F0 1F1 3F0 3B0 3F1 3B1 1F2 1B0 1F3 1B1 3F2 3B2 3F3 3B3 1B2 1B3");
  EXPECT_EQ(written(zb_h1, one, 0), "0F0 0F1 0I0 0W0 0F2 0I1 0W1 0F3 0I2 0W2 0I3 0W3");
  EXPECT_EQ(written(zb_h1, one, 1), "1F0 1I0 1F1 1I1 1W0 1F2 1I2 1W1 1F3 1I3 1W2 1W3");
  EXPECT_EQ(written(zb_interleaved, two, 0),
            "0F0 0F1 2F0 2F1 2I0 2W0 0F2 2I1 2W1 0F3 0I0 0W0 2F2 0I1 0W1 2F3 2I2 2W2 2I3 2W3 0I2 0W2 0I3 0W3");
  EXPECT_EQ(written(zb_interleaved, two, 1),
            "1F0 1F1 3F0 3I0 3F1 3I1 3W0 1F2 1I0 3W1 1F3 1I1 1W0 3F2 3I2 1W1 3F3 3I3 3W2 1I2 3W3 1I3 1W2 1W3");
  EXPECT_EQ(written(zb_v, two, 0),
            "0F0 0F1 0F2 3F0 3I0 3W0 3F1 3I1 3W1 0F3 0I0 0W0 3F2 3I2 3W2 0I1 0W1 3F3 3I3 3W3 0I2 0W2 0I3 0W3");
  EXPECT_EQ(written(zb_v, two, 1),
            "1F0 2F0 1F1 2F1 2I0 2W0 1F2 1I0 1W0 2F2 2I1 2W1 1F3 1I1 1W1 2F3 2I2 2W2 1I2 2I3 1I3 1W2 2W3 1W3");
}

void expect_sound(PipelineSchedule schedule, const PipelineShape& shape, std::int32_t rank) {
  std::set<std::string> done;
  for (const PipelineAction& action : pipeline_order(schedule, shape, rank)) {
    const std::string which = format("{} {}", action.chunk, action.micro_batch);
    EXPECT_TRUE(done.insert(letter_of(action.part) + which).second);
    EXPECT_TRUE(done.contains("F" + which));
    EXPECT_TRUE(action.part != PipelinePart::backward_weight || done.contains("I" + which));
  }
  const auto each = static_cast<std::size_t>(shape.micro_batches) * static_cast<std::size_t>(shape.chunks);
  EXPECT_TRUE(done.size() == 2 * each || done.size() == 3 * each);
}

TEST(PipelineOrders, DoEverythingOnceAndNothingBeforeWhatItNeeds) {
  for (const PipelineSchedule schedule : all_pipeline_schedules)
    for (std::int32_t ranks = 1; ranks <= 5; ++ranks)
      for (std::int32_t micro = 1; micro <= 12; ++micro)
        for (std::int32_t chunks = 1; chunks <= 3; ++chunks)
          for (std::int32_t rank = 0; rank < ranks; ++rank)
            if (fits(schedule, {ranks, micro, chunks})) expect_sound(schedule, {ranks, micro, chunks}, rank);
}

TEST(PipelineOrders, AreNotDefinedForEveryShape) {
  EXPECT_FALSE(fits(PipelineSchedule::gpipe, {.ranks = 2, .micro_batches = 4, .chunks = 2}));
  EXPECT_FALSE(fits(PipelineSchedule::interleaved, {.ranks = 2, .micro_batches = 5, .chunks = 2}));
  EXPECT_FALSE(fits(PipelineSchedule::zb_v, {.ranks = 2, .micro_batches = 4, .chunks = 3}));
  EXPECT_FALSE(fits(PipelineSchedule::zb_h1, {.ranks = 2, .micro_batches = 0, .chunks = 1}));
}

TEST(PipelineOrders, HaveNamesThatFindThem) {
  for (const PipelineSchedule schedule : all_pipeline_schedules)
    EXPECT_EQ(pipeline_schedule_from(name_of(schedule)), schedule);
  EXPECT_FALSE(pipeline_schedule_from("2f2b"));
}

}  // namespace
}  // namespace rankscope

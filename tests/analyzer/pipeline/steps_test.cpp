#include "pipeline/steps.h"

#include <gtest/gtest.h>

namespace rankscope::analyzer {
namespace {

/// Two places with `count` forwards, each of another micro-batch and another chunk.
MarkedPipeline each_in_a_chunk_of_its_own(std::int32_t count) {
  MarkedPipeline pipeline;
  pipeline.chunks = count;
  for (std::uint32_t place = 0; place < 2; ++place) {
    RankActions own{RankId{place}, {}};
    for (std::int32_t k = 0; k < count; ++k)
      own.actions.push_back({{PipelinePart::forward, k, k}, -1, {at(k), at(k + 1)}});
    pipeline.places.push_back(std::move(own));
    pipeline.stages.emplace_back(static_cast<std::size_t>(count), -1);
  }
  return pipeline;
}

TEST(PipelineSteps, NoOrderIsMadeThatIsFarLongerThanWhatRan) {
  const MarkedPipeline pipeline = each_in_a_chunk_of_its_own(60'000);  // the product does not fit into 32 bits
  PipelineStep step;
  for (const RankActions& own : pipeline.places) step.places.emplace_back(own.actions);
  const PipelineShape shape = shape_of(pipeline, step);
  EXPECT_EQ(shape, (PipelineShape{2, 60'000, 60'000}));
  EXPECT_FALSE(schedule_of(step, shape));
  EXPECT_NE(why_no_schedule(step, shape).find("no known schedule fits"), std::string::npos);
}

}  // namespace
}  // namespace rankscope::analyzer

// The block "rankscope" of traces that our own export did not write, or that were changed since.
#include <gmock/gmock.h>

#include "trace_text.h"

namespace rankscope {
namespace {

using ::testing::ElementsAre;
using testing::op;

std::shared_ptr<const Run> run_with(std::string_view block) {
  const testing::TraceFolder folder;
  const auto run = analyzer::open_run(
      folder.write("rank-0.json", testing::trace(op("a", 1, 2), "\"rankscope\": " + std::string{block})));
  EXPECT_TRUE(run) << run.error().message;
  return run ? *run : nullptr;
}

std::string rows(std::string_view collectives) {
  return R"({"source": "nsys", "rows": {"clock": "same_host", "lanes": [[7, 7, "thread", "main"]], "collectives": [)" +
         std::string{collectives} + "]}}";
}

TEST(OwnBlock, RowsThatCannotBeUsedAreCountedWithTheirPlace) {
  const auto run = run_with(rows(R"(
      ["allreduce", "f32", -1, 0, 8, -1, 2, 1000, 2000, 3000, 0, 0, 0],
      ["allreduce", "f32", -1, 1, 8, -1, 2, 1000, 3000, 2000, 0, 0, 0],
      ["allreduce", "f32", -1, 2, 8, -1, 9, 1000, 2000, 3000, 0, 0, 0],
      ["allreduce", "f32", 5, 3, 8, -1, 2, 1000, 2000, 3000, 0, 0, 0],
      ["allreduce", "f32", -1, 4, 8, -1, 2, 1000, 2000, 3000, -1, -1, 0],
      ["short"])"));
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->collectives().size(), 1U);
  EXPECT_EQ(run->quality().of(Counter::events_incomplete), 5U);
  EXPECT_THAT(run->info().places,
              ElementsAre(QualityPlace{Counter::events_incomplete, 5,
                                       "rank-0.json: collectives of the block rankscope, first row 1"}));
}

TEST(OwnBlock, OnlySourcesThatTheAnalysesKnowAreTaken) {
  EXPECT_EQ(run_with(R"({"source": "nsys"})")->info().source, "nsys");
  EXPECT_EQ(run_with(R"({"source": "rankscope"})")->info().source, "rankscope");
  EXPECT_EQ(run_with(R"({"source": "mine"})")->info().source, "kineto");
}

}  // namespace
}  // namespace rankscope

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>

#include "rankscope/core/model/run.h"
#include "rankscope/core/model/run_builder.h"

namespace rankscope {
namespace {

// Large enough for every way of sorting: several lanes, many equal begins, times on both sides of 0 and far apart.
TEST(SpanOrder, SpansOfAnyOrderEndUpByLaneBeginAndLengthAndEqualOnesStayInOrder) {
  RunBuilder builder;
  const std::uint32_t process = builder.add_process({.rank = RankId{0}});
  std::vector<LaneId> lanes;
  for (int lane = 0; lane < 3; ++lane) lanes.push_back(builder.add_lane(process, LaneKind::thread, "t", lane));
  std::mt19937_64 random{20261121};
  constexpr int count = 90'000;
  for (int i = 0; i < count; ++i) {
    const auto begin = static_cast<std::int64_t>(random() % 20'000) - 10'000;
    const auto far = i % 1000 == 0 ? std::int64_t{1} << 60 : 0;
    const auto length = static_cast<std::int64_t>(random() % 4);
    const auto name = builder.intern(std::to_string(i));
    builder.add_span(lanes[random() % 3], SpanKind::op, name, {at(begin + far), at(begin + far + length)});
  }
  const auto run = std::move(builder).build();
  ASSERT_TRUE(run);
  const auto key = [&](const Span& span) {
    return std::tuple{span.lane, span.time.begin, -ns_of(span.time.end),
                      std::stoi(std::string{(*run)->text(span.name)})};
  };
  EXPECT_EQ((*run)->spans().size(), static_cast<std::size_t>(count));
  EXPECT_TRUE(std::ranges::is_sorted((*run)->spans(), {}, key));
}

}  // namespace
}  // namespace rankscope

// The page of every recording that others made.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "known_lacks.h"
#include "rankscope/analyzer/open.h"
#include "rankscope/analyzer/render.h"
#include "shared_data.h"
#include "support/markup.h"

namespace rankscope::analyzer {
namespace {

using testing::Tag;

double number_in(const Tag& tag, const std::string& attribute) {
  const auto at = tag.attributes.find(" " + attribute + "=\"");
  return at == std::string::npos ? -1 : std::stod(tag.attributes.substr(at + attribute.size() + 3));
}

/// What the bars of one rank show together.
struct Bars {
  double width = 0;
  double percent = 0;
};

/// By the rank that their tooltips name: "rank 3: compute 1.23 ms (45.6 %)".
std::map<std::uint32_t, Bars> bars_of_split(const std::string& page) {
  std::map<std::uint32_t, Bars> bars;
  bool inside = false;
  double width = 0;
  for (const Tag& tag : testing::tags_of(page)) {
    if (tag.name == "figure") inside = !tag.closes && tag.has("id=\"split-chart\"");
    if (!inside || tag.closes) continue;
    if (tag.name == "rect") width = number_in(tag, "width");
    if (tag.name != "title" || !tag.text.starts_with("rank ")) continue;
    Bars& rank = bars[static_cast<std::uint32_t>(std::stoul(tag.text.substr(5)))];
    rank.width += width;
    rank.percent += std::stod(tag.text.substr(tag.text.rfind('(') + 1));
  }
  return bars;
}

class Pages : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam().empty()) GTEST_SKIP() << testing::no_shared_data;
  }
};

TEST_P(Pages, AreWellFormedSmallAndTheirBarsAddUp) {
  const auto run = open_run(testing::shared_data() / GetParam());
  ASSERT_TRUE(run) << run.error().message;
  const Report report = analyze(**run, {});
  const std::string page = render_html(report, **run, {});
  EXPECT_EQ(testing::badly_nested(page), "");
  EXPECT_LT(page.size(), 2'000'000U);
  if (testing::lacks(GetParam(), testing::Lacks::times)) {
    EXPECT_FALSE(report.rank_rows);
    EXPECT_TRUE(bars_of_split(page).empty());
    return;
  }
  ASSERT_TRUE(report.rank_rows) << report.rank_rows.error().why;
  const auto bars = bars_of_split(page);
  ASSERT_EQ(bars.size(), report.rank_rows->size());
  const auto length_of = [](const RankRow& row) {
    return row.total.window_ns / std::max<std::int64_t>(1, static_cast<std::int64_t>(row.per_step.size()));
  };
  const std::int64_t longest = length_of(std::ranges::max(*report.rank_rows, {}, length_of));
  constexpr double room = 960 - 88 - 24;  // of the chart between its margins
  for (const RankRow& row : *report.rank_rows) {
    const Bars& rank = bars.at(row.rank.value);
    EXPECT_NEAR(rank.percent, 100, 0.01) << "rank " << row.rank.value;
    EXPECT_NEAR(rank.width, room * static_cast<double>(length_of(row)) / static_cast<double>(longest), 0.05);
  }
}

INSTANTIATE_TEST_SUITE_P(Shared, Pages, ::testing::ValuesIn(testing::shared_recordings()),
                         [](const auto& test) { return testing::plain_name(test.param); });

}  // namespace
}  // namespace rankscope::analyzer

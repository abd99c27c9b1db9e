// Spans by name.
#include <gtest/gtest.h>

#include "gui/model_tester.h"
#include "gui/runs.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/model/run_builder.h"
#include "rankscope/core/model/text.h"
#include "rankscope/gui/models/search/search_model.h"

namespace rankscope::gui {
namespace {

std::shared_ptr<const Run> kernels() {
  return *run_from_text(
      "0 compute 0 100 \"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float> >(int)\"\n"
      "0 compute 200 250 gemm_128x64\n"
      "1 compute 10 20 gemm_256x64\n"
      "1 op 30 1030 aten::mm\n");
}

SearchResult found(const Run& run, const SearchQuery& query) { return **search(run, SpanNames{run}, query, {}); }

QString text(const char* latin) { return QString::fromLatin1(latin); }

TEST(Search, FindsFullAndShortNamesWhateverTheCase) {
  const auto run = kernels();
  EXPECT_EQ(found(*run, {text("AT::NATIVE")}).hits, 1U);
  EXPECT_EQ(found(*run, {text("fillfunctor \xb7 vec")}).hits, 1U) << "only the short name has the dot";
  EXPECT_EQ(found(*run, {text("gemm_*")}).hits, 0U) << "plain text is no expression";
  EXPECT_EQ(found(*run, {text("gemm_")}).names, 2U);
}

TEST(Search, UnderstandsRegularExpressionsAndSaysWhatIsWrongWithOne) {
  const auto run = kernels();
  EXPECT_EQ(found(*run, {text("^gemm_\\d+x64$"), SearchSyntax::regex}).hits, 2U);
  const auto wrong = search(*run, SpanNames{*run}, {text("gemm("), SearchSyntax::regex}, {});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().kind, ErrorKind::usage);
  EXPECT_NE(wrong.error().message.find("at character 6"), std::string::npos) << wrong.error().message;
}

TEST(Search, ListsTheEarliestOrTheLongestFirst) {
  const auto run = kernels();
  const auto by_time = found(*run, {text("m"), SearchSyntax::plain, SearchOrder::earliest});
  const auto by_length = found(*run, {text("m"), SearchSyntax::plain, SearchOrder::longest});
  ASSERT_EQ(by_time.listed.size(), by_length.listed.size());
  for (std::size_t i = 1; i < by_time.listed.size(); ++i) {
    EXPECT_LE(run->span(by_time.listed[i - 1]).time.begin, run->span(by_time.listed[i]).time.begin);
    EXPECT_GE(run->span(by_length.listed[i - 1]).time.length(), run->span(by_length.listed[i]).time.length());
  }
}

TEST(Search, CountsDurationsByPowersOfTwoAndSumsThem) {
  const auto result = found(*kernels(), {text("gemm")});
  EXPECT_EQ(result.total_ns, 60);
  EXPECT_EQ(result.histogram[4], 1U) << "10 ns: 8 to 16";
  EXPECT_EQ(result.histogram[6], 1U) << "50 ns: 32 to 64";
}

TEST(Search, HonoursRanks) {
  EXPECT_EQ(found(*kernels(), {text("gemm"), SearchSyntax::plain, SearchOrder::earliest, {RankId{1}}}).hits, 1U);
}

TEST(Search, ListsTheFirstOfVeryManyAndCountsAll) {
  RunBuilder builder;
  const auto process = builder.add_process({.rank = RankId{0}, .pid = 1});
  const StringId name = builder.intern("op");
  constexpr std::int64_t spans = 250'000;
  for (const char* const lane : {"a", "b"}) {
    const LaneId id = builder.add_lane(process, LaneKind::thread, lane, 0);
    for (std::int64_t i = 0; i < spans; ++i) builder.add_span(id, SpanKind::op, name, {at(i * 10), at(i * 10 + i % 7)});
  }
  const auto run = *std::move(builder).build();
  const auto by_time = found(*run, {text("op")});
  EXPECT_EQ(by_time.hits, 2U * spans);
  ASSERT_EQ(by_time.listed.size(), SearchResult::most_listed);
  EXPECT_EQ(run->span(by_time.listed.back()).time.begin, at((SearchResult::most_listed / 2 - 1) * 10))
      << "the earliest of both lanes";
  const auto longest = found(*run, {text("op"), SearchSyntax::plain, SearchOrder::longest});
  EXPECT_EQ(run->span(longest.listed.front()).time.length(), nanoseconds{6});
}

TEST(SearchModel, StepsThroughTheHitsAndSelectsThem) {
  Session session;
  SearchModel model{session};
  const QAbstractItemModelTester tester{&model, fatal};
  session.show(kernels());
  model.look_for(text("gemm"), SearchSyntax::plain);
  ASSERT_TRUE(testing::comes_true([&] { return model.rowCount() == 2; }));
  EXPECT_EQ(model.summary(), QStringLiteral("2 hits (2 names) in the whole run, 60 ns in total"));
  model.next();
  EXPECT_EQ(session.run()->span(*session.selection()).time.begin, at(10));
  model.next();
  EXPECT_EQ(session.run()->span(*session.selection()).time.begin, at(200));
  model.next();
  EXPECT_EQ(model.current(), 0) << "around at the end";
  model.previous();
  EXPECT_EQ(model.current(), 1);
  session.select(SpanId{3});
  EXPECT_EQ(model.current(), 0) << "from what is selected the search goes on";
}

TEST(SearchModel, SortsInTheDirectionThatIsAskedFor) {
  Session session;
  SearchModel model{session};
  session.show(kernels());
  model.look_for(text("m"), SearchSyntax::plain);
  const auto first_after = [&](SearchModel::Column column, Qt::SortOrder direction) {
    model.sort(column, direction);
    EXPECT_TRUE(testing::comes_true([&] { return !model.busy() && model.rowCount() == 4; }));
    return session.run()->span(model.result().listed.front()).time;
  };
  EXPECT_EQ(first_after(SearchModel::length, Qt::DescendingOrder), (TimeRange{at(30), at(1030)}));
  EXPECT_EQ(first_after(SearchModel::length, Qt::AscendingOrder), (TimeRange{at(10), at(20)}));
  EXPECT_EQ(first_after(SearchModel::start, Qt::DescendingOrder), (TimeRange{at(200), at(250)}));
  EXPECT_EQ(first_after(SearchModel::start, Qt::AscendingOrder), (TimeRange{at(0), at(100)}));
  EXPECT_EQ(first_after(SearchModel::name, Qt::DescendingOrder), (TimeRange{at(0), at(100)})) << "has no order";
}

TEST(SearchModel, AWrongExpressionIsSaidAndAnEmptyTextFindsNothing) {
  Session session;
  SearchModel model{session};
  const QAbstractItemModelTester tester{&model, fatal};
  session.show(kernels());
  model.look_for(text("["), SearchSyntax::regex);
  ASSERT_TRUE(testing::comes_true([&] { return model.is_wrong(); }));
  EXPECT_TRUE(model.summary().startsWith(QStringLiteral("invalid regular expression")));
  model.look_for(text("zzz"), SearchSyntax::plain);
  ASSERT_TRUE(testing::comes_true([&] { return !model.is_wrong() && !model.busy(); }));
  EXPECT_EQ(model.summary(), QStringLiteral("No match: no event in the whole run has a matching name."));
  model.look_for({}, SearchSyntax::plain);
  EXPECT_TRUE(model.summary().isEmpty());
}

TEST(SearchModel, CountsWhatIsInSightOnTheChosenRanksIfThatIsAskedFor) {
  Session session;
  SearchModel model{session};
  const QAbstractItemModelTester tester{&model, fatal};
  session.show(kernels());
  model.look_for(text("gemm"), SearchSyntax::plain);
  model.set_in_sight(true);
  session.set_visible({at(0), at(100)});
  ASSERT_TRUE(testing::comes_true([&] { return model.rowCount() == 1 && !model.busy(); }));
  EXPECT_EQ(model.summary(), QStringLiteral("1 hit in the visible range (100 ns), 10 ns in total"));
  session.set_filter({.ranks = {RankId{0}}});
  ASSERT_TRUE(testing::comes_true([&] { return model.has_no_match() && !model.busy(); }));
  EXPECT_EQ(model.summary(),
            QStringLiteral("No match: no event on rank 0 in the visible range (100 ns) has a matching name."));
  model.set_in_sight(false);
  ASSERT_TRUE(testing::comes_true([&] { return model.rowCount() == 1 && !model.busy(); }));
  EXPECT_EQ(model.summary(), QStringLiteral("1 hit on rank 0 in the whole run, 50 ns in total"));
}

TEST(SearchModel, FollowsAnotherRunAndTheFilter) {
  Session session;
  SearchModel model{session};
  const QAbstractItemModelTester tester{&model, fatal};
  session.show(kernels());
  model.look_for(text("gemm"), SearchSyntax::plain);
  session.set_filter({.ranks = {RankId{1}}});
  ASSERT_TRUE(testing::comes_true([&] { return model.rowCount() == 1; }));
  session.show(*run_from_text("0 compute 0 10 gemm\n0 compute 20 30 gemm\n0 compute 40 50 gemm\n"));
  ASSERT_TRUE(testing::comes_true([&] { return model.rowCount() == 3; }));
}

}  // namespace
}  // namespace rankscope::gui

// Strings lose their secrets on their way into a run.
#include <gmock/gmock.h>

#include <functional>
#include <sstream>
#include <string>

#include "rankscope/core/model/clock_map.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/model/run_builder.h"
#include "rankscope/core/model/text.h"

namespace rankscope {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* secret = "c4n4ryB1rd77x";

/// A run with a secret in each kind of row, and the same string in a harmless place.
void fill(RunBuilder& builder) {
  const std::string named = std::string{"password="} + secret;
  Process process{.rank = RankId{0}, .host = builder.intern("n0 " + named), .program = builder.intern(named)};
  process.metadata.emplace_back(builder.intern("api_key"), builder.intern(secret));
  const std::uint32_t row = builder.add_process(std::move(process));
  const LaneId lane = builder.add_lane(row, LaneKind::thread, "main " + named, 1);
  const std::uint32_t span = builder.add_span(lane, SpanKind::op, builder.intern("op " + named), {at(0), at(10)});
  builder.add_attribute(span, builder.intern("password"), builder.intern(secret));
  builder.add_attribute(span, builder.intern("auth_pin_password"), 1234567);
  builder.add_attribute(span, builder.intern("json"),
                        JsonText{builder.intern(std::string{R"({"token":")"} + secret + R"("})")});
  builder.add_attribute(span, builder.intern("lr"), builder.intern("0.1"));
  const std::uint32_t mark = builder.add_mark(lane, builder.intern("mark " + named), at(5));
  builder.add_mark_attribute(mark, builder.intern("secret"), builder.intern(secret));
  Device device{.process = row, .name = builder.intern("GPU " + named)};
  device.metadata.emplace_back(builder.intern("access_token"), builder.intern(secret));
  builder.add_device(std::move(device));
  builder.add_group("group " + named, std::vector{RankId{0}});
  builder.add_sample(row, builder.intern("bytes " + named), at(3), 1);
  builder.info().metadata.emplace_back("db_password", secret);
  builder.info().metadata.emplace_back("note", named);
  builder.info().places.push_back({Counter::events_dropped, 1, "file " + named});
  builder.quality().add(Counter::events_dropped);
}

std::shared_ptr<const Run> built(RunBuilder&& builder) {
  auto run = std::move(builder).build();
  EXPECT_TRUE(run) << run.error().message;
  return run ? *run : nullptr;
}

std::string all_strings(const Run& run) {
  std::ostringstream text;
  write_text(run, text);
  for (std::uint32_t id = 0; id < run.strings().size(); ++id) text << run.text(StringId{id}) << '\n';
  return text.str();
}

TEST(RunBuilderSecrets, NoRowOfARunKeepsASecret) {
  RunBuilder builder;
  fill(builder);
  const auto run = built(std::move(builder));
  EXPECT_THAT(all_strings(*run), Not(HasSubstr(secret)));
  EXPECT_THAT(all_strings(*run), Not(HasSubstr("1234567")));
  EXPECT_THAT(all_strings(*run), HasSubstr("lr=0.1"));
}

TEST(RunBuilderSecrets, StringsAreKeptIfThatIsWanted) {
  RunBuilder builder{Texts::as_recorded};
  fill(builder);
  const auto run = built(std::move(builder));
  EXPECT_THAT(all_strings(*run), HasSubstr(secret));
  EXPECT_EQ(run->quality().of(Counter::texts_hidden), 0U);
}

TEST(RunBuilderSecrets, EachStringIsCountedOnceHoweverOftenItOccurs) {
  RunBuilder builder;
  const LaneId lane = builder.add_lane(builder.add_process({}), LaneKind::thread, "main", 1);
  for (int i = 0; i < 3; ++i) {
    const std::uint32_t span = builder.add_span(lane, SpanKind::op, builder.intern("token=abc1"), {at(i), at(i + 1)});
    builder.add_attribute(span, builder.intern("api_key"), builder.intern("xyz"));
  }
  const auto run = built(std::move(builder));
  EXPECT_EQ(run->quality().of(Counter::texts_hidden), 2U);
  EXPECT_EQ(run->text(run->spans().front().name), "token=****");
}

TEST(RunBuilderSecrets, AStringThatAlsoStandsInAHarmlessPlaceStaysThere) {
  RunBuilder builder;
  const LaneId lane = builder.add_lane(builder.add_process({}), LaneKind::thread, "main", 1);
  const std::uint32_t span = builder.add_span(lane, SpanKind::op, builder.intern("gemm"), {at(0), at(1)});
  builder.add_attribute(span, builder.intern("api_key"), builder.intern("gemm"));
  const auto run = built(std::move(builder));
  EXPECT_EQ(run->text(run->spans().front().name), "gemm");
  const auto value = run->attributes_of(SpanId{0}).find(run->strings().find("api_key"));
  EXPECT_EQ(run->text(value->text), "***");
}

TEST(RunBuilderSecrets, JsonStaysJsonOrBecomesAString) {
  RunBuilder builder;
  const LaneId lane = builder.add_lane(builder.add_process({}), LaneKind::thread, "main", 1);
  const std::uint32_t span = builder.add_span(lane, SpanKind::op, builder.intern("op"), {at(0), at(1)});
  builder.add_attribute(span, builder.intern("a"), JsonText{builder.intern(R"({"password":"abc"})")});
  builder.add_attribute(span, builder.intern("b"), JsonText{builder.intern(R"({"password":123456})")});
  const auto run = built(std::move(builder));
  const auto kind_of = [&](const char* key) {
    return run->attributes_of(SpanId{0}).find(run->strings().find(key))->kind;
  };
  EXPECT_EQ(kind_of("a"), AttributeKind::json);
  EXPECT_EQ(kind_of("b"), AttributeKind::text);
}

TEST(RunBuilderSecrets, PartsThatThreadsCollectedAreCountedAsOneRun) {
  RunBuilder whole;
  for (int i = 0; i < 2; ++i) {
    RunBuilder part;
    fill(part);
    whole.absorb(std::move(part), PartProcesses::new_rows);
  }
  RunBuilder one;
  fill(one);
  const auto parts = built(std::move(whole));
  EXPECT_THAT(all_strings(*parts), Not(HasSubstr(secret)));
  constexpr std::uint64_t facts_of_the_run = 2;  // db_password and the place, which do not come from parts
  EXPECT_EQ(parts->quality().of(Counter::texts_hidden) + facts_of_the_run,
            built(std::move(one))->quality().of(Counter::texts_hidden));
}

TEST(RunBuilderSecrets, ACopyOfARunKeepsItsStringsInTheirPlaces) {
  RunBuilder builder;
  fill(builder);
  const auto run = built(std::move(builder));
  const auto copy = RunBuilder::retimed(*run, std::vector<ClockMap>(run->processes().size()));
  EXPECT_EQ(all_strings(*copy), all_strings(*run));
}

TEST(RunBuilderSecrets, WhatWasHiddenOnceIsNotCountedAgain) {
  RunBuilder builder;
  fill(builder);
  const auto run = built(std::move(builder));
  std::ostringstream text;
  write_text(*run, text);
  const auto again = run_from_text(text.str());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ((*again)->quality().of(Counter::texts_hidden), run->quality().of(Counter::texts_hidden));
}

std::shared_ptr<const Run> with_api_keys(int count, const std::function<std::string(int)>& value) {
  RunBuilder builder;
  const std::uint32_t row = builder.add_process({.rank = RankId{0}});
  const LaneId lane = builder.add_lane(row, LaneKind::thread, "main", 1);
  const StringId key = builder.intern("api_key");
  for (int i = 0; i < count; ++i) {
    const std::uint32_t span = builder.add_span(lane, SpanKind::op, builder.intern("op"), {at(10 * i), at(10 * i + 5)});
    builder.add_attribute(span, key, builder.intern(value(i)));
  }
  return built(std::move(builder));
}

TEST(RunBuilderSecrets, WhatReplacesManyHiddenValuesStaysShort) {
  const auto run = with_api_keys(20'000, [](int i) { return "x9Lq" + std::to_string(i); });
  EXPECT_EQ(run->quality().of(Counter::texts_hidden), 20'000U);
  for (std::uint32_t id = 0; id < run->strings().size(); ++id)
    ASSERT_LE(run->text(StringId{id}).size(), 12U) << run->text(StringId{id});
}

TEST(RunBuilderSecrets, AValueThatAPackMaskedLooksLikeOneThatIsHiddenHere) {
  const auto run = with_api_keys(2, [](int i) { return i == 0 ? "***********" : ""; });
  std::ostringstream text;
  write_text(*run, text);
  EXPECT_THAT(text.str(), HasSubstr("api_key=***\n"));
  EXPECT_THAT(text.str(), HasSubstr("api_key=\"\"\n"));
  EXPECT_EQ(run->quality().of(Counter::texts_hidden), 0U);
}

}  // namespace
}  // namespace rankscope

// Raw activity records in a file, and a recording made of them by the same code: how records of a real device become a
// test that needs none.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "recorded.h"

namespace rankscope::collectors {
namespace {

using namespace testing;

constexpr std::uintmax_t most_bytes = std::uintmax_t{4} << 20;

Recorded play(const Folder& folder, const std::string& scene, const std::string& version) {
  const Variable library{"RANKSCOPE_CUPTI", program("libcupti_standin.so")};
  const Variable told{"STANDIN_CUPTI_VERSION", version};
  RecordOptions options;
  options.details.add(Detail::memory);
  options.collect = "annotate,cupti";
  options.command = {program("cupti_actor"), scene};
  options.out = folder / (scene + ".rankscope");
  return record(folder, options);
}

Recorded play_and_dump(const Folder& folder, const std::string& scene, const fs::path& dump,
                       const std::string& version = "130001") {
  const Variable file{"RANKSCOPE_CUPTI_DUMP", dump.string()};
  return play(folder, scene, version);
}

Recorded replay(const Folder& folder, const fs::path& dump) {
  const Variable file{"STANDIN_CUPTI_REPLAY", dump.string()};
  return play(folder, "replay", "");
}

/// All that CUPTI told of, as text: kind, name, how long, attributes; and in ns behind the first of them.
struct Told {
  std::string what;
  std::int64_t begin;
};

std::vector<Told> told_by_cupti(const Run& run) {
  std::vector<Told> all;
  for (const Span& span : run.spans()) {
    std::string what = std::string{name_of(span.kind)} + " " + std::string{run.text(span.name)} + " " +
                       std::to_string(span.time.length().count());
    for (const std::string& attribute : attributes_of(run, span)) what += " " + attribute;
    all.push_back({what, span.time.begin.time_since_epoch().count()});
  }
  std::ranges::sort(all, {}, [](const Told& one) { return std::pair{one.begin, one.what}; });
  const std::int64_t first = all.empty() ? 0 : all.front().begin;
  for (Told& one : all) one.begin -= first;
  return all;
}

void expect_alike(const Run& original, const Run& again) {
  const std::vector<Told> before = told_by_cupti(original);
  const std::vector<Told> after = told_by_cupti(again);
  ASSERT_EQ(after.size(), before.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(after[i].what, before[i].what);
    EXPECT_NEAR(static_cast<double>(after[i].begin), static_cast<double>(before[i].begin), 100.0) << before[i].what;
  }
  EXPECT_EQ(again.devices().size(), original.devices().size());
}

class EveryDump : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(CuptiDump, EveryDump, ::testing::Values("22", "26", "130001"));

TEST_P(EveryDump, ADumpIsReplayedToTheSameRecording) {
  const Folder folder;
  const Recorded original = play_and_dump(folder, "all", folder / "dump", GetParam());
  ASSERT_TRUE(original.run) << original.why;
  ASSERT_NE(span_named(*original.run, "gemm(float*)"), nullptr);
  const Recorded again = replay(folder, folder / "dump");
  ASSERT_EQ(again.status, 0);
  ASSERT_TRUE(again.run) << again.why;
  expect_alike(*original.run, *again.run);
  EXPECT_EQ(again.run->metadata(again.run->processes()[0], "cupti_version"), GetParam());
}

TEST(CuptiDump, ItStaysSmallAndHoldsWholeBuffers) {
  const Folder folder;
  const Recorded original = play_and_dump(folder, "many", folder / "dump");
  ASSERT_TRUE(original.run) << original.why;
  ASSERT_TRUE(fs::exists(folder / "dump"));
  EXPECT_LE(fs::file_size(folder / "dump"), most_bytes);
  EXPECT_EQ(original.run->metadata(original.run->processes()[0], "cupti_dump_problem"),
            "the file was cut off: its size is limited to 4 MiB");
  EXPECT_EQ(replay(folder, folder / "dump").status, 0);
}

TEST(CuptiDump, AFileThatCannotBeWrittenIsSaid) {
  const Folder folder;
  const Recorded recorded = play_and_dump(folder, "some", folder / "missing" / "dump");
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(recorded.run->metadata(recorded.run->processes()[0], "cupti_dump_problem"), "the file cannot be written");
}

/// Kernels, copies and fills whose name begins like this.
std::ptrdiff_t count_of(const Run& run, SpanKind kind, std::string_view name) {
  return std::ranges::count_if(
      run.spans(), [&](const Span& span) { return span.kind == kind && run.text(span.name).starts_with(name); });
}

// scripts/gpu-check makes them on a machine with a GPU, with 100 rounds of samples/gpu/kernels.cu and one before them.
TEST(CuptiDump, RecordsOfEveryRealDeviceAreUnderstood) {
  std::vector<fs::path> fixtures;
  if (fs::is_directory(RANKSCOPE_TEST_FIXTURES))
    for (const auto& entry : fs::directory_iterator{RANKSCOPE_TEST_FIXTURES})
      if (entry.path().extension() == ".cupti") fixtures.push_back(entry.path());
  if (fixtures.empty()) GTEST_SKIP() << "no fixture of a real device yet";
  for (const fs::path& fixture : fixtures) {
    const Folder folder;
    const Recorded recorded = replay(folder, fixture);
    EXPECT_EQ(recorded.status, 0) << fixture;
    ASSERT_TRUE(recorded.run) << fixture << ": " << recorded.why;
    const auto& run = *recorded.run;
    EXPECT_EQ(count_of(run, SpanKind::compute, "axpy"), 101) << fixture;
    EXPECT_EQ(count_of(run, SpanKind::compute, "spin"), 101) << fixture;
    EXPECT_EQ(count_of(run, SpanKind::compute, "in_graph"), 78) << fixture << ": nodes of 26 launches of a graph";
    EXPECT_EQ(count_of(run, SpanKind::memory, "Memcpy HtoD"), 101) << fixture;
    EXPECT_EQ(count_of(run, SpanKind::memory, "Memcpy DtoD"), 11) << fixture;
    EXPECT_EQ(count_of(run, SpanKind::memory, "Memcpy DtoH"), 11) << fixture;
    EXPECT_EQ(count_of(run, SpanKind::memory, "Memset"), 101) << fixture;
    EXPECT_NE(span_named(run, "cudaMemcpyAsync"), nullptr) << fixture;
    EXPECT_EQ(run.devices().size(), 1U) << fixture;
    for (const Counter counter : {Counter::activities_dropped, Counter::activities_unknown, Counter::sources_failed,
                                  Counter::times_unusable, Counter::correlation_reused})
      EXPECT_EQ(run.quality().of(counter), 0U) << fixture << ": " << info_of(counter).name;
  }
}

}  // namespace
}  // namespace rankscope::collectors

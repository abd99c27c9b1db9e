// Every kind of loss that a recording can have, each hiding a regression: gate and compare never say 0 of it
// (metrics.md 17.4).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>

#include "rankscope/core/recording/format.h"
#include "rankscope/core/recording/manifest.h"
#include "support/run_program.h"
#include "support/temporary_folder.h"
#include "synthetic/generate.h"

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ProgramResult;

constexpr std::int64_t all_steps = 40;
constexpr std::int64_t slow_from = 20;

/// Segments of several chunks. The loss hides that rank 1 becomes slow in the middle of the run.
synthetic::Plan plan_of(std::uint64_t seed) { return {.ranks = 3, .steps = all_steps, .operators = 200, .seed = seed}; }

synthetic::Plan regressing_plan() {
  synthetic::Plan plan = plan_of(2);
  plan.faults = {synthetic::fault_from("slow:rank=1,factor=2,step=" + std::to_string(slow_from))};
  return plan;
}

class Recording {
 public:
  explicit Recording(fs::path path) : path_(std::move(path)) {}
  [[nodiscard]] const fs::path& path() const { return path_; }
  [[nodiscard]] fs::path segment(int rank) const {
    for (const auto& entry : fs::directory_iterator{path_ / recording::segment_folder})
      if (entry.path().stem().string().ends_with("-" + std::to_string(rank))) return entry.path();
    return {};
  }

 private:
  fs::path path_;
};

template <class T>
void overwrite(const fs::path& file, std::uintmax_t offset, T value) {
  std::fstream out{file, std::ios::in | std::ios::out | std::ios::binary};
  out.seekp(static_cast<std::streamoff>(offset));
  out.write(reinterpret_cast<const char*>(&value), sizeof value);
}

void change_manifest(const Recording& run, const std::function<void(recording::Manifest&)>& change) {
  auto manifest = recording::read_manifest(run.path());
  ASSERT_TRUE(manifest) << manifest.error().message;
  change(*manifest);
  ASSERT_TRUE(recording::write_manifest(run.path(), *manifest));
}

void keep_percent(const Recording& run, std::uintmax_t percent) {
  fs::resize_file(run.segment(1), fs::file_size(run.segment(1)) * percent / 100);
}

/// In the payload of a chunk, not in its header.
void damage_at_percent(const Recording& run, std::uintmax_t percent) {
  const fs::path file = run.segment(1);
  constexpr std::uintmax_t header = recording::chunk_header_bytes;
  std::uintmax_t offset = fs::file_size(file) * percent / 100;
  if ((offset - recording::segment_header_bytes) % recording::chunk_bytes < 2 * header) offset += 2 * header;
  overwrite(file, offset, std::uint32_t{0x5A5A5A5A});
}

void replace_with_shorter_runs(const Recording& run, std::initializer_list<int> ranks) {
  const testing::TemporaryFolder folder;
  synthetic::Plan plan = plan_of(2);
  plan.steps = slow_from;
  const Recording shorter{folder / "shorter.rankscope"};
  synthetic::generate(plan, shorter.path());
  for (const int rank : ranks)
    fs::copy_file(shorter.segment(rank), run.segment(rank), fs::copy_options::overwrite_existing);
}

void kill_in_the_middle(const Recording& run) {
  replace_with_shorter_runs(run, {0, 1, 2});
  for (const int rank : {0, 1, 2})
    overwrite(run.segment(rank), offsetof(recording::SegmentHeader, end),
              static_cast<std::uint32_t>(recording::ProcessEnd::running));
}

struct Case {
  std::string name;
  std::function<void(const Recording&)> lose;
};

/// Of processes and of the command: how they ended, and how far they came.
std::vector<Case> ended_early() {
  return {
      {"KilledRun", kill_in_the_middle},
      {"KilledRunOfAnUnknownCommand",
       [](const Recording& run) {
         kill_in_the_middle(run);
         change_manifest(run, [](recording::Manifest& manifest) { manifest.exit_status = -1; });
       }},
      {"KilledRank",
       [](const Recording& run) {
         replace_with_shorter_runs(run, {1});
         overwrite(run.segment(1), offsetof(recording::SegmentHeader, end), std::uint32_t{0});
       }},
      {"NonZeroExitOfARank",
       [](const Recording& run) {
         overwrite(run.segment(2), offsetof(recording::SegmentHeader, exit_status), std::int32_t{1});
       }},
      {"NonZeroExitOfTheCommand",
       [](const Recording& run) {
         change_manifest(run, [](recording::Manifest& manifest) { manifest.exit_status = 1; });
       }},
      {"StoppedBySignal",
       [](const Recording& run) {
         change_manifest(run,
                         [](recording::Manifest& manifest) { manifest.metadata.emplace_back("stopped_by", "SIGINT"); });
       }},
      {"FewerStepsOnOneRank", [](const Recording& run) { replace_with_shorter_runs(run, {1}); }},
      {"FewerStepsThanPlanned",
       [](const Recording& run) {
         replace_with_shorter_runs(run, {0, 1, 2});
       }},
  };
}

/// Of what was recorded.
std::vector<Case> lost_data() {
  std::vector<Case> all{
      {"MissingSegment", [](const Recording& run) { fs::remove(run.segment(1)); }},
      {"LostFirstRank", [](const Recording& run) { fs::remove(run.segment(0)); }},
      {"RingOverflow",
       [](const Recording& run) {
         overwrite(run.segment(1), offsetof(recording::SegmentHeader, events_dropped), std::uint64_t{5});
       }},
      {"DiskFull",
       [](const Recording& run) {
         overwrite(run.segment(1), offsetof(recording::SegmentHeader, events_dropped), std::uint64_t{5});
         overwrite(run.segment(1), offsetof(recording::SegmentHeader, extents_refused), std::uint64_t{1});
       }},
      {"ProcessNotRecorded",
       [](const Recording& run) {
         change_manifest(run, [](recording::Manifest& manifest) {
           recording::add_loss(manifest, Counter::processes_not_recorded, 1);
         });
       }},
      {"DamagedManifest",
       [](const Recording& run) {
         const fs::path manifest = run.path() / recording::manifest_name;
         fs::resize_file(manifest, fs::file_size(manifest) / 2);
       }},
      {"UnreadableSegment", [](const Recording& run) { overwrite(run.segment(1), 8, std::uint64_t{0}); }},
  };
  for (const std::uintmax_t percent : {3U, 20U, 45U, 60U, 75U, 90U, 99U})
    all.push_back({"CutAt" + std::to_string(percent) + "Percent",
                   [percent](const Recording& run) { keep_percent(run, percent); }});
  for (const std::uintmax_t percent : {10U, 30U, 50U, 70U, 95U})
    all.push_back({"DamagedChunkAt" + std::to_string(percent) + "Percent",
                   [percent](const Recording& run) { damage_at_percent(run, percent); }});
  return all;
}

std::vector<Case> cases() {
  std::vector<Case> all = ended_early();
  std::ranges::move(lost_data(), std::back_inserter(all));
  return all;
}

ProgramResult rankscope(std::vector<std::string> words) {
  words.insert(words.begin(), RANKSCOPE_PROGRAM);
  return testing::run_program(words);
}

ProgramResult gate(const fs::path& run, const fs::path& baseline, const std::vector<std::string>& more = {}) {
  std::vector<std::string> words{"gate", run.string(), "--baseline", baseline.string(), "--max-regression", "3%"};
  words.insert(words.end(), more.begin(), more.end());
  return rankscope(std::move(words));
}

/// A baseline without and a run with the regression.
class Hidden : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    synthetic::generate(plan_of(1), baseline_);
    synthetic::generate(regressing_plan(), run_.path());
    GetParam().lose(run_);
  }

  testing::TemporaryFolder folder_;
  fs::path baseline_ = folder_ / "baseline.rankscope";
  Recording run_{folder_ / "run.rankscope"};
};

TEST_P(Hidden, IsNotJudged) {
  for (const ProgramResult& result :
       {gate(run_.path(), baseline_), rankscope({"compare", baseline_.string(), run_.path().string()})}) {
    EXPECT_EQ(result.status, 4) << result.out << result.err;
    EXPECT_THAT(result.err, HasSubstr(" is not intact: ")) << result.err;
  }
}

TEST_P(Hidden, IsNotJudgedInABaselineEither) {
  const ProgramResult result = gate(baseline_, run_.path());
  EXPECT_EQ(result.status, 4) << result.out << result.err;
  EXPECT_THAT(result.err, HasSubstr("the baseline is not intact: "));
}

TEST_P(Hidden, IsJudgedByWhatIsThereIfLossesAreAccepted) {
  const std::string json_file = (folder_ / "gate.json").string();
  const ProgramResult result = gate(run_.path(), baseline_, {"--accept-losses", "--json", json_file});
  EXPECT_THAT(result.status, AnyOf(0, 1, 4)) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("Losses were accepted (--accept-losses)"));
  const auto json = nlohmann::json::parse(testing::read_file(json_file));
  EXPECT_EQ(json.at("losses_accepted"), true);
  EXPECT_FALSE(json.at("b").at("lost").empty());
  const std::string why = json.at("gate").value("why", "");
  EXPECT_THAT(why, Not(HasSubstr("not intact")));
  const auto counted = json.at("b").at("counted_steps").get<int>();
  const bool too_little = counted < 10 || why.find("record more steps") != std::string::npos;
  EXPECT_TRUE(result.status != 4 || too_little) << why;
}

INSTANTIATE_TEST_SUITE_P(Gate, Hidden, ::testing::ValuesIn(cases()), [](const auto& test) { return test.param.name; });

TEST(DamagedChunk, OutsideTheStepsAskedForIsShownAndDoesNotMatter) {
  const testing::TemporaryFolder folder;
  const Recording baseline{folder / "baseline.rankscope"};
  const Recording run{folder / "run.rankscope"};
  synthetic::generate(plan_of(1), baseline.path());
  synthetic::generate(plan_of(2), run.path());
  damage_at_percent(run, 60);
  const ProgramResult whole = gate(run.path(), baseline.path());
  EXPECT_EQ(whole.status, 4) << whole.out;
  const ProgramResult part = gate(run.path(), baseline.path(), {"--steps", "0:11"});
  EXPECT_EQ(part.status, 0) << part.out << part.err;
  EXPECT_THAT(part.out, HasSubstr("Losses outside the compared steps and ranks of the run: 1 damaged chunk of rank 1"));
}

TEST(CutSegment, OfARankThatIsNotComparedDoesNotMatterUnlessItTakesSteps) {
  const testing::TemporaryFolder folder;
  const Recording baseline{folder / "baseline.rankscope"};
  const Recording run{folder / "run.rankscope"};
  synthetic::generate(plan_of(1), baseline.path());
  synthetic::generate(plan_of(2), run.path());
  overwrite(run.segment(1), offsetof(recording::SegmentHeader, events_dropped), std::uint64_t{5});
  EXPECT_EQ(gate(run.path(), baseline.path()).status, 4);
  const ProgramResult others = gate(run.path(), baseline.path(), {"--ranks", "0,2"});
  EXPECT_EQ(others.status, 0) << others.out << others.err;
  EXPECT_THAT(others.out, HasSubstr("5 events of rank 1 were dropped"));
  keep_percent(run, 40);
  const ProgramResult fewer = gate(run.path(), baseline.path(), {"--ranks", "0,2"});
  EXPECT_EQ(fewer.status, 4) << fewer.out;
  EXPECT_THAT(fewer.err, HasSubstr("rank 1 lacks"));
}

TEST(IntactRuns, PassAndFailAsBefore) {
  const testing::TemporaryFolder folder;
  constexpr std::uint64_t pairs = 20;
  const fs::path baseline = folder / "baseline.rankscope";
  const fs::path run = folder / "run.rankscope";
  for (std::uint64_t pair = 0; pair < pairs; ++pair) {
    synthetic::generate(plan_of(100 + 2 * pair), baseline);
    synthetic::Plan plan = plan_of(101 + 2 * pair);
    synthetic::generate(plan, run);
    const ProgramResult equal = gate(run, baseline);
    EXPECT_EQ(equal.status, 0) << pair << ": " << equal.out;
    for (double* const ms :
         {&plan.forward_ms, &plan.input_ms, &plan.weight_ms, &plan.data_ms, &plan.optimizer_ms, &plan.allreduce_ms})
      *ms *= 1.05;
    synthetic::generate(plan, run);
    const ProgramResult slower = gate(run, baseline);
    EXPECT_EQ(slower.status, 1) << pair << ": " << slower.out;
  }
}

TEST(IntactRuns, FailIfTheyStallInEachFourthStep) {
  const testing::TemporaryFolder folder;
  const fs::path baseline = folder / "baseline.rankscope";
  const fs::path run = folder / "run.rankscope";
  synthetic::generate(plan_of(1), baseline);
  synthetic::Plan plan = plan_of(2);
  plan.faults = {synthetic::fault_from("pause:rank=2,ms=100,step=3,every=4")};
  synthetic::generate(plan, run);
  const ProgramResult result = gate(run, baseline);
  EXPECT_EQ(result.status, 1) << result.out;
  EXPECT_THAT(result.out, HasSubstr("FAIL: the mean step of the run is "));
}

}  // namespace
}  // namespace rankscope

// The whole run, and the same run by the digests of its ranks: each made from a file that holds that rank alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "analyzer/lines_of.h"
#include "analyzer/synthetic_run.h"
#include "copies/parts.h"
#include "data_loading/parts.h"
#include "digest/digest_set.h"
#include "digest/merged_sections.h"
#include "kernels/parts.h"
#include "launches/parts.h"
#include "rankscope/analyzer/open.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "steps/parts.h"

namespace rankscope::analyzer {
namespace {

using testing::run_of;
using RankTexts = std::vector<std::string>;

/// What a rank did, as text of a run of its own: five steps of kernels, communication, copies and calls, all of lengths
/// that differ between ranks and steps. Links name spans by their order in the text.
std::string rank_text(std::int64_t rank) {
  std::string text = format(
      "@rank {0} pid={1} host=n0 recorded=0:7000\n@lane {0} main kind=thread number=1\n"
      "@lane {0} s7 kind=stream number=7 device=0\n@lane {0} s9 kind=stream number=9 device=0\n"
      "@lane {0} loader kind=thread number=2\n",
      rank, 10 + rank);
  int spans = 0;
  const auto span = [&](std::string_view kind, std::int64_t begin, std::int64_t ns, std::string_view rest) {
    text += format("{} {} {} {} {}\n", rank, kind, begin, begin + ns, rest);
    return spans++;
  };
  span("runtime", 10, 40, "cudaMalloc lane=main");
  span("compute", 50, 100, "\"void warm_up<float>(int)\" lane=s7");
  for (std::int64_t step = 0; step < 5; ++step) {
    const std::int64_t begin = 1'000 * (step + 1) + 7 * rank;
    const std::int64_t more = 3 * step + 5 * rank;
    span("step", begin, 990, format("step index={} lane=main", step));
    span("op", begin + 5, 500, "aten::copy_ lane=main");
    const int call = span("runtime", begin + 10, 300, "cudaMemcpyAsync lane=main");
    const int copy = span("memory", begin + 20, 80 + more,
                          format("\"Memcpy HtoD (Pageable -> Device)\" bytes={} lane=s9", 4'000 + more));
    text += format("@link launch {} {}\n", call, copy);
    span("runtime", begin + 320, 100 + more, "cudaStreamSynchronize lane=main");
    span("data", begin + 520, 40 + more, "next_batch lane=main");
    span("loader", begin + 300, 250, "load lane=loader");
    if (step != 2) span("runtime", begin + 600, 30, "cudaFree lane=main");
    const int launch = span("runtime", begin + 460, 20, "cudaLaunchKernel lane=main");
    span("compute", begin + 40, 200, "ampere_sgemm_128x64_nn lane=s7 grid=@\"[108,1,1]\" block=@\"[256,1,1]\"");
    span("compute", begin + 250, 100 + more, "ampere_sgemm_128x64_nn lane=s7 grid=@\"[54,1,1]\"");
    span("comm", begin + 300, 150, "ncclDevKernel_AllReduce lane=s9");
    span("memory", begin + 700, 25, "\"Memset (Device)\" lane=s9");
    const int last = span("compute", begin + 900, 140, format("elementwise_{} lane=s7", (rank + step) % 3));
    text += format("@link launch {} {}\n", launch, last);  // it ends in the next step
  }
  return text;
}

/// The spans of kind step of a text, as spans of another kind.
std::string with_steps_as(std::string_view kind, std::string text) {
  constexpr std::string_view step = " step ";
  for (std::size_t at = text.find(step); at != std::string::npos; at = text.find(step, at + 1))
    if (text.find_first_of("0123456789", at) == at + step.size())  // the kind, not the name
      text.replace(at, step.size(), format(" {} ", kind));
  return text;
}

/// The text of a rank, one of whose steps was thinned out.
std::string with_thinned_step(std::int64_t step, std::string text) {
  const std::string mark = format("step index={}", step);
  text.insert(text.find(mark) + mark.size(), " thinned=1");
  return text;
}

/// One run of all of them. Links are numbered anew.
std::string whole_text(const RankTexts& ranks) {
  std::string text;
  std::size_t spans = 0;
  for (const std::string& rank : ranks) {
    std::size_t own = 0;
    for (const std::string& line : lines_of(rank)) {
      std::istringstream words{line};
      std::string word;
      words >> word;
      if (word == "@link") {
        std::string kind;
        std::size_t from = 0;
        std::size_t to = 0;
        words >> kind >> from >> to;
        text += format("@link {} {} {}\n", kind, from + spans, to + spans);
        continue;
      }
      if (!word.starts_with('@')) ++own;
      text += line + "\n";
    }
    spans += own;
  }
  return text;
}

std::string digest_of_run(const Run& run) {
  digest::DigestWriter out{job_of(run)};
  Digester digester{run};
  for (std::size_t row = 0; row < run.ranks().size(); ++row) write_digest(digester.of(row), out);
  out.commit();
  return out.take();
}

std::string digest_of(std::string_view text) { return digest_of_run(*run_of(text)); }

/// Sections as the JSON report has them.
struct Sections {
  std::string steps;
  std::string with_thinned;
  std::string kernels;
  std::string copies;
  std::string data_loading;
  std::string launches;
};

void expect_equal(const Sections& found, const Sections& whole, std::string_view what) {
  EXPECT_EQ(found.steps, whole.steps) << what;
  EXPECT_EQ(found.with_thinned, whole.with_thinned) << what;
  EXPECT_EQ(found.kernels, whole.kernels) << what;
  EXPECT_EQ(found.copies, whole.copies) << what;
  EXPECT_EQ(found.data_loading, whole.data_loading) << what;
  EXPECT_EQ(found.launches, whole.launches) << what;
}

template <class T>
std::string json_text(const Section<T>& section, auto json) {
  return section ? json(*section).dump(2) : "unavailable: " + section.error().why;
}

std::string steps_text_of(const Section<StepsSection>& steps) {
  return json_text(steps, [](const StepsSection& section) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Step& step : section.steps) list.push_back(step_json(step));
    list.push_back({section.source, section.median_ns, section.mean_ns, section.leftovers_ns, section.windows.size()});
    return list;
  });
}

std::string thinned_text_of(const StepsResult& steps) {
  return steps.with_thinned ? steps_text_of(*steps.with_thinned) : steps.why_no_thinned;
}

std::string kernels_text(const Section<KernelsSection>& kernels, const ReportOptions& options) {
  return json_text(kernels, [&](const KernelsSection& section) { return kernels_json(section, options); });
}

std::string copies_text(const Section<CopiesSection>& copies, const ReportOptions& options) {
  return json_text(copies, [&](const CopiesSection& section) { return copies_json(section, options); });
}

std::string loading_text(const Section<DataLoadingSection>& loading) { return json_text(loading, data_loading_json); }

std::string launches_text(const Section<LaunchesSection>& launches) {
  return json_text(launches, [](const LaunchesSection& section) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const LaunchRow& row : section.rows) list.push_back(launch_json(row));
    return list;
  });
}

Sections by_run(const Run& run, const ReportOptions& options) {
  const StepsResult steps = find_steps(run, ClockTrust(run), options);
  return {steps_text_of(steps.section),
          thinned_text_of(steps),
          kernels_text(tabulate_kernels(run, steps.section, options), options),
          copies_text(tabulate_copies(run, steps.section, steps.all, options), options),
          loading_text(find_data_loading(run, steps.section, options)),
          launches_text(launches_of(run, steps.section, options))};
}

/// `run` gives nothing but the trust in its clocks.
Sections by_digests(const Run& run, const DigestSet& set, const ReportOptions& options) {
  const StepsResult steps = steps_from(set.ranks(), ClockTrust(run), options);
  return {steps_text_of(steps.section),
          thinned_text_of(steps),
          kernels_text(kernels_from(set.ranks(), steps.section, options), options),
          copies_text(copies_from(set.ranks(), steps.section, steps.all, options), options),
          loading_text(data_loading_from(set.ranks(), steps.section, options)),
          launches_text(launches_from(set.ranks(), steps.section, options))};
}

DigestSet set_of(const RankTexts& digests) {
  DigestSet set;
  for (std::size_t i = 0; i < digests.size(); ++i) {
    const auto added = set.add(format("{}.rsd", i), digests[i]);
    EXPECT_TRUE(added) << added.error().message;
  }
  return set;
}

void expect_the_same(const RankTexts& ranks, const ReportOptions& options) {
  const auto run = run_of(whole_text(ranks));
  RankTexts digests;
  for (const std::string& rank : ranks) digests.push_back(digest_of(rank));
  const Sections whole = by_run(*run, options);
  expect_equal(by_digests(*run, set_of(digests), options), whole, "one file for each rank");
  std::ranges::reverse(digests);
  expect_equal(by_digests(*run, set_of(digests), options), whole, "the same files in another order");
  expect_equal(by_digests(*run, set_of({digest_of(whole_text(ranks))}), options), whole, "all ranks in one file");
}

const RankTexts four_ranks{rank_text(0), rank_text(1), rank_text(2), rank_text(3)};

TEST(Digest, OfEachRankGivesTheSectionsOfTheWholeRun) {
  expect_the_same(four_ranks, {});
  const Sections whole = by_run(*run_of(whole_text(four_ranks)), {});
  for (const std::string* section : {&whole.steps, &whole.kernels, &whole.copies, &whole.data_loading, &whole.launches})
    EXPECT_FALSE(section->starts_with("unavailable")) << *section;
}

TEST(Digest, HoldsWhatIsAskedForLater) {
  ReportOptions some_steps;
  some_steps.steps = StepRange{1, 3};
  expect_the_same(four_ranks, some_steps);
  ReportOptions no_steps;
  no_steps.steps = StepRange{8, 9};
  expect_the_same(four_ranks, no_steps);
  ReportOptions some_ranks;
  some_ranks.ranks = {RankId{1}, RankId{3}};
  expect_the_same(four_ranks, some_ranks);
  ReportOptions with_warm_up;
  with_warm_up.include_warm_up = true;
  expect_the_same(four_ranks, with_warm_up);
}

TEST(Digest, OfARankThatHasOtherStepsGivesTheSame) {
  RankTexts ranks = four_ranks;
  const std::size_t at = ranks[2].find("step index=4");
  ranks[2].replace(at, 12, "step index=5");  // a gap: the others have no step 5
  expect_the_same(ranks, {});
}

TEST(Digest, OfRanksWithoutStepsGivesTheSame) {
  RankTexts ranks = four_ranks;
  ranks[1] = with_steps_as("data", ranks[1]);
  expect_the_same(ranks, {});
  for (std::string& rank : ranks) rank = with_steps_as("data", rank);
  expect_the_same(ranks, {});
}

TEST(Digest, OfStepsThatARankMarksByRangesGivesTheSame) {
  RankTexts ranks = four_ranks;
  ranks[1] = with_steps_as("user", ranks[1]);
  expect_the_same(ranks, {});
  for (std::string& rank : ranks) rank = with_steps_as("user", rank);
  expect_the_same(ranks, {});
}

TEST(Digest, OfThinnedStepsGivesTheSame) {
  RankTexts ranks = four_ranks;
  for (std::string& rank : ranks) rank = with_thinned_step(0, std::move(rank));
  EXPECT_NE(by_run(*run_of(whole_text(ranks)), {}).with_thinned, "");
  expect_the_same(ranks, {});
  ranks[2] = with_thinned_step(1, std::move(ranks[2]));  // step 1 of the others has events, which do not count
  expect_the_same(ranks, {});
  for (const std::int64_t step : {1, 2, 3, 4}) ranks[1] = with_thinned_step(step, std::move(ranks[1]));
  expect_the_same(ranks, {});
}

TEST(Digest, OfCpuRanksGivesTheSame) {
  const auto of = [](std::uint32_t rank) { return format("@rank {0} pid={0} host=n0\n{0} op 0 50 aten::mm\n", rank); };
  expect_the_same({of(0), of(1)}, {});
  const std::string listed = "@rank 0 pid=1 host=n0\n@device 0 0 name=GPU\n0 op 0 50 aten::mm\n";
  expect_the_same({listed, of(1)}, {});
}

TEST(Digest, OfTheSampleRecordingGivesTheSame) {
  const auto run = open_run(RANKSCOPE_SAMPLES "/demo.rankscope");
  ASSERT_TRUE(run) << run.error().message;
  const Sections whole = by_run(**run, {});
  EXPECT_FALSE(whole.steps.starts_with("unavailable")) << whole.steps;
  expect_equal(by_digests(**run, set_of({digest_of_run(**run)}), {}), whole, "demo");
}

TEST(Digest, IsTheSameAfterItWasWrittenAndRead) {
  const auto run = run_of(whole_text({rank_text(0), with_thinned_step(0, rank_text(1))}));
  Digester digester{*run};
  digest::DigestWriter out{job_of(*run)};
  std::vector<RankDigest> made;
  for (std::size_t row = 0; row < run->ranks().size(); ++row) {
    made.push_back(digester.of(row));
    write_digest(made.back(), out);
  }
  out.commit();
  const std::string bytes = out.take();
  const auto file = digest::read_digest(bytes);
  ASSERT_TRUE(file) << file.error().message;
  const auto read = read_digests(*file);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, made);
  EXPECT_TRUE(read->at(1).steps.windows.front().thinned);
  EXPECT_FALSE(read->at(1).steps.windows.front().sums.is_set()) << "a digest has no spans";
}

TEST(Digest, WithoutAPartSaysSoAndAsksForTheRecording) {
  const auto run = run_of(whole_text(four_ranks));
  Digester digester{*run};
  RankDigest rank = digester.of(0);
  rank.kernels.reset();
  const std::vector<RankDigest> ranks{rank};
  const StepsResult steps = steps_from(ranks, ClockTrust(*run), {});
  const auto kernels = kernels_from(ranks, steps.section, {});
  ASSERT_FALSE(kernels);
  EXPECT_EQ(kernels.error().why,
            "the digest of rank 0 lacks kernels, or was written by a newer version of rankscope; open the recording "
            "instead");
  EXPECT_TRUE(copies_from(ranks, steps.section, steps.all, {}));
}

}  // namespace
}  // namespace rankscope::analyzer

// What pages consist of: landmarks, headings, charts and tables, but not their numbers. scripts/golden --update
// rewrites the expectation.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include "rankscope/analyzer/open.h"
#include "rankscope/analyzer/output_file.h"
#include "rankscope/analyzer/render.h"
#include "rankscope/core/model/text.h"
#include "support/markup.h"
#include "support/temporary_folder.h"

namespace rankscope::analyzer {
namespace {

namespace fs = std::filesystem;

using testing::Tag;

/// Rows, columns and marks are counted between a tag and the one that closes it.
std::string sizes(const std::vector<Tag>& tags, std::size_t begin) {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t marks = 0;
  for (std::size_t i = begin; !(tags[i].closes && tags[i].name == tags[begin].name); ++i) {
    if (tags[i].closes) continue;
    rows += tags[i].name == "tr" ? 1U : 0U;
    columns += tags[i].has("scope=\"col\"") ? 1U : 0U;
    marks += tags[i].has("class=\"mark ") ? 1U : 0U;
  }
  if (tags[begin].name == "svg") return "chart of " + std::to_string(marks) + " marks";
  return "table of " + std::to_string(rows - 1) + " rows, " + std::to_string(columns) + " columns";
}

/// A line for each landmark, heading, chart and table, in their order.
std::string outline(const std::string& page) {
  constexpr std::array landmarks{"header", "nav", "main", "section", "footer"};
  constexpr std::array titles{"h1", "h2", "h3", "figcaption", "summary", "caption"};
  std::string text;
  const auto tags = testing::tags_of(page);
  for (std::size_t i = 0; i < tags.size(); ++i) {
    const Tag& tag = tags[i];
    if (tag.closes) continue;
    if (std::ranges::find(landmarks, tag.name) != landmarks.end()) text += tag.name + "\n";
    if (std::ranges::find(titles, tag.name) != titles.end())
      text += "  " + tag.name + " " + (tag.text.empty() ? tags[i + 1].text + tags[i + 2].text : tag.text) + "\n";
    if (tag.name == "table" || tag.has("class=\"chart\"")) text += "  " + sizes(tags, i) + "\n";
  }
  return text;
}

void expect_outline(const Run& run, const char* file) {
  const std::string page = render_html(analyze(run, {}), run, {});
  const fs::path expected = fs::path{RANKSCOPE_GOLDEN} / "page" / file;
  if (std::getenv("RANKSCOPE_GOLDEN_UPDATE") != nullptr) {
    const auto written = write_file(expected, outline(page));
    EXPECT_TRUE(written) << written.error().message;
  } else {
    EXPECT_EQ(testing::read_file(expected), outline(page)) << "If this is intended: scripts/golden --update";
  }
  EXPECT_LT(page.size(), 2'000'000U);
}

TEST(GoldenPage, TheSampleHasTheseSectionsChartsAndTables) {
  const std::vector<fs::path> paths{fs::path{RANKSCOPE_GOLDEN} / "../../samples/demo.rankscope"};
  const auto run = open_run(paths, {});
  ASSERT_TRUE(run) << run.error().message;
  expect_outline(**run, "expected.outline.txt");
}

TEST(GoldenPage, GpusHaveIdleReasonsLaunchesKernelsOperatorsAndCopies) {
  constexpr std::string_view copies =
      "0 runtime 820000 890000 cudaMemcpyAsync lane=main\n"
      "0 memory 830000 880000 \"Memcpy DtoH (Device -> Pageable)\" bytes=65536 lane=\"stream 7\"\n"
      "@link launch 17 18\n";
  const auto run =
      run_from_text(testing::read_file(fs::path{RANKSCOPE_GOLDEN} / "gpu_2_ranks/input.txt").append(copies));
  ASSERT_TRUE(run) << run.error().message;
  expect_outline(**run, "expected.gpu_outline.txt");
}

}  // namespace
}  // namespace rankscope::analyzer

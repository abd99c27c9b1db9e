// What HTA says of real traces (hta_golden.csv), and that rankscope says the same.
#include <gtest/gtest.h>

#include <sstream>

#include "rankscope/analyzer/export.h"
#include "rankscope/analyzer/open.h"
#include "rankscope/analyzer/report.h"
#include "shared_data.h"
#include "support/temporary_folder.h"

namespace rankscope::analyzer {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kept_mark = " (last step kept)";

/// One line of the table: a folder, a rank, and the numbers behind it ("" where HTA has none).
struct GoldenRow {
  std::string folder;
  HtaLastStep last_step = HtaLastStep::dropped;
  std::uint32_t rank = 0;
  std::vector<std::string> numbers{};
};

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream rest{line};
  for (std::string cell; std::getline(rest, cell, ',');) cells.push_back(cell);
  return cells;
}

std::vector<GoldenRow> golden_rows() {
  std::vector<GoldenRow> rows;
  std::istringstream table{testing::read_file(testing::shared_data() / "hta_golden.csv")};
  std::string line;
  std::getline(table, line);
  while (std::getline(table, line)) {
    if (line.ends_with('\r')) line.pop_back();
    std::vector<std::string> cells = cells_of(line);
    GoldenRow row{.folder = cells.at(0), .rank = static_cast<std::uint32_t>(std::stoul(cells.at(1)))};
    row.numbers.assign(cells.begin() + 2, cells.end());
    if (const std::size_t mark = row.folder.find(kept_mark); mark != std::string::npos) {
      row.folder.resize(mark);
      row.last_step = HtaLastStep::kept;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

/// As the table writes it: two decimals at most, one at least where HTA has a float.
std::string text_of(double value) {
  std::ostringstream text;
  text << std::fixed;
  text.precision(2);
  text << value;
  std::string digits = text.str();
  while (digits.back() == '0' && digits[digits.size() - 2] != '.') digits.pop_back();
  return digits;
}
std::string micros(std::int64_t ns) { return text_of(static_cast<double>(ns) / 1000); }
std::string share(std::int64_t part, const HtaTimes& times) {
  return text_of(100.0 * static_cast<double>(part) / static_cast<double>(times.kernel_ns));
}

std::vector<std::string> numbers_of(const HtaRank& rank) {
  const HtaTimes times = rank.times.value_or(HtaTimes{});
  const HtaLaunches& launch = rank.launch;
  return {std::to_string(rank.rows),
          micros(times.idle_ns),
          micros(times.compute_ns),
          micros(times.non_compute_ns),
          micros(times.kernel_ns),
          share(times.idle_ns, times),
          share(times.compute_ns, times),
          share(times.non_compute_ns, times),
          rank.overlap_percent.value ? text_of(*rank.overlap_percent.value) : "",
          std::to_string(launch.count),
          micros(launch.cpu_ns),
          micros(launch.gpu_ns),
          micros(launch.delay_ns),
          std::to_string(launch.short_kernels),
          std::to_string(launch.runtime_outliers),
          std::to_string(launch.delay_outliers)};
}

HtaSection hta_of(const Run& run, HtaLastStep last_step) {
  ReportOptions options;
  options.hta = last_step;
  const Report report = analyze(run, options);
  EXPECT_TRUE(report.hta && *report.hta);
  return report.hta && *report.hta ? **report.hta : HtaSection{};
}

/// Only the files of the folder itself: some hold folders of other recordings.
std::vector<fs::path> traces_in(const std::string& folder) {
  std::vector<fs::path> traces;
  for (const auto& entry : fs::directory_iterator{testing::shared_data() / "kineto" / folder})
    if (entry.is_regular_file()) traces.push_back(entry.path());
  std::ranges::sort(traces);
  return traces;
}

class HtaGolden : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(testing::shared_data() / "hta_golden.csv")) GTEST_SKIP() << testing::no_shared_data;
  }
};

void expect_row(const HtaSection& section, const GoldenRow& row) {
  const RankId rank{row.rank};
  const auto found = std::ranges::find(section.ranks, rank, &HtaRank::rank);
  ASSERT_NE(found, section.ranks.end()) << row.folder;
  EXPECT_EQ(numbers_of(*found), row.numbers) << row.folder << ", rank " << row.rank;
}

TEST_F(HtaGolden, EveryNumberOfEveryRowIsTheSame) {
  const std::vector<GoldenRow> rows = golden_rows();
  EXPECT_EQ(rows.size(), 16U);
  for (const GoldenRow& row : rows) {
    const std::vector<fs::path> traces = traces_in(row.folder);
    const auto run = open_run(traces, {});
    ASSERT_TRUE(run) << run.error().message;
    expect_row(hta_of(**run, row.last_step), row);
  }
}

TEST_F(HtaGolden, AnExportOfTheTraceGivesTheSameNumbers) {
  for (const GoldenRow& row : golden_rows()) {
    const std::vector<fs::path> traces = traces_in(row.folder);
    if (traces.size() != 1) continue;
    const auto run = open_run(traces, {});
    ASSERT_TRUE(run) << run.error().message;
    const testing::TemporaryFolder folder;
    for (const ExportInfo& info : exports())
      if (info.id == "kineto") {
        ASSERT_TRUE(info.write(**run, folder / "out.json", {}));
      }
    const auto again = open_run(folder / "out.json");
    ASSERT_TRUE(again) << again.error().message;
    expect_row(hta_of(**again, row.last_step), row);
  }
}

TEST_F(HtaGolden, RankOneOfTheRecommenderBeginsLastInBothSteps) {
  const auto run = open_run(testing::shared_data() / "kineto" / "recsys_2of128_ranks");
  ASSERT_TRUE(run) << run.error().message;
  const auto stragglers = hta_of(**run, HtaLastStep::kept).stragglers;
  ASSERT_TRUE(stragglers) << stragglers.error().why;
  EXPECT_EQ(stragglers->steps, 2);
  EXPECT_EQ(stragglers->votes.at(0).steps, 0);
  EXPECT_EQ(stragglers->votes.at(1).steps, 2);
}

TEST_F(HtaGolden, TheTimesOfEveryTraceAddUp) {
  for (const std::string& file : testing::shared_files("kineto")) {
    const auto run = open_run(testing::shared_data() / "kineto" / file);
    ASSERT_TRUE(run) << run.error().message;
    const HtaSection section = hta_of(**run, HtaLastStep::dropped);
    HtaTimes ranks;
    for (const HtaRank& rank : section.ranks) {
      ranks.kernel_ns += rank.times.value_or(HtaTimes{}).kernel_ns;
      ranks.idle_ns += rank.times.value_or(HtaTimes{}).idle_ns;
      ranks.compute_ns += rank.times.value_or(HtaTimes{}).compute_ns;
    }
    std::int64_t with_compute = 0;
    std::int64_t all = 0;
    for (const HtaTypeTime& type : section.types) {
      all += type.sum_ns;
      if (type.name.find("COMPUTATION") != std::string::npos) with_compute += type.sum_ns;
    }
    // HTA rounds begins up and ends down: a kernel below 1 us that nothing overlaps may end 1 us before it begins. Its
    // breakdown takes that off the time of computation; its types, which add up codes of what runs, count it as time of
    // computation where communication runs beside it. The one trace here with such kernels has 21 of them.
    const std::int64_t turned_around_ns = file.starts_with("mi300_act_checkpoint/") ? 2 * 21 * 1000 : 0;
    EXPECT_EQ(with_compute, ranks.compute_ns + turned_around_ns) << file;
    EXPECT_LE(all, ranks.kernel_ns - ranks.idle_ns) << file << ": synchronization is busy, but of no type";
  }
}

}  // namespace
}  // namespace rankscope::analyzer

// No secret in a trace gets into a run, or out of it.
#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "importers/nsys/nsys_export.h"
#include "rankscope/analyzer/export.h"
#include "rankscope/analyzer/pack.h"
#include "rankscope/analyzer/render.h"
#include "rankscope/core/model/text.h"
#include "support/secret_places.h"
#include "support/temporary_folder.h"

namespace rankscope::analyzer {
namespace {

namespace fs = std::filesystem;
using testing::count_of;
using testing::secret_canary;
using testing::TemporaryFolder;

constexpr std::string_view nowhere = "@NOWHERE@";
constexpr std::string_view everywhere;

/// A kind of input, with the places in it.
struct Input {
  std::string name;
  const std::vector<testing::SecretPlace>& places;
  std::string_view text;
  void (*write)(const fs::path& path, const std::string& text);
};

void write_json(const fs::path& path, const std::string& text) { std::ofstream{path, std::ios::binary} << text; }

void write_sqlite(const fs::path& path, const std::string& text) {
  std::string sql = testing::modern_tables + text;
  sql = testing::replaced(std::move(sql), "@PID@", std::to_string(testing::process_id(100)));
  sql = testing::replaced(std::move(sql), "@TID@", std::to_string(testing::thread_id(100, 1100)));
  testing::run_sql(path, testing::replaced(std::move(sql), "@OTHER_TID@", std::to_string(testing::thread_id(100, 77))));
}

const std::vector<Input>& inputs() {
  static const std::vector<Input> all{
      {"trace.json", testing::kineto_places(), testing::kineto_with_places, write_json},
      {"export.sqlite", testing::nsys_places(), testing::nsys_with_places, write_sqlite},
  };
  return all;
}

class SecretPlaces : public ::testing::TestWithParam<std::size_t> {
 protected:
  [[nodiscard]] static const Input& input() { return inputs()[GetParam()]; }

  /// Written with secrets in one place, everywhere or nowhere.
  [[nodiscard]] fs::path written(std::string_view slot) const {
    const fs::path folder = folder_ / std::to_string(next_++);
    fs::create_directories(folder);
    input().write(folder / input().name, testing::with_secret(input().text, input().places, slot));
    return folder / input().name;
  }

  [[nodiscard]] std::shared_ptr<const rankscope::Run> run_with(std::string_view slot,
                                                               Texts texts = Texts::without_secrets) const {
    const fs::path path = written(slot);
    const auto run = open_run(std::span{&path, 1}, {.rank_map = {{input().name, 0}}, .progress = {}, .texts = texts});
    EXPECT_TRUE(run) << run.error().message;
    return run ? *run : nullptr;
  }

  [[nodiscard]] const TemporaryFolder& folder() const { return folder_; }

 private:
  TemporaryFolder folder_;
  mutable int next_ = 0;
};

/// All that a run has of texts.
std::size_t canaries_in(const Run& run) {
  std::ostringstream text;
  write_text(run, text);
  for (std::uint32_t id = 0; id < run.strings().size(); ++id) text << run.text(StringId{id}) << '\n';
  return count_of(text.str(), secret_canary);
}

/// All files below a folder.
std::size_t canaries_below(const fs::path& folder) {
  std::size_t count = 0;
  for (const auto& entry : fs::recursive_directory_iterator{folder})
    if (entry.is_regular_file()) count += count_of(testing::read_file(entry.path()), secret_canary);
  return count;
}

TEST_P(SecretPlaces, NoPlaceOfAnInputBringsItsSecretIntoARun) {
  ASSERT_GE(input().places.size(), 20U);
  const std::size_t harmless = canaries_in(*run_with(nowhere));
  EXPECT_GT(harmless, 0U) << "strings without secrets stay";
  for (const testing::SecretPlace& place : input().places)
    EXPECT_EQ(canaries_in(*run_with(place.slot)), harmless) << place.slot;
}

TEST_P(SecretPlaces, MostPlacesShowTheirSecretsIfStringsAreKept) {
  const std::size_t harmless = canaries_in(*run_with(nowhere, Texts::as_recorded));
  std::size_t shown = 0;
  for (const testing::SecretPlace& place : input().places)
    if (canaries_in(*run_with(place.slot, Texts::as_recorded)) > harmless) ++shown;
  EXPECT_GE(shown + 4, input().places.size()) << "else the other tests show nothing";
}

TEST_P(SecretPlaces, ChangedStringsAreCounted) {
  EXPECT_GE(run_with(everywhere)->quality().of(Counter::texts_hidden), 17U);
  EXPECT_EQ(run_with(everywhere, Texts::as_recorded)->quality().of(Counter::texts_hidden), 0U);
}

TEST_P(SecretPlaces, NoReportHasASecret) {
  const auto canaries_of = [](const rankscope::Run& run) {
    ReportOptions options;
    const Report report = analyze(run, options);
    return std::vector{count_of(render_json(report, run, options), secret_canary),
                       count_of(render_html(report, run, options), secret_canary),
                       count_of(render_text(report, run, options, Colour::no), secret_canary)};
  };
  EXPECT_EQ(canaries_of(*run_with(everywhere)), canaries_of(*run_with(nowhere)));
}

TEST_P(SecretPlaces, NoExportHasASecret) {
  const auto run = run_with(everywhere);
  const auto plain = run_with(nowhere);
  for (const ExportInfo& info : exports()) {
    const fs::path with = folder() / ("with_" + std::string{info.id});
    const fs::path without = folder() / ("without_" + std::string{info.id});
    for (const auto& [from, to] : {std::pair{run, with}, std::pair{plain, without}}) {
      fs::create_directories(to);
      const auto written = info.write(*from, to / "out", {});
      ASSERT_TRUE(written) << written.error().message;
    }
    EXPECT_EQ(canaries_below(with), canaries_below(without)) << info.id;
  }
}

TEST_P(SecretPlaces, APackIsReadAsItsInputWithoutSecrets) {
  const fs::path path = written(everywhere);
  const ImportOptions options{.rank_map = {{input().name, 0}}, .progress = {}};
  const fs::path out = folder() / "out.tar.zst";
  const auto packed = pack(std::span{&path, 1}, out, options);
  ASSERT_TRUE(packed) << packed.error().message;
  const auto run = open_run(std::span{&path, 1}, options);
  const auto again = open_run(std::span{&out, 1}, {.rank_map = {}, .progress = {}, .texts = Texts::as_recorded});
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(canaries_in(**again), canaries_in(*run_with(nowhere)));
  EXPECT_EQ(packed->texts_hidden, (*run)->quality().of(Counter::texts_hidden));
  EXPECT_EQ(render_json(analyze(**again, {}), **again, {}), render_json(analyze(**run, {}), **run, {}));
}

INSTANTIATE_TEST_SUITE_P(Inputs, SecretPlaces, ::testing::Values(std::size_t{0}, std::size_t{1}),
                         [](const auto& test) { return std::string{test.param == 0 ? "Kineto" : "Nsight"}; });

}  // namespace
}  // namespace rankscope::analyzer

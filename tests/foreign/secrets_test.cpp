// Real recordings have no secrets: nothing in them may be taken for one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankscope/analyzer/open.h"
#include "rankscope/analyzer/pack.h"
#include "rankscope/analyzer/render.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/secrets.h"
#include "shared_data.h"
#include "support/temporary_folder.h"

namespace rankscope {
namespace {

namespace fs = std::filesystem;

class StringsOf : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam().empty()) GTEST_SKIP() << testing::no_shared_data;
  }
  [[nodiscard]] static fs::path path() { return testing::shared_data() / GetParam(); }
  [[nodiscard]] static std::shared_ptr<const rankscope::Run> opened(Texts texts) {
    const fs::path file = path();
    const auto run = analyzer::open_run(std::span{&file, 1}, {.rank_map = {}, .progress = {}, .texts = texts});
    EXPECT_TRUE(run) << run.error().message;
    return run ? *run : nullptr;
  }
};

TEST_P(StringsOf, ARealRecordingAreNotTakenForSecrets) {
  const auto run = opened(Texts::as_recorded);
  std::vector<std::string> changed;
  for (std::uint32_t id = 0; id < run->strings().size(); ++id)
    if (const auto without = without_secrets(run->text(StringId{id})))
      changed.push_back(std::string{run->text(StringId{id})} + " -> " + *without);
  EXPECT_THAT(changed, ::testing::IsEmpty());
  EXPECT_EQ(opened(Texts::without_secrets)->quality().of(Counter::texts_hidden), 0U);
}

TEST_P(StringsOf, ARealRecordingComeBackFromAPack) {
  const testing::TemporaryFolder folder;
  const fs::path file = path();
  const fs::path out = folder / "out.tar.zst";
  const auto packed = analyzer::pack(std::span{&file, 1}, out, {.rank_map = {}, .progress = {}});
  ASSERT_TRUE(packed) << packed.error().message;
  const auto again = analyzer::open_run(out);
  ASSERT_TRUE(again) << again.error().message;
  const auto report = [](const rankscope::Run& run) {
    return analyzer::render_json(analyzer::analyze(run, {}), run, {});
  };
  EXPECT_EQ(report(**again), report(*opened(Texts::without_secrets)));
}

INSTANTIATE_TEST_SUITE_P(Shared, StringsOf, ::testing::ValuesIn(testing::shared_recordings()),
                         [](const auto& test) { return testing::plain_name(test.param); });

}  // namespace
}  // namespace rankscope

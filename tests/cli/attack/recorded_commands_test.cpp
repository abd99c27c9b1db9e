// Commands with secrets in their words are recorded, and the secrets are searched in everything that comes of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/secrets/forms.h"
#include "support/run_program.h"
#include "support/secret_places.h"
#include "support/temporary_folder.h"

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using testing::count_of;
using testing::run_program;
using testing::TemporaryFolder;

std::string read_folder(const fs::path& folder) {
  std::string all;
  for (const auto& entry : fs::recursive_directory_iterator{folder})
    if (entry.is_regular_file()) all += testing::read_file(entry.path());
  return all;
}

std::string words_of(const testing::Command& command) {
  std::string line;
  for (const std::string& word : command) line += word + " ";
  return line;
}

/// The words behind the program `echo`, which only prints them.
std::vector<std::string> recorded(const testing::Command& command, const std::string& out) {
  std::vector<std::string> words{RANKSCOPE_PROGRAM, "record", "--out", out, "--", "echo"};
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

class RecordedCommands : public ::testing::TestWithParam<testing::Command> {};

TEST_P(RecordedCommands, AreNowhereFoundWithTheirSecrets) {
  const TemporaryFolder folder;
  const std::string run = (folder / "run.rankscope").string();
  const auto result = run_program(recorded(GetParam(), run), {"RANK=0", "WORLD_SIZE=1"});
  ASSERT_EQ(result.status, 0) << result.err;
  const std::string page = (folder / "page.html").string();
  const std::string pack = (folder / "run.tar.zst").string();
  std::string all = read_folder(run);
  for (const testing::Command& verb : std::vector<testing::Command>{{"report", run, "--full", "--html", page},
                                                                    {"report", run, "--json", "-"},
                                                                    {"dump", run},
                                                                    {"dump", run, "--keep-texts"},
                                                                    {"pack", run, pack},
                                                                    {"dump", pack, "--keep-texts"}}) {
    testing::Command words{RANKSCOPE_PROGRAM};
    words.insert(words.end(), verb.begin(), verb.end());
    const auto shown = run_program(words);
    all += shown.out + shown.err;
  }
  if (fs::exists(page)) all += testing::read_file(page);
  for (const char* format : {"perfetto", "chrome", "kineto", "tensorboard", "sqlite"}) {
    const fs::path file = folder / format;
    const auto written = run_program({RANKSCOPE_PROGRAM, "export", run, "--to", format, file.string()});
    all += written.out + written.err;
    if (fs::is_directory(file))
      all += read_folder(file.string());
    else if (fs::exists(file))
      all += testing::read_file(file);
  }
  EXPECT_EQ(count_of(all, testing::canary), 0U) << words_of(GetParam());
  EXPECT_GT(count_of(all, "manifest") + count_of(all, "echo"), 0U) << "something was written";
}

INSTANTIATE_TEST_SUITE_P(Forms, RecordedCommands, ::testing::ValuesIn(testing::secret_commands()));

}  // namespace
}  // namespace rankscope

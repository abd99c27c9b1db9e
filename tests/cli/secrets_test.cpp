// No verb shows a secret of its input, unless it is asked to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "rankscope/core/recording/manifest.h"
#include "rankscope/core/recording/segment_writer.h"
#include "support/run_program.h"
#include "support/secret_places.h"
#include "support/temporary_folder.h"

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using testing::count_of;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::run_program;
using testing::secret_canary;
using testing::TemporaryFolder;

testing::ProgramResult call(std::vector<std::string> words) {
  words.insert(words.begin(), RANKSCOPE_PROGRAM);
  return run_program(words);
}

/// All that a verb writes for one input, to stdout and to files.
std::size_t canaries_of_all_verbs(const std::string& run, const fs::path& out) {
  fs::create_directories(out);
  const std::string page = (out / "page.html").string();
  std::string all = call({"report", run, "--full", "--html", page}).out + testing::read_file(page);
  for (const std::vector<std::string>& verb : std::vector<std::vector<std::string>>{{"report", run},
                                                                                    {"report", run, "--json", "-"},
                                                                                    {"compare", run, run},
                                                                                    {"dump", run},
                                                                                    {"dump", run, "--summary"},
                                                                                    {"scale", run}})
    all += call(verb).out;
  for (const char* format : {"perfetto", "chrome", "kineto", "sqlite"}) {
    const fs::path file = out / format;
    EXPECT_EQ(call({"export", run, "--to", format, file.string()}).status, 0) << format;
    all += testing::read_file(file);
  }
  return count_of(all, secret_canary);
}

TEST(SecretsOfVerbs, NoVerbShowsASecretOfATrace) {
  const TemporaryFolder folder;
  const auto write = [&](const char* name, std::string_view slot) {
    fs::create_directories(folder / name);
    const fs::path path = folder / name / "trace.json";
    std::ofstream{path} << testing::with_secret(testing::kineto_with_places, testing::kineto_places(), slot);
    return path.string();
  };
  const std::string secret = write("secret", "");
  const std::string plain = write("plain", "@NOWHERE@");
  const std::size_t harmless = canaries_of_all_verbs(plain, folder / "out_plain");
  EXPECT_GT(harmless, 0U);
  EXPECT_EQ(canaries_of_all_verbs(secret, folder / "out_secret"), harmless);
}

TEST(SecretsOfVerbs, TheReportSaysInHowManyStringsSecretsWereHidden) {
  const TemporaryFolder folder;
  const std::string path = (folder / "run.txt").string();
  std::ofstream{path} << "0 compute 0 10 \"token=abc1\"\n0 compute 20 30 \"password: x1\"\n0 compute 40 50 gemm\n";
  EXPECT_THAT(call({"report", path, "--full"}).out, HasSubstr("texts hidden: 2"));
  EXPECT_THAT(call({"report", path, "--json", "-"}).out, HasSubstr("texts_hidden"));
  EXPECT_THAT(call({"dump", path}).out, HasSubstr("@quality texts_hidden 2"));
  EXPECT_THAT(call({"report", path, "--full", "--keep-texts"}).out, Not(HasSubstr("texts hidden")));
}

TEST(SecretsOfVerbs, EachReadingVerbHasTheOptionThatKeepsThem) {
  for (const char* verb : {"report", "compare", "gate", "whatif", "scale", "export", "pack", "view", "dump"})
    EXPECT_THAT(call({verb, "--help"}).out, HasSubstr("--keep-texts")) << verb;
  const TemporaryFolder folder;
  const std::string path = (folder / "run.txt").string();
  std::ofstream{path} << "0 compute 0 10 \"token=abc1\"\n";
  EXPECT_THAT(call({"dump", path, "--keep-texts"}).out, HasSubstr("token=abc1"));
  EXPECT_THAT(call({"dump", path}).out, Not(HasSubstr("abc1")));
}

/// A recording with the same text in each kind of record.
void record(const fs::path& folder, const std::string& text, const std::string& value) {
  fs::create_directories(folder / recording::segment_folder);
  recording::Manifest manifest;
  manifest.command = {"train.py", "--lr", "0.1"};
  manifest.metadata = {{"note", text}, {"api_key", value}};
  ASSERT_TRUE(recording::write_manifest(folder, manifest));
  auto segment = recording::SegmentWriter::create(
      {.path = folder / recording::segment_folder / "0.rseg", .rank = 0, .rank_source = "RANK"});
  ASSERT_TRUE(segment) << segment.error().message;
  const auto pen = (*segment)->thread();
  pen->thread_name("thread " + text);
  pen->metadata("run " + text, text);
  pen->metadata("hf_token", value);
  pen->push(SpanKind::user, secret_canary);  // no secret: it stays
  pen->attribute("note", text);
  pen->attribute("secret", value);
  pen->attribute_json("config", R"({"password": ")" + value + R"("})");
  pen->pop();
  pen->push(SpanKind::user, "range " + text);
  pen->pop();
  pen->mark("mark " + text);
  pen->counter("bytes " + text, 3);
  pen->comm_enqueued(
      {.uid = 1, .sequence = 0, .bytes = 4, .group = text, .op = "op " + text, .dtype = "f32", .members = "0"});
  pen->comm_started(1);
  pen->comm_finished(1);
}

TEST(SecretsOfVerbs, NoVerbShowsASecretOfARecordingOrOfItsPack) {
  const TemporaryFolder folder;
  const std::string secret = (folder / "secret.rankscope").string();
  const std::string plain = (folder / "plain.rankscope").string();
  record(secret, "--token " + std::string{secret_canary}, std::string{secret_canary});
  record(plain, "plain", "plain");
  const std::size_t harmless = canaries_of_all_verbs(plain, folder / "out_plain");
  EXPECT_GT(harmless, 0U);
  EXPECT_EQ(canaries_of_all_verbs(secret, folder / "out_secret"), harmless);
  const std::string pack = (folder / "secret.tar.zst").string();
  ASSERT_EQ(call({"pack", secret, pack}).status, 0);
  EXPECT_THAT(call({"dump", pack, "--keep-texts"}).out, Not(HasSubstr("--token " + std::string{secret_canary})));
  EXPECT_EQ(call({"dump", secret, "--keep-texts"}).status, 0);
  EXPECT_THAT(call({"dump", secret, "--keep-texts"}).out, HasSubstr("--token " + std::string{secret_canary}));
}

TEST(SecretsOfVerbs, ARecordingOfAnEarlierVersionShowsNoSecretOfItsCommand) {
  const TemporaryFolder folder;
  const fs::path run = folder / "run.rankscope";
  record(run, "plain", "plain");
  auto manifest = recording::read_manifest(run);
  ASSERT_TRUE(manifest);
  manifest->command = {"train.py", "-p", "hunter2abc", "--lr", "0.1"};
  ASSERT_TRUE(recording::write_manifest(run, *manifest));
  const auto dump = call({"dump", run.string()});
  EXPECT_THAT(dump.out, HasSubstr("train.py -p *** --lr 0.1"));
  EXPECT_THAT(call({"dump", run.string(), "--keep-texts"}).out, HasSubstr("hunter2abc"));
}

}  // namespace
}  // namespace rankscope

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "cli/demo.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/recording/manifest.h"
#include "rankscope/core/recording/segment_writer.h"
#include "support/run_program.h"
#include "support/secret_places.h"
#include "support/temporary_folder.h"

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::read_file;
using testing::run_program;
using testing::TemporaryFolder;

testing::ProgramResult rankscope(std::vector<std::string> words) {
  words.insert(words.begin(), RANKSCOPE_PROGRAM);
  return run_program(words);
}

TEST(Pack, APackIsReadAsTheRecordingItWasMadeOf) {
  const TemporaryFolder folder;
  const std::string pack = (folder / "demo.rankscope.tar.zst").string();
  const auto packed = rankscope({"pack", demo, pack});
  ASSERT_EQ(packed.status, 0) << packed.err;
  EXPECT_LT(fs::file_size(pack), 1'000'000U);
  EXPECT_EQ(folder.file_count(), 1U) << "nothing else stays behind";
  const auto of_pack = rankscope({"dump", pack});
  ASSERT_EQ(of_pack.status, 0) << of_pack.err;
  EXPECT_EQ(of_pack.out, rankscope({"dump", demo}).out);
}

TEST(Pack, TarAndZstdOpenItToo) {
  const TemporaryFolder folder;
  const std::string pack = (folder / "demo.rankscope.tar.zst").string();
  ASSERT_EQ(rankscope({"pack", demo, pack}).status, 0);
  if (run_program({"zstd", "--version"}).status != 0) GTEST_SKIP() << "zstd is not installed";
  const auto listed = run_program({"tar", "--zstd", "-tf", pack});
  ASSERT_EQ(listed.status, 0) << listed.err;
  EXPECT_THAT(listed.out, HasSubstr("demo.rankscope/manifest.json"));
}

/// A recording of one process that wrote credentials into its texts.
void record_secrets(const fs::path& folder) {
  fs::create_directories(folder / recording::segment_folder);
  recording::Manifest manifest;
  manifest.command = {"train", "hf_abcdefghijklmnopqrstuvwx"};
  ASSERT_TRUE(recording::write_manifest(folder, manifest));
  auto segment = recording::SegmentWriter::create(
      {.path = folder / recording::segment_folder / "0.rseg", .rank = 0, .rank_source = "RANK"});
  ASSERT_TRUE(segment) << segment.error().message;
  const auto pen = (*segment)->thread();
  pen->push(SpanKind::user, "login https://me:hunter2@git.example");
  pen->attribute("api_token", "s3cr3tvalue");
  pen->attribute("lr", "0.1");
  pen->pop();
}

TEST(Pack, TheManifestHasNoSecretsInNamesOrInjectedFaultsEither) {
  const TemporaryFolder folder;
  record_secrets(folder / "run.rankscope");
  auto manifest = recording::read_manifest(folder / "run.rankscope");
  ASSERT_TRUE(manifest);
  manifest->metadata = {{"note token=abcd1234", "x"}};
  manifest->injected = {{"fault password=efgh5678", "slow token=ijkl9012"}};
  manifest->launcher = "mpirun --token mnop3456";
  ASSERT_TRUE(recording::write_manifest(folder / "run.rankscope", *manifest));
  const std::string run = (folder / "run.rankscope").string();
  ASSERT_EQ(rankscope({"pack", run}).status, 0);
  if (run_program({"zstd", "--version"}).status != 0) GTEST_SKIP() << "zstd is not installed";
  const auto text = run_program({"tar", "--zstd", "-xOf", run + ".tar.zst", "run.rankscope/manifest.json"});
  ASSERT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("token=********"));
  for (const char* secret : {"abcd1234", "efgh5678", "ijkl9012", "mnop3456"})
    EXPECT_THAT(text.out, Not(HasSubstr(secret)));
}

TEST(Pack, SecretsAreHiddenUnlessAskedFor) {
  const TemporaryFolder folder;
  record_secrets(folder / "run.rankscope");
  const std::string run = (folder / "run.rankscope").string();
  const auto packed = rankscope({"pack", run});
  ASSERT_EQ(packed.status, 0) << packed.err;
  EXPECT_THAT(packed.err, HasSubstr("secrets hidden in 3 strings"));
  const auto dump = rankscope({"dump", run + ".tar.zst"});
  EXPECT_THAT(dump.out, Not(HasSubstr("hunter2")));
  EXPECT_THAT(dump.out, Not(HasSubstr("s3cr3tvalue")));
  EXPECT_THAT(dump.out, HasSubstr("login https://me:*******@git.example"));
  EXPECT_THAT(dump.out, HasSubstr("lr=0.1"));
  EXPECT_THAT(dump.out, Not(HasSubstr("chunks_corrupt"))) << "the checksums are of what was written";
  EXPECT_EQ(dump.out, rankscope({"dump", run}).out) << "also the number of strings that were changed";

  ASSERT_EQ(rankscope({"pack", run, "--keep-texts"}).status, 0);
  EXPECT_THAT(rankscope({"dump", run + ".tar.zst", "--keep-texts"}).out, HasSubstr("s3cr3tvalue"));
  EXPECT_THAT(rankscope({"dump", run + ".tar.zst"}).out, Not(HasSubstr("s3cr3tvalue")));
}

TEST(Pack, APackThatKeepsSecretsCanBePackedAgainWithoutThem) {
  const TemporaryFolder folder;
  record_secrets(folder / "run.rankscope");
  const std::string run = (folder / "run.rankscope").string();
  const std::string kept = (folder / "kept.tar.zst").string();
  const std::string scrubbed = (folder / "scrubbed.tar.zst").string();
  ASSERT_EQ(rankscope({"pack", run, kept, "--keep-texts"}).status, 0);
  const auto again = rankscope({"pack", kept, scrubbed});
  ASSERT_EQ(again.status, 0) << again.err;
  const auto dump = rankscope({"dump", scrubbed, "--keep-texts"});
  EXPECT_THAT(dump.out, HasSubstr("lr="));
  EXPECT_THAT(dump.out, Not(HasSubstr("hunter2")));
  EXPECT_EQ(rankscope({"dump", scrubbed}).out, rankscope({"dump", run}).out);
}

TEST(Pack, TracesAndTextsArePackedAsTheirRun) {
  const TemporaryFolder folder;
  std::ofstream{folder / "rank0.json"} << testing::with_secret(testing::kineto_with_places, testing::kineto_places(),
                                                               "@OP@");
  std::ofstream{folder / "run.txt"} << "0 compute 0 10 \"token=c4n4ryB1rd77x\"\n";
  for (const char* name : {"rank0.json", "run.txt"}) {
    const std::string input = (folder / name).string();
    const auto packed = rankscope({"pack", input});
    ASSERT_EQ(packed.status, 0) << packed.err;
    EXPECT_THAT(packed.err, HasSubstr("secrets hidden in "));
    EXPECT_THAT(packed.err, Not(HasSubstr("in 0 strings")));
    EXPECT_EQ(rankscope({"dump", input + ".tar.zst"}).out, rankscope({"dump", input}).out);
  }
}

TEST(Pack, SeveralTracesArePackedIntoTheLastName) {
  const TemporaryFolder folder;
  std::vector<std::string> words{"pack"};
  for (const char* rank : {"0", "1"}) {
    words.push_back((folder / (std::string{"rank"} + rank + ".json")).string());
    std::ofstream{words.back()} << R"({"distributedInfo": {"rank": )" << rank << R"(}, "traceEvents": [
      {"ph": "X", "cat": "cpu_op", "name": "mm", "pid": 7, "tid": 7, "ts": 1, "dur": 2, "args": {}}]})";
  }
  words.push_back((folder / "out.tar.zst").string());
  const auto packed = rankscope(words);
  ASSERT_EQ(packed.status, 0) << packed.err;
  EXPECT_THAT(rankscope({"dump", words.back()}).out, HasSubstr("1 op"));
}

TEST(Pack, WhatIsNoPackIsRefusedInOneSentence) {
  const TemporaryFolder folder;
  const std::string pack = (folder / "demo.tar.zst").string();
  ASSERT_EQ(rankscope({"pack", demo, pack}).status, 0);
  const std::string whole = read_file(pack);
  const auto message_for = [&](const std::string& bytes) {
    const std::string path = (folder / "damaged.tar.zst").string();
    std::ofstream{path, std::ios::binary} << bytes;
    const auto result = rankscope({"report", path});
    EXPECT_EQ(result.status, 3) << result.err;
    return result.err;
  };
  EXPECT_THAT(message_for(whole.substr(0, whole.size() / 2)), HasSubstr("cut off"));
  std::string flipped = whole;
  flipped[flipped.size() / 2] = static_cast<char>(flipped[flipped.size() / 2] ^ 0x40);
  EXPECT_THAT(message_for(flipped), HasSubstr("damaged.tar.zst"));
  EXPECT_THAT(message_for(whole.substr(0, 4)), HasSubstr("damaged.tar.zst"));
  const auto absent = rankscope({"pack", (folder / "absent").string()});
  EXPECT_EQ(absent.status, 3);
  EXPECT_THAT(absent.err, HasSubstr("does not exist"));
}

TEST(Pack, ADashIsStdoutAndNothingIsSaidOfAFile) {
  const auto packed = rankscope({"pack", demo, "-"});
  ASSERT_EQ(packed.status, 0) << packed.err;
  EXPECT_EQ(packed.err, "");
  const TemporaryFolder folder;
  std::ofstream{folder / "demo.tar.zst", std::ios::binary} << packed.out;
  EXPECT_EQ(rankscope({"dump", (folder / "demo.tar.zst").string()}).out, rankscope({"dump", demo}).out);
}

}  // namespace
}  // namespace rankscope

// A PyTorch program that knows nothing of us, under torchrun. Needs a whole PyTorch (scripts/setup --with-pytorch).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "support/run_program.h"
#include "support/temporary_folder.h"

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::run_program;

const fs::path source = fs::path{RANKSCOPE_SAMPLES}.parent_path();

/// Folder with python3 and torchrun of an environment in which `import torch` works; empty if there is none.
fs::path pytorch() {
  const char* named = std::getenv("RANKSCOPE_PYTORCH_BIN");
  const fs::path bin = named != nullptr ? fs::path{named} : source / ".venv/bin";
  const bool works = run_program({(bin / "python3").string(), "-c", "import torch, torch.distributed"}).status == 0;
  return works ? bin : fs::path{};
}

TEST(PyTorch, AProgramWithoutAnnotationsGivesRanksHostSamplesAndAnHonestReport) {
  const fs::path bin = pytorch();
  if (bin.empty()) GTEST_SKIP() << "`import torch` does not work here: scripts/setup --with-pytorch";
  std::string name = (fs::temp_directory_path() / "rankscope-cli-XXXXXX").string();
  const fs::path folder = mkdtemp(name.data());
  const std::string out = (folder / "run.rankscope").string();
  const auto recorded =
      run_program({RANKSCOPE_PROGRAM, "record", "--out", out, "--", (bin / "torchrun").string(), "--standalone",
                   "--nproc-per-node", "2", (source / "samples/pytorch_ddp.py").string()});
  EXPECT_EQ(recorded.status, 0) << recorded.err;
  EXPECT_THAT(recorded.err, HasSubstr("2 ranks"));
  const auto report = run_program({RANKSCOPE_PROGRAM, "report", out, "--json", "-"});
  EXPECT_EQ(report.status, 4) << "readable, but it tells nothing about steps and ranks";
  const auto json = nlohmann::json::parse(report.out);
  EXPECT_EQ(json["run"]["ranks"], 2);
  EXPECT_TRUE(json["steps"].contains("unavailable"));
  EXPECT_TRUE(json["rank_facts"][0]["cpu_percent"].is_number()) << json["rank_facts"].dump();
  const auto text = run_program({RANKSCOPE_PROGRAM, "report", out});
  EXPECT_THAT(text.out, HasSubstr("Cannot tell"));
  EXPECT_THAT(text.out, HasSubstr("Mark each step with an NVTX range"));
  fs::remove_all(folder);
}

TEST(PyTorch, WithTheOptionTheSameProgramTellsOperatorsAndSteps) {
  const fs::path bin = pytorch();
  if (bin.empty()) GTEST_SKIP() << "`import torch` does not work here: scripts/setup --with-pytorch";
  const testing::TemporaryFolder folder;
  const std::string out = (folder / "run.rankscope").string();
  const auto recorded = run_program({RANKSCOPE_PROGRAM, "record", "--pytorch", "--out", out, "--",
                                     (bin / "torchrun").string(), "--standalone", "--nproc-per-node", "2",
                                     (source / "samples/pytorch_ddp.py").string(), "--seconds", "0.01"});
  EXPECT_EQ(recorded.status, 0) << recorded.err;
  EXPECT_THAT(recorded.err, HasSubstr("2 ranks"));
  EXPECT_THAT(recorded.err, Not(HasSubstr("--pytorch:"))) << "nothing is missing";
  EXPECT_THAT(recorded.err, Not(HasSubstr("Leaked callback"))) << "PyTorch finds nothing of ours at its end";
  const auto report = run_program({RANKSCOPE_PROGRAM, "report", out, "--json", "-"});
  EXPECT_EQ(report.status, 0) << report.err;
  const auto json = nlohmann::json::parse(report.out);
  EXPECT_EQ(json["steps"].size(), 18U) << "of 20 the first two only show where a step begins";
  const auto dump = run_program({RANKSCOPE_PROGRAM, "dump", out}).out;
  for (const char* told : {" op ", "aten::addmm", "AddmmBackward0", "optimizer ", "Optimizer.step#SGD.step",
                           " backward lane", "DistributedDataParallel.forward"})
    EXPECT_THAT(dump, HasSubstr(told));
  EXPECT_THAT(dump, Not(HasSubstr("@quality spans_unclosed"))) << "nothing is left open";
}

TEST(PyTorch, AProfilerOfTheProgramWorksAsWithoutTheOption) {
  const fs::path bin = pytorch();
  if (bin.empty()) GTEST_SKIP() << "`import torch` does not work here: scripts/setup --with-pytorch";
  const testing::TemporaryFolder folder;
  const std::string out = (folder / "run.rankscope").string();
  const std::string program =
      "import torch\n"
      "a = torch.ones(2)\n"
      "with torch.autograd.profiler.profile() as profile: a.neg()\n"
      "print(\"profiled\", \"aten::neg\" in [event.name for event in profile.function_events])\n"
      "a.abs()\n";
  const auto recorded = run_program(
      {RANKSCOPE_PROGRAM, "record", "--pytorch", "--out", out, "--", (bin / "python3").string(), "-c", program});
  EXPECT_EQ(recorded.status, 0) << recorded.err;
  EXPECT_THAT(recorded.out, HasSubstr("profiled True"));
  const auto dump = run_program({RANKSCOPE_PROGRAM, "dump", out}).out;
  EXPECT_THAT(dump, HasSubstr("aten::ones"));
  EXPECT_THAT(dump, HasSubstr("aten::abs")) << "it comes back after the program's own profiler";
  EXPECT_THAT(dump, Not(HasSubstr("aten::neg lane")));
}

}  // namespace
}  // namespace rankscope

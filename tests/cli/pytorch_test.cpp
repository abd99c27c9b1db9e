// A PyTorch program that knows nothing of us, under torchrun. Needs a whole PyTorch (scripts/setup --with-pytorch).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "support/run_program.h"

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
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

}  // namespace
}  // namespace rankscope

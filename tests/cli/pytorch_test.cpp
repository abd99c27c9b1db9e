// A PyTorch program that knows nothing of us, under torchrun. Needs a whole PyTorch (scripts/setup --with-pytorch).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

#include "support/run_program.h"
#include "support/temporary_folder.h"

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAreArray;
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

class PyTorch : public ::testing::Test {
 protected:
  void SetUp() override {
    if (bin.empty()) GTEST_SKIP() << "`import torch` does not work here: scripts/setup --with-pytorch";
  }

  /// `record` of a script under torchrun on two ranks.
  [[nodiscard]] testing::ProgramResult record(const std::vector<std::string>& options,
                                              const std::vector<std::string>& script) const {
    std::vector<std::string> words{RANKSCOPE_PROGRAM, "record", "--out", out};
    words.insert(words.end(), options.begin(), options.end());
    for (const std::string& word : {std::string{"--"}, (bin / "torchrun").string(), std::string{"--standalone"},
                                    std::string{"--nproc-per-node"}, std::string{"2"}})
      words.push_back(word);
    words.insert(words.end(), script.begin(), script.end());
    return run_program(words);
  }

  const fs::path bin = pytorch();
  const testing::TemporaryFolder folder;
  const std::string out = (folder / "run.rankscope").string();
};

TEST_F(PyTorch, WhatIsLeftOutGivesRanksHostSamplesAndAnHonestReport) {
  const auto recorded = record({"--no-pytorch"}, {(source / "samples/pytorch_ddp.py").string()});
  EXPECT_EQ(recorded.status, 0) << recorded.err;
  EXPECT_THAT(recorded.err, HasSubstr("2 ranks"));
  const auto report = run_program({RANKSCOPE_PROGRAM, "report", out, "--json", "-"});
  EXPECT_EQ(report.status, 4) << "readable, but without steps";
  const auto json = nlohmann::json::parse(report.out);
  EXPECT_EQ(json["run"]["ranks"], 2);
  EXPECT_TRUE(json["steps"].contains("unavailable"));
  EXPECT_TRUE(json["rank_facts"][0]["cpu_percent"].is_number()) << json["rank_facts"].dump();
  const auto text = run_program({RANKSCOPE_PROGRAM, "report", out});
  EXPECT_THAT(text.out, HasSubstr("Cannot tell"));
  EXPECT_THAT(text.out, HasSubstr("Mark each step with an NVTX range"));
}

TEST_F(PyTorch, TheSameProgramShowsOperatorsAndSteps) {
  const auto recorded = record({}, {(source / "samples/pytorch_ddp.py").string(), "--seconds", "0.01"});
  EXPECT_EQ(recorded.status, 0) << recorded.err;
  EXPECT_THAT(recorded.err, HasSubstr("2 ranks"));
  EXPECT_THAT(recorded.err, Not(HasSubstr("PyTorch:"))) << "nothing is missing";
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

/// "allreduce 0 4000", "send 2000 to 1" of one rank, in the order in which they were enqueued.
std::vector<std::string> operations_of(const std::string& dump, const std::string& rank) {
  const std::regex line{"(?:^|\\n)" + rank +
                        " comm .* group=\"([^\"]*)\".* seq=(\\S+) op=(\\S+) enqueued=(\\d+) bytes=(\\d+) [^\\n]*"};
  const std::regex root{" peer=(\\d+)"};
  std::map<std::int64_t, std::string> found;
  for (std::sregex_iterator one{dump.begin(), dump.end(), line}, end; one != end; ++one) {
    const std::string whole = (*one)[0], sequence = (*one)[2] == "-1" ? "" : " " + std::string{(*one)[2]};
    std::smatch peer;
    const bool has_peer = std::regex_search(whole, peer, root);
    found[std::stoll((*one)[4])] = std::string{(*one)[3]} + sequence + " " + std::string{(*one)[5]} +
                                   (has_peer ? " to " + std::string{peer[1]} : "") +
                                   ((*one)[1] == "default_pg 0" ? "" : " in " + std::string{(*one)[1]});
  }
  std::vector<std::string> texts;
  for (const auto& [enqueued, text] : found) texts.push_back(text);
  return texts;
}

TEST_F(PyTorch, ReportsEveryOperationOfTorchDistributed) {
  const auto recorded = record({}, {(source / "tests/truth/pytorch/operations.py").string()});
  EXPECT_EQ(recorded.status, 0) << recorded.err;
  EXPECT_THAT(recorded.err, Not(HasSubstr("collectives"))) << "nothing is missing";
  const auto dump = run_program({RANKSCOPE_PROGRAM, "dump", out}).out;
  const std::vector<std::string> of_all{
      "allreduce 0 4000", "allreduce 1 4000", "broadcast 2 4000 to 1", "reduce 3 4000 to 1", "allgather 4 4000",
      "allgather 5 4000", "reduce_scatter 6 4000", "reduce_scatter 7 4000", "gather 8 4000 to 1", "scatter 9 4000 to 1",
      "alltoall 10 4000", "barrier 11 0", "barrier 12 0", "allreduce 13 4000", "allgather 14 4000",
      // objects: their sizes, then their bytes
      "allgather 15 8", "allgather 16 24", "broadcast 17 8 to 0", "broadcast 18 5 to 0"};
  const std::vector<std::string> last{"allreduce 0 20 in halves 1", "barrier 19 0",
                                      // of a second init_process_group
                                      "allreduce 0 4000 in default_pg 0 (2)", "barrier 1 0 in default_pg 0 (2)"};
  for (const int rank : {0, 1}) {
    const std::string other = std::to_string(1 - rank);
    std::vector<std::string> expected = of_all;
    for (int i = 0; i < 2; ++i) expected.push_back((rank == 0 ? "send 2000 to " : "recv 2000 to ") + other);
    expected.push_back("send 2000 to " + other);
    expected.push_back("recv 2000 to " + other);
    expected.insert(expected.end(), last.begin(), last.end());
    EXPECT_THAT(operations_of(dump, std::to_string(rank)), ElementsAreArray(expected));
  }
  EXPECT_THAT(dump, Not(HasSubstr("state="))) << "all of them ended";
  for (const char* waited : {"\"wait allreduce\"", "\"wait barrier\"", "\"wait recv\"", "\"wait send\""})
    EXPECT_THAT(dump, HasSubstr(waited));
}

TEST_F(PyTorch, AProfilerOfTheProgramWorksAsWithoutTheOption) {
  const std::string program =
      "import torch\n"
      "a = torch.ones(2)\n"
      "with torch.autograd.profiler.profile() as profile: a.neg()\n"
      "print(\"profiled\", \"aten::neg\" in [event.name for event in profile.function_events])\n"
      "a.abs()\n";
  const auto recorded =
      run_program({RANKSCOPE_PROGRAM, "record", "--out", out, "--", (bin / "python3").string(), "-c", program});
  EXPECT_EQ(recorded.status, 0) << recorded.err;
  EXPECT_THAT(recorded.out, HasSubstr("profiled True"));
  const auto dump = run_program({RANKSCOPE_PROGRAM, "dump", out}).out;
  EXPECT_THAT(dump, HasSubstr("aten::ones"));
  EXPECT_THAT(dump, HasSubstr("aten::abs")) << "it comes back after the program's own profiler";
  EXPECT_THAT(dump, Not(HasSubstr("aten::neg lane")));
}

}  // namespace
}  // namespace rankscope

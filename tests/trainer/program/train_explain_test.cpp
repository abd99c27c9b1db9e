// What --explain predicts is what recordings have: bytes of each operation exactly, memory between two steps as well.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "trainer/program/trained.h"

namespace rankscope::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Case {
  std::string name;
  std::string options;
  int ranks = 2;
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.options; }

/// Cells are at least two blanks apart.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::size_t at = line.find_first_not_of(' ');
  while (at < line.size()) {
    const std::size_t end = std::min(line.find("  ", at), line.size());
    cells.push_back(line.substr(at, end - at));
    at = std::min(line.find_first_not_of(' ', end), line.size());
  }
  return cells;
}

std::int64_t number(std::string text) {
  std::erase(text, ',');
  return std::stoll(text);
}

struct Predicted {
  int rank = 0;
  std::int64_t between_steps = 0;
  std::map<std::string, std::int64_t> sent;  // by group and operation
};

Predicted predicted(const std::string& options) {
  const ProgramResult result = train(options + " --explain");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, Not(HasSubstr("step")));
  Predicted found;
  if (const auto at = result.out.find("needs of rank "); at != std::string::npos)
    found.rank = std::stoi(result.out.substr(at + 14));
  std::istringstream lines{result.out};
  std::string head;
  for (std::string line; std::getline(lines, line);) {
    const auto cells = cells_of(line);
    if (line.empty() || line.starts_with("memory ") || line.starts_with("group ")) {
      head = cells.empty() ? "" : cells[0];
    } else if (head == "memory" && cells[0] == "sum" && cells[2] == "between two steps") {
      found.between_steps = number(cells[1]);
    } else if (head == "group" && cells[0] != "sum") {
      found.sent[cells[0] + " " + cells[1]] += number(cells[3]);
    }
  }
  return found;
}

/// What one rank has enqueued in each of its steps.
std::vector<std::map<std::string, std::int64_t>> sent_in_steps(const std::vector<Call>& calls) {
  std::vector<std::map<std::string, std::int64_t>> steps;
  std::string thread;  // that trains
  int open = 0;        // its spans from that of the step on
  for (const Call& call : calls) {
    const auto& words = call.words;
    if (words[0] == "push" && words[1] == "step") {
      steps.emplace_back();
      thread = call.thread;
      open = 0;
    }
    if (call.thread == thread && words[0] == "push") ++open;
    if (call.thread == thread && words[0] == "pop") --open;
    if (words[0] != "enqueued" || open <= 0 || words[4] == "recv" || words[4] == "barrier") continue;
    steps.back()[words[2] + " " + words[4]] += std::stoll(words[5]);
  }
  return steps;
}

std::int64_t last_allocated(const std::vector<Call>& calls) {
  double value = 0;
  for (const Call& call : calls)
    if (call.words[0] == "counter" && call.words[1] == "allocated_bytes") value = std::stod(call.words[2]);
  return static_cast<std::int64_t>(value);
}

/// What a rank notes about itself in the metadata of its recording; -1 where it does not.
std::int64_t noted(const std::vector<Call>& calls, const std::string& key) {
  for (const Call& call : calls)
    if (call.words[0] == "metadata" && call.words[1] == key) return std::stoll(call.words[2]);
  return -1;
}

std::int64_t sum_of(const std::map<std::string, std::int64_t>& sent) {
  std::int64_t sum = 0;
  for (const auto& [operation, bytes] : sent) sum += bytes;
  return sum;
}

class TrainExplain : public ::testing::TestWithParam<Case> {};

TEST_P(TrainExplain, PredictsWhatIsRecorded) {
  const auto& [name, options, ranks] = GetParam();
  const std::string all = options + " --steps 3 --log-every 1 --pace off";
  const Predicted expected = predicted(all + " --ranks " + std::to_string(ranks));
  const Recorded run = train_recorded(all, ranks);
  ASSERT_EQ(run.result.status, 0) << run.result.err;
  const auto& calls = run.ranks.at(static_cast<std::size_t>(expected.rank));
  const auto steps = sent_in_steps(calls);
  ASSERT_EQ(steps.size(), 3u);
  for (std::size_t step = 1; step < steps.size(); ++step)  // the first one may still agree on an order
    EXPECT_EQ(steps[step], expected.sent) << "step " << step;
  EXPECT_EQ(noted(calls, "predicted_held_bytes"), expected.between_steps);
  EXPECT_EQ(noted(calls, "predicted_sent_bytes"), sum_of(expected.sent));
  const auto held = static_cast<double>(last_allocated(calls));
  EXPECT_NEAR(held, static_cast<double>(expected.between_steps), 0.01 * held);
}

const std::string any_batch = "--model gpt --layers 4 --hidden 32 --heads 4 --seq 8 ";
const std::string gpt = any_batch + "--global-batch 8 ";
const std::string resnet = "--model resnet18 --global-batch 4 ";

INSTANTIATE_TEST_SUITE_P(
    All, TrainExplain,
    ::testing::Values(
        Case{"Single", "--parallel single " + gpt, 1}, Case{"Dp", "--parallel dp --devices 2 " + gpt, 1},
        Case{"Mp", "--parallel mp --devices 3 --accumulate 2 " + gpt, 1},
        Case{"Ddp", "--parallel ddp --accumulate 2 --optimizer adamw " + gpt, 2},
        Case{"DdpBatchNorm", "--parallel ddp " + resnet, 2},
        Case{"DdpUnused", "--parallel ddp --model mlp --unused-head --find-unused --hidden 64", 2},
        Case{"DdpSyncBn", "--parallel ddp --sync-bn " + resnet, 2}, Case{"DdpMp", "--parallel ddp+mp " + gpt, 2},
        Case{"Zero1", "--parallel zero1 --bucket-mb 0.05 --optimizer adamw " + any_batch, 3},
        Case{"Zero2", "--parallel zero2 --accumulate 2 --dtype f64 " + gpt, 2},
        Case{"Zero3", "--parallel zero3 --accumulate 2 " + gpt, 4},
        Case{"Zero3SyncBn", "--parallel zero3 --sync-bn " + resnet, 2},
        Case{"Pp", "--parallel pp --micro-batches 4 " + gpt, 3},
        Case{"PpZbV", "--parallel pp --schedule zb-v --micro-batches 4 " + gpt, 2},
        Case{"Tp", "--parallel tp --accumulate 2 " + gpt, 2},
        Case{"TpMlp", "--parallel tp --model mlp --layers 4 --hidden 64", 2},
        Case{"TpSp", "--parallel tp+sp " + gpt, 4}, Case{"Tile", "--parallel tile " + resnet, 2},
        Case{"Tile2x2", "--parallel tile --tiles 2x2 --model cnn", 4},
        Case{"TileEfficientnet", "--parallel tile --model efficientnet_v2_l --global-batch 2", 2},
        Case{"Mesh", "--parallel 3d --dp 2 --tp 2 --pp 2 --micro-batches 2 " + gpt, 8},
        Case{"MeshOfMlp", "--parallel 3d --dp 2 --tp 2 --pp 2 --model mlp", 8},
        Case{"DpMixed", "--parallel dp --devices 2 --dtype bf16 " + gpt, 1},
        Case{"MpMixed", "--parallel mp --devices 3 --dtype bf16 " + gpt, 1},
        Case{"DdpSyncBnMixed", "--parallel ddp --sync-bn --dtype bf16 " + resnet, 2},
        Case{"Zero2Mixed", "--parallel zero2 --accumulate 2 --dtype bf16 " + gpt, 2},
        Case{"Zero3Mixed", "--parallel zero3 --dtype bf16 " + gpt, 2},
        Case{"PpMixed", "--parallel pp --schedule zb-v --micro-batches 4 --dtype bf16 " + gpt, 2},
        Case{"TpMixed", "--parallel tp --dtype bf16 " + gpt, 2},
        Case{"TpSpMixed", "--parallel tp+sp --dtype bf16 " + gpt, 2},
        Case{"TileMixed", "--parallel tile --tiles 2x2 --model cnn --dtype bf16", 4},
        Case{"TileEfficientnetMixed", "--parallel tile --model efficientnet_v2_l --global-batch 2 --dtype bf16", 2},
        Case{"MeshMixed", "--parallel 3d --dp 2 --tp 2 --pp 2 --micro-batches 2 --dtype bf16 " + gpt, 8},
        Case{"MeshZero1", "--parallel 3d --dp 3 --zero1 --bucket-mb 0.05 --micro-batches 2 " + any_batch, 3},
        Case{"MeshSequence", "--parallel 3d --tp 2 --pp 2 --sequence-parallel --micro-batches 2 " + gpt, 4}),
    [](const auto& parameters) { return parameters.param.name; });

TEST(TrainExplainText, OfPipelinesHasAllStages) {
  const ProgramResult result = train("--parallel pp --ranks 3 --explain");
  EXPECT_EQ(result.status, 0) << result.err;
  for (const char* stage : {"stage 0", "stage 1", "stage 2"}) EXPECT_THAT(result.out, HasSubstr(stage));
  EXPECT_THAT(result.out, HasSubstr("Activations, samples and the libraries' own allocations are not predicted"));
}

TEST(TrainExplainText, RefusesWhatTrainingRefuses) {
  for (const char* options :
       {"--parallel tile --ranks 3 --model resnet18", "--parallel tp --ranks 3", "--parallel no"}) {
    const ProgramResult explained = train(std::string{options} + " --explain");
    EXPECT_EQ(explained.status, 2) << options;
    EXPECT_EQ(explained.out, "") << options;
    EXPECT_EQ(explained.err, train(options).err) << options;
  }
}

}  // namespace
}  // namespace rankscope::testing

#include "trainer/program/trained.h"

#include <gtest/gtest.h>

#include <stdlib.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

namespace rankscope::testing {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream{text};
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

}  // namespace

ScratchFolder::ScratchFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "rankscope-train-XXXXXX").string();
  folder_ = mkdtemp(pattern.data());
}
ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

ProgramResult train(const std::string& options, const std::vector<std::string>& environment) {
  std::vector<std::string> words{RANKSCOPE_TRAIN};
  for (const auto& word : split(options, ' '))
    if (!word.empty()) words.push_back(word);
  // The truth of these tests is that of the CPU, whatever this machine has; a driver of a test is its subject.
  const bool about_gpus = std::ranges::any_of(environment, [](const auto& v) { return v.starts_with("LD_"); });
  if (options.find("--device ") == std::string::npos && !about_gpus) words.insert(words.end(), {"--device", "cpu"});
  return run_program(words, environment);
}

void PrintTo(const Refused& refused, std::ostream* out) { *out << refused.options; }

std::vector<StepGradients> gradients_of(const std::string& options) {
  const ScratchFolder folder;
  const std::string pace = options.find("--pace") == std::string::npos ? " --pace off" : "";
  const ProgramResult result = train(options + pace + " --dump-gradients " + folder.path("gradients"));
  EXPECT_EQ(result.status, 0) << result.err;
  return read_gradients(folder.path("gradients"));
}

std::vector<StepGradients> read_gradients(const std::string& path) {
  std::vector<StepGradients> steps;
  std::ifstream file{path};
  for (std::string line; std::getline(file, line);) {
    std::istringstream words{line};
    std::string key;
    words >> key;
    if (key == "step") steps.emplace_back();
    if (key == "loss") words >> steps.back().loss;
    if (key != "gradient") continue;
    std::string name;
    words >> name;
    auto& values = steps.back().gradients[name];
    for (double value = 0; words >> value;) values.push_back(value);
  }
  return steps;
}

double largest_difference(const std::vector<StepGradients>& a, const std::vector<StepGradients>& b) {
  constexpr double differs = std::numeric_limits<double>::infinity();
  if (a.size() != b.size() || a.empty()) return differs;
  double worst = 0;
  for (std::size_t step = 0; step < a.size(); ++step) {
    worst = std::max(worst, std::abs(a[step].loss - b[step].loss) / std::abs(b[step].loss));
    if (a[step].gradients.size() != b[step].gradients.size()) return differs;
    for (const auto& [name, values] : b[step].gradients) {
      const auto other = a[step].gradients.find(name);
      if (other == a[step].gradients.end() || other->second.size() != values.size()) return differs;
      double difference = 0;
      double size = 0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        difference = std::max(difference, std::abs(other->second[i] - values[i]));
        size = std::max(size, std::abs(values[i]));
      }
      if (size > 0) worst = std::max(worst, difference / size);
    }
  }
  return worst;
}

std::vector<Call> read_calls(const std::string& path) {
  std::vector<Call> calls;
  std::ifstream file{path};
  for (std::string line; std::getline(file, line);) {
    auto words = split(line, '\t');
    if (words.size() < 3) continue;
    calls.push_back({std::stoll(words[0]), words[1], {words.begin() + 2, words.end()}});
  }
  return calls;
}

Recorded train_recorded(const std::string& options, int ranks, const std::vector<std::string>& environment) {
  const ScratchFolder folder;
  Recorded recorded;
  std::vector<std::string> all{std::string{"RANKSCOPE_INJECT_LIB="} + RANKSCOPE_RECORDER_DOUBLE,
                               "RANKSCOPE_DOUBLE_FOLDER=" + folder.path()};
  all.insert(all.end(), environment.begin(), environment.end());
  recorded.result = train(options + " --ranks " + std::to_string(ranks), all);
  for (int rank = 0; rank < ranks; ++rank) {
    recorded.ranks.push_back(read_calls(folder.path("rank-" + std::to_string(rank) + ".txt")));
  }
  return recorded;
}

std::vector<double> milliseconds_per_step(const std::vector<Call>& calls, const std::string& kind) {
  struct Open {
    std::string kind;
    std::int64_t begin;
  };
  std::vector<Open> open;
  std::vector<double> steps;
  for (const auto& call : calls) {
    if (call.thread != "main") continue;
    if (call.words[0] == "push") {
      open.push_back({call.words[1], call.ns});
      if (call.words[1] == "step") steps.push_back(0);
    }
    if (call.words[0] != "pop" || open.empty()) continue;
    if (open.back().kind == kind && !steps.empty())
      steps.back() += static_cast<double>(call.ns - open.back().begin) / 1e6;
    open.pop_back();
  }
  return steps;
}

double median(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace rankscope::testing

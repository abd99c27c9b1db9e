// Runs rankscope-train in a scratch folder and reads what it leaves there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "support/run_program.h"

namespace rankscope::testing {

/// A folder that is gone when the test is.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] std::string path() const { return folder_.string(); }

 private:
  std::filesystem::path folder_;
};

/// Options as one line, split at blanks.
[[nodiscard]] ProgramResult train(const std::string& options, const std::vector<std::string>& environment = {});

/// Options that the trainer refuses, and a part of what it says.
struct Refused {
  const char* options;
  const char* sentence;
};
void PrintTo(const Refused& refused, std::ostream* out);  ///< for names of tests

/// The file of --dump-gradients.
struct StepGradients {
  double loss = 0;
  std::map<std::string, std::vector<double>> gradients;  ///< empty where there was none
};
[[nodiscard]] std::vector<StepGradients> read_gradients(const std::string& path);
/// Trains, without a pace unless the options name one, and reads them; a failure of the program is one of the test.
[[nodiscard]] std::vector<StepGradients> gradients_of(const std::string& options);

/// max |a - b| / max |b| over all gradients and losses; infinity where their shapes differ.
[[nodiscard]] double largest_difference(const std::vector<StepGradients>& a, const std::vector<StepGradients>& b);

/// One call of the annotation API, as the recorder double writes it.
struct Call {
  std::int64_t ns = 0;
  std::string thread;
  std::vector<std::string> words;  ///< "push", "wait", "wait allreduce bucket 0"
};
[[nodiscard]] std::vector<Call> read_calls(const std::string& path);

/// Trains under the recorder double; the calls of each rank, or nothing where the program failed.
struct Recorded {
  ProgramResult result;
  std::vector<std::vector<Call>> ranks;
};
[[nodiscard]] Recorded train_recorded(const std::string& options, int ranks,
                                      const std::vector<std::string>& environment = {});

/// Nanoseconds that the main thread spent in spans of a kind, per step.
[[nodiscard]] std::vector<double> milliseconds_per_step(const std::vector<Call>& calls, const std::string& kind);
[[nodiscard]] double median(std::vector<double> values);

}  // namespace rankscope::testing

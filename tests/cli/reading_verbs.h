// Calls of the verbs that read, in a folder of their own.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/run_program.h"

namespace rankscope::testing {

class ReadingVerbs : public ::testing::Test {
 protected:
  ReadingVerbs() {
    std::string name = (std::filesystem::temp_directory_path() / "rankscope-cli-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~ReadingVerbs() override { std::filesystem::remove_all(folder_); }

  static ProgramResult rankscope(std::vector<std::string> words) {
    words.insert(words.begin(), RANKSCOPE_PROGRAM);
    return run_program(words);
  }
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream{folder_ / name} << text;
    return (folder_ / name).string();
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::filesystem::path folder_;
};

inline std::string steady_ranks(int ranks) {
  std::string members;
  for (int rank = 0; rank < ranks; ++rank) members += (rank > 0 ? "," : "") + std::to_string(rank);
  std::string text = "@run source=rankscope world_size=" + std::to_string(ranks) +
                     " clock=same_host clock_error=1000\n@group dp " + members + "\n";
  const auto event = [&text](int rank, const std::string& kind, int begin, int end, const std::string& rest) {
    text +=
        std::to_string(rank) + " " + kind + " " + std::to_string(begin) + " " + std::to_string(end) + " " + rest + "\n";
  };
  for (int rank = 0; rank < ranks; ++rank)
    for (int step = 0; step < 10; ++step) {
      const int begin = step * 10'000'000;
      event(rank, "step", begin, begin + 10'000'000, "step index=" + std::to_string(step));
      event(rank, "forward", begin + 1'000'000, begin + 8'000'000, "forward");
      event(rank, "wait", begin + 8'000'000, begin + 10'000'000, "wait");
      event(rank, "comm", begin + 8'000'000, begin + 10'000'000, "allreduce group=dp bytes=1000000 dtype=f32 on=main");
    }
  return text;
}

inline std::string trace_of(int rank) {
  return "{\"schemaVersion\": 1, \"baseTimeNanoseconds\": 1700000000000000000, \"distributedInfo\": {\"rank\": " +
         std::to_string(rank) +
         "}, \"traceEvents\": [{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"x\", \"pid\": 7, \"tid\": 7, \"ts\": "
         "1, "
         "\"dur\": 2}]}";
}

}  // namespace rankscope::testing

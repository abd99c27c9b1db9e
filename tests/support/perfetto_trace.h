// A Perfetto trace as its viewer sees it, read back with protozero by the rules of the format.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope::testing {

struct PerfettoTrack {
  std::uint64_t uuid = 0;
  std::uint64_t parent = 0;
  std::string name;  ///< of a process, thread, counter or plain track
  std::string kind;  ///< "root", "process", "thread", "counter", "track"
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  std::int64_t order = 0;
  std::int64_t merge = 0;
  std::string unit;
};

struct PerfettoEvent {
  std::uint64_t track = 0;
  std::int64_t begin = 0;
  std::int64_t duration = 0;  ///< -1: never closed
  bool instant = false;
  std::string category;
  std::string name;
  std::vector<std::pair<std::string, std::string>> arguments;  ///< values as text
  std::vector<std::uint64_t> flows;
  std::vector<std::uint64_t> ending_flows;
  std::uint64_t correlation = 0;

  [[nodiscard]] std::string argument(std::string_view key) const;
};

struct PerfettoSample {
  std::uint64_t track = 0;
  std::int64_t time = 0;
  double value = 0;
};

struct PerfettoTrace {
  std::vector<PerfettoTrack> tracks;
  std::vector<PerfettoEvent> events;  ///< slices and instants, in the order of the file
  std::vector<PerfettoSample> samples;
  std::vector<std::string> problems;  ///< what a reader would drop or misread

  [[nodiscard]] const PerfettoTrack& track(std::uint64_t uuid) const;
  [[nodiscard]] std::vector<PerfettoEvent> named(std::string_view name) const;
};

[[nodiscard]] PerfettoTrace read_perfetto(const std::string& bytes);
/// One line per track, slice and sample, tracks in the order of their descriptors.
[[nodiscard]] std::string text_of(const PerfettoTrace& trace);

}  // namespace rankscope::testing

// Plays a GPU to the recorder, with a stand-in for libcupti that behaves as each version does.
#pragma once

#include "recorded.h"

namespace rankscope::collectors::testing {

struct StandIn {
  std::string version = "130001";
  std::string holder{};
  std::string ahead_ns{};
  std::string refuses{};
  std::string keeps{};
  std::string buffers{};
};

inline Recorded play(const Folder& folder, const std::string& scene, const StandIn& stand_in = {},
                     RecordOptions options = {}) {
  const Variable library{"RANKSCOPE_CUPTI", program("libcupti_standin.so")};
  const Variable version{"STANDIN_CUPTI_VERSION", stand_in.version};
  const Variable holder{"STANDIN_CUPTI_HOLDER", stand_in.holder};
  const Variable ahead{"STANDIN_CUPTI_AHEAD_NS", stand_in.ahead_ns};
  const Variable refuses{"STANDIN_CUPTI_REFUSES", stand_in.refuses};
  const Variable keeps{"STANDIN_CUPTI_KEEPS", stand_in.keeps};
  const Variable buffers{"RANKSCOPE_CUPTI_BUFFERS", stand_in.buffers};
  if (options.command.empty()) options.command = {program("cupti_actor"), scene};
  if (options.collect.empty()) options.collect = "annotate,cupti";
  return record(folder, options);
}

inline std::uint64_t spans_of_kind(const Run& run, SpanKind kind) {
  return static_cast<std::uint64_t>(std::ranges::count(run.spans(), kind, &Span::kind));
}

}  // namespace rankscope::collectors::testing

// Real libnccls, and what nccl_caller lets them tell.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "recorded.h"

namespace rankscope::collectors::testing {

/// Named by RANKSCOPE_TEST_NCCL, or where the toolkit and the system's packages have it; empty: there is none.
inline std::string nccl_library() {
  if (const char* const named = std::getenv("RANKSCOPE_TEST_NCCL")) return named;
  for (const char* const path : {"/usr/local/cuda/lib64/libnccl.so.2", "/usr/local/cuda/lib/libnccl.so.2",
                                 "/usr/lib/x86_64-linux-gnu/libnccl.so.2"})
    if (std::filesystem::exists(path)) return path;
  return {};
}
inline constexpr const char* no_nccl = "no libnccl.so.2; name one with RANKSCOPE_TEST_NCCL";

inline constexpr int cannot_be_tried = 77;  ///< how nccl_caller ends then

inline std::string text_in(const fs::path& path) {
  std::stringstream text;
  text << std::ifstream{path}.rdbuf();
  return text.str();
}

/// What was recorded of nccl_caller, and what it and NCCL said.
struct Played : Recorded {
  std::string said;
};

inline Played play(const Folder& folder, const std::string& scene, const std::string& level,
                   const std::string& library = nccl_library()) {
  const Variable debug{"NCCL_DEBUG", "INFO"};
  const Variable subsystems{"NCCL_DEBUG_SUBSYS", "INIT,ENV"};
  const Variable log{"NCCL_DEBUG_FILE", (folder / "nccl.log").string()};
  const std::string said = (folder / "said").string();
  RecordOptions options{.command = {"/bin/sh", "-c", "exec \"$0\" \"$1\" \"$2\" >\"$3\" 2>&1", program("nccl_caller"),
                                    scene, library, said}};
  options.collect = "annotate,nvtx,nccl";
  options.nccl = level;
  Played played{record(folder, options), {}};
  played.said = text_in(said) + text_in(folder / "nccl.log");
  return played;
}

inline std::vector<const Span*> spans_of_nccl(const Run& run, std::string_view name) {
  std::vector<const Span*> found;
  for (const Span& span : run.spans())
    if (run.text(span.name) == name && run.lane(span.lane).kind == LaneKind::comm) found.push_back(&span);
  return found;
}

}  // namespace rankscope::collectors::testing

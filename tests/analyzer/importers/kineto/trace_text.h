// Traces written as text, opened like a user's.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/open.h"
#include "rankscope/core/model/run.h"
#include "support/temporary_folder.h"

namespace rankscope::testing {

/// Events around which a whole file is put; `members` are more members of the top-level object.
inline std::string trace(std::string_view events, std::string_view members = "") {
  return "{\"schemaVersion\": 1, \"baseTimeNanoseconds\": 1700000000000000000, \"distributedInfo\": {\"rank\": 0}" +
         std::string{members.empty() ? "" : ", "} + std::string{members} + ", \"traceEvents\": [" +
         std::string{events} + "]}";
}

/// An event on the host or a device: `rest` holds pid, tid, ts, dur, args without blanks to check.
inline std::string complete(std::string_view category, std::string_view name, std::string_view rest) {
  return "{\"ph\": \"X\", \"cat\": \"" + std::string{category} + "\", \"name\": \"" + std::string{name} + "\", " +
         std::string{rest} + "}";
}
inline std::string op(std::string_view name, int begin, int length, std::string_view args = "{}") {
  return complete("cpu_op", name,
                  "\"pid\": 7, \"tid\": 7, \"ts\": " + std::to_string(begin) + ", \"dur\": " + std::to_string(length) +
                      ", \"args\": " + std::string{args});
}
inline std::string on_stream(std::string_view category, std::string_view name, int begin, int length,
                             std::string_view args) {
  return complete(category, name,
                  "\"pid\": 0, \"tid\": 7, \"ts\": " + std::to_string(begin) + ", \"dur\": " + std::to_string(length) +
                      ", \"args\": " + std::string{args});
}

using RunResult = Result<std::shared_ptr<const Run>>;

class TraceFolder {
 public:
  std::filesystem::path write(const std::string& name, std::string_view text) const {
    std::ofstream{folder_ / name, std::ios::binary} << text;
    return folder_ / name;
  }
  [[nodiscard]] RunResult open(const analyzer::ImportOptions& options = {}) const {
    const std::filesystem::path path = folder_.path();
    return analyzer::open_run(std::span{&path, 1}, options);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

inline RunResult open_text(std::string_view text) {
  const TraceFolder folder;
  return analyzer::open_run(folder.write("trace.json", text));
}

inline std::vector<std::string> span_names(const Run& run) {
  std::vector<std::string> names;
  for (const Span& span : run.spans()) names.emplace_back(run.text(span.name));
  return names;
}

}  // namespace rankscope::testing

// Runs a small program under the recorder and reads its recording back.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankscope/collectors/record.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/recording/recording.h"
#include "support/temporary_folder.h"

namespace rankscope::collectors::testing {

namespace fs = std::filesystem;

inline std::string program(const std::string& name) { return std::string{RANKSCOPE_TEST_PROGRAMS} + "/" + name; }

using Folder = rankscope::testing::TemporaryFolder;

/// An environment variable for the length of a test; an empty value unsets it.
class Variable {
 public:
  Variable(std::string name, const std::string& value) : name_(std::move(name)) {
    if (const char* before = std::getenv(name_.c_str())) before_ = before, was_set_ = true;
    if (value.empty())
      unsetenv(name_.c_str());
    else
      setenv(name_.c_str(), value.c_str(), 1);
  }
  ~Variable() {
    if (was_set_)
      setenv(name_.c_str(), before_.c_str(), 1);
    else
      unsetenv(name_.c_str());
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  std::string name_;
  std::string before_;
  bool was_set_ = false;
};

#if defined(__SANITIZE_THREAD__)
#define SKIP_UNDER_THREAD_SANITIZER(why) GTEST_SKIP() << (why)
#else
#define SKIP_UNDER_THREAD_SANITIZER(why) static_cast<void>(0)
#endif

/// Why to skip a test in which a program that is not built here (Python, sh, sleep) records on another thread than its
/// main one. The preloaded recorder brings libtsan, but behind libc, which therefore starts the threads and tells
/// libtsan nothing of them: the first call of the recorder on a thread of the program ends it, and the recorder's own
/// thread is not even started, since libtsan's thread-local storage (767 KiB) does not fit on its stack. So there are
/// no host samples of processes with events. What the main thread tells is recorded.
inline constexpr std::string_view only_main_thread = "without ThreadSanitizer in it, only its main thread records";

/// In a sanitized build the recorder brings the sanitizer into programs without it, and leaks on purpose.
inline void prepare_sanitizer() {
#if defined(__SANITIZE_ADDRESS__)
  setenv("ASAN_OPTIONS", "verify_asan_link_order=0:detect_leaks=0:handle_segv=0", 1);  // a crash is a scene
#endif
}

struct Recorded {
  int status = -1;
  RecordSummary summary;
  std::shared_ptr<const Run> run;  ///< null if nothing was recorded
  std::string why;                 ///< then
};

inline Recorded record(const Folder& folder, RecordOptions options) {
  if (options.out.empty()) options.out = folder / "run.rankscope";
  if (options.library.empty()) options.library = RANKSCOPE_TEST_LIBRARY;
  options.talk = Talk::quiet;
  if (options.host_root == "/") options.gpus = Gpus::not_used;  // whatever this machine has
  prepare_sanitizer();
  Variable spool{"RANKSCOPE_SPOOL", folder.path().string()};
  const auto outcome = run_recorded(options);
  Recorded recorded;
  if (!outcome) {
    recorded.why = outcome.error().message;
    return recorded;
  }
  recorded.status = outcome->status;
  recorded.summary = outcome->summary;
  auto run = recording::read_recording(options.out);
  if (run)
    recorded.run = *run;
  else
    recorded.why = run.error().message;
  return recorded;
}

inline Recorded record(const Folder& folder, std::vector<std::string> command) {
  return record(folder, RecordOptions{.command = std::move(command)});
}

inline std::uint64_t lost(const Run& run, Counter counter) { return run.quality().of(counter); }
/// What the first process said; empty: nothing.
inline std::string_view told(const Run& run, std::string_view key) { return run.metadata(run.processes()[0], key); }

/// Names of the spans in the order they began, of all lanes one behind the other.
inline std::vector<std::string> names_of(const Run& run) {
  std::vector<std::string> names;
  for (const Span& span : run.spans()) names.emplace_back(run.text(span.name));
  return names;
}

inline std::uint64_t spans_named(const Run& run, std::string_view name) {
  std::uint64_t count = 0;
  for (const Span& span : run.spans()) count += run.text(span.name) == name ? 1U : 0U;
  return count;
}

/// The first span of that name, or null.
inline const Span* span_named(const Run& run, std::string_view name) {
  for (const Span& span : run.spans()) {
    if (run.text(span.name) == name) return &span;
  }
  return nullptr;
}

/// Attributes as "key=value", in the order they were told.
inline std::vector<std::string> texts_of(const Run& run, const AttributeRange& attributes) {
  std::vector<std::string> texts;
  for (const Attribute& attribute : attributes) {
    const std::string value = attribute.value.kind == AttributeKind::number
                                  ? std::to_string(attribute.value.number)
                                  : std::string{run.text(attribute.value.text)};
    texts.push_back(std::string{run.text(attribute.key)} + "=" + value);
  }
  return texts;
}
inline std::vector<std::string> attributes_of(const Run& run, const Span& span) {
  return texts_of(run, run.attributes_of(run.id_of(span)));
}
inline std::vector<std::string> attributes_of(const Run& run, const Mark& mark) {
  return texts_of(run, run.attributes_of(mark));
}

inline std::vector<std::string> marks_of(const Run& run) {
  std::vector<std::string> names;
  for (const Mark& mark : run.marks()) names.emplace_back(run.text(mark.name));
  return names;
}

}  // namespace rankscope::collectors::testing

// A file that appears complete or not at all.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "rankscope/core/result.h"

namespace rankscope::analyzer {

/// Written under a temporary name beside its target and renamed by commit(). Until then, and after any error, whatever
/// stood at the target is untouched; without commit() nothing stays behind. "-" is stdout; it, devices and pipes are
/// written directly. A reader of stdout that has left ends the output quietly (`| head`). Errors are `cannot_write` and
/// name the target.
class OutputFile {
 public:
  [[nodiscard]] static Result<OutputFile> create(const std::filesystem::path& target);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  [[nodiscard]] Result<void> write(std::string_view bytes);
  [[nodiscard]] Result<void> commit();

 private:
  OutputFile() = default;
  void discard();

  std::string shown_;      // the target as the user wrote it
  std::string target_;     // where it goes, links followed
  std::string temporary_;  // empty: the target is written directly
  int descriptor_ = -1;
  bool reader_left_ = false;  // of stdout: what follows is dropped
};

/// True for the target that means stdout.
[[nodiscard]] bool is_stdout(const std::filesystem::path& target);

/// The whole of a small file at once.
[[nodiscard]] Result<void> write_file(const std::filesystem::path& target, std::string_view bytes);

}  // namespace rankscope::analyzer

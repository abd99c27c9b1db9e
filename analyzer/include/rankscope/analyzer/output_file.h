// A file that appears complete or not at all.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "rankscope/core/result.h"

namespace rankscope::analyzer {

/// Written without a name, and given that of its target by commit(). Until then, and after any error, whatever stood at
/// the target is untouched; without commit() nothing stays behind, even if the process is killed. File systems that
/// know no files without a name get a hidden one beside the target. "-" is stdout; it, devices and pipes are written
/// directly. A reader of stdout that has left ends the output quietly (`| head`). Errors are `cannot_write` and
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
  [[nodiscard]] bool open_beside_target();
  [[nodiscard]] bool give_name();
  void discard();

  std::string shown_;       // the target as the user wrote it
  std::string target_;      // where it goes, links followed
  std::string temporary_;   // a hidden name; empty: there is none
  bool is_direct_ = false;  // the target itself is written
  int descriptor_ = -1;
  bool reader_left_ = false;  // of stdout: what follows is dropped
};

/// True for the target that means stdout.
[[nodiscard]] bool is_stdout(const std::filesystem::path& target);

/// "wrote run.pftrace (0.2 MB)"; without the size of what has none, such as a folder or a pipe.
[[nodiscard]] std::string wrote_text(const std::filesystem::path& target);

/// The whole of a small file at once.
[[nodiscard]] Result<void> write_file(const std::filesystem::path& target, std::string_view bytes);

}  // namespace rankscope::analyzer

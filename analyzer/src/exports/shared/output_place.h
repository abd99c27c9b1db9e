// A file or folder that other code writes, and that appears complete or not at all.
#pragma once

#include <filesystem>

#include "pack/scratch_folder.h"
#include "rankscope/core/result.h"

namespace rankscope::analyzer {

/// A name in a hidden folder beside the target to write to; commit() renames it. Until then the target is untouched,
/// and without commit() nothing stays behind; what a killed process left, the next output to this target removes. For
/// one file that is written front to back there is OutputFile.
class OutputPlace {
 public:
  /// A place for one file; nothing is at path() yet.
  [[nodiscard]] static Result<OutputPlace> file(const std::filesystem::path& target);
  /// A new folder at path(), with a mark that it is ours. A folder at the target is replaced if it is empty or bears
  /// that mark, as an earlier export does; anything else is an error.
  [[nodiscard]] static Result<OutputPlace> folder(const std::filesystem::path& target);
  [[nodiscard]] const std::filesystem::path& path() const { return temporary_; }
  [[nodiscard]] Result<void> commit();

 private:
  OutputPlace(std::filesystem::path target, ScratchFolder scratch);
  [[nodiscard]] static Result<OutputPlace> beside(const std::filesystem::path& target);
  [[nodiscard]] Result<void> exchange();

  std::filesystem::path target_;
  ScratchFolder scratch_;
  std::filesystem::path temporary_;  // in it
};

}  // namespace rankscope::analyzer

// The folders of a recording: OUT, made before the command is started, and the node-local one for segments.
#pragma once

#include <filesystem>
#include <string>

#include "rankscope/collectors/record.h"

namespace rankscope::collectors {

/// What the `record` processes of one job have in common (one Slurm step, one torchrun, one mpirun); empty: no such
/// job. They share one OUT.
[[nodiscard]] std::string job_identity();

struct OutFolder {
  std::filesystem::path path;
  bool joined = false;  ///< a sibling of the same job made it
};
/// Makes OUT with its segments folder, or joins a sibling's. Never touches an existing recording: a given OUT is
/// refused then (`usage`), a name made up here gets a number. A new OUT has the mark of `spool` from the start, unless
/// that is empty.
[[nodiscard]] Result<OutFolder> make_out_folder(const RecordOptions& options, const std::string& job,
                                                const std::filesystem::path& spool = {});
/// Takes OUT away again if nothing was put into it and nobody joined.
void remove_unused(const OutFolder& out);

/// Held while the manifest is read and written; siblings on one file system wait for each other.
class OutLock {
 public:
  explicit OutLock(const std::filesystem::path& out);
  OutLock(const OutLock&) = delete;
  OutLock& operator=(const OutLock&) = delete;
  ~OutLock();

 private:
  int file_ = -1;
};

}  // namespace rankscope::collectors

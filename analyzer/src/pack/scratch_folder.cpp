#include "pack/scratch_folder.h"

#include <stdlib.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "rankscope/core/format.h"

namespace rankscope::analyzer {

Result<ScratchFolder> ScratchFolder::create(const std::filesystem::path& parent) {
  std::string name = (parent / ".rankscope.XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    return fail(ErrorKind::cannot_write, format("cannot create a temporary folder in {}: {}", parent.string(),
                                                std::generic_category().message(errno)));
  return ScratchFolder{name};
}

ScratchFolder::ScratchFolder(ScratchFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace rankscope::analyzer

#include "pack/scratch_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> cannot_write(const fs::path& parent) {
  return fail(ErrorKind::cannot_write, format("cannot write a temporary file in {}: {}", parent.string(),
                                              std::generic_category().message(errno)));
}

/// -1 with errno. Some file systems give every file a name, which is taken away at once.
int open_without_name(const fs::path& parent) {
  const int file = ::open(parent.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0) return file;
  std::string name = (parent / ".rankscope.XXXXXX").string();
  const int named = ::mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) ::unlink(name.c_str());
  return named;
}

}  // namespace

ScratchFile::ScratchFile(fs::path parent, int descriptor)
    : parent_(std::move(parent)),
      buffer_(std::make_unique<Buffer>(descriptor, std::ios::in | std::ios::out | std::ios::binary)),
      stream_(std::make_unique<std::iostream>(buffer_.get())) {}

Result<ScratchFile> ScratchFile::create(const fs::path& parent) {
  const int file = open_without_name(parent);
  if (file < 0) return cannot_write(parent);
  return ScratchFile{parent, file};
}

Result<void> ScratchFile::rewind() {
  stream_->flush();
  if (!*stream_ || !stream_->seekg(0)) return cannot_write(parent_);
  return {};
}

}  // namespace rankscope::analyzer

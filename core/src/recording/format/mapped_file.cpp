#include "recording/format/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "rankscope/core/format.h"

namespace rankscope::recording {

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return fail(ErrorKind::unreadable, format("cannot open {}: {}", path.string(), std::strerror(errno)));
  struct stat facts {};
  const bool regular = fstat(file, &facts) == 0 && S_ISREG(facts.st_mode);
  MappedFile result;
  if (regular && facts.st_size > 0) {
    const auto size = static_cast<std::size_t>(facts.st_size);
    void* memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (memory != MAP_FAILED) result.bytes_ = {static_cast<const std::byte*>(memory), size};
  }
  close(file);
  if (!regular) return fail(ErrorKind::unreadable, format("{} is not a regular file", path.string()));
  if (facts.st_size > 0 && result.bytes_.empty())
    return fail(ErrorKind::unreadable, format("cannot map {}", path.string()));
  return result;
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace rankscope::recording

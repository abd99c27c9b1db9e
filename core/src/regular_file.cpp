#include "rankscope/core/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <system_error>

#include "rankscope/core/format.h"

namespace rankscope {
namespace {

namespace fs = std::filesystem;

std::string_view kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "folder";
  if (S_ISFIFO(mode)) return "named pipe";
  if (S_ISSOCK(mode)) return "socket";
  if (S_ISBLK(mode)) return "block device";
  return "character device";
}

tl::unexpected<Error> refuse(const fs::path& path, mode_t mode) {
  return fail(ErrorKind::unreadable,
              format("{} is a {}, which cannot be read here; give a regular file", path.string(), kind_of(mode)));
}

tl::unexpected<Error> cannot_open(const fs::path& path) {
  return fail(ErrorKind::unreadable,
              format("cannot open {}: {}", path.string(), std::generic_category().message(errno)));
}

/// All up to the end of the file; false on an error.
bool read_all(int file, std::string& into) {
  std::size_t at = 0;
  while (at < into.size()) {
    const ssize_t got = read(file, into.data() + at, into.size() - at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    if (got == 0) break;
    at += static_cast<std::size_t>(got);
  }
  into.resize(at);
  return true;
}

}  // namespace

Result<void> check_regular_file(const fs::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return cannot_open(path);
  if (!S_ISREG(status.st_mode)) return refuse(path, status.st_mode);
  return {};
}

bool is_special_file(const fs::path& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

tl::unexpected<Error> refuse_special_file(const fs::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return cannot_open(path);
  return refuse(path, status.st_mode);
}

Result<int> open_regular_file(const fs::path& path) {
  RS_TRY_VOID(check_regular_file(path));
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return cannot_open(path);
  struct stat status {};
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode)) return file;
  close(file);
  return refuse(path, status.st_mode);
}

Result<std::string> read_regular_file(const fs::path& path, std::uint64_t most_bytes) {
  RS_TRY(const int file, open_regular_file(path));
  struct stat status {};
  const bool known = fstat(file, &status) == 0;
  const auto size = known ? static_cast<std::uint64_t>(status.st_size) : 0;
  std::string text(size <= most_bytes ? size : 0, '\0');
  const bool done = known && read_all(file, text);
  const int code = errno;
  close(file);
  if (size > most_bytes)
    return fail(ErrorKind::unreadable, format("{} has {} bytes, but a file of this kind has at most {}; it is damaged",
                                              path.string(), size, most_bytes));
  if (done) return text;
  return fail(ErrorKind::unreadable,
              format("cannot read {}: {}", path.string(), std::generic_category().message(code)));
}

}  // namespace rankscope

#include "rankscope/analyzer/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <random>
#include <system_error>
#include <utility>

#include "exports/shared/output_target.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

namespace fs = std::filesystem;

enum class Kept : std::uint8_t { nothing, what_was_written };

/// What the system calls "No such file or directory" is the folder, or a folder in which no file can be made (/proc).
std::string reason_of(std::string_view path, int code) {
  std::error_code ignored;
  if (code == ENOENT && !fs::is_directory(folder_of(path), ignored)) return "its folder does not exist";
  if (code == ENOENT) return "no file can be created in its folder; choose another folder";
  const char* const advice = code == ENOSPC || code == EDQUOT ? "; free some space or choose another folder"
                             : code == EISDIR                 ? "; give a file name, for example in this folder"
                                                              : "";
  return format("{}{}", std::generic_category().message(code), advice);
}

tl::unexpected<Error> cannot_write(std::string_view path, int code, Kept kept = Kept::nothing) {
  return fail(ErrorKind::cannot_write,
              format("cannot write {}: {}{}", path, reason_of(path, code),
                     kept == Kept::nothing ? "; nothing was written" : "; the output is incomplete"));
}

constexpr const char* own_descriptors = "/proc/self/fd";

/// Calls `make` with random names until one is not taken: process numbers are not unique where hosts and containers
/// share a folder. Empty with errno if none could be made.
template <class Make>
std::string make_hidden(const fs::path& target, Make make) {
  constexpr int most_tries = 100;
  std::random_device random;
  for (int i = 0; i < most_tries; ++i) {
    std::string name =
        (folder_of(target) / format("{}{:08x}{:08x}~", hidden_prefix(target), random(), random())).string();
    if (make(name)) return name;
    if (errno != EEXIST) break;
  }
  return {};
}

enum class TargetKind : std::uint8_t { file, device, folder };

TargetKind kind_of(const fs::path& target) {
  std::error_code ignored;
  const auto status = fs::status(target, ignored);
  if (fs::is_directory(status)) return TargetKind::folder;
  return fs::exists(status) && !fs::is_regular_file(status) ? TargetKind::device : TargetKind::file;
}

}  // namespace

Result<OutputFile> OutputFile::create(const fs::path& target) {
  OutputFile file;
  if (is_stdout(target)) {
    file.shown_ = "stdout";
    file.is_direct_ = true;
    file.descriptor_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    if (file.descriptor_ < 0) return cannot_write(file.shown_, errno);
    return file;
  }
  file.shown_ = target.string();
  file.target_ = follow_links(target).string();
  const auto kind = kind_of(target);
  if (kind == TargetKind::folder || target.filename().empty()) return cannot_write(file.shown_, EISDIR);
  if (kind == TargetKind::device) {
    file.is_direct_ = true;
    file.descriptor_ = ::open(file.target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (file.descriptor_ < 0) return cannot_write(file.shown_, errno);
    return file;
  }
  if (::access(file.target_.c_str(), F_OK) == 0 && ::access(file.target_.c_str(), W_OK) != 0)
    return cannot_write(file.shown_, errno);
  if (!file.open_beside_target()) return cannot_write(file.shown_, errno);
  return file;
}

/// False with errno.
bool OutputFile::open_beside_target() {
  const std::string folder = folder_of(target_).string();
  if (::access(own_descriptors, F_OK) == 0)
    descriptor_ = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  if (descriptor_ >= 0) return true;
  temporary_ = make_hidden(target_, [this](const std::string& name) {
    descriptor_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return descriptor_ >= 0;
  });
  return descriptor_ >= 0;
}

/// Gives a file without a name that of the target, or, if that is taken, a hidden one. False with errno.
bool OutputFile::give_name() {
  const std::string source = format("{}/{}", own_descriptors, descriptor_);
  const auto link_to = [&source](const std::string& name) {
    return ::linkat(AT_FDCWD, source.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
  };
  if (link_to(target_)) return true;
  if (errno != EEXIST) return false;
  temporary_ = make_hidden(target_, link_to);
  return !temporary_.empty();
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : shown_(std::move(other.shown_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})),
      is_direct_(other.is_direct_),
      descriptor_(std::exchange(other.descriptor_, -1)),
      reader_left_(other.reader_left_) {}

OutputFile::~OutputFile() { discard(); }

void OutputFile::discard() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  if (!temporary_.empty()) ::unlink(std::exchange(temporary_, {}).c_str());
}

Result<void> OutputFile::write(std::string_view bytes) {
  const Kept kept = is_direct_ ? Kept::what_was_written : Kept::nothing;
  while (!bytes.empty() && !reader_left_) {
    const auto written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EPIPE && shown_ == "stdout") {
      reader_left_ = true;
      break;
    }
    if (written < 0) {
      const int code = errno;
      discard();
      return cannot_write(shown_, code, kept);
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Result<void> OutputFile::commit() {
  if (!is_direct_ && temporary_.empty() && !give_name()) {
    const int code = errno;
    discard();
    return cannot_write(shown_, code);
  }
  // close() reports what network file systems only find out now.
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) {
    const int code = errno;
    discard();
    return cannot_write(shown_, code);
  }
  if (temporary_.empty()) return {};
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
    const int code = errno;
    discard();
    return cannot_write(shown_, code);
  }
  temporary_.clear();
  return {};
}

bool is_stdout(const fs::path& target) { return target == "-"; }

Result<void> write_file(const fs::path& target, std::string_view bytes) {
  RS_TRY(auto file, OutputFile::create(target));
  RS_TRY_VOID(file.write(bytes));
  return file.commit();
}

std::string wrote_text(const fs::path& target) {
  std::error_code no_file;
  const auto bytes = fs::file_size(target, no_file);
  return no_file ? format("wrote {}", target.string())
                 : format("wrote {} ({:.1f} MB)", target.string(), static_cast<double>(bytes) / 1e6);
}

}  // namespace rankscope::analyzer

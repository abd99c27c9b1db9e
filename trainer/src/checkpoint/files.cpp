#include "checkpoint/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <vector>

#include "rankscope/core/format.h"

namespace rankscope::trainer {
namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 20;

std::string reason(int code) { return std::generic_category().message(code); }

tl::unexpected<Error> cannot_read(const std::string& shown, int code) {
  return fail(ErrorKind::unreadable, format("{} cannot be read: {}", shown, reason(code)));
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

Result<Descriptor> open_to_read(int folder, const std::string& name, const std::string& shown) {
  Descriptor file{::openat(folder, name.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.number() < 0) return cannot_read(shown, errno);
  return file;
}

Result<std::uint64_t> size_of(int descriptor, const std::string& shown) {
  struct stat facts {};
  if (::fstat(descriptor, &facts) != 0) return cannot_read(shown, errno);
  if (!S_ISREG(facts.st_mode)) return fail(ErrorKind::unreadable, format("{} is not a file", shown));
  return static_cast<std::uint64_t>(facts.st_size);
}

Result<void> read_at(int descriptor, std::uint64_t offset, std::span<std::byte> bytes, const std::string& shown) {
  while (!bytes.empty()) {
    const auto got = ::pread(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return cannot_read(shown, errno);
    if (got == 0) return fail(ErrorKind::unreadable, format("{} is truncated: it ends at byte {}", shown, offset));
    offset += static_cast<std::uint64_t>(got);
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
  return {};
}

Result<std::string> read_whole(int folder, const std::string& name, std::uint64_t most, const std::string& shown) {
  RS_TRY(const Descriptor file, open_to_read(folder, name, shown));
  RS_TRY(const std::uint64_t size, size_of(file.number(), shown));
  if (size > most)
    return fail(ErrorKind::unreadable, format("{} has {} bytes, but at most {} are allowed", shown, size, most));
  std::string text(size, '\0');
  RS_TRY_VOID(read_at(file.number(), 0, std::as_writable_bytes(std::span{text}), shown));
  return text;
}

std::uint32_t crc32_of(std::span<const std::byte> bytes, std::uint32_t before) {
  const auto* const data = reinterpret_cast<const unsigned char*>(bytes.data());
  return data == nullptr ? before : static_cast<std::uint32_t>(::crc32_z(before, data, bytes.size()));
}

std::string crc32_text(std::uint32_t crc) { return format("{:08x}", crc); }

Result<std::uint32_t> crc32_of_file(int descriptor, const std::string& shown) {
  RS_TRY(const std::uint64_t size, size_of(descriptor, shown));
  std::vector<std::byte> piece(std::min<std::uint64_t>(size, piece_bytes));
  std::uint32_t crc = 0;
  for (std::uint64_t at = 0; at < size; at += piece.size()) {
    const auto bytes = std::span{piece}.first(std::min<std::uint64_t>(size - at, piece.size()));
    RS_TRY_VOID(read_at(descriptor, at, bytes, shown));
    crc = crc32_of(bytes, crc);
  }
  return crc;
}

tl::unexpected<Error> cannot_write(const std::filesystem::path& path, std::string_view what, int code) {
  const bool is_full = code == ENOSPC || code == EDQUOT || code == EFBIG;
  return fail(ErrorKind::cannot_write,
              format("cannot write {} ({}): {}{}; earlier checkpoints are unchanged", path.string(), what, reason(code),
                     is_full ? "; free some space, keep fewer checkpoints, or choose another folder" : ""));
}

Result<void> sync_folder(const std::filesystem::path& folder) {
  const Descriptor opened{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (opened.number() < 0) return cannot_write(folder, "the folder itself", errno);
  // Some network file systems cannot sync a folder: a rename there is with the server when it returns.
  if (::fsync(opened.number()) == 0 || errno == EINVAL || errno == ENOTSUP) return {};
  return cannot_write(folder, "the folder itself", errno);
}

namespace {

/// What is written; until it has its name, it disappears with this.
class PartialFile {
 public:
  explicit PartialFile(const std::filesystem::path& target)
      : target_(target),
        temporary_(target.string() + ".tmp"),
        file_(::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666)),
        open_error_(file_.number() < 0 ? errno : 0) {}
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;
  ~PartialFile() {
    if (open_error_ == 0 && !has_name_) ::unlink(temporary_.c_str());
  }

  // Each of them gives errno, 0 if all went well.
  [[nodiscard]] int opened() const { return open_error_; }
  [[nodiscard]] int write(std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
      const auto written = ::write(file_.number(), bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return errno;
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return 0;
  }
  [[nodiscard]] int sync_and_close() {
    if (::fsync(file_.number()) != 0) return errno;
    // Network file systems report only here what they could not store.
    return ::close(file_.release()) == 0 || errno == EINTR ? 0 : errno;
  }
  [[nodiscard]] int rename() {
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) return errno;
    has_name_ = true;
    return 0;
  }

 private:
  std::filesystem::path target_;
  std::string temporary_;
  Descriptor file_;
  int open_error_;
  bool has_name_ = false;
};

}  // namespace

Result<FileSum> write_durably(const std::filesystem::path& target, std::span<const std::span<const std::byte>> parts,
                              const StageHook& hook) {
  const std::string name = target.filename().string();
  const auto done = [&](std::string_view stage) {
    if (hook) hook(format("{} {}", name, stage));
  };
  FileSum sum;
  for (const auto part : parts) sum.bytes += part.size();
  const auto failed = [&](int code) { return cannot_write(target, counted(sum.bytes, "byte"), code); };
  PartialFile file{target};
  if (const int code = file.opened()) return failed(code);
  done("opened");
  for (const auto part : parts) {
    if (const int code = file.write(part)) return failed(code);
    sum.crc32 = crc32_of(part, sum.crc32);
    done("written in part");
  }
  if (const int code = file.sync_and_close()) return failed(code);
  done("synced");
  if (const int code = file.rename()) return failed(code);
  done("renamed");
  RS_TRY_VOID(sync_folder(target.parent_path()));
  done("whole");
  return sum;
}

}  // namespace rankscope::trainer

#include "folder.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "rankscope/core/format.h"
#include "rankscope/core/process_stat.h"
#include "rankscope/core/recording/recording.h"
#include "spool/segment_names.h"

namespace rankscope::collectors {
namespace {

namespace fs = std::filesystem;

std::string value_of(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::string name_prefix() { return "rankscope-" + std::to_string(getuid()) + "-"; }

/// The name that a spool had before it was done.
fs::path undone(fs::path spool) { return is_done(spool) ? spool.replace_extension() : spool; }

/// Several recorders of one host may share OUT.
fs::path mark_of(const fs::path& spool, const fs::path& out) {
  for (const recording::SpoolMark& mark : recording::spool_marks_of(out))
    if (mark.spool == spool) return out / (mark.recorder + recording::spool_mark_suffix);
  return out / (host_name() + "-" + std::to_string(getpid()) + recording::spool_mark_suffix);
}

/// Makes a file of this size and removes it; the error number, or 0.
int try_to_allocate(const fs::path& path, std::uint64_t bytes) {
  struct rlimit most {};
  // A signal would end us; recorded processes count what does not fit into their limits.
  if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur < bytes) return 0;
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return errno;
  const int code = posix_fallocate(file, 0, static_cast<off_t>(bytes));
  close(file);
  unlink(path.c_str());
  return code;
}

/// With less, not even the first process could record.
constexpr std::uint64_t most_needed = std::uint64_t{2} << 20U;

}  // namespace

std::vector<fs::path> spool_bases() {
  std::vector<fs::path> bases;
  for (const std::string& name : {value_of("RANKSCOPE_SPOOL"), value_of("TMPDIR"), std::string{"/tmp"}}) {
    std::error_code error;
    if (name.empty() || !fs::is_directory(name, error)) continue;
    const fs::path base = fs::canonical(name, error);
    if (std::ranges::find(bases, base) == bases.end()) bases.push_back(base);
  }
  return bases;
}

bool is_spool_name(const std::string& name) {
  constexpr std::size_t letters = 6;  // of mkdtemp
  const std::string plain = is_done(name) ? undone(name).string() : name;
  return plain.starts_with(name_prefix()) && plain.size() == name_prefix().size() + letters;
}

bool is_done(const fs::path& spool) { return spool.extension() == done_suffix; }

std::optional<uid_t> owner_of(const fs::path& folder) {
  struct stat status {};
  if (lstat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return std::nullopt;
  return status.st_uid;
}

Result<fs::path> make_spool_folder() {
  std::string base = value_of("RANKSCOPE_SPOOL");
  if (base.empty()) base = value_of("TMPDIR");
  if (base.empty()) base = "/tmp";
  std::string name = base + "/" + name_prefix() + "XXXXXX";
  if (mkdtemp(name.data()) == nullptr) {
    return fail(ErrorKind::cannot_write, format("cannot create a folder in {} for the recorded events: {}; set "
                                                "RANKSCOPE_SPOOL to a writable node-local folder",
                                                base, std::strerror(errno)));
  }
  std::error_code error;
  const fs::path folder = fs::canonical(name, error);  // one name for it, wherever it is written
  return error ? fs::absolute(name) : folder;
}

Result<void> check_room(const fs::path& spool, std::uint32_t ring_kib) {
  constexpr std::uint64_t most_tried = 1 << 20;  // quotas show up in no statistic
  const std::uint64_t needed = std::uint64_t{ring_kib} * 1024;
  std::error_code error;
  const auto space = fs::space(spool, error);
  const bool scarce = !error && space.available < std::min(needed, most_needed);
  const int code = scarce ? ENOSPC : try_to_allocate(spool / "room", std::min(needed, most_tried));
  if (code == 0) return {};
  return fail(ErrorKind::cannot_write,
              format("cannot reserve space for recorded events in {}: {}; free some space there, or set "
                     "RANKSCOPE_SPOOL to another node-local folder",
                     spool.parent_path().string(), std::strerror(code)));
}

Result<void> tie(const fs::path& spool, recording::Manifest manifest, const fs::path& out) {
  manifest.spooled = recording::Spooled{own_identity(), fs::absolute(out).string()};
  RS_TRY_VOID(recording::write_manifest(spool, manifest));
  return put_mark(spool, out);
}

Result<void> put_mark(const fs::path& spool, const fs::path& out) {
  const fs::path mark = mark_of(spool, out);
  std::ofstream file{mark};
  file << spool.string() << '\n';
  file.close();
  if (file) return {};
  return fail(ErrorKind::cannot_write, format("cannot write {}: {}", mark.string(), std::strerror(errno)));
}

void untie(const fs::path& spool, const fs::path& out) {
  std::error_code ignored;
  fs::remove(mark_of(undone(spool), out), ignored);
}

void discard(const fs::path& spool, const fs::path& out) {
  std::error_code error;
  const fs::path done = is_done(spool) ? spool : fs::path{spool.string() + done_suffix};
  if (spool != done) fs::rename(spool, done, error);
  if (!out.empty()) untie(spool, out);
  std::error_code ignored;
  fs::remove_all(error ? spool : done, ignored);
}

recording::ProcessIdentity own_identity() {
  return {.host = host_name(), .boot_id = boot_id(), .pid = getpid(), .start_ticks = start_of(getpid())};
}

bool is_elsewhere(const recording::ProcessIdentity& process) { return process.host != host_name(); }

bool is_running(const recording::ProcessIdentity& process) {
  if (process.host != host_name() || process.boot_id != boot_id()) return false;
  const auto pid = static_cast<pid_t>(process.pid);
  return start_of(pid) == process.start_ticks && !has_ended(pid);
}

bool is_written(const fs::path& segment) {
  if (segment.parent_path().filename() == recording::outside_folder) return false;
  const auto process = process_of_segment(segment.stem().string());
  if (!process || has_ended(process->pid)) return false;
  return start_of(process->pid) == process->start;  // the same process, not a later one with its pid
}

}  // namespace rankscope::collectors

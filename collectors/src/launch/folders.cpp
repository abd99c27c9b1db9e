#include "folders.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <optional>

#include "rankscope/core/format.h"
#include "rankscope/core/recording/manifest.h"
#include "rankscope/core/recording/recording.h"
#include "rankscope/core/regular_file.h"
#include "spool/folder.h"
#include "spool/segment_names.h"

namespace rankscope::collectors {
namespace {

namespace fs = std::filesystem;
constexpr const char* job_file = ".job";
constexpr int most_numbered = 100'000;  // of one program in one second

std::string variable_or(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

std::string now_text() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y%m%d-%H%M%S", &local);
  return text.data();
}

/// Siblings must come to the same name by themselves.
fs::path default_out(const RecordOptions& options, const std::string& job) {
  const std::string program = options.command.empty() ? "run" : fs::path{options.command.front()}.filename().string();
  return program + "-" + (job.empty() ? now_text() : job) + ".rankscope";
}

std::string first_line(const fs::path& path) {
  constexpr std::uint64_t longest = 64 << 10;
  const std::string text = read_regular_file(path, longest).value_or("");
  return text.substr(0, text.find('\n'));
}

/// What a new OUT holds: who may join it, and the spool that it is made for; both may be empty.
struct Contents {
  const std::string& job;
  const fs::path& spool;
};

Result<void> write_job(const fs::path& path, const std::string& job) {
  std::ofstream file{path};
  file << job << '\n';
  file.close();
  if (file) return {};
  return fail(ErrorKind::cannot_write, format("cannot write {}: {}", path.string(), std::strerror(errno)));
}

Result<void> fill(const fs::path& folder, const Contents& contents) {
  const fs::path segments = folder / recording::segment_folder;
  std::error_code error;
  if (!fs::create_directory(segments, error))
    return fail(ErrorKind::cannot_write, format("cannot create {}: {}", segments.string(), error.message()));
  if (!contents.job.empty()) RS_TRY_VOID(write_job(folder / job_file, contents.job));
  return contents.spool.empty() ? Result<void>{} : put_mark(contents.spool, folder);
}

/// A wrong call, and not an obstacle in spite of which --or-run starts the command: it would run for hours unrecorded.
tl::unexpected<Error> taken(const fs::path& out) {
  return fail(
      ErrorKind::usage,
      format("{} already exists and is not overwritten; give another name with --out, or remove it", out.string()));
}

/// A sibling's recording; nothing if it belongs to another job.
std::optional<OutFolder> join(const fs::path& out, const std::string& job) {
  if (job.empty() || first_line(out / job_file) != job) return std::nullopt;
  return OutFolder{.path = out, .joined = true};
}

/// Nothing if the name is taken.
Result<std::optional<OutFolder>> make_or_join(const fs::path& out, const Contents& contents) {
  const std::string& job = contents.job;
  std::error_code error;
  if (fs::exists(fs::symlink_status(out, error))) return join(out, job);
  // Filled under another name and moved: a sibling never sees it half made, and of two that come together one wins.
  const fs::path beside = out.string() + "." + host_name() + "-" + std::to_string(getpid()) + ".new";
  std::error_code ignored;
  fs::remove_all(beside, ignored);  // of an earlier process with this pid, which was killed
  if (!fs::create_directory(beside, error)) {
    return fail(ErrorKind::cannot_write,
                format("cannot create {}: {}", beside.string(), error ? error.message() : "it already exists"));
  }
  const auto filled = fill(beside, contents);
  if (filled) fs::rename(beside, out, error);
  if (filled && !error) return OutFolder{.path = out, .joined = false};
  fs::remove_all(beside, ignored);
  if (!filled) return tl::make_unexpected(filled.error());
  if (fs::exists(fs::symlink_status(out, ignored))) return join(out, job);
  return fail(ErrorKind::cannot_write, format("cannot create {}: {}", out.string(), error.message()));
}

/// "run.rankscope", "run-2.rankscope", ...: what starts in the same second takes the next one.
fs::path numbered(const fs::path& out, int number) {
  if (number == 1) return out;
  return out.parent_path() / format("{}-{}{}", out.stem().string(), number, out.extension().string());
}

Result<void> check_parent(const fs::path& out) {
  const fs::path parent = out.has_parent_path() ? out.parent_path() : fs::path{"."};
  std::error_code error;
  if (!fs::is_directory(parent, error)) {
    return fail(ErrorKind::cannot_write,
                format("cannot write {}: folder {} does not exist", out.string(), parent.string()));
  }
  if (access(parent.c_str(), W_OK | X_OK) == 0) return {};
  const char* const why = std::strerror(errno);
  const std::string where = out.has_parent_path() ? format("folder {}", parent.string()) : "the current folder";
  return fail(ErrorKind::cannot_write,
              format("cannot write {}: nothing can be created in {}: {}", out.string(), where, why));
}

}  // namespace

std::string job_identity() {
  // Several tasks of one srun: the step is what they share. A batch script runs alone, it has no step.
  const std::string step = variable_or("SLURM_STEP_ID", "");
  if (!step.empty() && variable_or("SLURM_STEP_NUM_TASKS", "1") != "1") {
    return "slurm-" + variable_or("SLURM_JOB_ID", "0") + "." + step;
  }
  const std::string run = variable_or("TORCHELASTIC_RUN_ID", "");
  if (!run.empty()) return "torchrun-" + run + "-" + variable_or("MASTER_PORT", "0");
  const std::string space = variable_or("PMIX_NAMESPACE", "");
  if (!space.empty()) return "mpi-" + space;
  return {};
}

Result<OutFolder> make_out_folder(const RecordOptions& options, const std::string& job, const fs::path& spool) {
  const Contents contents{job, spool};
  fs::path out = options.out.empty() ? default_out(options, job) : options.out;
  if (!out.has_filename()) out = out.parent_path();  // "run.rankscope/"
  RS_TRY_VOID(check_parent(out));
  if (!options.out.empty()) {
    RS_TRY(auto made, make_or_join(out, contents));
    return made ? Result<OutFolder>{*made} : taken(out);
  }
  for (int number = 1; number <= most_numbered; ++number) {
    const fs::path name = numbered(out, number);
    RS_TRY(auto made, make_or_join(name, contents));
    if (made) return *made;
  }
  return taken(out);
}

void remove_unused(const OutFolder& out) {
  std::error_code ignored;
  if (out.joined || fs::exists(out.path / recording::manifest_name, ignored)) return;
  if (!recording::spool_marks_of(out.path).empty()) return;  // a sibling has joined
  if (fs::is_empty(out.path / recording::segment_folder, ignored)) fs::remove_all(out.path, ignored);
}

OutLock::OutLock(const fs::path& out) : file_(open_regular_file(out / job_file).value_or(-1)) {
  if (file_ >= 0) flock(file_, LOCK_EX);
}
OutLock::~OutLock() {
  if (file_ >= 0) close(file_);
}

}  // namespace rankscope::collectors

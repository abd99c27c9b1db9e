#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <utility>

#include "hang/dump_files.h"
#include "hang/judge.h"
#include "hang/stale_dumps.h"
#include "importers/flight_recorder/dump.h"
#include "importers/flight_recorder/pickle.h"
#include "importers/flight_recorder/progress.h"
#include "importers/nccl_ras/ras.h"
#include "importers/shared/json_values.h"
#include "rankscope/analyzer/hang/hang.h"
#include "rankscope/core/format.h"
#include "rankscope/core/printable.h"
#include "rankscope/core/regular_file.h"
#include "rankscope/core/side_by_side.h"

namespace rankscope::analyzer {
namespace hang {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t most_file_bytes = std::uint64_t{512} << 20;

std::string_view counter_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::empty:
      return "dumps_empty";
    case FaultKind::cut:
      return "dumps_cut";
    case FaultKind::refused:
      return "dumps_refused";
    case FaultKind::damaged:
      return "dumps_damaged";
    case FaultKind::foreign:
      return "files_not_dumps";
  }
  return "dumps_damaged";
}

std::int64_t written_at(const fs::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return 0;
  return unix_ns_of(status.st_mtim);
}

/// Reads files side by side and adds them one after another, so that only as many as there are threads are in memory.
class DumpReader {
 public:
  DumpReader(std::span<const DumpFile> files, const Progress& progress) : files_(files), progress_(progress) {}

  /// Nothing if it was cancelled.
  bool read() {
    side_by_side(files_.size(), [this](std::size_t i) {
      if (cancelled_) return;
      read_file(files_[i]);
      const std::scoped_lock lock{mutex_};
      if (progress_ && !progress_(static_cast<double>(++done_) / static_cast<double>(files_.size()))) cancelled_ = true;
    });
    return !cancelled_;
  }

  JobProgress take() {
    job_.complete();
    drop_stale_dumps(job_);
    std::ranges::sort(ras_);
    for (const std::string& text : ras_) {
      PlainValues values;
      if (const auto root = read_json(text, values)) nccl_ras::add_ras(values, *root, job_);
    }
    job_.complete();
    std::ranges::sort(job_.troubles, {}, [](const InputTrouble& row) { return std::tie(row.counter, row.where); });
    return std::move(job_);
  }

 private:
  void read_file(const DumpFile& file) {
    auto bytes = read_regular_file(file.path, most_file_bytes);
    if (!bytes) return add_trouble(file, "dumps_unreadable", bytes.error().message);
    PlainValues values;
    const bool pickled = flight_recorder::looks_like_pickle(*bytes) || (!bytes->empty() && (*bytes)[0] == '\x80');
    const auto root = pickled ? flight_recorder::read_pickle(*bytes, values) : read_json(*bytes, values);
    if (!root) return add_trouble(file, counter_of(root.error().kind), root.error().why);
    if (nccl_ras::is_ras(values, *root)) {
      const std::scoped_lock lock{mutex_};
      ++job_.inputs;
      return ras_.push_back(std::move(*bytes)), void();
    }
    const auto dump = flight_recorder::dump_from(values, *root);
    if (!dump) return add_trouble(file, counter_of(dump.error().kind), dump.error().why);
    add(file, values, *dump);
  }

  void add(const DumpFile& file, const PlainValues& values, const flight_recorder::Dump& dump) {
    const auto by_content = dump.rank ? dump.rank : flight_recorder::rank_by_content(dump);
    const auto rank = by_content ? by_content : file.rank;
    if (!rank)
      return add_trouble(file, "dumps_without_rank",
                         "does not say which rank wrote it; put the rank at the end of the file name, as in dump_3");
    std::int64_t last_call = 0;
    for (const flight_recorder::DumpEntry& entry : dump.entries) last_call = std::max(last_call, entry.created_ns);
    const std::scoped_lock lock{mutex_};
    ++job_.inputs;
    const std::string name = file.path.filename().string();
    if (by_content && file.rank && *by_content != *file.rank)
      job_.troubles.push_back(
          {"dumps_misnamed", printable(name), format("belongs to rank {} according to its content", *by_content)});
    const auto known = job_.ranks.find(*rank);
    if (known != job_.ranks.end() && known->second.witness == Witness::dump) {
      const bool newer = std::tuple(last_call, known->second.file) > std::tuple(known->second.last_call_unix_ns, name);
      job_.troubles.push_back({"dumps_duplicate", printable(newer ? known->second.file : name),
                               format("is an earlier dump of rank {} and was not used", *rank)});
      if (!newer) return;
    }
    job_.ranks[*rank] = RankProgress{.file = name, .written_unix_ns = written_at(file.path)};
    flight_recorder::add_dump(values, dump, *rank, job_);
  }

  void add_trouble(const DumpFile& file, std::string_view counter, std::string_view why) {
    const std::scoped_lock lock{mutex_};
    const std::string name = file.path.filename().string();
    job_.troubles.push_back({std::string{counter}, printable(name), printable(why)});
    if (!file.rank || counter == "files_not_dumps") return;
    RankProgress& rank = job_.ranks[*file.rank];
    if (rank.witness == Witness::nothing) rank.file = name, rank.trouble = printable(why);
  }

  std::span<const DumpFile> files_;
  const Progress& progress_;
  std::mutex mutex_;
  JobProgress job_;
  std::vector<std::string> ras_;
  std::size_t done_ = 0;
  std::atomic<bool> cancelled_ = false;
};

}  // namespace
}  // namespace hang

Result<HangReport> judge_dumps(std::span<const std::filesystem::path> paths, const Progress& progress) {
  RS_TRY(const std::vector<hang::DumpFile> files, hang::dump_files(paths));
  const std::string first = paths.empty() ? std::string{} : paths.front().string();
  if (files.empty())
    return fail(ErrorKind::unreadable,
                format("{} contains no dump of the Flight Recorder and no answer of NCCL RAS", first));
  hang::DumpReader reader{files, progress};
  if (!reader.read()) return fail(ErrorKind::unreadable, "reading was cancelled");
  const JobProgress job = reader.take();
  if (job.inputs == 0) {
    const InputTrouble& trouble = job.troubles.front();
    const std::size_t others = job.troubles.size() - 1;
    return fail(ErrorKind::unreadable,
                format("{} {}{}", trouble.where, trouble.why,
                       others > 0 ? format("; {} cannot be read either", counted(others, "other file")) : ""));
  }
  return hang::judge(job);
}

}  // namespace rankscope::analyzer

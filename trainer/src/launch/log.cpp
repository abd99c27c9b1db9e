#include "rankscope/trainer/launch/log.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "rankscope/core/format.h"

namespace rankscope::trainer {
namespace {

struct Log {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{nullptr, std::fclose};
  int rank = 0;
};

Log& process_log() {
  static Log log;
  return log;
}

// One write per line: lines of several ranks must not mix.
void write_line(std::FILE* file, const std::string& line) {
  std::fwrite(line.data(), 1, line.size(), file);
  std::fflush(file);
}

}  // namespace

Result<void> open_log(const std::string& folder, int rank) {
  Log& log = process_log();
  log.rank = rank;
  if (folder.empty()) return {};
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  const auto path = std::filesystem::path{folder} / format("rank-{}.log", rank);
  log.file.reset(std::fopen(path.c_str(), "we"));
  if (!log.file) {
    return fail(ErrorKind::cannot_write, format("{} cannot be written: {}", path.string(), std::strerror(errno)));
  }
  return {};
}

void log_progress(std::string_view line) {
  const Log& log = process_log();
  const std::string text = format("{}\n", line);
  if (log.rank == 0) write_line(stdout, text);
  if (log.file) write_line(log.file.get(), text);
}

void log_error(std::string_view line) {
  const Log& log = process_log();
  const std::string text = format("rankscope-train: {}\n", line);
  write_line(stderr, text);
  if (log.file) write_line(log.file.get(), text);
}

}  // namespace rankscope::trainer

#include "flight_recorder.h"

#include <array>
#include <string_view>

#include "rankscope/core/format.h"

namespace rankscope::collectors {
namespace {

namespace fs = std::filesystem;

/// A setting with its name today and the older one, which releases before 2.7 know.
struct DumpSetting {
  const char* name;
  const char* older;
  std::string_view value;
};
constexpr std::array<DumpSetting, 2> dump_settings{{{"TORCH_FR_BUFFER_SIZE", "TORCH_NCCL_TRACE_BUFFER_SIZE", "2000"},
                                                    {"TORCH_FR_DUMP_ON_TIMEOUT", "TORCH_NCCL_DUMP_ON_TIMEOUT", "1"}}};

bool is_set(const Lookup& lookup, const char* name) { return lookup(name) != nullptr; }

}  // namespace

std::vector<std::pair<std::string, std::string>> flight_recorder_variables(const Lookup& lookup,
                                                                           const fs::path& spool) {
  std::vector<std::pair<std::string, std::string>> variables;
  const auto set = [&](const char* name, const char* older, std::string value) {
    if (is_set(lookup, name) || is_set(lookup, older)) return;
    variables.emplace_back(name, value);
    variables.emplace_back(older, std::move(value));
  };
  for (const DumpSetting& setting : dump_settings) set(setting.name, setting.older, std::string{setting.value});
  if (spool.empty()) return variables;
  std::error_code error;
  fs::create_directory(spool / flight_recorder_folder, error);
  if (error) return variables;  // PyTorch then writes them where it usually does
  set("TORCH_FR_DUMP_TEMP_FILE", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE",
      (spool / flight_recorder_folder / "nccl_trace_rank_").string());
  return variables;
}

Result<std::string> gather_dumps(const fs::path& spool, const fs::path& out) {
  std::error_code error;
  const fs::path from = spool / flight_recorder_folder;
  if (!fs::is_directory(from, error) || fs::is_empty(from, error)) return std::string{};
  fs::create_directory(out / flight_recorder_folder, error);
  std::vector<fs::path> dumps;
  std::error_code unopened;
  for (fs::directory_iterator entry{from, unopened}, end; !error && entry != end;) {
    std::error_code of_entry;  // what is no file is none of ours
    if (entry->is_regular_file(of_entry)) dumps.push_back(entry->path());
    entry.increment(error);
  }
  if (unopened) error = unopened;
  for (const fs::path& dump : dumps)
    if (!error)
      fs::copy_file(dump, out / flight_recorder_folder / dump.filename(), fs::copy_options::overwrite_existing, error);
  if (error)
    return fail(ErrorKind::cannot_write, format("cannot copy the dumps of the Flight Recorder to {}: {}",
                                                (out / flight_recorder_folder).string(), error.message()));
  return format("{} of the Flight Recorder: `rankscope hang {}` shows which rank stopped first",
                counted(dumps.size(), "dump"), out.string());
}

}  // namespace rankscope::collectors

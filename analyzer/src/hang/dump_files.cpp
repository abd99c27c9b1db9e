#include "hang/dump_files.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <set>

#include "importers/flight_recorder/pickle.h"
#include "rankscope/analyzer/open.h"
#include "rankscope/core/format.h"
#include "rankscope/core/numbers.h"
#include "rankscope/core/regular_file.h"

namespace rankscope::analyzer::hang {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view digits = "0123456789";
constexpr std::size_t head_bytes = 4096;

/// Where the number that is the rank begins and ends; nothing if there is none.
struct Place {
  std::size_t begin;
  std::size_t end;
};
std::optional<Place> place_of_rank(std::string_view name) {
  const auto number_at = [name](std::size_t begin) -> std::optional<Place> {
    const std::size_t end = std::min(name.find_first_not_of(digits, begin), name.size());
    return end == begin ? std::nullopt : std::optional{Place{begin, end}};
  };
  if (const auto found = name.rfind("rank"); found != std::string_view::npos) {
    std::size_t begin = found + 4;
    if (begin < name.size() && (name[begin] == '_' || name[begin] == '-')) ++begin;
    if (begin < name.size())
      if (const auto place = number_at(begin)) return place;
  }
  const std::size_t last = name.find_last_of(digits);
  if (last == std::string_view::npos) return std::nullopt;
  const std::size_t before = name.find_last_not_of(digits, last);
  return Place{before == std::string_view::npos ? 0 : before + 1, last + 1};
}

std::string_view without_extension(std::string_view name) {
  for (const std::string_view extension : {".json", ".pickle", ".pkl", ".bin"})
    if (name.ends_with(extension)) return name.substr(0, name.size() - extension.size());
  return name;
}

std::string head_of(const fs::path& path) {
  if (!check_regular_file(path)) return {};
  std::string head(head_bytes, '\0');
  std::ifstream file{path, std::ios::binary};
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
  return head;
}

/// Of a folder: more than the first bytes, since the JSON of other tools lies there, too.
bool looks_like_dump(std::string_view head) {
  if (flight_recorder::looks_like_pickle(head)) return true;
  static constexpr std::array<std::string_view, 7> marks{
      "\"pg_config\"",         "\"pg_status\"",           "\"nccl_comm_state\"", "\"comm_lib_version\"",
      "\"collective_seq_id\"", "\"communicators_count\"", "\"profiling_name\""};
  return may_be_dump(head) && std::ranges::any_of(marks, [head](std::string_view mark) {
           return head.find(mark) != std::string_view::npos;
         });
}

/// The name around the rank, by which the dumps of a job are alike.
std::string form_of(std::string_view name) {
  const std::string_view stem = without_extension(name);
  const auto place = place_of_rank(stem);
  if (!place) return std::string{name};
  return format("{}#{}", stem.substr(0, place->begin), name.substr(place->end));
}

Result<void> add_folder(const fs::path& folder, std::vector<DumpFile>& all) {
  std::error_code error;
  std::vector<fs::path> files;
  for (fs::directory_iterator entry{folder, error}, end; !error && entry != end; entry.increment(error)) {
    std::error_code of_entry;
    if (entry->is_regular_file(of_entry)) files.push_back(entry->path());
  }
  if (error) return fail(ErrorKind::unreadable, format("cannot read {}: {}", folder.string(), error.message()));
  std::ranges::sort(files);
  std::set<std::string> forms;
  std::vector<bool> found(files.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    found[i] = looks_like_dump(head_of(files[i]));
    if (found[i]) forms.insert(form_of(files[i].filename().string()));
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string name = files[i].filename().string();
    if (found[i] || (rank_in_name(name) && forms.contains(form_of(name))))
      all.push_back({files[i], rank_in_name(name)});
  }
  return {};
}

}  // namespace

std::optional<std::uint32_t> rank_in_name(std::string_view name) {
  name = without_extension(name);
  const auto place = place_of_rank(name);
  if (!place) return std::nullopt;
  return number_from<std::uint32_t>(name.substr(place->begin, place->end - place->begin),
                                    {.least = 0, .most = static_cast<std::uint32_t>(most_ranks - 1)});
}

std::int64_t unix_ns_of(const std::timespec& time) {
  constexpr std::int64_t ns_per_s = 1'000'000'000;
  if (time.tv_sec < 0) return 0;
  return time.tv_sec < INT64_MAX / ns_per_s ? time.tv_sec * ns_per_s + time.tv_nsec : INT64_MAX;
}

bool may_be_dump(std::string_view head) {
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  return flight_recorder::looks_like_pickle(head) ||
         (first != std::string_view::npos && (head[first] == '{' || head[first] == '['));
}

Result<std::vector<DumpFile>> dump_files(std::span<const fs::path> paths) {
  std::vector<DumpFile> all;
  for (const fs::path& path : paths) {
    std::error_code error;
    if (!fs::exists(path, error))
      return fail(ErrorKind::unreadable, format("{}: no such file or folder", path.string()));
    if (fs::is_directory(path, error)) {
      RS_TRY_VOID(add_folder(path, all));
    } else {
      RS_TRY_VOID(check_regular_file(path));
      all.push_back({path, rank_in_name(path.filename().string())});
    }
  }
  return all;
}

}  // namespace rankscope::analyzer::hang

namespace rankscope::analyzer {

bool holds_dumps(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    std::vector<hang::DumpFile> files;
    return hang::add_folder(path, files) && !files.empty();
  }
  return hang::looks_like_dump(hang::head_of(path));
}

}  // namespace rankscope::analyzer

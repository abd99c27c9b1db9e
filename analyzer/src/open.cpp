#include "rankscope/analyzer/open.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "exports/shared/output_target.h"
#include "importers/shared/gzip_stream.h"
#include "importers/shared/importer.h"
#include "pack/text_file.h"
#include "rankscope/analyzer/pack.h"
#include "rankscope/analyzer/words.h"
#include "rankscope/core/format.h"
#include "rankscope/core/recording/recording.h"
#include "rankscope/core/regular_file.h"
#include "rankscope/core/result.h"

namespace rankscope::analyzer {
namespace {

// The first bytes of a file, by which its format is recognised.

constexpr std::size_t head_size = std::size_t{64} << 10;

/// As they stand in the file.
Result<std::string> first_bytes(const std::filesystem::path& path) {
  RS_TRY_VOID(check_regular_file(path));
  std::ifstream file{path, std::ios::binary};
  if (!file)
    return fail(ErrorKind::unreadable,
                format("cannot read {}: {}", path.string(), std::generic_category().message(errno)));
  std::string head(head_size, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  return head;
}

/// Up to 64 KiB, unpacked as often as the file was packed with gzip. `unreadable` if it cannot be opened.
Result<std::string> file_head(const std::filesystem::path& path) {
  const auto head = first_bytes(path);
  if (!head || !head->starts_with(gzip_magic)) return head;
  std::string unpacked(head_size, '\0');
  unpacked.resize(GzipStream{*head}.read(unpacked));
  return unpacked;
}

/// Of a file whose head is empty, as a predicate: that it is empty, or too damaged to be unpacked.
std::string_view why_no_head(const std::filesystem::path& path) {
  const auto head = first_bytes(path);
  if (!head || head->empty()) return "is empty";
  GzipStream stream{*head};
  std::array<char, 1> byte{};
  const bool damaged = stream.read(byte) == 0 && stream.incomplete();
  return damaged ? "is damaged: nothing in it can be unpacked" : "is empty";
}

namespace fs = std::filesystem;
using Files = std::vector<fs::path>;

constexpr std::string_view nsight_report = ".nsys-rep";

const ImporterInfo* importer_of(std::string_view head, const fs::path& path) {
  const std::string name = path.filename().string();
  for (const ImporterInfo& importer : importers())
    if (importer.recognises(head, name)) return &importer;
  return nullptr;
}

/// "a .rankscope folder, a pack (.tar.zst), a Kineto trace, ..."
std::string known_formats() {
  std::string known = "a .rankscope folder, a pack (.tar.zst)";
  for (const ImporterInfo& importer : importers())
    known += format("{} {}", &importer == &importers().back() ? " or" : ",", importer.summary);
  return known;
}

/// Formats that people have, but nobody can read; and what they can do.
Error not_readable(std::string_view head, const fs::path& path) {
  const std::string shown = path.string();
  if (path.extension() == nsight_report)
    return {ErrorKind::unreadable, format("{} is an Nsight Systems report, whose format is not public; convert it "
                                          "with: nsys export --type sqlite --include-blobs=true {}",
                                          shown, shown)};
  if (head.empty()) return {ErrorKind::unreadable, format("{} {}", shown, why_no_head(path))};
  return {ErrorKind::unreadable,
          format("{} is not in a format that rankscope reads; choose {}", shown, known_formats())};
}

/// Files that one importer reads, and what was left out of folders beside them.
struct Recognised {
  const ImporterInfo* importer = nullptr;
  Files files;
  std::vector<QualityPlace> left_out;
};

/// What `report --json` writes, perhaps beside the traces.
bool is_report(std::string_view head) { return head.find("\"rankscope.report/") != std::string_view::npos; }

/// Why a file that is named like those of an importer, but is none, was left out of a folder.
std::optional<QualityPlace> left_out_file(const fs::path& file, std::string_view why, const ImporterInfo& importer) {
  const std::string name = file.filename().string();
  if (std::ranges::none_of(importer.suffixes, [&name](std::string_view suffix) { return name.ends_with(suffix); }))
    return std::nullopt;
  return QualityPlace{Counter::files_left_out, 1, format("{}, which {}", name, why)};
}

Result<void> add_file(const fs::path& path, Recognised& all) {
  RS_TRY(const std::string head, file_head(path));
  const ImporterInfo* const importer = importer_of(head, path);
  if (importer == nullptr) return tl::make_unexpected(not_readable(head, path));
  if (all.importer != nullptr && all.importer != importer)
    return fail(ErrorKind::unreadable,
                format("{} and {} are of different kinds ({}; {}); open one kind at a time", all.files.front().string(),
                       path.string(), all.importer->id, importer->id));
  all.importer = importer;
  all.files.push_back(path);
  return {};
}

/// Traces right inside a folder; other files there are none of ours.
Result<void> add_folder(const fs::path& folder, Recognised& all) {
  std::error_code error;
  Files files;
  Files recordings;
  bool has_folders = false;
  for (fs::directory_iterator entry{folder, error}, end; !error && entry != end; entry.increment(error)) {
    std::error_code of_entry;  // a dangling link is no file, and no reason to refuse the others
    if (entry->is_regular_file(of_entry)) files.push_back(entry->path());
    if (!entry->is_directory(of_entry)) continue;
    has_folders = true;
    if (recording::looks_like_recording(entry->path())) recordings.push_back(entry->path());
  }
  if (error) return fail(ErrorKind::unreadable, format("cannot read {}: {}", folder.string(), error.message()));
  std::ranges::sort(files);
  std::ranges::sort(recordings);
  if (!recordings.empty())
    return fail(ErrorKind::usage, format("{} contains {}: name the one to open, as in {}", folder.string(),
                                         counted(static_cast<std::int64_t>(recordings.size()), "recording"),
                                         recordings.front().string()));
  const std::size_t before = all.files.size();
  std::vector<std::pair<fs::path, std::string_view>> unknown;  // with why
  for (const fs::path& file : files) {
    const auto head = file_head(file);
    if (!head) return tl::make_unexpected(head.error());  // it may be a rank
    if (importer_of(*head, file) == nullptr) {
      if (!is_report(*head)) unknown.emplace_back(file, head->empty() ? why_no_head(file) : "is not a trace");
      continue;
    }
    RS_TRY_VOID(add_file(file, all));
  }
  if (all.files.size() > before) {
    for (const auto& [file, why] : unknown)
      if (auto loss = left_out_file(file, why, *all.importer)) all.left_out.push_back(std::move(*loss));
    return {};
  }
  for (const fs::path& file : files)
    if (file.extension() == nsight_report) return tl::make_unexpected(not_readable("-", file));
  return fail(ErrorKind::unreadable, format("{} contains nothing that rankscope reads{}; choose {}", folder.string(),
                                            fs::is_empty(folder, error) ? ": it is empty"
                                            : has_folders               ? ": folders inside it are not searched"
                                                                        : "",
                                            known_formats()));
}

using RunResult = Result<std::shared_ptr<const Run>>;

RunResult read_folder(const fs::path& path, const ImportOptions& options) {
  return recording::read_recording(path, options.texts);
}

/// How what holds a whole run is read; null for all else.
auto reader_of_whole(const fs::path& path) -> RunResult (*)(const fs::path&, const ImportOptions&) {
  std::error_code error;
  const bool is_folder = fs::is_directory(path, error);
  if (!fs::exists(path, error) || recording::looks_like_recording(path) ||
      (is_folder && path.extension() == ".rankscope"))
    return read_folder;
  if (!is_folder && path.extension() == ".txt") return read_text_file;  // what `rankscope dump` prints
  if (!is_folder && looks_like_pack(path)) return read_pack;
  return nullptr;
}

}  // namespace

Result<std::shared_ptr<const Run>> open_run(std::span<const fs::path> paths, const ImportOptions& options) {
  std::error_code error;
  for (const fs::path& path : paths)
    if (is_special_file(path)) return refuse_special_file(path);
  if (const auto read = paths.size() == 1 ? reader_of_whole(paths.front()) : nullptr; read != nullptr) {
    if (fs::exists(paths.front(), error) && !options.rank_map.empty())
      return fail(ErrorKind::usage, format("--rank-map: {} already states the rank of each process; omit the option",
                                           paths.front().string()));
    return read(paths.front(), options);
  }
  Recognised all;
  for (const fs::path& path : paths) {
    if (paths.size() > 1 && recording::looks_like_recording(path))
      return fail(ErrorKind::usage, format("{} is a recording of a whole run; open it alone, or compare two runs with "
                                           "`rankscope compare A B`",
                                           path.string()));
    RS_TRY_VOID(fs::is_directory(path, error) ? add_folder(path, all) : add_file(path, all));
  }
  if (all.importer == nullptr) return fail(ErrorKind::usage, "give a recording or traces to open");
  ImportOptions with_losses = options;
  with_losses.losses.insert(with_losses.losses.end(), all.left_out.begin(), all.left_out.end());
  return all.importer->read(all.files, with_losses);
}

Result<std::shared_ptr<const Run>> open_run(const fs::path& path) { return open_run(std::span{&path, 1}, {}); }

bool holds_original(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return false;
  if (path.extension() == nsight_report || looks_like_pack(path)) return true;
  const auto head = file_head(path);
  return head && importer_of(*head, path) != nullptr && !is_own_export(*head);
}

}  // namespace rankscope::analyzer

// rankscope hang: which rank of a hung or crashed job stopped first, in which operation, and why (docs/hang.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/colour.h"
#include "rankscope/analyzer/progress.h"
#include "rankscope/core/model/run_parts.h"
#include "rankscope/core/result.h"

namespace rankscope::analyzer {

/// What became of the job.
enum class HangVerdict : std::uint8_t {
  hang,         ///< ranks wait for others that do not come
  crash,        ///< a process was killed
  failed,       ///< a process ended with an error
  slow,         ///< all came, one much later than the others
  running,      ///< operations are open, but only just begun
  finished,     ///< no operation is open
  cannot_tell,  ///< the inputs lack what it takes
};
/// How a rank stopped the others.
enum class HangKind : std::uint8_t {
  never_came,     ///< it did not call an operation that its peers called
  stuck_outside,  ///< the same, and where it is instead is known
  order,          ///< it called another operation than its peers
  size,           ///< the same operation with another number of elements
  dtype,          ///< the same operation with another type of elements
  root,           ///< the same operation with another root
  dead,           ///< its process ended
  no_dump,        ///< nothing is known of it, and its peers wait
  device,         ///< it called what its peers called, but its device finished less
  link,           ///< all called the operation, none finished it
  straggler,      ///< it came, much later than the others
  cycle,          ///< ranks wait for each other in different operations
  nan,            ///< its numbers stopped being numbers
  corrupt,        ///< its data was damaged
};
enum class HangCertainty : std::uint8_t { fact, likely, guess };
[[nodiscard]] std::string_view name_of(HangVerdict verdict);
[[nodiscard]] std::string_view name_of(HangKind kind);
[[nodiscard]] std::string_view name_of(HangCertainty certainty);

struct HangGroup {
  std::string name{};
  std::string description{};
  std::vector<RankId> ranks{};  ///< as far as they are known
  bool operator==(const HangGroup&) const = default;
};

/// An operation that ranks wait in.
struct HangOperation {
  HangGroup group{};
  std::string op{};            ///< "all_reduce"
  std::int64_t sequence = -1;  ///< of the group; -1: sends and receives have none
  std::string shape{};         ///< of the input, "2048x5120"; may be empty
  std::string dtype{};         ///< may be empty
  bool operator==(const HangOperation&) const = default;
};

/// Ranks that stopped the job, and that wait for nobody themselves (a cycle: only for each other).
struct HangRoot {
  std::vector<RankId> ranks{};
  HangKind kind = HangKind::never_came;
  HangCertainty certainty = HangCertainty::likely;
  std::optional<HangOperation> operation{};  ///< in which the others wait for them
  std::optional<std::int64_t> signal{};
  std::optional<std::int64_t> exit_status{};
  std::optional<std::int64_t> step{};
  std::string range{};               ///< "backward"
  std::vector<std::string> stack{};  ///< lines of code, innermost last
  std::string evidence{};            ///< one or more clauses
  std::string advice{};
  bool operator==(const HangRoot&) const = default;
};

/// Ranks that only wait.
struct HangWait {
  std::vector<RankId> ranks{};
  HangOperation operation{};
  std::vector<RankId> waits_for{};
  bool operator==(const HangWait&) const = default;
};

/// Part of the input that could not be used: a counter, the file, and what it means.
struct HangLoss {
  std::string counter{};  ///< "dumps_cut"
  std::string where{};
  std::string why{};
  bool operator==(const HangLoss&) const = default;
};

struct HangReport {
  HangVerdict verdict = HangVerdict::cannot_tell;
  bool has_ended = false;         ///< the recording has ended
  bool job_has_ended = false;     ///< so has the job: the recording was not stopped before it
  std::string why_not_told{};     ///< set for cannot_tell
  std::int64_t world_size = 0;    ///< 0: not known
  std::int64_t inputs = 0;        ///< dumps that were read; of a recording its ranks
  std::vector<HangRoot> roots{};  ///< the most certain first
  std::vector<HangWait> waiting{};
  std::vector<HangLoss> losses{};
};

/// True if a path is a Flight Recorder dump or an answer of RAS, or a folder with one right inside it.
[[nodiscard]] bool holds_dumps(const std::filesystem::path& path);

/// Judges dumps: files, or folders of them. A dump that cannot be read is counted, never fatal to the others.
/// `unreadable` if no file can be read.
[[nodiscard]] Result<HangReport> judge_dumps(std::span<const std::filesystem::path> paths, const Progress& progress);
/// Judges how a recording ended or, if its processes still run, how it stands at `now_unix_ns` (0: not known).
[[nodiscard]] HangReport judge_run(const Run& run, std::int64_t now_unix_ns = 0);

/// At most 60 lines, 100 columns wide.
[[nodiscard]] std::string render_hang_text(const HangReport& report, Colour colour);
/// Schema rankscope.hang/1, in docs/hang.md; deterministic.
[[nodiscard]] std::string render_hang_json(const HangReport& report);
[[nodiscard]] std::string render_hang_html(const HangReport& report);
/// "rank 3 never reached all_reduce 12 of the default group"
[[nodiscard]] std::string hang_clause(const HangRoot& root);
/// The verdict as a sentence: "Ranks 9, 14 never reached all_to_all 44791 of group 72 …".
[[nodiscard]] std::string hang_headline(const HangReport& report);

}  // namespace rankscope::analyzer

// All parts of one trace file put together, and what follows only from the whole file.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "importers/kineto/metadata.h"
#include "importers/kineto/part.h"
#include "importers/shared/importer.h"
#include "rankscope/core/model/quality.h"

namespace rankscope::analyzer::kineto {

/// What a file tells about its rank, best first.
struct RankEvidence {
  std::filesystem::path path;
  std::optional<std::int64_t> metadata;      ///< the trace says it
  std::optional<std::int64_t> communicator;  ///< its collectives say it
  std::string trace_name;                    ///< name under which the trace was written
  std::string host;
  std::set<std::int32_t> devices;  ///< ordinals with work
  std::int64_t world_size = 0;     ///< 0: not told
};

/// One rank per file; --rank-map comes before all evidence. A single file that does not tell is rank 0, and so are
/// several one-device files of one host numbered by device; both are counted (rank_unknown). `unreadable` with the
/// names and --rank-map if files cannot be told apart or claim one rank; `usage` for a map that does not fit.
[[nodiscard]] Result<std::vector<RankId>> assign_ranks(std::span<const RankEvidence> files,
                                                       const ImportOptions& options, Quality& quality);

/// One file whose rows are in the builder of the run already. Span numbers and lanes are those of that builder.
struct TraceFile {
  std::filesystem::path path;
  std::uint32_t process = 0;     ///< its row
  std::uint32_t first_span = 0;  ///< its spans in the builder: [first, end)
  std::uint32_t end_span = 0;
  Metadata metadata;
  std::map<LaneKey, LaneId> lanes;
  std::vector<Numbered> calls;
  std::vector<Numbered> activities;
  std::vector<std::uint32_t> comm_kernels;
  std::vector<std::uint32_t> comm_ranges;
  std::vector<FlowEnd> flows;
  std::vector<MemoryState> memory;
  std::map<std::int64_t, std::string> process_names;
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> thread_names;
  std::set<std::string> devices_called;  ///< as in Part
  std::optional<TimeRange> extent;
  std::optional<RunTime> last;         ///< as in Part
  std::vector<QualityPlace> losses{};  ///< data that the file lost
  bool fractions = false;
  bool float_times = false;
  bool is_trace = false;
  const char* next = nullptr;  ///< while it is read: where the next stretch must begin

  /// Moves a part behind those before it.
  void take(Part&& part, RunBuilder& run);
  void note_losses(const Quality& quality);
  [[nodiscard]] bool is_cut() const;
};

/// Steps that reach past the last event of a file that ends early are marked as cut: what ran in them may be missing.
void mark_cut_steps(const TraceFile& file, RunBuilder& run);
/// Names of rows, devices and facts of the process.
void describe_process(TraceFile& file, RankId rank, RunBuilder& run);
/// What the file tells about its rank.
[[nodiscard]] RankEvidence rank_evidence(const TraceFile& file, const RunBuilder& run);
/// Launch calls to activities, forward to backward operators. Returns the call of each communication kernel, by its
/// place in comm_kernels; `no_call` where there is none.
inline constexpr std::uint32_t no_call = 0xFFFFFFFF;
[[nodiscard]] std::vector<std::uint32_t> link_spans(const TraceFile& file, RunBuilder& run);
/// Counter tracks of what the allocators held.
void add_memory(const TraceFile& file, RunBuilder& run);

// Puts back what our own export of another source keeps beside Kineto's fields.

/// Kinds and cut ends of spans, where Kineto's categories do not tell them.
void restore_spans(const TraceFile& file, RunBuilder& run);
/// Lanes, collectives and the end of the process; the file must have OwnBlock::rows.
void restore_rows(const TraceFile& file, RankId rank, RunBuilder& run);

/// Counters that were exported stand for what is no longer in the files; what is counted again is not added twice.
void restore_quality(std::span<const TraceFile> files, RunBuilder& run);

}  // namespace rankscope::analyzer::kineto

// All parts of one trace file put together, and what follows only from the whole file.
#pragma once

#include "importers/kineto/metadata.h"
#include "importers/kineto/part.h"
#include "importers/kineto/ranks.h"

namespace rankscope::analyzer::kineto {

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
/// Rows of Run::collectives() and their groups.
void add_collectives(const TraceFile& file, RankId rank, std::span<const std::uint32_t> calls, RunBuilder& run);
/// Counter tracks of what the allocators held.
void add_memory(const TraceFile& file, RunBuilder& run);

}  // namespace rankscope::analyzer::kineto

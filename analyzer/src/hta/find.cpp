#include "hta/find.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>
#include <span>
#include <tuple>

#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/numbers.h"
#include "words/keys.h"

namespace rankscope::analyzer {
namespace {

enum class Where : std::uint8_t { front, anywhere };
struct Pattern {
  std::string_view text;
  Where where = Where::front;
};

constexpr std::array communication{Pattern{"nccl"}, Pattern{"hip"}, Pattern{"hccl"},
                                   Pattern{"ncclKernel", Where::anywhere}};
// HTA also names hipMemcpy and hipMemset here, which communication has taken before.
constexpr std::array memory{Pattern{"Memcpy"}, Pattern{"Memset"}, Pattern{"dma"}};
constexpr std::array no_computation{Pattern{"Memcpy", Where::anywhere},
                                    Pattern{"Memset", Where::anywhere},
                                    Pattern{"dma", Where::anywhere},
                                    Pattern{"Sync", Where::anywhere},
                                    Pattern{"Stream Wait Event"},
                                    Pattern{"runFunction"},
                                    Pattern{"job_exe"},
                                    Pattern{"packet"},
                                    Pattern{"pe_exe"},
                                    Pattern{"cpum_exe_subgraph"},
                                    Pattern{"hccl"},
                                    Pattern{"collective_subgraph_execution"}};

constexpr std::array<std::string_view, 4> launches{"cudaLaunchKernel", "cudaLaunchKernelExC", "cudaMemcpyAsync",
                                                   "cudaMemsetAsync"};
constexpr std::array<std::string_view, 7> other_enqueues{
    "cuLaunchKernel", "cuLaunchKernelEx",    "hipLaunchKernel", "hipExtModuleLaunchKernel",
    "hipMemcpyAsync", "hipMemcpyWithStream", "hipMemsetAsync"};

bool matches(std::string_view name, std::span<const Pattern> patterns) {
  return std::ranges::any_of(patterns, [name](const Pattern& pattern) {
    return pattern.where == Where::front ? name.starts_with(pattern.text)
                                         : name.find(pattern.text) != std::string_view::npos;
  });
}

HtaClass class_of(std::string_view name) {
  if (matches(name, communication)) return HtaClass::communication;
  if (matches(name, memory)) return HtaClass::memory;
  const bool launch = name.starts_with("cuda") && name.find("LaunchKernel", 4) != std::string_view::npos;
  return launch || matches(name, no_computation) ? HtaClass::other : HtaClass::computation;
}

constexpr std::int64_t micro = 1000;

/// Microseconds as the double that a JSON parser makes of their decimals: 64 bits of mantissa in between are enough for
/// three decimals never to round twice.
double micros_of(std::int64_t ns) {
  return static_cast<double>(static_cast<long double>(ns) / static_cast<long double>(micro));
}

/// HTA rounds all times of a file in which one is no integer.
enum class Times : std::uint8_t { as_they_are, rounded };

/// What leads from a span of one process to HTA's row.
class RowReader {
 public:
  RowReader(const Run& run, HtaNames& names, std::int64_t offset_ns, Times times)
      : run_(run),
        names_(names),
        offset_ns_(offset_ns),
        times_(times),
        stream_(run.strings().find(keys::stream)),
        correlation_(run.strings().find(keys::correlation)) {}

  [[nodiscard]] HtaRow row(const Lane& lane, const Span& span) const {
    HtaRow row;
    row.span = run_.id_of(span);
    row.name = span.name;
    if (lane.kind == LaneKind::stream) row.stream = lane.number;
    for (const Attribute& attribute : run_.attributes_of(row.span)) {
      if (attribute.key == stream_ && stream_.is_set()) row.stream = number(attribute.value);
      if (attribute.key == correlation_ && correlation_.is_set()) row.correlation = number(attribute.value);
    }
    set_times(row, span.time);
    row.on_device = (row.stream >= 0 && row.correlation >= 0) || names_.of(span.name).sync;
    row.activity = lane.kind == LaneKind::stream &&
                   (span.kind == SpanKind::compute || span.kind == SpanKind::comm || span.kind == SpanKind::memory);
    return row;
  }

 private:
  [[nodiscard]] std::int64_t number(const AttributeValue& value) const {
    return value.kind == AttributeKind::number ? value.number
                                               : number_from<std::int64_t>(run_.text(value.text)).value_or(-1);
  }

  void set_times(HtaRow& row, TimeRange time) const {
    row.begin_ns = ns_of(time.begin) + offset_ns_;
    row.end_ns = ns_of(time.end) + offset_ns_;
    if (times_ == Times::as_they_are) return;
    const double begin = micros_of(row.begin_ns);
    const double end = begin + micros_of(time.length().count());
    row.begin_ns = micro * static_cast<std::int64_t>(std::ceil(begin));
    row.end_ns = micro * static_cast<std::int64_t>(std::floor(end));
  }

  const Run& run_;
  HtaNames& names_;
  std::int64_t offset_ns_;
  Times times_;
  StringId stream_;
  StringId correlation_;
};

Section<RowReader> reader_of(const Run& run, HtaNames& names, RankId rank) {
  const Process& process = run.process_of(rank);
  const auto offset = number_from<std::int64_t>(run.metadata(process, keys::file_time_offset));
  const std::string_view type = run.metadata(process, keys::file_time_type);
  if (!offset || type.empty())
    return unavailable(
        format("the original times in the file of rank {} are not known; open the original trace", rank.value));
  return RowReader{run, names, *offset, type == "float" ? Times::rounded : Times::as_they_are};
}

/// Spans that HTA reads: those of the profiler itself (category "Trace") are left out.
template <class Visit>
void for_each_span(const Run& run, RankId rank, Visit visit) {
  for (const Lane& lane : run.lanes()) {
    if (lane.rank != rank || (lane.kind == LaneKind::thread && run.text(lane.name) == "profiler")) continue;
    for (const Span& span : run.spans_of(lane)) visit(lane, span);
  }
}

/// Which host rows are kept (19.2): those up to this time.
struct Limit {
  HtaLastStep last_step = HtaLastStep::dropped;
  std::optional<std::int64_t> ns;  ///< none = all are kept

  [[nodiscard]] bool keeps(const HtaRow& row) const {
    if (!ns) return true;
    return last_step == HtaLastStep::dropped ? row.begin_ns < *ns : row.begin_ns <= *ns;
  }
};

/// Of the rank's own steps. Without any it keeps nothing, or everything.
Limit limit_of(const Run& run, HtaNames& names, const RowReader& reader, RankId rank, HtaLastStep last_step) {
  Limit limit{last_step, std::nullopt};
  for_each_span(run, rank, [&](const Lane& lane, const Span& span) {
    if (!names.of(span.name).step) return;
    const HtaRow row = reader.row(lane, span);
    if (row.on_device) return;
    const std::int64_t last = last_step == HtaLastStep::dropped ? row.begin_ns : row.end_ns;
    limit.ns = std::max(limit.ns.value_or(last), last);
  });
  if (!limit.ns)
    limit.ns = last_step == HtaLastStep::dropped ? std::numeric_limits<std::int64_t>::min()
                                                 : std::numeric_limits<std::int64_t>::max();
  return limit;
}

void sort_rows(HtaRows& rows) {
  std::ranges::sort(rows.device, {}, [](const HtaRow& row) { return std::tuple{row.begin_ns, row.span}; });
  std::ranges::sort(rows.host, {}, [](const HtaRow& row) {
    return std::tuple{row.correlation, row.begin_ns, row.span};
  });
}

/// A row named ProfilerStep#N, on the host or a copy of it on a stream.
struct StepRow {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t index = 0;
  bool copy = false;
};

/// Where several contain a time, HTA takes the last of the file: copies come behind the host's.
std::vector<HtaStepFrom> step_changes(std::vector<StepRow> steps) {
  std::ranges::sort(steps, {}, [](const StepRow& step) { return std::tuple{step.copy, step.begin_ns, step.index}; });
  std::vector<std::pair<std::int64_t, std::size_t>> edges;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].end_ns <= steps[i].begin_ns) continue;
    edges.emplace_back(steps[i].begin_ns, i);
    edges.emplace_back(steps[i].end_ns, i);
  }
  std::ranges::sort(edges);
  std::vector<HtaStepFrom> changes;
  std::set<std::size_t> open;
  for (const auto& [at_ns, step] : edges) {
    if (!open.erase(step)) open.insert(step);
    const auto index = open.empty() ? std::nullopt : std::optional{steps[*open.rbegin()].index};
    if (!changes.empty() && changes.back().begin_ns == at_ns)
      changes.back().index = index;
    else
      changes.push_back({at_ns, index});
  }
  return changes;
}

/// Collects the rows of one rank; host rows are kept or dropped as they come, device rows when all are known.
class RankReader {
 public:
  RankReader(const Run& run, HtaNames& names, Limit limit) : run_(run), names_(names), limit_(limit) {}

  HtaRows read(RankId rank, const RowReader& reader) {
    rows_.rank = rank;
    for_each_span(run_, rank, [&](const Lane& lane, const Span& span) { take(reader.row(lane, span), lane); });
    sort_rows(rows_);
    rows_.steps = step_changes(std::move(steps_));
    for (HtaRow& row : rows_.device) keep_device_row(row);
    for (HtaRow& row : rows_.host) keep_device_row(row);
    measure_steps();
    return std::move(rows_);
  }

 private:
  void take(HtaRow row, const Lane& lane) {
    if (names_.of(row.name).step) {
      const std::string_view name = run_.text(row.name);
      const auto index = number_from<std::int64_t>(name.substr(name.find('#') + 1)).value_or(0);
      steps_.push_back({row.begin_ns, row.end_ns, index, lane.kind == LaneKind::annotation});
    }
    if (!row.on_device) {
      row.copies = limit_.keeps(row) ? 1 : 0;
      count(row);
      if (row.copies > 0 && row.correlation < 0) ++plain_host_rows_;
      if (row.copies > 0 && row.stream < 0) host_times_.emplace_back(row.begin_ns, row.end_ns);
    }
    if (row.stream != -1)
      rows_.device.push_back(row);
    else if (row.correlation >= 0 || row.on_device)
      rows_.host.push_back(row);
  }

  void keep_device_row(HtaRow& row) {
    if (!row.on_device) return;
    row.copies = 1;
    if (limit_.ns)
      row.copies = row.correlation < 0 ? plain_host_rows_
                                       : std::ranges::count_if(rows_.host_of(row.correlation), [](const HtaRow& host) {
                                           return !host.on_device && host.copies > 0;
                                         });
    count(row);
  }

  void count(const HtaRow& row) {
    rows_.rows += row.copies;
    if (row.copies == 0) ++rows_.dropped_rows;
    if (row.copies > 1) rows_.doubled_rows += row.copies - 1;
  }

  void measure_steps() {
    for (const auto& [begin, end] : host_times_) {
      const auto step = rows_.step_at(begin);
      if (!step) continue;
      rows_.steps_kept.insert(*step);
      rows_.steps_end_ns = rows_.steps_begin_ns ? std::max(rows_.steps_end_ns, end) : end;
      rows_.steps_begin_ns = std::min(rows_.steps_begin_ns.value_or(begin), begin);
    }
  }

  const Run& run_;
  HtaNames& names_;
  Limit limit_;
  HtaRows rows_;
  std::vector<StepRow> steps_;
  std::int64_t plain_host_rows_ = 0;  // kept, without correlation
  std::vector<std::pair<std::int64_t, std::int64_t>> host_times_;
};

/// HTA makes a row of each pair of a call and its work; of this many it would make none in any memory.
constexpr std::size_t most_pairs = 50'000'000;

std::size_t pairs_in(const HtaRows& rows) {
  std::size_t pairs = 0;
  for (const HtaRow& row : rows.device)
    if (row.correlation >= 0) pairs += rows.host_of(row.correlation).size();
  return pairs;
}

bool has_several_steps(const Run& run, HtaNames& names) {
  std::set<StringId> steps;
  for (const RankId rank : run.ranks())
    for_each_span(run, rank, [&](const Lane&, const Span& span) {
      if (names.of(span.name).step) steps.insert(span.name);
    });
  return steps.size() > 1;
}

}  // namespace

std::string_view name_of(HtaClass kind) {
  switch (kind) {
    case HtaClass::computation:
      return "COMPUTATION";
    case HtaClass::communication:
      return "COMMUNICATION";
    case HtaClass::memory:
      return "MEMORY";
    case HtaClass::other:
      return "OTHER";
  }
  return {};
}

std::string_view name_of(HtaIdleCause cause) {
  switch (cause) {
    case HtaIdleCause::host_wait:
      return "host_wait";
    case HtaIdleCause::kernel_wait:
      return "kernel_wait";
    case HtaIdleCause::other:
      return "other";
  }
  return {};
}

HtaName hta_name_from(std::string_view name) {
  constexpr std::string_view step = "ProfilerStep#";
  HtaName known;
  known.kind = class_of(name);
  known.step = name.starts_with(step) && name.size() > step.size() &&
               name.find_first_not_of("0123456789", step.size()) == std::string_view::npos;
  known.sync = name == "Event Sync" || name == "Context Sync";
  known.launch = std::ranges::find(launches, name) != launches.end();
  known.enqueue = known.launch || std::ranges::find(other_enqueues, name) != other_enqueues.end();
  known.nccl_kernel = name.starts_with("ncclKernel");
  return known;
}

std::span<const HtaRow> HtaRows::host_of(std::int64_t correlation) const {
  const auto first = std::ranges::lower_bound(host, correlation, {}, &HtaRow::correlation);
  return {first, std::ranges::upper_bound(first, host.end(), correlation, {}, &HtaRow::correlation)};
}

const HtaRow* HtaRows::launch_of(const HtaRow& row) const {
  if (row.correlation < 0) return nullptr;
  const HtaRow* launch = nullptr;  // the file's order is not in a Run: the last to begin
  for (const HtaRow& candidate : host_of(row.correlation))
    if (!candidate.on_device) launch = &candidate;
  return launch != nullptr && launch->copies > 0 ? launch : nullptr;
}

std::optional<std::int64_t> HtaRows::step_at(std::int64_t begin_ns) const {
  const auto next = std::ranges::upper_bound(steps, begin_ns, {}, &HtaStepFrom::begin_ns);
  return next == steps.begin() ? std::nullopt : std::prev(next)->index;
}

Section<std::vector<HtaRows>> hta_rows(const Run& run, HtaNames& names, HtaLastStep last_step) {
  if (run.info().source != "kineto")
    return unavailable(format("HTA reads Kineto traces only; this recording was made by {}", run.info().source));
  const bool drops = has_several_steps(run, names);
  std::vector<HtaRows> all;
  for (const RankId rank : run.ranks()) {
    const auto reader = reader_of(run, names, rank);
    if (!reader) return unavailable(reader.error().why);
    Limit limit{last_step, std::nullopt};
    if (drops) limit = limit_of(run, names, *reader, rank, last_step);
    all.push_back(RankReader{run, names, limit}.read(rank, *reader));
    if (const std::size_t pairs = pairs_in(all.back()); pairs > most_pairs)
      return unavailable(
          format("the correlation IDs of rank {} link calls to kernels in {} pairs, too many to show which call "
                 "launched which kernel",
                 rank.value, pairs));
  }
  return all;
}

Section<HtaSection> hta_numbers(const Run& run, HtaLastStep last_step) {
  HtaNames names{run};
  const auto ranks = hta_rows(run, names, last_step);
  if (!ranks) return unavailable(ranks.error().why);
  HtaSection section;
  section.last_step = last_step;
  for (const HtaRows& rows : *ranks)
    section.ranks.push_back({.rank = rows.rank,
                             .rows = rows.rows,
                             .dropped_rows = rows.dropped_rows,
                             .doubled_rows = rows.doubled_rows,
                             .times = hta_times(rows, names),
                             .overlap_percent = hta_overlap_percent(rows, names),
                             .launch = hta_launches(rows, names),
                             .kernels = hta_kernels(run, rows, names),
                             .idle = hta_idle(run, rows),
                             .queues = hta_queues(run, rows, names)});
  section.types = hta_types(*ranks, names);
  section.stragglers = hta_stragglers(*ranks, names);
  return section;
}

}  // namespace rankscope::analyzer

#include "hta/parts.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "hta/find.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "render/words.h"

namespace rankscope::analyzer {
namespace {

constexpr std::size_t widest_hta_name = 100;  // names of templates run to thousands of characters

struct Reason {
  std::string_view number;
  std::string_view why;
};
constexpr std::array time_reasons{
    Reason{"idle",
           "HTA counts synchronization records on a stream as busy time, and covers all time from the first to the "
           "last row that it keeps. rankscope counts kernels and copies in the counted steps."},
    Reason{"compute",
           "HTA decides by name: a kernel whose name contains Sync, dma or Memcpy is not compute. rankscope uses the "
           "recorded kind of each event."},
    Reason{"other",
           "HTA's share contains communication, copies and synchronization; rankscope's contains exposed communication "
           "and copies."},
    Reason{"hidden",
           "HTA treats a kernel as communication if its name begins with nccl, hccl or hip, so every kernel named hip… "
           "counts as communication. rankscope uses a list of library kernels and the recorded collectives."},
    Reason{
        "rows",
        "HTA leaves out all rows that begin after the start of the last step or, if it keeps that step, after its end "
        "(column lost). HTA counts device work once for each host row with "
        "the same correlation (column doubled). rankscope includes every complete step and counts each kernel once."},
};
constexpr std::array launch_reasons{
    Reason{"launches",
           "HTA links only cudaLaunchKernel, cudaMemcpyAsync and cudaMemsetAsync to their work; rankscope links every "
           "call. A late kernel is not a fault: a deep queue has long delays and no idle time."},
};
constexpr std::array kernel_reasons{
    Reason{"max, mean",
           "With more than 10 kernels, HTA computes max, min, mean and deviation over the total times of kernels; "
           "rankscope computes them over single executions."},
};
constexpr std::array idle_reasons{
    Reason{"waits",
           "HTA measures each gap from the end of the previous row, so overlapping rows give negative gaps. Its "
           "documentation states a limit of 30 ns, but HTA applies 30 µs. rankscope shows the time in which the stream "
           "had nothing to do."},
};
constexpr std::array queue_reasons{
    Reason{"mean", "HTA takes the mean over all changes of the queue length, rankscope over time."},
};

std::vector<HtaReason> told(std::span<const Reason> reasons) {
  std::vector<HtaReason> all;
  for (const Reason& reason : reasons) all.push_back({reason.number, std::string{reason.why}});
  return all;
}

std::string micros_text(std::int64_t ns) {
  return ns % 1000 == 0 ? format("{}", ns / 1000) : format("{:.3f}", static_cast<double>(ns) / 1000.0);
}
std::string micros_text(double ns) { return format("{:.2f}", ns / 1000.0); }

std::string own_share(const RankRow* own, std::int64_t part_ns) {
  if (own == nullptr || own->total.window_ns == 0) return std::string{empty_cell};
  return format("{:.2f}", 100.0 * static_cast<double>(part_ns) / static_cast<double>(own->total.window_ns));
}

/// HTA's column, then ours.
void add_pair(std::vector<Cell>& cells, std::string hta, std::string own) {
  cells.push_back({std::move(hta)});
  cells.push_back({std::move(own), Tone::good});
}

std::vector<Cell> time_row(const HtaRank& rank, const RankRow* own) {
  const auto share = [&](std::int64_t HtaTimes::*part) {
    return rank.times ? format("{:.2f}", hta_share((*rank.times).*part, *rank.times)) : std::string{empty_cell};
  };
  const TimeSplit split = own == nullptr ? TimeSplit{} : own->total;
  std::vector<Cell> cells{{format("{}", rank.rank.value)}};
  cells.push_back({rank.times ? micros_text(rank.times->kernel_ns) : std::string{empty_cell}});
  add_pair(cells, share(&HtaTimes::idle_ns), own_share(own, split.idle_ns));
  add_pair(cells, share(&HtaTimes::compute_ns), own_share(own, split.compute_ns));
  add_pair(cells, share(&HtaTimes::non_compute_ns), own_share(own, split.exposed_comm_ns + split.memory_ns));
  const bool known = own != nullptr && own->overlap_ratio.value;
  add_pair(cells, rank.overlap_percent.value ? format("{:.2f}", *rank.overlap_percent.value) : std::string{empty_cell},
           known ? format("{:.2f}", 100.0 * *own->overlap_ratio.value) : std::string{empty_cell});
  cells.push_back({format("{}", rank.rows)});
  cells.push_back({format("{}", rank.dropped_rows)});
  cells.push_back({format("{}", rank.doubled_rows)});
  return cells;
}

HtaTable time_table(const HtaSection& section, const Report& report, std::size_t limit) {
  Table table{{{"rank"},
               {"kernel µs"},
               {"idle %"},
               {"ours"},
               {"compute %"},
               {"ours"},
               {"other %"},
               {"ours"},
               {"hidden %"},
               {"ours"},
               {"rows"},
               {"lost"},
               {"doubled"}},
              {}};
  for (const HtaRank& rank : section.ranks) {
    if (table.rows.size() == limit) break;
    const RankRow* own = nullptr;
    if (report.rank_rows) {
      const auto found = std::ranges::find(*report.rank_rows, rank.rank, &RankRow::rank);
      if (found != report.rank_rows->end()) own = &*found;
    }
    table.rows.push_back(time_row(rank, own));
  }
  return {"Time of each rank", std::move(table), left_out(section.ranks.size(), limit), told(time_reasons)};
}

HtaTable launch_table(const HtaSection& section, std::size_t limit) {
  Table table{{{"rank"}, {"launches"}, {"calls µs"}, {"work µs"}, {"delays µs"}, {"short"}, {"slow calls"}, {"late"}},
              {}};
  for (const HtaRank& rank : section.ranks) {
    if (table.rows.size() == limit) break;
    const HtaLaunches& launch = rank.launch;
    table.rows.push_back({{format("{}", rank.rank.value)},
                          {format("{}", launch.count)},
                          {micros_text(launch.cpu_ns)},
                          {micros_text(launch.gpu_ns)},
                          {micros_text(launch.delay_ns)},
                          {format("{}", launch.short_kernels)},
                          {format("{}", launch.runtime_outliers)},
                          {format("{}", launch.delay_outliers)}});
  }
  return {"Launches", std::move(table), left_out(section.ranks.size(), limit), told(launch_reasons)};
}

/// Rows of all ranks, the largest first.
template <class T>
struct Largest {
  std::vector<std::pair<RankId, const T*>> rows;  ///< at most as many as are wanted
  LeftOut left_out;
};

template <class T, class Rows, class Size>
Largest<T> largest(const HtaSection& section, Rows rows, Size size, std::size_t limit) {
  std::vector<std::pair<RankId, const T*>> all;
  for (const HtaRank& rank : section.ranks)
    for (const T& row : rank.*rows) all.emplace_back(rank.rank, &row);
  std::ranges::stable_sort(all, std::ranges::greater{}, [&](const auto& row) { return row.second->*size; });
  const LeftOut left = left_out(all.size(), limit);
  all.resize(all.size() - left.rows);
  return {std::move(all), left};
}

HtaTable type_table(const HtaSection& section) {
  Table types{{{"what ran", Align::left, 60}, {"µs"}, {"%"}}, {}};
  for (const HtaTypeTime& type : section.types)
    types.rows.push_back({{type.name}, {micros_text(type.sum_ns)}, {format("{:.1f}", type.percent)}});
  return {"What ran", std::move(types)};
}

HtaTable kernel_table(const HtaSection& section, std::size_t limit) {
  const auto kernels = largest<HtaKernel>(section, &HtaRank::kernels, &HtaKernel::sum_ns, limit);
  Table table{
      {{"rank"}, {"kernel", Align::left, 28}, {"sum µs"}, {"max"}, {"ours"}, {"mean"}, {"ours"}, {"std"}, {"ours"}},
      {}};
  for (const auto& [rank, kernel] : kernels.rows) {
    std::vector<Cell> cells{{format("{}", rank.value)},
                            {shortened_inside(printable(kernel->name), widest_hta_name)},
                            {micros_text(kernel->sum_ns)}};
    add_pair(cells, micros_text(kernel->hta.max_ns), micros_text(kernel->own.max_ns));
    add_pair(cells, micros_text(kernel->hta.mean_ns), micros_text(kernel->own.mean_ns));
    add_pair(cells, micros_text(kernel->hta.stddev_ns), micros_text(kernel->own.stddev_ns));
    table.rows.push_back(std::move(cells));
  }
  return {"Kernels", std::move(table), kernels.left_out, told(kernel_reasons)};
}

HtaTable idle_table(const HtaSection& section, std::size_t limit) {
  const auto streams = largest<HtaStreamIdle>(section, &HtaRank::idle, &HtaStreamIdle::own_idle_ns, limit);
  Table table{{{"rank"}, {"stream"}, {"host wait µs"}, {"kernel wait"}, {"other"}, {"all idle"}, {"ours"}}, {}};
  for (const auto& [rank, idle] : streams.rows) {
    std::vector<Cell> cells{{format("{}", rank.value)}, {format("{}", idle->stream)}};
    std::int64_t all = 0;
    for (const std::int64_t ns : idle->causes_ns) {
      all += ns;
      cells.push_back({micros_text(ns)});
    }
    add_pair(cells, micros_text(all), micros_text(idle->own_idle_ns));
    table.rows.push_back(std::move(cells));
  }
  return {"Idle time of streams", std::move(table), streams.left_out, told(idle_reasons)};
}

HtaTable queue_table(const HtaSection& section, std::size_t limit) {
  const auto queues = largest<HtaQueue>(section, &HtaRank::queues, &HtaQueue::points, limit);
  Table table{{{"rank"}, {"stream"}, {"changes of queue"}, {"longest"}, {"mean"}, {"ours"}}, {}};
  for (const auto& [rank, queue] : queues.rows) {
    std::vector<Cell> cells{{format("{}", rank.value)},
                            {format("{}", queue->stream)},
                            {format("{}", queue->points)},
                            {format("{}", queue->max)}};
    add_pair(cells, format("{:.2f}", queue->mean),
             queue->own_mean.value ? format("{:.2f}", *queue->own_mean.value) : std::string{empty_cell});
    table.rows.push_back(std::move(cells));
  }
  return {"Queues", std::move(table), queues.left_out, told(queue_reasons)};
}

std::string own_stragglers(const Report& report) {
  if (!report.stragglers) return "rankscope: not available; see below.";
  if (!report.stragglers->cannot_tell.empty()) return "rankscope: cannot tell; see SLOW RANKS.";
  std::string ranks;
  for (const Straggler& row : report.stragglers->rows)
    ranks += format("{}{}", ranks.empty() ? "" : ", ", row.rank.value);
  if (ranks.empty() && !lost_evidence(report).empty()) return "rankscope: no slow rank was found; see SLOW RANKS.";
  return ranks.empty()
             ? "rankscope: no slow rank."
             : format("rankscope: rank{} {}; see SLOW RANKS.", report.stragglers->rows.size() == 1 ? "" : "s", ranks);
}

HtaTable straggler_words(const HtaSection& section, const Report& report) {
  std::string text;
  if (section.stragglers) {
    for (const HtaVotes& votes : section.stragglers->votes)
      if (votes.steps > 0)
        text += format("{}rank {} {} {} of {} steps", text.empty() ? "" : ", ", votes.rank.value,
                       text.empty() ? "was the last to start in" : "in", votes.steps, section.stragglers->steps);
    text += format(" ({} on stream {}).", printable(section.stragglers->kernel), section.stragglers->stream);
  } else {
    text = sentence(section.stragglers.error().why);
  }
  return {"Slow ranks",
          {},
          {},
          {{"slow rank", format("HTA: {} {}", text, own_stragglers(report))},
           {"",
            "HTA compares one kernel only, and without aligning the clocks. The name of this kernel must begin with "
            "ncclKernel, a name that newer versions of NCCL do not use. rankscope aligns the clocks and compares all "
            "work."}}};
}

}  // namespace

std::optional<Unavailable> absence_of_hta(const Report& report) {
  if (!report.hta) return Unavailable{"--hta-compat was not given", Missed::no};
  return *report.hta ? std::nullopt : std::optional{report.hta->error()};
}

std::string_view hta_note(HtaLastStep last_step) {
  switch (last_step) {
    case HtaLastStep::dropped:
      return "These numbers follow HTA's formulas: times are rounded to whole µs if the file has fractions, and the "
             "last "
             "step is dropped. rankscope's own values, which are listed beside them, differ by design.";
    case HtaLastStep::kept:
      return "These numbers follow HTA's formulas: times are rounded to whole µs if the file has fractions, and the "
             "last "
             "step is kept. rankscope's own values, which are listed beside them, differ by design.";
  }
  return {};
}

double hta_share(std::int64_t part_ns, const HtaTimes& times) { return hta_percent(part_ns, times.kernel_ns, 2); }

std::vector<HtaTable> hta_tables(const Report& report, std::size_t most) {
  const HtaSection& section = **report.hta;
  const std::size_t ranks = std::max<std::size_t>(16, most);
  std::vector<HtaTable> tables{time_table(section, report, ranks), launch_table(section, ranks)};
  HtaTable kernels = kernel_table(section, most);
  if (!kernels.table.rows.empty()) {
    tables.push_back(type_table(section));
    tables.push_back(std::move(kernels));
  }
  for (HtaTable table : {idle_table(section, most), queue_table(section, most)})
    if (!table.table.rows.empty()) tables.push_back(std::move(table));
  tables.push_back(straggler_words(section, report));
  return tables;
}

std::vector<std::string> hta_notes(const Report& report) {
  std::vector<std::string> notes{std::string{hta_note((*report.hta)->last_step)}};
  if (report.asked_for.steps)
    notes.emplace_back("HTA's numbers cover the whole recording, even if --steps selects a part of it.");
  return notes;
}

void add_hta(Page& page, const Report& report, const ReportOptions& options) {
  if (!report.hta) return;
  page.heading("HTA'S NUMBERS", hta_explanation);
  if (!*report.hta) return page.paragraph(sentence(report.hta->error().why), Tone::warning);
  for (const std::string& note : hta_notes(report)) page.paragraph(note);
  bool first = true;
  for (const HtaTable& part : hta_tables(report, options.top)) {
    if (!std::exchange(first, false)) page.blank();
    if (!part.table.columns.empty()) page.table(part.table);
    if (part.left_out.rows > 0) page.paragraph(in_text(part.left_out));
    for (const HtaReason& reason : part.reasons) page.item({std::string{reason.number}, Tone::faint}, reason.why, 9);
  }
}

}  // namespace rankscope::analyzer

#include "flops/parts.h"

#include <algorithm>
#include <cmath>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "render/means.h"
#include "render/words.h"

namespace rankscope::analyzer {
namespace {

constexpr std::size_t widest_product = 34;
constexpr std::size_t widest_product_shapes = 24;
constexpr std::int64_t flops_bar_width = 28;

/// Three digits with the fitting unit: "1.23 TFLOP", and with `per` "s" a speed.
std::string flop_text(double flops, std::string_view per = {}) {
  static constexpr std::array<std::string_view, 7> units{"", "k", "M", "G", "T", "P", "E"};
  std::size_t unit = 0;
  for (; flops >= 999.5 && unit + 1 < units.size(); ++unit) flops /= 1000;
  const int decimals = flops >= 99.95 || unit == 0 ? 0 : flops >= 9.995 ? 1 : 2;
  return format("{:.{}f} {}FLOP{}{}", flops, decimals, units[unit], per.empty() ? "" : "/", per);
}

std::string_view words_of(Precision precision) {
  switch (precision) {
    case Precision::unknown:
      return "?";
    case Precision::fp64:
      return "FP64";
    case Precision::fp64_matrix:
      return "FP64 matrix";
    case Precision::fp32:
      return "FP32";
    case Precision::fp32_matrix:
      return "TF32";
    case Precision::bf16:
      return "BF16";
    case Precision::fp16:
      return "FP16";
    case Precision::fp8:
      return "FP8";
    case Precision::int8:
      return "INT8";
  }
  return "?";
}

}  // namespace

/// TF32 is NVIDIA's; AMD's matrix units multiply FP32 as it is.
std::string words_of(Precision precision, std::string_view device) {
  const bool amd = device.find("AMD") != std::string_view::npos || device.find("Instinct") != std::string_view::npos;
  return amd && precision == Precision::fp32_matrix ? "FP32 matrix" : std::string{words_of(precision)};
}

namespace {

std::string_view words_of(NotCountable why) {
  switch (why) {
    case NotCountable::no_shapes:
      return "inputs not recorded";
    case NotCountable::unusable_shapes:
      return "inputs whose shapes do not fit each other";
    case NotCountable::not_told_by_shapes:
      return "strides or sequence lengths not recorded, or attention with a sliding window";
    case NotCountable::complex_numbers:
      return "complex numbers";
    case NotCountable::too_large:
      return "more FLOPs than fit into 64 bits";
  }
  return "?";
}

std::string_view words_of(ComputeTime part) {
  switch (part) {
    case ComputeTime::counted:
      return "counted";
    case ComputeTime::not_countable:
      return "operators whose number of FLOPs is not known";
    case ComputeTime::generated:
      return "generated kernels (Triton)";
    case ComputeTime::graph:
      return "CUDA graphs";
    case ComputeTime::no_operator:
      return "kernels without an operator";
    case ComputeTime::matrix_kernel:
      return "matrix kernels of other operators";
    case ComputeTime::other:
      return "other operators";
  }
  return "?";
}

std::string ratio_text(const Ratio& ratio) { return ratio.value ? percent_text(*ratio.value) : "–"; }

std::string speed_text(std::int64_t flops, std::int64_t ns) {
  return ns > 0 ? flop_text(static_cast<double>(flops) / static_cast<double>(ns) * 1e9, "s") : "–";
}

NotedTable rank_table(const FlopsSection& section, std::size_t most) {
  NotedTable noted;
  noted.title = "FLOP count";
  noted.what = section.step_ns > 0 ? "mean per step; MFU = model FLOPs / (median step time · peak)" : "whole recording";
  noted.table.columns = {{"rank"}, {"device", Align::left, 18}, {"model FLOPs"},    {"MFU"},
                         {"HFU"},  {"compute counted"},         {"counted kernels"}};
  const std::size_t shown = std::min(most, section.ranks.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const RankFlops& rank = section.ranks[i];
    const auto steps = static_cast<double>(std::max<std::int64_t>(1, rank.steps));
    noted.table.rows.push_back({{std::to_string(rank.rank.value)},
                                {printable(rank.device)},
                                {rank.model_flops > 0 ? flop_text(static_cast<double>(rank.model_flops) / steps) : "–"},
                                {ratio_text(rank.mfu)},
                                {ratio_text(rank.hfu)},
                                {ratio_text(rank.coverage)},
                                {speed_text(rank.sums.executed, rank.sums.kernels_ns)}});
  }
  noted.left_out = left_out(section.ranks.size(), most);
  return noted;
}

void add_peaks(const FlopsSection& section, std::vector<std::string>& notes) {
  const RankFlops& rank = section.ranks.front();
  const auto devices = rank.devices > 1 ? format("{} · ", rank.devices) : std::string{};
  std::string peaks;
  for (const PrecisionRow& row : rank.precisions) {
    if (row.sums.executed == 0) continue;
    const std::string peak =
        row.peak_tflops ? format("peak {}{:g} TFLOP/s", devices, *row.peak_tflops / static_cast<double>(rank.devices))
                        : "peak not known";
    peaks += format("{}{} of the FLOPs in {} ({})", peaks.empty() ? "" : ", ",
                    share_text(row.sums.executed, rank.sums.executed), words_of(row.precision, rank.device), peak);
  }
  if (peaks.empty()) return;
  notes.push_back(
      format("Rank {}: {}{}.", rank.rank.value, peaks,
             rank.peak_source.empty() ? "" : format("; source of the peaks (without sparsity): {}", rank.peak_source)));
}

void add_lost(const FlopsSection& section, std::vector<std::string>& notes) {
  std::array<std::int64_t, not_countable_count> lost{};
  std::int64_t without_work = 0;
  std::int64_t fp32_unclear = 0;
  for (const RankFlops& rank : section.ranks) {
    for (std::size_t i = 0; i < lost.size(); ++i) lost[i] += rank.lost_calls[i];
    without_work += rank.calls_without_work;
    fp32_unclear += rank.fp32_unclear;
  }
  for (std::size_t i = 0; i < lost.size(); ++i)
    if (lost[i] > 0)
      notes.push_back(
          format("Not counted: {} ({}).", counted(lost[i], "call"), words_of(static_cast<NotCountable>(i))));
  if (without_work > 0)
    notes.push_back(
        format("Not counted: {} that started no recorded work on the device.", counted(without_work, "call")));
  if (section.sums.assumed > 0)
    notes.push_back(
        format("{} of the FLOPs are counted in full, since the recording does not say whether half of them were "
               "skipped (causal attention, gradients that are not needed).",
               share_text(section.sums.assumed, section.sums.model)));
  if (fp32_unclear > 0)
    notes.push_back(format(
        "{} of the FLOPs are computed on FP32 numbers by kernels whose names do not show whether they use matrix "
        "units. These FLOPs are counted as FP32, not as {}.",
        share_text(fp32_unclear, section.sums.model), words_of(Precision::fp32_matrix, section.ranks.front().device)));
}

void add_coverage(const FlopsSection& section, std::vector<std::string>& notes) {
  std::array<std::int64_t, compute_time_count> parts{};
  std::int64_t whole = 0;
  for (const RankFlops& rank : section.ranks) {
    if (!rank.accelerator) continue;
    whole += rank.compute_ns;
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i] += rank.compute_parts[i];
  }
  std::string list;
  for (std::size_t i = 1; i < parts.size(); ++i)
    if (parts[i] > 0)
      list += format("{}{} {}", list.empty() ? "" : ", ",
                     percent_text(static_cast<double>(parts[i]) / static_cast<double>(whole)),
                     words_of(static_cast<ComputeTime>(i)));
  if (!list.empty()) notes.push_back(format("Compute time in which no FLOPs are counted: {}.", list));
}

/// How the FLOPs were found, and what they leave out.
void add_notes(const FlopsSection& section, std::vector<std::string>& notes) {
  if (std::ranges::any_of(section.ranks, &RankFlops::stated_by_user)) {
    notes.push_back(
        format("The run itself states its model FLOPs: {} per step, summed over all ranks (model_flops_per_step).",
               flop_text(static_cast<double>(*section.user_flops_per_step))));
  } else {
    if (section.user_flops_per_step) {
      notes.emplace_back(
          "The number that the run states (model_flops_per_step) could not be used: there are no counted steps.");
    } else if (!section.refused_user_flops.empty()) {
      notes.push_back(format("{}.", printable(why_no_user_flops(section))));
    }
    notes.emplace_back(
        "Counted: matrix products, convolutions and attention, from the inputs of operators; 2 FLOPs per multiply-add. "
        "This is a lower bound, because other operations are not counted.");
  }
  add_peaks(section, notes);
  add_coverage(section, notes);
  add_lost(section, notes);
  if (section.mfu.value && *section.mfu.value > 1)
    notes.emplace_back(
        "MFU is above 100 %: the peak is too low (a wrong --peak-tflops, or clocks above those of the data sheet), or "
        "the kernels do fewer multiplications than are counted (Winograd convolutions).");
  if (!section.mfu.value && !section.mfu.why.empty()) notes.push_back(format("MFU is not known: {}.", section.mfu.why));
  if (!section.ladder)
    notes.push_back(format("The table of lost time cannot be shown: {}.", section.ladder.error().why));
}

/// "   ████      ": what a rung takes away, and what is left behind it.
std::string rung(std::int64_t before, std::int64_t part, std::int64_t whole) {
  const auto column = [whole](std::int64_t ns) {
    return std::llround(static_cast<double>(ns) / static_cast<double>(whole) * flops_bar_width);
  };
  std::string bar;
  for (std::int64_t i = 0; i < column(before - part); ++i) bar += ' ';
  for (std::int64_t i = column(before - part); i < column(before); ++i) bar += "█";
  return bar;
}

NotedTable ladder_table(const FlopsSection& section) {
  const Ladder& ladder = *section.ladder;
  const std::int64_t parts = rank_steps_of(section);
  NotedTable noted;
  noted.title = "Lost time";
  noted.what = format("from the total time down to the model's time at peak speed; ms: mean per {}",
                      section.step_ns > 0 ? "step and rank" : "rank");
  noted.table.columns = {{"lost time", Align::left}, {"points"}, {"left"}, {"ms"}, {"from 0 to 100", Align::left}};
  const auto points = points_of(ladder);
  std::int64_t left = ladder.whole_ns;
  std::int64_t points_left = 10'000;
  for (std::size_t i = 0; i < ladder.parts.size(); ++i) {
    const LadderPart& part = ladder.parts[i];
    const bool last = i + 1 == ladder.parts.size();
    points_left -= points[i];
    if (part.ns != 0 || last)
      noted.table.rows.push_back({{std::string{words_of(part.step)}},
                                  {decimal(points[i], 2)},
                                  {last ? "" : decimal(points_left, 2)},
                                  {Means{0, parts}.ms(part.ns)},
                                  {rung(left, part.ns, ladder.whole_ns)}});
    left -= part.ns;
  }
  if (!ladder.why_at_compute.empty())
    noted.notes.push_back(format("The table ends at the compute time: {}.", ladder.why_at_compute));
  return noted;
}

std::int64_t steps_of_all(const FlopsSection& section) {
  std::int64_t steps = 0;
  for (const RankFlops& rank : section.ranks) steps += rank.steps;
  return steps;
}

bool above_peak(const FlopRow& row) { return row.at_peak_ns && *row.at_peak_ns > row.sums.kernels_ns; }

/// What is faster than the peak allows has fewer multiplications than are counted; its loss would be below zero.
std::string above_peak_note(const FlopsSection& section, const Means& means) {
  std::int64_t rows = 0;
  std::int64_t ns = 0;
  const FlopRow* fastest = nullptr;
  const auto ratio = [](const FlopRow& row) {
    return static_cast<double>(*row.at_peak_ns) / static_cast<double>(std::max<std::int64_t>(1, row.sums.kernels_ns));
  };
  for (const FlopRow& row : section.operators) {
    if (!above_peak(row)) continue;
    ++rows;
    ns += *row.at_peak_ns - row.sums.kernels_ns;
    if (fastest == nullptr || ratio(row) > ratio(*fastest)) fastest = &row;
  }
  if (fastest == nullptr) return {};
  return format(
      "Not listed: {} faster than the peak. The fastest reaches {} of the peak ({}). In total, these operators take {} "
      "ms less than they would at the peak; in the table above, this difference is subtracted from the lost time. "
      "Either they need fewer multiplications than are counted (Winograd, FFT), or the peak is too low.",
      rows == 1 ? "one row" : format("{} rows", rows), percent_text(ratio(*fastest)), printable(fastest->name),
      means.ms(ns));
}

NotedTable operator_table(const FlopsSection& section, std::size_t most) {
  NotedTable noted;
  noted.title = "Operators below the peak";
  const Means means{static_cast<std::int64_t>(section.ranks.size()), steps_of_all(section)};
  noted.what = means.words() + "; lost: excess over peak time";
  noted.table.columns = {{"operator", Align::left, widest_product},
                         {"inputs", Align::left, widest_product_shapes},
                         {"type", Align::left},
                         {"calls"},
                         {"FLOPs"},
                         {"ms"},
                         {"TFLOP/s"},
                         {"of peak"},
                         {"lost ms"}};
  const std::string_view device = section.ranks.empty() ? std::string_view{} : section.ranks.front().device;
  std::vector<const FlopRow*> rows;
  for (const FlopRow& row : section.operators)
    if (!above_peak(row)) rows.push_back(&row);
  const std::size_t shown = std::min(most, rows.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const FlopRow& row = *rows[i];
    const auto ns = static_cast<double>(row.sums.kernels_ns);
    const bool timed = row.sums.kernels_ns > 0;
    noted.table.rows.push_back(
        {{printable(row.name)},
         {printable(row.shapes)},
         {words_of(row.precision, device)},
         {means.count(row.sums.calls)},
         {flop_text(static_cast<double>(row.sums.executed) / static_cast<double>(means.parts()))},
         {means.ms(row.sums.kernels_ns)},
         {timed ? format("{:.4g}", static_cast<double>(row.sums.executed) / ns / 1000) : "–"},
         {row.at_peak_ns && timed ? percent_text(static_cast<double>(*row.at_peak_ns) / ns) : "–"},
         {row.at_peak_ns ? means.ms(row.sums.kernels_ns - *row.at_peak_ns) : "–"}});
  }
  noted.left_out = left_out(rows.size(), most);
  if (std::string note = above_peak_note(section, means); !note.empty()) noted.notes.push_back(std::move(note));
  return noted;
}

}  // namespace

std::string why_no_flops(const Report& report) {
  const bool accelerated = report.flops && std::ranges::any_of(report.flops->ranks, &RankFlops::accelerator);
  return accelerated ? report.flops->why_no_flops : std::string{};
}

std::string why_no_user_flops(const FlopsSection& section) {
  if (section.user_flops_per_step) return {};
  if (section.refused_user_flops.empty()) return "not given";
  return format("model_flops_per_step of the run must be a number of FLOPs (is '{}')", section.refused_user_flops);
}

std::vector<std::int64_t> points_of(const Ladder& ladder) {
  std::vector<std::int64_t> parts;
  for (const LadderPart& part : ladder.parts) parts.push_back(part.ns);
  return apportioned(parts, 10'000);
}

std::int64_t rank_steps_of(const FlopsSection& section) {
  std::int64_t steps = 0;
  for (const RankFlops& rank : section.ranks) steps += rank.steps;
  return std::max<std::int64_t>(1, steps > 0 ? steps : static_cast<std::int64_t>(section.ranks.size()));
}

std::string_view words_of(LadderStep step) {
  switch (step) {
    case LadderStep::idle_host:
      return "idle: the host";
    case LadderStep::idle_sync:
      return "idle: synchronization";
    case LadderStep::idle_data:
      return "idle: data";
    case LadderStep::idle_kernel_gap:
      return "idle: gaps between kernels";
    case LadderStep::idle_other:
      return "idle: other causes";
    case LadderStep::memory:
      return "copies";
    case LadderStep::exposed_unsplit:
      return "waiting or transfer";
    case LadderStep::exposed_wait:
      return "waiting in communication";
    case LadderStep::exposed_transfer:
      return "transfer";
    case LadderStep::kernels_not_counted:
      return "kernels that are not counted";
    case LadderStep::kernels_below_peak:
      return "counted kernels below the peak";
    case LadderStep::kernels:
      return "kernels below the peak";
    case LadderStep::model:
      return "the model at the peak";
    case LadderStep::compute:
      return "compute";
  }
  return "?";
}

std::vector<NotedTable> flop_tables(const Report& report, std::size_t most) {
  if (!report.flops || !report.flops->why_no_flops.empty()) return {};
  const FlopsSection& section = *report.flops;
  std::vector<NotedTable> tables{rank_table(section, most)};
  add_notes(section, tables.back().notes);
  if (section.ladder) tables.push_back(ladder_table(section));
  if (!section.operators.empty()) tables.push_back(operator_table(section, most));
  return tables;
}

}  // namespace rankscope::analyzer

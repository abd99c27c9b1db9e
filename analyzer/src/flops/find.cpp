#include "flops/parts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "flops/counted_operators.h"
#include "flops/device_peaks.h"
#include "flops/loss_ladder.h"
#include "math/checked_product.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/numbers.h"
#include "split/row_sums.h"
#include "steps/parts.h"
#include "words/keys.h"

namespace rankscope::analyzer {
namespace {

/// A TFLOP/s is a thousand FLOP/ns.
constexpr double flops_per_ns = 1000;

/// As FP32 numbers may be multiplied by two kinds of units, the kernel decides.
Precision with_units(Precision type, TensorCores cores) {
  if (cores != TensorCores::yes) return type;
  if (type == Precision::fp32) return Precision::fp32_matrix;
  return type == Precision::fp64 ? Precision::fp64_matrix : type;
}

/// Without matrix units for these numbers.
Precision plain(Precision precision) {
  if (precision == Precision::fp32_matrix) return Precision::fp32;
  return precision == Precision::fp64_matrix ? Precision::fp64 : precision;
}

std::string no_peak_text(Precision precision, std::string_view device) {
  if (precision == Precision::unknown) return "the precision of the inputs of some operators is not known";
  return format("the peak speed of the device for {} is not known", words_of(precision, device));
}

/// Peaks of the devices of one rank.
class RankPeaks {
 public:
  RankPeaks(const std::string& device, std::int64_t devices, std::optional<double> given)
      : device_(device), table_(peaks_of(device)), devices_(static_cast<double>(devices)), given_(given) {
    if (table_ == nullptr && !given)
      why_ = format("the peak of {} is not known; give it with --peak-tflops", device == "cpu" ? "a CPU" : device);
  }

  /// Of all devices together, in TFLOP/s.
  [[nodiscard]] std::optional<double> of(Precision precision) const {
    std::optional<double> one = given_;
    if (!one && table_ != nullptr) one = table_->of(precision);
    if (!one && table_ != nullptr) one = table_->of(plain(precision));
    return one ? std::optional{*one * devices_} : std::nullopt;
  }
  /// Set where `of` gives nothing.
  [[nodiscard]] std::string why(Precision precision) const {
    return why_.empty() ? no_peak_text(precision, device_) : why_;
  }
  [[nodiscard]] std::string_view source() const {
    return given_ ? "--peak-tflops" : table_ != nullptr ? table_->source : "";
  }

 private:
  std::string_view device_;
  const DevicePeaks* table_;
  double devices_;
  std::optional<double> given_;
  std::string why_;
};

std::int64_t time_at(double flops, double tflops) { return std::llround(flops / (tflops * flops_per_ns)); }

/// What the user says in the metadata of the run or of the lowest rank.
void take_stated_flops(const Run& run, FlopsSection& section) {
  std::string_view text = run.metadata(keys::model_flops_per_step);
  if (text.empty()) text = run.metadata(run.process_of(run.ranks().front()), keys::model_flops_per_step);
  if (const auto value = number_from<double>(text, {1, 9e18}))
    section.user_flops_per_step = std::llround(*value);
  else
    section.refused_user_flops = text;
}

/// Rows of operators over all ranks, while they are summed.
class FlopRows {
 public:
  explicit FlopRows(const Run& run) : run_(run) {}

  [[nodiscard]] bool add(const CountedCall& call, StringId shapes, const FlopSums& sums, Precision precision,
                         std::optional<double> peak) {
    auto [found, added] = rows_.try_emplace({run_.span(call.call).name, shapes, precision});
    Row& row = found->second;
    if (added) row.kind = call.flops.kind;
    row.at_peak_ns += peak ? static_cast<double>(sums.executed) / (*peak * flops_per_ns) : 0;
    row.has_peak = row.has_peak && peak;
    return row.sums.add(sums);
  }

  [[nodiscard]] std::vector<FlopRow> finish() const {
    std::vector<FlopRow> rows;
    for (const auto& [key, row] : rows_) {
      if (row.sums.calls == 0) continue;
      const auto& [name, shapes, precision] = key;
      rows.push_back({std::string{run_.text(name)}, std::string{run_.text(shapes)}, row.kind, precision, row.sums,
                      row.has_peak ? std::optional<std::int64_t>{std::llround(row.at_peak_ns)} : std::nullopt});
    }
    std::ranges::sort(rows, [](const FlopRow& a, const FlopRow& b) { return rank_of(a) < rank_of(b); });
    return rows;
  }

 private:
  struct Row {
    FlopClass kind = FlopClass::matrix;
    FlopSums sums;
    double at_peak_ns = 0;
    bool has_peak = true;
  };

  static std::tuple<std::int64_t, std::int64_t, std::string_view, std::string_view, Precision> rank_of(
      const FlopRow& row) {
    return {-(row.sums.kernels_ns - row.at_peak_ns.value_or(0)), -row.sums.kernels_ns, row.name, row.shapes,
            row.precision};
  }

  const Run& run_;
  std::map<std::tuple<StringId, StringId, Precision>, Row> rows_;
};

class FlopCounting {
 public:
  FlopCounting(const Run& run, const ReportOptions& options, const Section<StepsSection>& steps)
      : run_(run), options_(options), steps_(steps), cache_(run), rows_(run) {
    section_.user_peak_tflops = options.peak_tflops;
    take_stated_flops(run, section_);
    if (steps) section_.step_ns = steps->median_ns;
    world_size_ = std::max(run.info().world_size, static_cast<std::int64_t>(run.ranks().size()));
  }

  void add(const RankRow& rank_row) {
    const CountedWindows windows = counted_windows(run_, rank_row.rank, steps_);
    const CountedOperators counted = count_operators(run_, cache_, rank_row.rank, windows);
    const RankPeaks peaks{rank_row.device, counted.devices, options_.peak_tflops};
    RankFlops rank;
    rank.rank = rank_row.rank;
    rank.device = rank_row.device;
    rank.devices = counted.devices;
    rank.peak_source = peaks.source();
    rank.accelerator = run_.has_accelerator(rank.rank);
    rank.steps = windows.steps;
    rank.window_ns = rank_row.total.window_ns;
    rank.compute_ns = rank_row.total.compute_ns;
    rank.lost_calls = counted.lost_calls;
    rank.calls_without_work = counted.calls_without_work;
    rank.compute_parts = counted.compute_parts;
    for (const CountedCall& call : counted.calls) add_call(call, peaks, rank);
    finish_rank(peaks, rank);
    splits_.push_back(rank_row.total);
    section_.ranks.push_back(std::move(rank));
  }

  FlopsSection finish() && {
    section_.operators = rows_.finish();
    std::string why_no_peak = section_.why_no_flops = why_no_flops();
    for (const RankFlops& rank : section_.ranks)
      if (why_no_peak.empty() && !rank.at_peak_ns) why_no_peak = rank.why_no_peak;
    section_.ladder = loss_ladder(section_.ranks, splits_, why_no_peak);
    add_ratios();
    return std::move(section_);
  }

 private:
  void add_call(const CountedCall& call, const RankPeaks& peaks, RankFlops& rank) {
    const Precision precision = with_units(call.flops.precision, call.cores);
    FlopSums sums;
    sums.exclusive_ns = call.exclusive_ns;
    if (call.in_windows) {
      sums.calls = 1;
      sums.model = call.recomputed ? 0 : call.flops.model;
      sums.executed = call.flops.executed;
      sums.assumed = call.flops.assumed ? sums.model : 0;
      sums.kernels_ns = call.kernels_ns;
    }
    // The sums of the job hold those of all ranks and rows: where they fit, all do.
    if (!section_.sums.add(sums)) {
      ++rank.lost_calls[static_cast<std::size_t>(NotCountable::too_large)];
      return;
    }
    const std::optional<double> peak = peaks.of(precision);
    auto row = std::ranges::find(rank.precisions, precision, &PrecisionRow::precision);
    if (row == rank.precisions.end()) row = rank.precisions.insert(row, {precision, {}, peak});
    const bool fits = row->sums.add(sums) && rank.sums.add(sums) &&
                      rows_.add(call, cache_.sizes_of(call.call), sums, precision, peak);
    RS_CHECK(fits);
    if (call.in_windows && call.recomputed) rank.recomputed += call.flops.executed;
    const bool unclear = precision == Precision::fp32 && call.cores == TensorCores::unknown && rank.accelerator;
    if (unclear && (!peak || peaks.of(Precision::fp32_matrix) != peak)) rank.fp32_unclear += sums.model;
  }

  /// The FLOPs of the model in the windows of the rank.
  void finish_rank(const RankPeaks& peaks, RankFlops& rank) {
    std::ranges::stable_sort(rank.precisions, std::ranges::greater{},
                             [](const PrecisionRow& row) { return row.sums.model; });
    rank.model_flops = rank.sums.model;
    const auto stated = section_.user_flops_per_step;
    const auto share = stated ? product_of({*stated / world_size_, rank.steps}) : std::nullopt;
    if (share && *share > 0) {
      rank.model_flops = *share;
      rank.stated_by_user = true;
      const Precision main = rank.precisions.empty() ? Precision::unknown : rank.precisions.front().precision;
      if (const auto peak = peaks.of(main)) {
        rank.at_peak_ns = time_at(static_cast<double>(*share), *peak);
      } else {
        rank.why_no_peak = peaks.why(main);
      }
    } else {
      sum_at_peak(peaks, rank);
    }
    rank.coverage = coverage_of(rank);
    set_ratios(rank);
  }

  static void sum_at_peak(const RankPeaks& peaks, RankFlops& rank) {
    std::int64_t sum_ns = 0;
    for (const PrecisionRow& row : rank.precisions) {
      if (row.sums.model == 0) continue;
      if (!row.peak_tflops) {
        rank.why_no_peak = peaks.why(row.precision);
        return;
      }
      sum_ns += time_at(static_cast<double>(row.sums.model), *row.peak_tflops);
    }
    rank.at_peak_ns = sum_ns;
  }

  static Ratio coverage_of(const RankFlops& rank) {
    if (!rank.accelerator)
      return {std::nullopt, "the rank runs on CPUs, where several threads can run operators at the same time"};
    if (rank.compute_ns <= 0) return {std::nullopt, "no compute time"};
    return {static_cast<double>(rank.compute_parts[static_cast<std::size_t>(ComputeTime::counted)]) /
                static_cast<double>(rank.compute_ns),
            {}};
  }

  /// MFU and HFU of one rank (15.1, 15.2).
  void set_ratios(RankFlops& rank) const {
    const double time_ns = static_cast<double>(section_.step_ns) * static_cast<double>(rank.steps);
    std::string why;
    if (rank.model_flops == 0) why = "no FLOPs were counted";
    if (why.empty() && time_ns <= 0) why = "no steps";
    if (why.empty() && !rank.at_peak_ns) why = rank.why_no_peak;
    rank.mfu = rank.hfu = {std::nullopt, why};
    if (!why.empty()) return;
    rank.mfu = {static_cast<double>(*rank.at_peak_ns) / time_ns, {}};
    rank.hfu = executed_ratio(rank);
  }

  /// A number of the user says nothing of what is computed again: it grows as the counted FLOPs do.
  static Ratio executed_ratio(const RankFlops& rank) {
    if (rank.sums.executed == rank.sums.model) return {std::nullopt, "no recomputation was seen"};
    double model_ns = 0;
    double executed_ns = 0;
    for (const PrecisionRow& row : rank.precisions) {
      if (row.sums.executed == 0) continue;
      if (!row.peak_tflops)
        return {std::nullopt,
                format("some operations were recomputed, but {}", no_peak_text(row.precision, rank.device))};
      model_ns += static_cast<double>(row.sums.model) / (*row.peak_tflops * flops_per_ns);
      executed_ns += static_cast<double>(row.sums.executed) / (*row.peak_tflops * flops_per_ns);
    }
    if (model_ns <= 0) return {std::nullopt, "no FLOPs of the model were counted, so there is nothing to compare with"};
    return {*rank.mfu.value * executed_ns / model_ns, {}};
  }

  [[nodiscard]] std::string why_no_flops() const {
    std::int64_t lost = 0;
    std::int64_t without_shapes = 0;
    for (const RankFlops& rank : section_.ranks) {
      if (rank.model_flops > 0) return {};
      for (const std::int64_t calls : rank.lost_calls) lost += calls;
      without_shapes += rank.lost_calls[static_cast<std::size_t>(NotCountable::no_shapes)];
    }
    if (lost == 0 &&
        std::ranges::any_of(section_.ranks, [](const RankFlops& rank) { return rank.calls_without_work > 0; }))
      return "matrix products were recorded as operators, but not the launch calls that show which kernels belong to "
             "them";
    if (lost == 0) return "no matrix product, convolution or attention was recorded as an operator";
    return without_shapes == lost ? "the inputs of operators were not recorded"
                                  : "the recording lacks the data from which the FLOPs of operators are computed";
  }

  /// Of all ranks: the mean of their ratios, weighted by their time.
  void add_ratios() {
    section_.mfu = mean_of(&RankFlops::mfu, [](const RankFlops& rank) { return rank.steps; });
    section_.hfu = mean_of(&RankFlops::hfu, [](const RankFlops& rank) { return rank.steps; });
    section_.coverage = mean_of(&RankFlops::coverage, [](const RankFlops& rank) { return rank.compute_ns; });
  }

  template <class Weight>
  [[nodiscard]] Ratio mean_of(Ratio RankFlops::*ratio, Weight weight) const {
    double sum = 0;
    double weights = 0;
    for (const RankFlops& rank : section_.ranks) {
      const Ratio& one = rank.*ratio;
      if (!one.value && section_.ranks.size() > 1)
        return {std::nullopt, format("rank {}: {}", rank.rank.value, one.why)};
      if (!one.value) return one;
      sum += *(rank.*ratio).value * static_cast<double>(weight(rank));
      weights += static_cast<double>(weight(rank));
    }
    if (weights <= 0) return {std::nullopt, "no steps"};
    return {sum / weights, {}};
  }

  const Run& run_;
  const ReportOptions& options_;
  const Section<StepsSection>& steps_;
  FlopCache cache_;
  FlopRows rows_;
  std::int64_t world_size_ = 1;
  std::vector<TimeSplit> splits_;  // of section_.ranks
  FlopsSection section_;
};

}  // namespace

bool FlopSums::add(const FlopSums& more) {
  FlopSums sum = *this;
  const bool fits = add_fits(sum.calls, more.calls) && add_fits(sum.model, more.model) &&
                    add_fits(sum.executed, more.executed) && add_fits(sum.assumed, more.assumed) &&
                    add_fits(sum.kernels_ns, more.kernels_ns) && add_fits(sum.exclusive_ns, more.exclusive_ns);
  if (fits) *this = sum;
  return fits;
}

Section<FlopsSection> count_flops(const Run& run, const Section<StepsSection>& steps,
                                  const Section<std::vector<RankRow>>& rank_rows, const ReportOptions& options) {
  if (!rank_rows) return unavailable(rank_rows.error().why);
  FlopCounting counting{run, options, steps};
  for (const RankRow* row : asked_rows_to_sum(*rank_rows, options)) counting.add(*row);
  return std::move(counting).finish();
}

std::string_view name_of(ComputeTime part) {
  switch (part) {
    case ComputeTime::counted:
      return "counted";
    case ComputeTime::not_countable:
      return "not_countable";
    case ComputeTime::generated:
      return "generated";
    case ComputeTime::graph:
      return "graph";
    case ComputeTime::no_operator:
      return "no_operator";
    case ComputeTime::matrix_kernel:
      return "matrix_kernel";
    case ComputeTime::other:
      return "other";
  }
  return "?";
}

}  // namespace rankscope::analyzer

#include "copies/parts.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "copies/host_calls.h"
#include "math/checked_product.h"
#include "rankscope/core/model/run.h"
#include "split/device_record.h"
#include "split/device_work.h"
#include "split/host_timeline.h"
#include "steps/parts.h"
#include "words/keys.h"

namespace rankscope::analyzer {
namespace {

constexpr std::int64_t most_bytes = std::int64_t{1} << 48;  // no memory holds more; damaged numbers must not overflow

std::optional<std::string_view> behind(std::string_view text, std::string_view front) {
  if (!text.starts_with(front)) return std::nullopt;
  return text.substr(front.size());
}

/// "Memcpy HtoD (Pageable -> Device)" is HtoD between Pageable and Device.
CopyRow row_named(std::string_view name) {
  CopyRow row;
  const std::size_t open = name.find(" (");
  if (open != std::string_view::npos && name.ends_with(')')) row.memory = name.substr(open + 2, name.size() - open - 3);
  const std::string_view head = name.substr(0, open);
  if (const auto kind = behind(head, "Memcpy "))
    row.kind = *kind;
  else
    row.kind = head.starts_with("Memset") ? "memset" : "other";
  return row;
}

struct Sums {
  CopyRow row;
  std::int64_t measured_bytes = 0;
  std::int64_t measured_ns = 0;

  CopyRow finish() && {
    if (measured_ns > 0) row.gbps = static_cast<double>(measured_bytes) / static_cast<double>(measured_ns);
    return std::move(row);
  }
};

class Tabulation {
 public:
  explicit Tabulation(const Run& run)
      : run_(run), bytes_(run.strings().find(keys::bytes)), by_name_(run.strings().size()), calls_(run) {}

  void add(RankId rank, const CountedWindows& windows, std::optional<RunTime> first_step_end) {
    ++ranks_;
    rank_steps_ += windows.steps;
    std::vector<SpanId> waits;
    const DeviceWork work = device_work(run_, rank, windows);
    for (const Activity& activity : work.activities) {
      if (activity.kind != ActivityClass::memory || run_.span(activity.span).kind != SpanKind::memory) continue;
      if (activity.counted) add_copy(activity);
      if (const auto call = blocking_call(activity.span)) waits.push_back(*call);
    }
    add_exposed(work, windows);
    std::ranges::sort(waits);
    const WindowTime window_time{windows};
    const auto process = run_.process_row_of(rank);
    for (const Lane& lane : run_.lanes())
      if (lane.process == process && lane.kind == LaneKind::thread)
        calls_.over(lane, window_time, waits, first_step_end.value_or(first_work(work)));
  }

  Section<CopiesSection> finish() && {
    if (ranks_ == 0) return no_device_work(run_);
    CopiesSection section;
    for (std::optional<Sums>& sums : by_name_)
      if (sums) section.copies.push_back(std::move(*sums).finish());
    std::ranges::sort(section.copies, [](const CopyRow& a, const CopyRow& b) {
      return std::tie(b.sum_ns, a.kind, a.memory) < std::tie(a.sum_ns, b.kind, b.memory);
    });
    section.blocking_copies = calls_.blocking_copies();
    section.synchronizations = calls_.synchronizations();
    section.allocations = calls_.allocations();
    section.ranks = ranks_;
    section.rank_steps = rank_steps_;
    return section;
  }

 private:
  /// Before it the program starts up.
  static RunTime first_work(const DeviceWork& work) {
    return work.activities.empty() ? RunTime::max() : work.activities.front().time.begin;
  }

  void add_copy(const Activity& activity) {
    const StringId name = run_.span(activity.span).name;
    std::optional<Sums>& sums = by_name_[name.index()];
    if (!sums) sums = Sums{row_named(run_.text(name)), 0, 0};
    CopyRow& row = sums->row;
    const auto bytes = bytes_.is_set() ? run_.attributes_of(activity.span).find(bytes_) : std::nullopt;
    const std::int64_t ns = activity.time.length().count();
    ++row.count;
    row.sum_ns += ns;
    const bool told = bytes && bytes->kind == AttributeKind::number && bytes->number >= 0;
    const bool fits = told && bytes->number <= most_bytes && add_fits(row.bytes, bytes->number);
    if (told && !fits) ++row.too_large;
    if (!fits || ns == 0) {
      ++row.unmeasured;
    } else {
      sums->measured_bytes += bytes->number;
      sums->measured_ns += ns;
    }
  }

  /// By name the time in which nothing hid its copies.
  void add_exposed(const DeviceWork& work, const CountedWindows& windows) {
    std::map<StringId, std::vector<TimeRange>> times;
    for (const Activity& activity : work.activities)
      if (activity.kind == ActivityClass::memory && run_.span(activity.span).kind == SpanKind::memory)
        times[run_.span(activity.span).name].push_back(activity.time);
    const IntervalSet counted = IntervalSet::from(windows.ranges);
    const auto hides = [&](ActivityClass kind) -> const IntervalSet& {
      return work.sets[static_cast<std::size_t>(kind)];
    };
    for (auto& [name, ranges] : times) {
      std::optional<Sums>& sums = by_name_[name.index()];
      if (!sums) continue;  // only outside of the windows
      const IntervalSet own = both(IntervalSet::from(std::move(ranges)), counted);
      sums->row.exposed_ns +=
          without(without(own, hides(ActivityClass::compute)), hides(ActivityClass::comm)).length_ns();
    }
  }

  /// The call of a copy that returns only when it is done, or copies memory that the device cannot reach by itself.
  [[nodiscard]] std::optional<SpanId> blocking_call(SpanId copy) const {
    const auto links = run_.links_to(LinkKind::launch, copy);
    if (links.empty()) return std::nullopt;
    const SpanId call = links.front().from;
    const bool pageable = run_.text(run_.span(copy).name).find("Pageable") != std::string_view::npos;
    if (!pageable && !blocks_host(run_.text(run_.span(call).name))) return std::nullopt;
    return call;
  }

  const Run& run_;
  StringId bytes_;
  std::vector<std::optional<Sums>> by_name_;
  HostCalls calls_;
  std::int64_t ranks_ = 0;
  std::int64_t rank_steps_ = 0;
};

}  // namespace

Section<CopiesSection> tabulate_copies(const Run& run, const Section<StepsSection>& steps,
                                       const Section<StepsSection>& all_steps, const ReportOptions& options) {
  if (std::string why = why_nothing_counts(steps, options); !why.empty()) return unavailable(std::move(why));
  Tabulation tabulation{run};
  for (const RankId rank : ranks_to_sum(run, steps, options, Among::accelerators)) {
    const auto windows = all_steps ? windows_of(*all_steps, rank) : std::span<const StepWindow>{};
    tabulation.add(rank, counted_windows(run, rank, steps),
                   windows.empty() ? std::nullopt : std::optional{windows.front().window.end});
  }
  return std::move(tabulation).finish();
}

}  // namespace rankscope::analyzer

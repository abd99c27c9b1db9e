#include "fusable/parts.h"

#include <algorithm>
#include <map>

#include "kernels/kernel_names.h"
#include "math/interval_set.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "split/device_record.h"
#include "split/device_work.h"
#include "steps/counted_windows.h"
#include "steps/parts.h"

namespace rankscope::analyzer {
namespace {

constexpr std::int64_t farthest_ns = 100'000;  // behind a longer gap the host was doing something else
constexpr std::size_t most_words = 6;

using Names = std::vector<StringId>;

struct Sums {
  std::int64_t count = 0;
  std::int64_t kernel_ns = 0;
  std::int64_t gap_ns = 0;
};

/// "add ×3"
std::string times(const std::string& what, std::size_t count) {
  return count > 1 ? format("{} ×{}", what, count) : what;
}

/// What it applies is enough: that it does so to each element is known.
std::string functor_of(std::string_view name) {
  const std::string text = short_kernel_name(name);
  return text.substr(0, text.find(" · "));
}

/// The sequence with what repeats written once.
class Spelling {
 public:
  explicit Spelling(const Run& run) : run_(run) {}

  std::string operator()(const Names& names) const {
    const std::size_t period = period_of(names);
    const std::size_t repeats = names.size() / period;
    const std::string unit = words({names.begin(), names.begin() + static_cast<std::ptrdiff_t>(period)});
    return repeats > 1 && period > 1 ? format("({}) ×{}", unit, repeats) : words(names);
  }

 private:
  /// The shortest begin of which the whole is repetitions.
  static std::size_t period_of(const Names& names) {
    for (std::size_t period = 1; period <= names.size() / 2; ++period)
      if (names.size() % period == 0 &&
          std::equal(names.begin() + static_cast<std::ptrdiff_t>(period), names.end(), names.begin()))
        return period;
    return names.size();
  }

  [[nodiscard]] std::string words(const Names& names) const {
    std::string text;
    std::size_t shown = 0;
    for (std::size_t i = 0; i < names.size();) {
      std::size_t same = i + 1;
      while (same < names.size() && names[same] == names[i]) ++same;
      if (shown++ == most_words) return format("{} → … {} more", text, names.size() - i);
      text += format("{}{}", text.empty() ? "" : " → ", times(functor_of(run_.text(names[i])), same - i));
      i = same;
    }
    return text;
  }

  const Run& run_;
};

/// The windows of a rank whose kernels count.
struct Counted {
  IntervalSet open;
  bool whole_recording = false;
};

/// When anything ran on the device of a stream: what its other streams did in a gap would not be gained.
IntervalSet busy_times(const Run& run, std::span<const Activity> activities, std::int32_t device) {
  std::vector<TimeRange> ranges;
  for (const Activity& activity : activities)
    if (run.lane(run.span(activity.span).lane).device == device) ranges.push_back(activity.time);
  return IntervalSet::from(std::move(ranges));
}

/// Finds sequences along one stream after the other.
class Search {
 public:
  explicit Search(const Run& run) : run_(run), pointwise_(run.strings().size(), unknown) {}

  void over(const Lane& lane, const Counted& windows, const IntervalSet& busy) {
    Inside counted{windows.open};
    Inside taken{busy};
    for (const Span& span : run_.spans_of(lane)) {
      if (!windows.whole_recording && !counted.contains(span.time.begin)) {
        close();
        continue;
      }
      if (span.kind != SpanKind::compute || !is_pointwise_kernel(span.name)) {
        close();
        continue;
      }
      const std::int64_t gap = names_.empty() ? 0 : (span.time.begin - end_).count();
      if (gap > farthest_ns) close();
      if (!names_.empty() && gap > 0) own_.gap_ns += gap - taken.length_ns({end_, span.time.begin});
      names_.push_back(span.name);
      own_.kernel_ns += span.time.length().count();
      end_ = std::max(end_, span.time.end);
    }
    close();
  }

  [[nodiscard]] const std::map<Names, Sums>& found() const { return found_; }

 private:
  enum Answer : std::uint8_t { unknown, no, yes };

  bool is_pointwise_kernel(StringId name) {
    Answer& answer = pointwise_[name.index()];
    if (answer == unknown) answer = is_pointwise(run_.text(name)) ? yes : no;
    return answer == yes;
  }

  void close() {
    if (names_.size() >= 2) {
      Sums& sums = found_[names_];
      ++sums.count;
      sums.kernel_ns += own_.kernel_ns;
      sums.gap_ns += own_.gap_ns;
    }
    names_.clear();
    own_ = {};
    end_ = RunTime::min();
  }

  const Run& run_;
  std::vector<Answer> pointwise_;  // by name
  std::map<Names, Sums> found_;
  Names names_;
  Sums own_;
  RunTime end_ = RunTime::min();
};

}  // namespace

Section<FusableSection> find_fusable(const Run& run, const Section<StepsSection>& steps, const ReportOptions& options) {
  if (std::string why = why_nothing_counts(steps, options); !why.empty()) return unavailable(std::move(why));
  FusableSection section;
  Search search{run};
  for (const RankId rank : ranks_to_sum(run, steps, options, Among::accelerators)) {
    const CountedWindows windows = counted_windows(run, rank, steps);
    const std::uint32_t process = run.process_row_of(rank);
    const Counted counted{IntervalSet::from(windows.ranges), windows.steps == 0};
    const std::vector<Activity> activities = activities_of(run, rank);
    std::map<std::int32_t, IntervalSet> busy;  // by device
    for (const Lane& lane : run.lanes()) {
      if (lane.process != process || lane.kind != LaneKind::stream) continue;
      if (!busy.contains(lane.device)) busy[lane.device] = busy_times(run, activities, lane.device);
      search.over(lane, counted, busy[lane.device]);
    }
    for (const TimeRange& window : windows.ranges) section.window_ns += window.length().count();
    section.rank_steps += windows.steps;
    ++section.ranks;
  }
  if (section.ranks == 0) return no_device_work(run);
  const Spelling spelling{run};
  for (const auto& [names, sums] : search.found()) {
    section.sequences.push_back(
        {spelling(names), static_cast<std::int64_t>(names.size()), sums.count, sums.kernel_ns, sums.gap_ns});
    section.kernel_ns += sums.kernel_ns;
    section.gap_ns += sums.gap_ns;
  }
  std::ranges::sort(section.sequences, [](const FusableSequence& a, const FusableSequence& b) {
    const std::int64_t of_a = a.kernel_ns + a.gap_ns;
    const std::int64_t of_b = b.kernel_ns + b.gap_ns;
    return of_a != of_b ? of_a > of_b : a.kernels < b.kernels;
  });
  return section;
}

}  // namespace rankscope::analyzer

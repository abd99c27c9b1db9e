#include "hang/run_progress.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "collectives/comm_ops.h"
#include "collectives/find.h"
#include "hang/mismatch.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/quality.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/numbers.h"
#include "words/element_type.h"

namespace rankscope::analyzer::hang {
namespace {

constexpr std::string_view failed = "failed";
constexpr std::string_view lane_of_stacks = "python stacks";
constexpr std::string_view no_sample = "samples end here";
constexpr std::string_view no_code = "garbage collection";
constexpr std::int64_t last_seconds_ns = 3'000'000'000;

/// Counters of what may have taken calls with it.
constexpr std::array lost_with_calls{
    Counter::events_dropped, Counter::segments_unreadable, Counter::segment_cut,        Counter::chunks_corrupt,
    Counter::chunks_missing, Counter::disk_full,           Counter::blocks_dropped,     Counter::comm_events_dropped,
    Counter::not_gathered,   Counter::activities_dropped,  Counter::source_lost_events, Counter::truncated_input,
    Counter::tails_lost};

/// Keeps the last calls up to the one after `finished`, and all later ones.
void forget_before(GroupProgress& row, std::int64_t finished) {
  const auto oldest = std::min(row.entered, finished + 1) - static_cast<std::int64_t>(GroupProgress::most_recent);
  std::erase_if(row.recent, [oldest](const CommCall& call) { return call.sequence <= oldest; });
}

class RunProgress {
 public:
  RunProgress(const Run& run, std::int64_t alive_unix_ns) : run_(run), alive_unix_ns_(alive_unix_ns) {
    for (const Group& group : run.groups()) {
      std::vector<std::uint32_t> members;
      for (const RankId member : group.members) members.push_back(member.value);
      // Each row of the run stays a group of its own, whatever its name.
      rows_.push_back(static_cast<std::uint32_t>(job_.groups.size()));
      job_.groups.push_back({.name = job_.texts.intern(run.text(group.name)), .members = std::move(members)});
    }
    job_.world_size = run.info().world_size;
    job_.inputs = run.ranks().size();
    thinned_ = run.quality().of(Counter::events_thinned) + run.quality().of(Counter::events_without_sums) > 0;
    note_losses();
    find_last_code();
    for (const RankId rank : run.ranks()) add(rank);
    forget_settled();
    settle_unseen();
    for (auto& [rank, progress] : job_.ranks) forget_old(progress);
    for (CommGroup& group : job_.groups) group.on_host = !accelerated_;
    job_.complete();
  }
  JobProgress take() { return std::move(job_); }

 private:
  /// The last line of code that was sampled in each rank; marks are sorted by time.
  void find_last_code() {
    const StringId stacks = run_.strings().find(lane_of_stacks);
    if (!stacks.is_set()) return;
    for (const Mark& mark : run_.marks()) {
      const Lane& lane = run_.lane(mark.lane);
      const std::string_view text = run_.text(mark.name);
      if (lane.name == stacks && lane.rank.is_set() && text != no_sample && text != no_code)
        last_code_[lane.rank] = mark.name;
    }
  }
  void note_losses();
  void add(RankId rank);
  void add_call(const Collective& call, RankProgress& progress);
  void forget_settled();
  void settle_unseen();
  void settle_unseen(std::uint32_t rank, RankProgress& progress);
  [[nodiscard]] std::int64_t alike_until(std::uint32_t group) const;
  static void forget_old(RankProgress& progress);
  void add_place(RankId rank, LastPlace& place);
  [[nodiscard]] std::string host_words(RankId rank) const;
  /// Never 0, which means that a time is not known.
  [[nodiscard]] std::int64_t unix_ns(RunTime time) const {
    return std::max<std::int64_t>(run_.info().origin_unix_ns, 1'000'000'000) + ns_of(time);
  }

  const Run& run_;
  FinishedCalls finished_{run_};
  std::int64_t alive_unix_ns_;
  JobProgress job_;
  std::vector<std::uint32_t> rows_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> counts_;  // rank, group -> collectives so far
  std::map<std::uint32_t, std::int64_t> finished_by_any_;  // group -> the last collective that a rank finished
  std::map<std::uint32_t, std::set<std::pair<std::uint32_t, std::int64_t>>> unseen_;  // rank -> group and sequence
  std::map<RankId, StringId> last_code_;
  bool accelerated_ = false;
  bool thinned_ = false;  // the calls that are there need not begin with the first one, nor with the same on all ranks
};

void RunProgress::note_losses() {
  const bool still_runs = !run_.metadata("still_running").empty();  // segments are gathered at its end
  for (const Counter counter : lost_with_calls) {
    const std::uint64_t amount = run_.quality().of(counter);
    if (amount == 0 || (still_runs && counter == Counter::not_gathered)) continue;
    job_.completeness = Completeness::events_lost;
    job_.troubles.push_back({std::string{info_of(counter).name}, "the recording",
                             format("this counter is {}: calls of operations may be missing", amount)});
  }
}

void RunProgress::add(RankId rank) {
  RankProgress& progress = job_.ranks[rank.value];
  progress.witness = Witness::recording;
  progress.whole_history = !thinned_;
  progress.written_unix_ns = std::max(alive_unix_ns_, unix_ns(run_.process_of(rank).recorded.end));
  accelerated_ = accelerated_ || run_.has_accelerator(rank);
  for (const Collective* const call : calls_of(run_, rank)) add_call(*call, progress);
  if (!unseen_.contains(rank.value)) forget_old(progress);  // most ranks of most runs: all their calls need much memory
  add_place(rank, progress.place);
}

void RunProgress::add_call(const Collective& row, RankProgress& progress) {
  const std::string_view op = run_.text(row.op);
  CommCall call;
  call.group = rows_[row.group.index()];
  call.way = op == "send" ? CallWay::send : op == "recv" ? CallWay::receive : CallWay::collective;
  call.finished = finished_.has(row);
  call.peer = static_cast<std::int32_t>(std::clamp<std::int64_t>(row.peer, -1, INT32_MAX));
  call.created_unix_ns = unix_ns(row.state == CommState::enqueued ? row.enqueued : row.started);
  call.op = job_.texts.intern(op);
  call.dtype = job_.texts.intern(run_.text(row.dtype));
  if (const int bytes = element_type_from(run_.text(row.dtype)).bytes; bytes > 0 && row.bytes >= 0)
    call.elements = row.bytes / bytes;
  if (call.way == CallWay::collective) {
    const std::int64_t counted = counts_[{row.rank.value, call.group}]++;
    call.sequence = std::min(row.sequence >= 0 ? row.sequence : counted, CommCall::largest_sequence);
    if (row.sequence < 0 && (thinned_ || job_.completeness != Completeness::whole))
      job_.completeness = Completeness::counts_lost;
    GroupProgress& group = progress.group_row(call.group);
    group.entered = std::max(group.entered, call.sequence);
    if (call.finished) {
      group.finished = std::max(group.finished, call.sequence);
      auto& of_any = finished_by_any_.try_emplace(call.group, -1).first->second;
      of_any = std::max(of_any, call.sequence);
    }
    if (row.state == CommState::enqueued) unseen_[row.rank.value].emplace(call.group, call.sequence);
    group.recent.push_back(call);
  } else {
    job_.groups[call.group].has_pairs = true;
    PairProgress* const pair = progress.pair_row(call.group, call.way, call.peer);
    if (pair == nullptr) progress.whole_history = false;
    if (pair != nullptr) ++(call.finished ? pair->finished : pair->open);
  }
  if (call.finished) return;
  progress.open.size() < RankProgress::most_open ? progress.open.push_back(call) : void(++progress.open_left_out);
}

/// The last collective of a group before the first one that a member did not call, or called otherwise; -1 if there is
/// none such.
std::int64_t RunProgress::alike_until(std::uint32_t group) const {
  std::set<std::uint32_t> members{job_.groups[group].members.begin(), job_.groups[group].members.end()};
  std::int64_t all_came = INT64_MAX;
  std::int64_t any_came = -1;
  std::int64_t finished = -1;
  for (const auto& [rank, progress] : job_.ranks) {
    const GroupProgress* const row = progress.in_group(group);
    if (row != nullptr) members.insert(rank);
    if (!members.contains(rank)) continue;
    all_came = std::min(all_came, row == nullptr ? std::int64_t{-1} : row->entered);
    any_came = std::max(any_came, row == nullptr ? std::int64_t{-1} : row->entered);
    finished = std::max(finished, row == nullptr ? std::int64_t{-1} : row->finished);
  }
  const std::vector<std::uint32_t> ascending{members.begin(), members.end()};
  const SequenceRange called_by_all{.finished = finished, .last = std::min(all_came, any_came)};
  if (const auto first = first_called_otherwise(job_, group, ascending, called_by_all)) return *first - 1;
  return all_came < any_came ? all_came : -1;
}

/// Of ranks whose calls were not seen to run, all calls are still there. What comes before the last calls that a peer
/// finished is settled; calls that were seen to begin, and not to end, are not.
void RunProgress::forget_settled() {
  for (auto& [rank, unseen] : unseen_) {
    RankProgress& progress = job_.ranks.at(rank);
    for (GroupProgress& row : progress.groups) {
      const auto of_any = finished_by_any_.find(row.group);
      std::int64_t settled = of_any == finished_by_any_.end() ? -1 : of_any->second;
      for (const CommCall& call : progress.open)
        if (call.group == row.group && call.way == CallWay::collective && !unseen.contains({row.group, call.sequence}))
          settled = std::min(settled, call.sequence - 1);
      forget_before(row, settled);
    }
  }
}

/// An accelerator's profiler hands its records over late, and none of what still runs: a call that was only seen to be
/// enqueued has finished if a peer finished it, or a later one of the group; and it is not what holds the group up if
/// all members made it alike, and do not agree on a later one.
void RunProgress::settle_unseen() {
  if (unseen_.empty()) return;
  for (std::uint32_t group = 0; group < job_.groups.size(); ++group) {
    std::int64_t& settled = finished_by_any_.try_emplace(group, -1).first->second;
    settled = std::max(settled, alike_until(group));
  }
  for (auto& [rank, progress] : job_.ranks) settle_unseen(rank, progress);
}

void RunProgress::settle_unseen(std::uint32_t rank, RankProgress& progress) {
  const auto unseen = unseen_.find(rank);
  if (unseen == unseen_.end()) return;
  std::erase_if(progress.open, [&](const CommCall& call) {
    return call.way == CallWay::collective && call.sequence <= finished_by_any_.at(call.group) &&
           unseen->second.contains({call.group, call.sequence});
  });
  for (GroupProgress& row : progress.groups)
    row.finished = std::max(row.finished, std::min(row.entered, finished_by_any_.at(row.group)));
}

/// What is open comes after all that is finished. Of what is finished only the last calls are of use.
void RunProgress::forget_old(RankProgress& progress) {
  for (GroupProgress& row : progress.groups) {
    for (const CommCall& call : progress.open)
      if (call.group == row.group && call.way == CallWay::collective)
        row.finished = std::min(row.finished, call.sequence - 1);
    forget_before(row, row.finished);
    if (row.recent.size() > RankProgress::most_open) row.recent.resize(RankProgress::most_open);
  }
}

/// The step and the innermost range that were open at the end, and the last line of code that was sampled.
void RunProgress::add_place(RankId rank, LastPlace& place) {
  for (const Lane& lane : run_.lanes()) {
    if (lane.rank != rank || lane.kind != LaneKind::thread) continue;
    for (const Span& span : run_.spans_of(lane)) {
      if ((span.flags & span_flag::cut_end) == 0 || span.kind == SpanKind::python || span.kind == SpanKind::wait)
        continue;
      if (span.kind == SpanKind::step) {
        place.step = run_.number(run_.id_of(span), "index");
      } else if (span.collective == Span::no_collective) {
        place.range = run_.text(span.name);
      }
    }
  }
  if (const auto code = last_code_.find(rank); code != last_code_.end())
    place.stack.emplace_back(run_.text(code->second));
  place.host = host_words(rank);
}

/// What its samples say of the last seconds.
std::string RunProgress::host_words(RankId rank) const {
  double sum = 0;
  int count = 0;
  const StringId name = run_.strings().find("cpu_percent");
  for (const CounterTrack& track : run_.counters()) {
    if (track.rank != rank || track.name != name) continue;
    const auto samples = run_.samples_of(track);
    for (const CounterSample& sample : samples) {
      if (samples.back().time - sample.time > nanoseconds{last_seconds_ns}) continue;
      sum += sample.value;
      ++count;
    }
  }
  if (count == 0) return {};
  const double mean = sum / count;
  return mean >= 50
             ? format("its process was computing (it used {:.0f} % of a core in the last seconds that were sampled)",
                      mean)
             : format(
                   "its process was blocked or asleep (it used {:.0f} % of a core in the last seconds that were "
                   "sampled)",
                   mean);
}

}  // namespace

FinishedCalls::FinishedCalls(const Run& run) : run_(run), some_failed_(run.strings().find(failed).is_set()) {}

bool FinishedCalls::has(const Collective& call) const {
  if (call.state != CommState::finished) return false;
  return !some_failed_ || !call.span.is_set() || run_.number(call.span, failed).value_or(0) == 0;
}

// A rank that was started again has calls of its earlier process, too.
bool is_call_of_rank(const Run& run, const Collective& call) {
  const LaneId lane = call.lane.is_set() ? call.lane : call.enqueued_on;
  return call.rank.is_set() && call.group.is_set() && is_shared(run, call) &&
         (!lane.is_set() || run.lane(lane).process == run.process_row_of(call.rank));
}

std::vector<const Collective*> calls_of(const Run& run, RankId rank) {
  std::vector<const Collective*> calls;
  const auto first = std::ranges::lower_bound(run.collectives(), rank, {}, &Collective::rank);
  for (auto call = first; call != run.collectives().end() && call->rank == rank; ++call)
    if (is_call_of_rank(run, *call)) calls.push_back(&*call);
  std::ranges::stable_sort(calls, {}, &Collective::enqueued);
  return calls;
}

JobProgress progress_of_run(const Run& run, std::int64_t alive_unix_ns) {
  return RunProgress{run, alive_unix_ns}.take();
}

}  // namespace rankscope::analyzer::hang

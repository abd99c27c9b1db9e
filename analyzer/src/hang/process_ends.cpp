#include "hang/process_ends.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <utility>

#include "hang/run_progress.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/numbers.h"
#include "rankscope/core/recording/manifest.h"
#include "words/units.h"

namespace rankscope::analyzer::hang {
namespace {

/// A rank that lived this long while its peers waited for it did not stop them by ending.
constexpr nanoseconds lived_on{3'000'000'000};
/// Whoever ends a job ends all of it within this.
constexpr nanoseconds ended_as_one{1'000'000'000};

struct SignalName {
  int number;
  std::string_view name;
};
constexpr std::array<SignalName, 15> signal_names{{{SIGKILL, "SIGKILL"},
                                                   {SIGTERM, "SIGTERM"},
                                                   {SIGSEGV, "SIGSEGV"},
                                                   {SIGABRT, "SIGABRT"},
                                                   {SIGBUS, "SIGBUS"},
                                                   {SIGFPE, "SIGFPE"},
                                                   {SIGILL, "SIGILL"},
                                                   {SIGINT, "SIGINT"},
                                                   {SIGHUP, "SIGHUP"},
                                                   {SIGQUIT, "SIGQUIT"},
                                                   {SIGPIPE, "SIGPIPE"},
                                                   {SIGTRAP, "SIGTRAP"},
                                                   {SIGXCPU, "SIGXCPU"},
                                                   {SIGUSR1, "SIGUSR1"},
                                                   {SIGUSR2, "SIGUSR2"}}};

std::string_view take_word(std::string_view& text) {
  const std::size_t end = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(text.size(), end + 1));
  return word;
}

/// "PID STATUS NS"
std::optional<ProcessEnd> end_from(std::uint32_t rank, std::string_view row) {
  const auto pid = number_from<std::int64_t>(take_word(row), {.least = 1});
  const auto status = number_from<std::int64_t>(take_word(row), {.least = 0, .most = 0xFFFF});
  const auto at = number_from<std::int64_t>(row, {.least = 1});
  if (!pid || !status || !at) return std::nullopt;
  return ProcessEnd{.rank = rank,
                    .pid = *pid,
                    .signal = *status & 0x7F,
                    .status = (*status >> 8) & 0xFF,
                    .how_known = *status != 0,
                    .at_unix_ns = *at};
}

void add_seen(std::uint32_t rank, std::string_view rows, std::vector<ProcessEnd>& ends) {
  while (!rows.empty()) {
    const std::size_t size = std::min(rows.find(';'), rows.size());
    if (auto end = end_from(rank, rows.substr(0, size))) ends.push_back(*end);
    rows.remove_prefix(std::min(rows.size(), size + 1));
  }
}

/// Calls a function with the rank and the value of each key with that beginning.
template <class Take>
void for_each_rank(const Run& run, std::string_view prefix, Take take) {
  for (const auto& [key, value] : run.info().metadata) {
    if (!key.starts_with(prefix)) continue;
    if (const auto rank = number_from<std::uint32_t>(std::string_view{key}.substr(prefix.size()))) take(*rank, value);
  }
}

bool has_bad_ending(const Process& process) {
  return process.ending == Ending::vanished || (process.ending == Ending::exited && process.exit_status != 0);
}

/// True if the recorder had been asked to end the job before.
bool after_stop(const Run& run, RunTime end) {
  const auto asked = number_from<std::int64_t>(run.metadata("stopped_at_unix_ns"), {.least = 1});
  return asked && run.info().origin_unix_ns != 0 && end >= at(*asked - run.info().origin_unix_ns);
}

}  // namespace

std::vector<ProcessEnd> process_ends_of(const Run& run) {
  std::vector<ProcessEnd> ends;
  for_each_rank(run, recording::end_seen_prefix,
                [&ends](std::uint32_t rank, std::string_view rows) { add_seen(rank, rows, ends); });
  std::ranges::stable_sort(ends, {}, &ProcessEnd::rank);
  std::vector<ProcessEnd> by_name;
  for_each_rank(run, recording::ended_by_prefix, [&](std::uint32_t rank, std::string_view name) {
    const auto signal = std::ranges::find(signal_names, name, &SignalName::name);
    if (signal != signal_names.end() && !std::ranges::binary_search(ends, rank, {}, &ProcessEnd::rank))
      by_name.push_back({.rank = rank, .signal = signal->number});
  });
  ends.insert(ends.end(), by_name.begin(), by_name.end());
  std::ranges::stable_sort(ends, {}, &ProcessEnd::rank);
  return ends;
}

bool asks_to_end(std::int64_t signal) { return signal == SIGTERM || signal == SIGINT || signal == SIGHUP; }

bool is_own_fault(std::int64_t signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL;
}

std::string signal_words(std::int64_t signal) {
  const auto found = std::ranges::find(signal_names, signal, &SignalName::number);
  return found == signal_names.end() ? format("signal {}", signal) : std::string{found->name};
}

std::string oom_words(const Run& run, RankId rank) {
  std::string_view value = run.metadata(format("{}{}", recording::oom_kills_prefix, rank.value));
  const std::string_view where = take_word(value);
  const auto count = number_from<std::int64_t>(value, {.least = 1});
  if (!count || (where != "cgroup" && where != "host")) return {};
  return format("the kernel's out-of-memory killer ended {} {}", counted(*count, "process"),
                where == "cgroup" ? "of the job while the job ran" : "on the host of the rank while the job ran");
}

std::string oom_advice(const Run& run, RankId rank) {
  // A shortage of the whole host may have been that of another job.
  if (!run.metadata(format("{}{}", recording::oom_kills_prefix, rank.value)).starts_with("cgroup ") ||
      oom_words(run, rank).empty())
    return {};
  return format(
      "Reduce the host memory of rank {} (for example, fewer DataLoader workers or smaller caches), or give the job "
      "more memory; the kernel log of its host shows which processes were killed.",
      rank.value);
}

bool recorded_in_part(const Run& run) {
  const auto told = [](std::string_view key, std::string_view value) {
    return key == "window" || (key == "stopped_by" && !value.empty() && !value.starts_with("SIG"));
  };
  return told("stopped_by", run.metadata("stopped_by")) ||
         std::ranges::any_of(run.processes(), [&](const Process& process) {
           return std::ranges::any_of(
               process.metadata, [&](const auto& fact) { return told(run.text(fact.first), run.text(fact.second)); });
         });
}

void EndsOfRun::Earliest::add(RankId whose, RunTime when) {
  if (first && whose == rank) {
    first = std::min(*first, when);
  } else if (!first || when < *first) {
    of_others = std::exchange(first, when);
    rank = whose;
  } else if (!of_others || when < *of_others) {
    of_others = when;
  }
}

EndsOfRun::EndsOfRun(const Run& run, const ClockTrust& clocks)
    : run_(run), comparable_(clocks.comparable(run.ranks())), ends_(process_ends_of(run)) {
  for (const RankId rank : run.ranks())
    if (has_bad_ending(run.process_of(rank))) bad_end_.add(rank, end_time(rank));
  waited_since_.resize(run.ranks().size());
  if (bad_end_.first) find_waits();
}

/// When the others of each rank began to wait for ever in a call that it takes part in.
void EndsOfRun::find_waits() {
  const FinishedCalls finished{run_};
  std::vector<Earliest> of_group(run_.groups().size());
  for (const Collective& call : run_.collectives()) {
    if (finished.has(call) || !is_call_of_rank(run_, call)) continue;
    const RunTime since = call.state == CommState::enqueued ? call.enqueued : call.started;
    const std::string_view op = run_.text(call.op);
    if (op != "send" && op != "recv") {
      of_group[call.group.index()].add(call.rank, since);
      continue;
    }
    const auto peer = std::ranges::lower_bound(run_.ranks(), call.peer, {},
                                               [](RankId one) { return static_cast<std::int64_t>(one.value); });
    if (peer != run_.ranks().end() && peer->value == call.peer)
      waited_since_[static_cast<std::size_t>(peer - run_.ranks().begin())].add(call.rank, since);
  }
  for (std::size_t i = 0; i < of_group.size(); ++i) {
    if (!of_group[i].first) continue;
    const auto& members = run_.groups()[i].members;
    for (const RankId rank : members.empty() ? run_.ranks() : std::span{members}) {
      const auto since = of_group[i].without(rank);
      if (since && std::ranges::binary_search(run_.ranks(), rank)) waited_since_[run_.place_of(rank)].add({}, *since);
    }
  }
}

const ProcessEnd* EndsOfRun::of(RankId rank) const {
  const std::int64_t pid = run_.process_of(rank).pid;
  for (auto end = std::ranges::lower_bound(ends_, rank.value, {}, &ProcessEnd::rank);
       end != ends_.end() && end->rank == rank.value; ++end)
    if (end->pid == 0 || end->pid == pid) return &*end;
  return nullptr;
}

std::int64_t EndsOfRun::last_unix_ns() const {
  std::int64_t last = 0;
  for (const ProcessEnd& end : ends_) last = std::max(last, end.at_unix_ns);
  return last;
}

RunTime EndsOfRun::end_time(RankId rank) const {
  const ProcessEnd* const seen = of(rank);
  const RunTime recorded = run_.process_of(rank).recorded.end;
  if (seen == nullptr || seen->at_unix_ns == 0 || run_.info().origin_unix_ns == 0) return recorded;
  return std::max(recorded, at(seen->at_unix_ns - run_.info().origin_unix_ns));
}

/// Was the process ended by others, or did it end after one of them, as a consequence?
bool EndsOfRun::ended_after_others(RankId rank) const {
  const ProcessEnd* const seen = of(rank);
  if (seen != nullptr && is_own_fault(seen->signal)) return false;
  const RunTime end = end_time(rank);
  if ((seen != nullptr && asks_to_end(seen->signal)) || after_stop(run_, end)) return true;
  const auto end_of_others = bad_end_.without(rank);
  if (!end_of_others) return false;
  // Without a witness of its end a process that just stops at about the time of another may have been ended with it.
  const bool unseen = (seen == nullptr || seen->at_unix_ns == 0) && run_.process_of(rank).ending == Ending::vanished;
  return unseen ? *end_of_others <= end + ended_as_one : *end_of_others < end;
}

/// True if it was seen to end after the recorder had found that the job hangs.
bool EndsOfRun::ended_after_alarm(RankId rank) const {
  const auto alarm = number_from<std::int64_t>(run_.metadata("hang_seen_at_unix_ns"), {.least = 1});
  const ProcessEnd* const seen = of(rank);
  return alarm && seen != nullptr && seen->at_unix_ns > *alarm && !is_own_fault(seen->signal);
}

bool EndsOfRun::hung(RankId rank) const {
  if (!comparable_ || recorded_in_part(run_)) return false;
  const auto since = waited_since_[run_.place_of(rank)].without(rank);
  if (since && ended_after_alarm(rank)) return true;
  return since && end_time(rank) - *since > lived_on && ended_after_others(rank);
}

std::optional<RankId> EndsOfRun::first_bad(std::span<const RankId> ranks) const {
  const bool several_hosts = std::ranges::any_of(
      ranks, [&](RankId rank) { return run_.process_of(rank).host != run_.process_of(ranks.front()).host; });
  if (several_hosts && !comparable_) return std::nullopt;
  const ProcessEnd* first = nullptr;
  for (const RankId rank : ranks) {
    const ProcessEnd* const end = of(rank);
    if (end == nullptr || end->at_unix_ns == 0) return std::nullopt;
    if (!asks_to_end(end->signal) && (first == nullptr || end->at_unix_ns < first->at_unix_ns)) first = end;
  }
  // A launcher may have ended a process whose signal nobody saw.
  return first == nullptr || !first->how_known ? std::nullopt : std::optional{RankId{first->rank}};
}

}  // namespace rankscope::analyzer::hang

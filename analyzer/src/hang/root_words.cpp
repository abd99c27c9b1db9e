#include "hang/root_words.h"

#include <algorithm>

#include "hang/clauses.h"
#include "rankscope/core/format.h"
#include "rankscope/core/printable.h"
#include "words/units.h"

namespace rankscope::analyzer::hang {
namespace {

/// "ranks 0, 1 wait in all_reduce 3 of group 1"
std::string waiting_words(const JobProgress& job, const WaitedOperation& operation) {
  return format("{} {} in {}", ranks_words(operation.waiting), verb(operation.waiting.size(), "waits", "wait"),
                operation_words(operation_of(job, operation.call, &operation)));
}

/// ", called at train.py:12 in step by rank 0"; empty if that was not recorded.
std::string called_at(const JobProgress& job, const WaitedOperation& operation) {
  const std::string_view where = job.texts.text(operation.call.where);
  if (where.empty()) return {};
  const std::string by = operation.waiting.size() == 1 ? "" : format(" by rank {}", operation.waiting.front());
  return format(", called at {}{}", printable(where), by);
}

std::string waiting_clause(const JobProgress& job, const WaitedOperation& operation) {
  return waiting_words(job, operation) + called_at(job, operation);
}

const RankProgress* progress_of(const JobProgress& job, std::uint32_t rank) {
  const auto found = job.ranks.find(rank);
  return found == job.ranks.end() ? nullptr : &found->second;
}

/// How far a rank came in the group of the operation: "its last call in this group was collective 44790, at train.py:12
/// in step".
std::string last_call_clause(const JobProgress& job, const FoundRoot& found) {
  if (found.operation->call.way != CallWay::collective || found.ranks.size() > 1) return {};
  const RankProgress* const progress = progress_of(job, found.ranks.front());
  const GroupProgress* const row = progress == nullptr ? nullptr : progress->in_group(found.operation->call.group);
  if (row == nullptr || row->entered < 0) return {};
  const auto last = std::ranges::find(row->recent, row->entered, &CommCall::sequence);
  const std::string_view where = last == row->recent.end() ? std::string_view{} : job.texts.text(last->where);
  return format("; its last call in this group was collective {}{}", row->entered,
                where.empty() ? std::string{} : format(", at {}", printable(where)));
}

std::string never_came_evidence(const JobProgress& job, const FoundRoot& found) {
  const std::size_t count = found.ranks.size();
  std::string text = format("{}; {} never called it{}", waiting_clause(job, *found.operation), ranks_words(found.ranks),
                            last_call_clause(job, found));
  const bool idle = std::ranges::all_of(found.ranks, [&](std::uint32_t rank) {
    const RankProgress* const progress = progress_of(job, rank);
    return progress != nullptr && progress->open.empty();
  });
  if (idle)
    text += format("; {} no open operation, so {} outside of communication", verb(count, "it has", "they have"),
                   verb(count, "it is", "they are"));
  return text;
}

/// What its device has not finished, although peers have.
std::string device_evidence(const JobProgress& job, const FoundRoot& found) {
  std::string text = waiting_clause(job, *found.operation);
  const RankProgress* const progress = progress_of(job, found.ranks.front());
  const auto open = progress == nullptr ? 0 : progress->open.size() + progress->open_left_out;
  if (open > 0) {
    const CommCall& first = progress->open.front();
    const std::string name = operation_words(operation_of(job, first, nullptr));
    text += open == 1
                ? format("; the device of rank {} has not finished {}, unlike its peers", found.ranks.front(), name)
                : format(
                      "; the device of rank {} has not finished {}, some of which its peers have finished; the "
                      "first is {}",
                      found.ranks.front(), counted(open, "operation"), name);
  }
  if (found.ranks.size() > 1) text += format("; the same holds for {}", ranks_words(std::span{found.ranks}.subspan(1)));
  return text;
}

std::string ending_clause(const EndOfProcess& end) {
  switch (end.life) {
    case Life::signalled:
      return format("its process was ended by {}", end.note.empty() ? format("signal {}", end.signal) : end.note);
    case Life::exited:
      return end.note.empty() ? format("its process exited with status {}", end.exit_status) : end.note;
    case Life::vanished:
      return end.note.empty() ? "its recording stops: the process was killed, crashed or called _exit" : end.note;
    case Life::unknown:
    case Life::running:
      break;
  }
  return {};
}

std::string place_clause(const RankProgress& progress) {
  const LastPlace& place = progress.place;
  std::string text;
  if (place.step) text += format("; it was in step {}", *place.step);
  if (!place.range.empty()) text += format("{} inside {}", place.step ? "," : "; it was", printable(place.range));
  if (!place.host.empty()) text += "; " + place.host;
  if (!place.last_words.empty()) text += format("; the program reported: {}", printable(place.last_words));
  return text;
}

/// Of a process that hung: how it was ended afterwards, where that was seen.
std::string later_end_clause(const RankProgress& progress) {
  const EndOfProcess& end = progress.end_after_hang;
  const bool seen = end.life == Life::signalled || end.life == Life::exited;
  return seen ? format("; long after its peers had begun to wait, {}", ending_clause(end)) : std::string{};
}

std::string dead_evidence(const JobProgress& job, const FoundRoot& found) {
  const RankProgress& progress = job.ranks.at(found.ranks.front());
  const std::string waiting = waiting_clause(job, *found.operation);
  if (found.ranks.size() == 1) return format("{}{}; {}", ending_clause(progress.end), place_clause(progress), waiting);
  return format("for each of {}: {}; {}", ranks_words(found.ranks), ending_clause(progress.end), waiting);
}

std::string no_dump_evidence(const JobProgress& job, const FoundRoot& found) {
  std::string text = waiting_clause(job, *found.operation);
  for (const std::uint32_t rank : found.ranks) {
    const RankProgress* const progress = progress_of(job, rank);
    if (progress != nullptr && !progress->trouble.empty())
      text += format("; the dump of rank {} ({}) {}", rank, printable(progress->file), progress->trouble);
    if (progress != nullptr && !progress->end.note.empty()) text += format("; rank {}: {}", rank, progress->end.note);
  }
  return text + format("; nothing is known about {}, which may be the cause or may just be waiting like the others",
                       ranks_words(found.ranks));
}

std::string cycle_evidence(const JobProgress& job, const FoundRoot& found) {
  if (found.cycle.size() == 1)
    return format(
        "{} for members that the dumps do not list{}; all other ranks, and thus also those members, are blocked in "
        "other operations",
        waiting_words(job, *found.operation), called_at(job, *found.operation));
  std::string text;
  for (const WaitedOperation* const operation : found.cycle) {
    std::vector<std::uint32_t> blockers;
    for (const Blocker& blocker : operation->blockers) blockers.push_back(blocker.rank);
    text += format("{}{} for {}{}", text.empty() ? "" : "; ", waiting_words(job, *operation), ranks_words(blockers),
                   called_at(job, *operation));
  }
  return text;
}

std::string evidence_of(const JobProgress& job, const FoundRoot& found) {
  const RankProgress* const progress = found.ranks.empty() ? nullptr : progress_of(job, found.ranks.front());
  switch (found.kind) {
    case HangKind::never_came:
      return never_came_evidence(job, found);
    case HangKind::stuck_outside:
      return never_came_evidence(job, found) +
             (progress == nullptr ? std::string{} : place_clause(*progress) + later_end_clause(*progress));
    case HangKind::order:
    case HangKind::size:
    case HangKind::dtype:
    case HangKind::root:
      return format("in {}, {}", operation_words(operation_of(job, found.mismatched_call, found.operation)),
                    found.mismatch);
    case HangKind::dead:
      return dead_evidence(job, found);
    case HangKind::no_dump:
      return no_dump_evidence(job, found);
    case HangKind::device:
      return device_evidence(job, found);
    case HangKind::link:
      return format("{}; all members whose progress is known called it, and {} finished it",
                    waiting_clause(job, *found.operation),
                    found.operation->finished.empty() ? "none" : ranks_words(found.operation->finished));
    case HangKind::straggler:
      return format("{}; {} called it {} after the first rank", waiting_clause(job, *found.operation),
                    ranks_words(found.ranks), duration_text(found.late_by_ns));
    case HangKind::cycle:
      return cycle_evidence(job, found);
    case HangKind::nan:
    case HangKind::corrupt:
      break;
  }
  return progress == nullptr ? std::string{} : place_clause(*progress);
}

std::string advice_for_root(const FoundRoot& found) {
  const std::string ranks = ranks_words(found.ranks);
  switch (found.kind) {
    case HangKind::never_came:
    case HangKind::stuck_outside:
      return format("Look at the stack (py-spy dump --pid PID) and the log of {}: what runs instead of the operation?",
                    ranks);
    case HangKind::order:
      return "Make all members of the group call the same operations in the same order; look for code that branches on "
             "the rank.";
    case HangKind::size:
    case HangKind::dtype:
      return "Make all members pass tensors of the same size and type; look for uneven batches and for mixed "
             "precision.";
    case HangKind::root:
      return "Make all members name the same root, as a global rank.";
    case HangKind::dead:
      return format(
          "Look at the last lines of the log of {} and at the kernel log of {} (out of memory, hardware error).", ranks,
          verb(found.ranks.size(), "its host", "their hosts"));
    case HangKind::no_dump:
      return format("Find the dump of {}, or check whether {} alive.", ranks,
                    verb(found.ranks.size(), "its process is", "their processes are"));
    case HangKind::device:
      return format("Check the {} of {} for errors (nvidia-smi -q, Xid lines in dmesg), and run a diagnostic on {}.",
                    verb(found.ranks.size(), "device", "devices"), ranks, verb(found.ranks.size(), "it", "them"));
    case HangKind::link:
      return "If the job makes no progress, check the network between these ranks for errors (ibstat, "
             "NCCL_DEBUG=WARN), and check that all members name the same root.";
    case HangKind::straggler:
      return format("Look at what {} did before this operation; a longer timeout avoids the abort, not the wait.",
                    ranks);
    case HangKind::cycle:
      return "Make all ranks use these groups in the same order.";
    case HangKind::nan:
    case HangKind::corrupt:
      break;  // reported_root has words of its own
  }
  return {};
}

}  // namespace

HangRoot root_in_words(const JobProgress& job, const WaitGraph&, const FoundRoot& found) {
  HangRoot root{.ranks = ids_from(found.ranks), .kind = found.kind, .certainty = found.certainty};
  if (found.operation != nullptr) {
    const CommCall& call =
        found.mismatch.empty() || found.mismatched_call.sequence < 0 ? found.operation->call : found.mismatched_call;
    root.operation = operation_of(job, call, found.operation);
  }
  // Several dead ranks ended alike.
  const auto first =
      found.ranks.size() == 1 || found.kind == HangKind::dead ? job.ranks.find(found.ranks.front()) : job.ranks.end();
  if (first != job.ranks.end()) {
    const RankProgress& rank = first->second;
    const EndOfProcess& end = rank.end.life == Life::unknown ? rank.end_after_hang : rank.end;
    if (end.life == Life::signalled) root.signal = end.signal;
    if (end.life == Life::exited) root.exit_status = end.exit_status;
  }
  const auto progress = found.ranks.size() == 1 ? job.ranks.find(found.ranks.front()) : job.ranks.end();
  if (progress != job.ranks.end()) {
    const RankProgress& rank = progress->second;
    root.step = rank.place.step;
    root.range = printable(rank.place.range);
    for (const std::string& line : rank.place.stack) root.stack.push_back(printable(line));
    if (root.stack.empty() && !found.mismatch.empty()) {
      const auto where = job.texts.text(found.mismatched_call.where);
      if (!where.empty()) root.stack.emplace_back(printable(where));
    }
  }
  root.evidence = evidence_of(job, found);
  if (found.if_it_did_not_move)
    root.evidence +=
        "; the file of a dump is older than the last of these calls, so this holds only if the job made no progress "
        "after that call";
  root.advice = advice_for_root(found);
  return root;
}

}  // namespace rankscope::analyzer::hang

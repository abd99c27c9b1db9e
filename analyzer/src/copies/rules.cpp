// Copies that nothing hides, and calls of the host that make an accelerator run dry.
#include <algorithm>
#include <numeric>

#include "copies/host_calls.h"
#include "copies/parts.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "rules/severity.h"
#include "split/row_sums.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

/// What a call is, by its name.
enum class Call : std::uint8_t { copy, allocation, other };

Call kind_of(std::string_view call) {
  if (allocates_memory(call)) return Call::allocation;
  const bool copies = call.find("Memcpy") != std::string_view::npos || call.find("Memset") != std::string_view::npos;
  return copies ? Call::copy : Call::other;
}

/// True if the call of an idle share is one of `rows`: by its name and where it was made. A copy of pageable memory is
/// known by that alone, since its call has the name of one that blocks nobody.
bool is_among(const std::vector<HostCallRow>& rows, const IdleShare& share) {
  return std::ranges::any_of(rows, [&](const HostCallRow& row) {
    const std::string& where = row.op.empty() ? row.range : row.op;
    return row.call == share.call && (share.range == where || share.range == row.range);
  });
}

/// Time in which nothing ran while the host was in calls of one kind: in waits only where it waited there; an
/// allocation and a copy that blocks hold it up whatever they do.
std::int64_t idle_in(const Usual& usual, Call kind, const std::vector<HostCallRow>& rows) {
  std::int64_t ns = 0;
  for (const IdleShare& share : usual.idle_shares) {
    if (share.call.empty() || kind_of(share.call) != kind) continue;
    const bool held_up = share.cause == IdleCause::sync || kind == Call::allocation ||
                         (kind == Call::copy && share.cause == IdleCause::host && is_among(rows, share));
    if (held_up) ns += share.ns - share.outside_ns;
  }
  return ns;
}

std::string place_of(const HostCallRow& row) {
  const std::string& where = row.op.empty() ? row.range : row.op;
  return where.empty() ? row.call : format("{} in {}", row.call, where);
}

std::int64_t time_of(const std::vector<HostCallRow>& rows) {
  return std::accumulate(rows.begin(), rows.end(), std::int64_t{0},
                         [](std::int64_t sum, const HostCallRow& row) { return sum + row.ns; });
}

/// "the device is idle for 2.80 ms per step and rank; the host spends 3.10 ms in 412 calls of this kind, most of it in
/// cudaStreamSynchronize in aten::item (2.90 ms)"
std::string calls_text(const Usual& usual, const std::vector<HostCallRow>& rows, std::int64_t idle) {
  std::int64_t calls = 0;
  for (const HostCallRow& row : rows) calls += row.count;
  const auto most = std::ranges::max_element(rows, {}, &HostCallRow::ns);
  return format("the device is idle for {} per {}; the host spends {} in {} of this kind, most of it in {} ({})",
                duration_text(usual.mean(idle)), usual.mean_of(), duration_text(usual.mean(time_of(rows))),
                counted(usual.mean(calls), "call"), place_of(*most), duration_text(usual.mean(most->ns)));
}

bool is_pinned(const HostCallRow& row) {
  return row.call.find("Host") != std::string::npos || row.call.find("Register") != std::string::npos;
}

/// Calls that recur are a habit of the program: with steps, at least one in two of them; without steps, ten a rank.
bool recurs(const CopiesSection& copies, std::int64_t calls) {
  constexpr std::int64_t often = 10;
  return copies.rank_steps > 0 ? calls >= 2 && 2 * calls >= copies.rank_steps
                               : calls >= often * std::max<std::int64_t>(1, copies.ranks);
}

/// By the kind of calls that takes longest; the cause is named only where such calls recur.
std::string advice_for_allocations(const Report& report) {
  const CopiesSection& copies = *report.copies;
  std::int64_t pinned_ns = 0;
  for (const HostCallRow& row : copies.allocations) pinned_ns += is_pinned(row) ? row.ns : 0;
  const bool pinned = 2 * pinned_ns > time_of(copies.allocations);
  std::int64_t calls = 0;
  for (const HostCallRow& row : copies.allocations) calls += is_pinned(row) == pinned ? row.count : 0;
  if (!recurs(copies, calls))
    return format(
        "Only {} of this kind {} recorded, perhaps while the program was starting: record later steps, and see "
        "whether such calls recur.",
        counted(calls, "call"), calls == 1 ? "was" : "were");
  if (pinned) return "Allocate pinned memory once, and reuse it.";
  return report.uses_pytorch
             ? "The caching allocator frees memory and allocates it again: remove calls to empty_cache(), keep shapes "
               "constant, or set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True."
             : "Allocate once and reuse the buffers, or use cudaMallocAsync.";
}

struct HeldUp {
  std::string_view id;
  std::string_view title;
  Call calls = Call::other;
  std::string advice;
};

/// The gain is the time in which the device had nothing to do meanwhile, at most that of the calls: an upper bound,
/// since the host may be late anyway.
void judge_calls(const RuleContext& context, const HeldUp& what, const std::vector<HostCallRow>& rows,
                 std::vector<Finding>& findings) {
  const Usual& usual = context.everybody;
  const std::int64_t idle = std::min(idle_in(usual, what.calls, rows), time_of(rows));
  const FindingSeverity severity = severity_of(usual.share_of_work(idle), gain_limits);
  if (severity == FindingSeverity::info || rows.empty()) return;
  findings.push_back({std::string{what.id}, severity,
                      format("{} of the time{}, the device is idle {}", percent_of(usual.share_of_work(idle)),
                             usual.which_time(), what.title),
                      calls_text(usual, rows, idle), what.advice, usual.per_step(idle), std::nullopt, std::nullopt});
}

/// The copies that are exposed for longest; null where that is not known.
const CopyRow* most_exposed(const Section<CopiesSection>& copies) {
  if (!copies || copies->copies.empty()) return nullptr;
  const auto most = std::ranges::max_element(copies->copies, {}, &CopyRow::exposed_ns);
  return most->exposed_ns > 0 ? &*most : nullptr;
}

/// What helps depends on where the longest copies go.
std::string advice_for_copies(const Report& report, const CopyRow* most) {
  const bool pytorch = report.uses_pytorch;
  const std::string_view kind = most == nullptr ? std::string_view{} : std::string_view{most->kind};
  if (kind == "DtoD" || kind == "memset")
    return pytorch
               ? "Copy and clear less memory on the device: avoid clone(), contiguous(), cat() and zero_() on large "
                 "tensors, or fuse them with the operations that follow (torch.compile)."
               : "Copy and clear less memory on the device, or let the kernels that follow do it.";
  if (kind == "PtoP")
    return "Move less data between devices, or put the copies on a separate stream, so that they overlap with compute.";
  return pytorch
             ? "Copy from pinned memory (pin_memory=True, non_blocking=True) one batch ahead, on a separate stream; "
               "keep data on the device if it would otherwise be copied repeatedly."
             : "Copy from pinned memory (cudaMallocHost) ahead of time, on a separate stream; keep data on the "
               "device if it would otherwise be copied repeatedly.";
}

/// "most of it is HtoD (Pageable -> Device): 5.20 ms at 3.1 GB/s"
std::string most_copied(const Usual& usual, const CopyRow* most) {
  if (most == nullptr) return {};
  auto text =
      format("most of it is {}{}: {}", most->kind, most->memory.empty() ? std::string{} : format(" ({})", most->memory),
             duration_text(usual.mean(most->exposed_ns)));
  if (most->gbps) text += format(" at {:.1f} GB/s", *most->gbps);
  return text;
}

}  // namespace

void judge_exposed_copies(const RuleContext& context, std::vector<Finding>& findings) {
  const Usual& usual = context.everybody;
  if (!usual.shows_idle_time()) return;
  const std::int64_t exposed = usual.total.memory_ns;
  const double share = usual.share_of_work(exposed);  // a long start-up must not hide copies
  const FindingSeverity severity = severity_of(share, exposed_copies_limits);
  if (severity == FindingSeverity::info) return;
  const CopyRow* const most = most_exposed(context.report.copies);
  Finding finding;
  finding.id = finding_id::exposed_copies;
  finding.severity = severity;
  finding.title = format("{} of the time{}, only copies run", percent_of(share), usual.which_time());
  finding.cause = most_copied(usual, most);
  finding.evidence =
      format("copies take {} {} while neither compute nor communication runs{}{}", duration_text(usual.mean(exposed)),
             usual.steps > 0 ? "per step and rank" : "per rank over the whole recording",
             finding.cause.empty() ? "" : "; ", finding.cause);
  finding.advice = advice_for_copies(context.report, most);
  // No copy hides behind more than there is.
  finding.gain_ns_per_step = usual.per_step(std::min(exposed, usual.total.compute_ns));
  findings.push_back(std::move(finding));
}

void judge_synchronizations(const RuleContext& context, std::vector<Finding>& findings) {
  if (!context.report.copies) return;
  judge_calls(
      context,
      {finding_id::synchronizations, "because the host waits for it", Call::other,
       context.report.uses_pytorch
           ? "Read results from the device (.item(), .cpu(), print) only once in many steps, and remove explicit "
             "synchronizations, so that the host can run ahead of the device."
           : "Read results from the device only once in many steps, and remove explicit synchronizations, so that "
             "the host can run ahead of the device."},
      context.report.copies->synchronizations, findings);
}

void judge_blocking_copies(const RuleContext& context, std::vector<Finding>& findings) {
  if (!context.report.copies) return;
  judge_calls(context,
              {finding_id::blocking_copies, "because a copy blocks the host", Call::copy,
               context.report.uses_pytorch
                   ? "Copy from pinned memory (pin_memory=True) and without blocking (non_blocking=True), one batch "
                     "ahead."
                   : "Copy from pinned memory (cudaMallocHost) and without blocking (cudaMemcpyAsync), ahead of time."},
              context.report.copies->blocking_copies, findings);
}

void judge_allocations(const RuleContext& context, std::vector<Finding>& findings) {
  if (!context.report.copies) return;
  judge_calls(context,
              {finding_id::allocations, "while the host allocates or frees memory", Call::allocation,
               advice_for_allocations(context.report)},
              context.report.copies->allocations, findings);
}

}  // namespace rankscope::analyzer

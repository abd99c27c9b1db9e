#include "stragglers/code.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "math/statistics.h"
#include "python_stacks/slow_code.h"
#include "rankscope/core/model/run.h"
#include "stragglers/parts.h"

namespace rankscope::analyzer {
namespace {

constexpr double least_of_step = 0.01;
constexpr double least_of_lag = 0.25;        // of a rank that is slow all the time
constexpr double loading_explains_it = 0.5;  // of the lag
constexpr double pauses_explain_it = 0.5;    // of the lag, or of what its functions show

/// Where such a rank loses its time: the first group with a clear function counts.
std::vector<std::vector<CodePhase>> phases_of(StragglerKind kind, bool accelerated) {
  switch (kind) {
    case StragglerKind::data:
      return {{CodePhase::worker}, {CodePhase::data}};
    case StragglerKind::host:
      // With an accelerator the host is late while it launches, too.
      if (accelerated) return {{CodePhase::host, CodePhase::compute}};
      return {{CodePhase::host}};
    case StragglerKind::compute:
    case StragglerKind::mixed:
      // The lines of an accelerator's host do not show what the device computes.
      if (accelerated) return {};
      if (kind == StragglerKind::compute) return {{CodePhase::compute}};
      return {{CodePhase::host, CodePhase::compute, CodePhase::data}};
    case StragglerKind::network:
    case StragglerKind::memory:
      return {};
  }
  return {};
}

std::int64_t share_of(double share, std::int64_t ns) {
  return static_cast<std::int64_t>(share * static_cast<double>(ns));
}

/// The lag of stalls is that of single steps: of these only the mean of what its function shows is known.
std::int64_t lost_per_step(const Straggler& row) {
  if (row.persistence == Persistence::persistent) return row.lag_ns_per_step;
  return row.code ? row.code->ns_per_step - row.code->peers_ns_per_step : 0;
}

bool is_in(const CodeLine& line, std::span<const CodePhase> phases) {
  return std::ranges::find(phases, line.phase) != phases.end();
}

/// All lines of a function, or one of them alone.
enum class Extent : std::uint8_t { line, function };
/// What one rank spends in code, in these phases.
struct TimeInCode {
  std::int64_t ns_per_step = 0;
  std::int64_t samples = 0;
};
TimeInCode time_in(const SlowCode& code, Extent extent, const RankCode& rank, std::span<const CodePhase> phases) {
  TimeInCode sum;
  for (const CodeLine& line : rank.lines) {
    const bool is_meant = line.function == code.function && line.file == code.file &&
                          (extent == Extent::function || line.line == code.line) && is_in(line, phases);
    if (!is_meant) continue;
    sum.ns_per_step += line.ns;
    sum.samples += line.samples;
  }
  sum.ns_per_step = rank.per_step(sum.ns_per_step);
  return sum;
}

/// A function that was found in one phase counts in the others of its thread, too: some of it runs operators.
void add_other_phases(const RankCode& own, std::span<const RankCode> peers, std::span<const CodePhase> found_in,
                      std::int64_t least_ns, SlowCode& code) {
  constexpr std::array thread{CodePhase::host, CodePhase::compute, CodePhase::data};
  if (std::ranges::find(found_in, CodePhase::worker) != found_in.end()) return;
  const Extent extent =
      time_in(code, Extent::line, own, found_in).ns_per_step == code.ns_per_step ? Extent::line : Extent::function;
  std::vector<std::int64_t> of_peers;
  for (const RankCode& peer : peers) of_peers.push_back(time_in(code, extent, peer, thread).ns_per_step);
  const TimeInCode mine = time_in(code, extent, own, thread);
  const std::int64_t peers_ns = median(of_peers);
  if (mine.ns_per_step - peers_ns < least_ns) return;  // the peers spend as much, in other phases
  code.ns_per_step = mine.ns_per_step;
  code.samples = mine.samples;
  code.peers_ns_per_step = peers_ns;
}

std::optional<CollectorPauses> clear_pauses(const RankCode& own, std::span<const RankCode> peers,
                                            std::int64_t least_ns) {
  std::vector<std::int64_t> of_peers;
  for (const RankCode& peer : peers) of_peers.push_back(peer.per_step(peer.pauses_ns));
  const CollectorPauses pauses{own.per_step(own.pauses_ns), median(of_peers)};
  if (pauses.ns_per_step - pauses.peers_ns_per_step < std::max<std::int64_t>(1, least_ns)) return std::nullopt;
  return pauses;
}

}  // namespace

CodeOfRanks::CodeOfRanks(const Run& run, const StepsSection& steps) : run_(run), steps_(steps), samples_(run) {}

std::vector<RankCode> CodeOfRanks::code_of_peers(const PeerClass& peers, const Straggler& row) const {
  std::vector<RankCode> code;
  for (const RankRow* peer : peers.rows)
    if (peer->rank != row.rank && samples_.has(peer->rank))
      code.push_back(samples_.over(peer->rank, slow_windows(steps_, peer->rank, row)));
  std::erase_if(code, [](const RankCode& peer) { return peer.steps == 0; });  // its sampler had ended by then
  return code;
}

void CodeOfRanks::explain(const PeerClass& peers, Straggler& row) const {
  if (phases_of(row.kind, run_.has_accelerator(row.rank)).empty() || !samples_.has(row.rank)) return;
  const RankCode own = samples_.over(row.rank, slow_windows(steps_, row.rank, row));
  const std::vector<RankCode> others = code_of_peers(peers, row);
  if (others.empty() || own.steps == 0) return;
  // An accelerator that still works while its host loads is idle only for the rest of that time, and then for what the
  // host does next, which its peers hide behind waiting: the host's own samples say more.
  if (row.kind == StragglerKind::host && row.persistence == Persistence::persistent && run_.has_accelerator(row.rank)) {
    const std::int64_t least = share_of(loading_explains_it, row.lag_ns_per_step);
    if (slow_code(own, others, std::array{CodePhase::data}, least)) {
      row.kind = StragglerKind::data;
      row.evidence += "; samples of its Python code show that it is late because it loads data";
    }
  }
  const auto groups = phases_of(row.kind, run_.has_accelerator(row.rank));
  std::int64_t least = share_of(least_of_step, steps_.mean_ns);
  if (row.persistence == Persistence::persistent) least = std::max(least, share_of(least_of_lag, row.lag_ns_per_step));
  std::span<const CodePhase> found_in;
  for (const auto& phases : groups) {
    row.code = slow_code(own, others, phases, least);
    found_in = phases;
    if (row.code) break;
  }
  if (row.code) {
    add_other_phases(own, others, found_in, least, *row.code);
    row.code->share = steps_.share_of_step(row.code->ns_per_step);
    row.code->peers_share = steps_.share_of_step(row.code->peers_ns_per_step);
  }
  row.pauses = clear_pauses(own, others, std::max(least, share_of(pauses_explain_it, lost_per_step(row))));
}

void add_code(const Run& run, const StepsSection& steps, std::span<const RankRow> rows, StragglersSection& section) {
  if (section.rows.empty()) return;
  const CodeOfRanks code{run, steps};
  const std::vector<PeerClass> classes = peer_classes(run, steps, rows);
  for (Straggler& row : section.rows)
    if (const PeerClass* const peers = class_of(classes, row.rank)) code.explain(*peers, row);
}

}  // namespace rankscope::analyzer

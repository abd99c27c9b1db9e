#include "importers/nccl_ras/ras.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "rankscope/analyzer/open.h"
#include "rankscope/core/format.h"
#include "rankscope/core/printable.h"
#include "rankscope/core/utf8.h"
#include "words/units.h"

namespace rankscope::analyzer::nccl_ras {
namespace {

constexpr std::size_t most_name_bytes = 100;
constexpr std::int64_t most_ranks_of_one = 1 << 20;                     // of a communicator; more are damage
constexpr std::int64_t most_launches = CommCall::largest_sequence - 1;  // of all functions; one more is waited for
constexpr std::size_t most_compared = 64;                               // communicators of one size

struct RankCounts {
  std::uint32_t rank = 0;
  std::string_view host{};
  std::int64_t pid = -1;
  std::int64_t sum = 0;
  std::map<std::string_view, std::int64_t> by_op{};
};

/// A communicator as RAS sees it.
struct Communicator {
  std::string_view hash{};
  std::int64_t size = 0;
  std::vector<RankCounts> ranks{};
  ValueRef missing = PlainValues::none;
};

std::optional<std::uint32_t> rank_of(const PlainValues& values, ValueRef row) {
  const auto rank = values.number_of(values.find(row, "rank"));
  if (!rank || *rank < 0 || *rank >= most_ranks) return std::nullopt;
  return static_cast<std::uint32_t>(*rank);
}

Communicator communicator_from(const PlainValues& values, ValueRef row) {
  Communicator found{.hash = values.text_of(values.find(row, "hash")),
                     .size = values.number_of(values.find(row, "size")).value_or(0),
                     .missing = values.find(row, "missing_ranks")};
  for (const ValueRef one : values.items_of(values.find(row, "ranks"))) {
    const auto rank = rank_of(values, one);
    if (!rank) continue;
    RankCounts counts{.rank = *rank,
                      .host = values.text_of(values.find(one, "host")),
                      .pid = values.number_of(values.find(one, "pid")).value_or(-1)};
    const std::span<const ValueRef> ops = values.items_of(values.find(one, "collective_counts"));
    for (std::size_t i = 0; i + 1 < ops.size(); i += 2) {
      const std::int64_t count = std::clamp<std::int64_t>(values.number_of(ops[i + 1]).value_or(0), 0, most_launches);
      counts.by_op[values.text_of(ops[i])] = count;
      counts.sum = std::min(counts.sum, most_launches - count) + count;
    }
    found.ranks.push_back(std::move(counts));
  }
  return found;
}

/// Do two communicators of one size have the same process at each rank? Each of a job's groups of all ranks has one.
bool same_processes(const Communicator& one, const Communicator& other) {
  std::map<std::uint32_t, std::pair<std::string_view, std::int64_t>> processes;
  for (const RankCounts& rank : one.ranks) processes[rank.rank] = {rank.host, rank.pid};
  return std::ranges::all_of(other.ranks, [&processes](const RankCounts& rank) {
    const auto known = processes.find(rank.rank);
    return known == processes.end() || known->second == std::pair{rank.host, rank.pid};
  });
}

/// The ranks that RAS could not ask, and what it thinks of them. A dump says more: its rank was alive to write it.
void add_missing(const PlainValues& values, const Communicator& communicator, JobProgress& job) {
  for (const ValueRef row : values.items_of(communicator.missing)) {
    const auto rank = rank_of(values, row);
    if (!rank) continue;
    RankProgress& progress = job.ranks[*rank];
    if (progress.witness == Witness::dump || progress.end.life != Life::unknown) continue;
    const bool dead = values.number_of(values.find(values.find(row, "status"), "considered_dead")).value_or(0) != 0;
    if (dead) progress.end.life = Life::vanished;
    progress.end.note = format("NCCL RAS {} (process {} on {})", dead ? "considers it dead" : "got no answer from it",
                               values.number_of(values.find(row, "pid")).value_or(-1),
                               printable(cut_utf8(values.text_of(values.find(row, "host")), most_name_bytes)));
  }
}

/// The function whose count differs most between the two.
std::string_view differing_op(const RankCounts& ahead, const RankCounts& behind) {
  std::string_view op;
  std::int64_t most = 0;
  for (const auto& [name, count] : ahead.by_op) {
    const auto other = behind.by_op.find(name);
    const std::int64_t more = count - (other == behind.by_op.end() ? 0 : other->second);
    if (more > most) {
      most = more;
      op = name;
    }
  }
  return op;
}

/// Launch counts as sequences: who launched most waits for the others in its last operation.
void add_counts(const Communicator& communicator, JobProgress& job) {
  if (communicator.ranks.empty() || communicator.size <= 0 || communicator.size > most_ranks_of_one) return;
  const auto [least, most] = std::ranges::minmax_element(communicator.ranks, {}, &RankCounts::sum);
  std::vector<std::uint32_t> members(static_cast<std::size_t>(communicator.size));
  for (std::uint32_t i = 0; i < members.size(); ++i) members[i] = i;
  const std::uint32_t row = job.group_of(cut_utf8(communicator.hash, most_name_bytes), "NCCL communicator", members);
  for (const RankCounts& counts : communicator.ranks) {
    RankProgress& progress = job.ranks[counts.rank];
    if (progress.witness != Witness::nothing) continue;
    progress.witness = Witness::ras;
    GroupProgress& group = progress.group_row(row);
    group.entered = counts.sum;
    group.finished = counts.sum;
    if (counts.sum == least->sum) continue;
    group.finished = least->sum;
    CommCall call;
    call.group = row;
    call.sequence = least->sum + 1;
    call.op = job.texts.intern(cut_utf8(differing_op(*most, *least), most_name_bytes));
    progress.open.push_back(call);
  }
}

}  // namespace

bool is_ras(const PlainValues& values, ValueRef root) {
  return values.is_list(values.find(root, "communicators")) && values.is_text(values.find(root, "nccl_version"));
}

void add_ras(const PlainValues& values, ValueRef root, JobProgress& job) {
  const auto not_used = [&job](std::string why) {
    job.troubles.push_back({"ras_not_used", "the answer of NCCL RAS", std::move(why)});
  };
  std::vector<Communicator> largest;
  for (const ValueRef row : values.items_of(values.find(root, "communicators"))) {
    Communicator one = communicator_from(values, row);
    if (!largest.empty() && one.size < largest.front().size) continue;
    if (!largest.empty() && one.size > largest.front().size) largest.clear();
    if (largest.size() < most_compared) largest.push_back(std::move(one));
  }
  if (largest.empty() || largest.front().size == 0) return;
  const Communicator& first = largest.front();
  if (job.world_size > 0 && job.world_size != first.size)
    return not_used(
        format("has no communicator of all {} of the job; its largest has {}, which are not numbered as in the job",
               counted(job.world_size, "rank"), counted(first.size, "rank")));
  if (std::ranges::any_of(largest, [&first](const Communicator& other) { return !same_processes(first, other); }))
    return not_used(
        format("has several communicators of {}, which are different parts of the job: add dumps, which "
               "show the ranks of the job",
               counted(first.size, "rank")));
  add_missing(values, first, job);
  add_counts(first, job);
}

}  // namespace rankscope::analyzer::nccl_ras

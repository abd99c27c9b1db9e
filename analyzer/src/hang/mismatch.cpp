#include "hang/mismatch.h"

#include <algorithm>
#include <map>

#include "rankscope/core/format.h"
#include "rankscope/core/printable.h"
#include "words/units.h"

namespace rankscope::analyzer::hang {
namespace {

struct MemberCall {
  std::uint32_t rank = 0;
  const CommCall* call = nullptr;
};

/// The calls of members with one sequence, by sequence.
using CallsBySequence = std::map<std::int64_t, std::vector<MemberCall>>;

/// The remembered calls of a group up to this one; of each member the first one of a sequence.
CallsBySequence calls_until(const JobProgress& job, std::uint32_t group, std::span<const std::uint32_t> members,
                            std::int64_t last) {
  CallsBySequence found;
  for (const std::uint32_t rank : members) {
    const auto progress = job.ranks.find(rank);
    if (progress == job.ranks.end()) continue;
    const GroupProgress* const row = progress->second.in_group(group);
    if (row == nullptr) continue;
    for (const CommCall& call : row->recent) {
      if (call.sequence > last) continue;
      std::vector<MemberCall>& calls = found[call.sequence];
      if (calls.empty() || calls.back().rank != rank) calls.push_back({rank, &call});
    }
  }
  return found;
}

/// Do all members of this operation have inputs of one size? Uneven all-to-alls and gathers are allowed.
bool has_equal_sizes(std::string_view op) {
  return needs_everyone(op) ? op.find("to_all") == std::string_view::npos && op.find("toall") == std::string_view::npos
                            : op == "broadcast" || op == "reduce" || op == "send" || op == "recv";
}

std::vector<RankId> ids_of(const std::vector<std::uint32_t>& ranks) {
  std::vector<RankId> ids;
  for (const std::uint32_t rank : ranks) ids.push_back(RankId{rank});
  return ids;
}

/// "rank 1 has 5, ranks 0, 2 have 4"
std::string sides_text(const std::map<std::string, std::vector<std::uint32_t>>& sides, std::string_view verb) {
  std::string text;
  for (const auto& [value, ranks] : sides)
    text += format("{}{} {} {}", text.empty() ? "" : ", ", ranks_text(ids_of(ranks)), verb, value);
  return text;
}

struct Aspect {
  HangKind kind;
  std::string_view verb;
  std::string (*value)(const JobProgress& job, const CommCall& call);
  bool (*same)(const CommCall& one, const CommCall& other);  // then their values are the same; cheaper
};

std::string op_value(const JobProgress& job, const CommCall& call) { return printable(job.texts.text(call.op)); }
std::string type_value(const JobProgress& job, const CommCall& call) { return printable(job.texts.text(call.dtype)); }
std::string size_value(const JobProgress& job, const CommCall& call) {
  const std::string shape = printable(job.texts.text(call.shape));
  return format("{}{}", counted(call.elements, "element"), shape.empty() ? "" : format(" ({})", shape));
}
std::string root_value(const JobProgress&, const CommCall& call) { return format("rank {} as the root", call.peer); }

constexpr Aspect by_op{HangKind::order, "called", op_value,
                       [](const CommCall& one, const CommCall& other) { return one.op == other.op; }};
constexpr Aspect by_type{HangKind::dtype, "passed elements of type", type_value,
                         [](const CommCall& one, const CommCall& other) { return one.dtype == other.dtype; }};
constexpr Aspect by_size{HangKind::size, "passed", size_value, [](const CommCall& one, const CommCall& other) {
                           return one.elements == other.elements && one.shape == other.shape;
                         }};
constexpr Aspect by_root{HangKind::root, "named", root_value,
                         [](const CommCall& one, const CommCall& other) { return one.peer == other.peer; }};

/// The members by what they passed, if that differs.
std::optional<Mismatch> differing(const JobProgress& job, const std::vector<MemberCall>& calls, const Aspect& aspect) {
  if (std::ranges::all_of(calls, [&](const MemberCall& one) { return aspect.same(*one.call, *calls.front().call); }))
    return std::nullopt;
  std::map<std::string, std::vector<std::uint32_t>> sides;
  for (const MemberCall& one : calls) sides[aspect.value(job, *one.call)].push_back(one.rank);
  if (sides.size() < 2) return std::nullopt;
  const auto most = std::ranges::max_element(sides, {}, [](const auto& side) { return side.second.size(); });
  const auto as_many =
      std::ranges::count_if(sides, [&](const auto& side) { return side.second.size() == most->second.size(); });
  Mismatch found{.kind = aspect.kind, .told_apart = as_many == 1, .what = sides_text(sides, aspect.verb)};
  for (const MemberCall& one : calls) {
    const bool is_odd = !found.told_apart || std::ranges::find(most->second, one.rank) == most->second.end();
    if (is_odd) found.odd.push_back(one.rank);
    if (!is_odd || !found.told_apart) found.call = *one.call;
  }
  return found;
}

std::optional<Mismatch> mismatch_at(const JobProgress& job, const std::vector<MemberCall>& calls, bool is_open) {
  if (calls.size() < 2) return std::nullopt;
  if (auto found = differing(job, calls, by_op)) return found;
  // What everyone finished was right, however it looks.
  if (!is_open) return std::nullopt;
  const std::string_view op = job.texts.text(calls.front().call->op);
  const auto known = [&](auto test) {
    std::vector<MemberCall> some;
    std::ranges::copy_if(calls, std::back_inserter(some), [&](const MemberCall& one) { return test(*one.call); });
    return some;
  };
  if (auto found =
          differing(job, known([&](const CommCall& call) { return !job.texts.text(call.dtype).empty(); }), by_type))
    return found;
  if (has_equal_sizes(op))
    if (auto found = differing(job, known([](const CommCall& call) { return call.elements >= 0; }), by_size))
      return found;
  return differing(job, known([](const CommCall& call) { return call.peer >= 0; }), by_root);
}

/// Sender and receiver of one message, which must agree on type and size.
std::optional<Mismatch> pair_mismatch(const JobProgress& job, const WaitedOperation& operation) {
  std::vector<MemberCall> calls;
  for (const std::uint32_t rank : operation.waiting) {
    const auto progress = job.ranks.find(rank);
    if (progress == job.ranks.end()) continue;
    for (const CommCall& call : progress->second.open)
      if (call.group == operation.call.group && call.way != CallWay::collective &&
          std::ranges::find(operation.members, static_cast<std::uint32_t>(call.peer)) != operation.members.end()) {
        calls.push_back({rank, &call});
        break;
      }
  }
  if (calls.size() != 2) return std::nullopt;
  if (job.texts.text(calls[0].call->dtype) != job.texts.text(calls[1].call->dtype))
    return differing(job, calls, by_type);
  if (calls[0].call->elements >= 0 && calls[1].call->elements >= 0) return differing(job, calls, by_size);
  return std::nullopt;
}

}  // namespace

std::optional<Mismatch> find_mismatch(const JobProgress& job, const WaitedOperation& operation) {
  if (operation.call.way != CallWay::collective) return pair_mismatch(job, operation);
  const std::int64_t last = operation.call.sequence;
  for (const auto& [sequence, calls] : calls_until(job, operation.call.group, operation.members, last))
    if (auto found = mismatch_at(job, calls, sequence == last)) return found;
  return std::nullopt;
}

std::optional<std::int64_t> first_called_otherwise(const JobProgress& job, std::uint32_t group,
                                                   std::span<const std::uint32_t> members, SequenceRange range) {
  for (const auto& [sequence, calls] : calls_until(job, group, members, range.last))
    if (mismatch_at(job, calls, sequence > range.finished)) return sequence;
  return std::nullopt;
}

}  // namespace rankscope::analyzer::hang

// Schedules as CSV, in the form of torch.distributed.pipelining. What is read is somebody's own work: it is checked
// completely before any rank begins, since a schedule that cannot run would only stand still.
#include <algorithm>
#include <map>
#include <optional>

#include "rankscope/core/format.h"
#include "rankscope/core/numbers.h"
#include "rankscope/trainer/plan/pipeline_plan.h"

namespace rankscope::trainer {
namespace {

using enum PipelinePart;

constexpr Bounds<std::int32_t> bounds{.least = 0, .most = 65535};  // of a stage or micro-batch
constexpr std::string_view form =
    "write the number of a stage, a letter (F, B, I or W) and the number of a micro-batch, such as 1F0";

std::optional<StageAction> action_from(std::string_view text) {
  const auto stage = take_number(text, bounds);
  if (!stage || text.empty()) return std::nullopt;
  for (const PipelinePart part : {forward, backward, backward_input, backward_weight}) {
    if (text.front() != letter_of(part)) continue;
    text.remove_prefix(1);
    const auto micro_batch = take_number(text, bounds);
    if (!micro_batch || !text.empty()) return std::nullopt;
    return StageAction{part, *stage, *micro_batch};
  }
  return std::nullopt;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r";
  const auto begin = text.find_first_not_of(blank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blank) - begin + 1);
}

std::vector<std::string_view> split_at(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find(separator, begin), text.size());
    parts.push_back(trimmed(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return parts;
}

/// Reads and checks line by line; errors begin with the path and, from 1, the line.
class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

  Result<PipelinePlan> read(std::string_view csv) {
    auto lines = split_at(csv, '\n');
    while (!lines.empty() && lines.back().empty()) lines.pop_back();
    if (lines.empty())
      return wrong("it contains no schedule; write one line per rank with actions such as 0F0,0F1,0B0,0B1");
    plan_.schedule = path_;
    for (const std::string_view line : lines) RS_TRY_VOID(read_line(line));
    RS_TRY_VOID(check_stages());
    for (std::size_t rank = 0; rank < plan_.ranks.size(); ++rank) RS_TRY_VOID(check_line(rank));
    RS_TRY_VOID(check_order());
    return std::move(plan_);
  }

 private:
  /// Where in its line the parts of one micro-batch on one stage stand.
  struct Positions {
    std::map<PipelinePart, std::size_t> of;
    [[nodiscard]] bool has(PipelinePart part) const { return of.contains(part); }
  };

  [[nodiscard]] tl::unexpected<Error> wrong(std::string what) const {
    return fail(ErrorKind::usage, format("--schedule {}: {}", path_, what));
  }
  [[nodiscard]] tl::unexpected<Error> wrong(std::size_t rank, std::string what) const {
    return wrong(format("line {}: {}", rank + 1, what));
  }

  Result<void> read_line(std::string_view line) {
    const std::size_t rank = plan_.ranks.size();
    auto& actions = plan_.ranks.emplace_back();
    for (const std::string_view cell : split_at(line, ',')) {
      if (cell.empty()) continue;
      const auto action = action_from(cell);
      if (!action) return wrong(rank, format("'{}' is not an action; {}", cell, form));
      const auto [owner, added] = owners_.emplace(action->stage, rank);
      if (owner->second != rank)
        return wrong(rank, format("{}: stage {} belongs to line {}; write all actions of a stage in one line", cell,
                                  action->stage, owner->second + 1));
      auto& positions = positions_[{action->stage, action->micro_batch}];
      if (!positions.of.emplace(action->part, actions.size()).second)
        return wrong(rank, format("{} appears twice", cell));
      plan_.micro_batches = std::max(plan_.micro_batches, action->micro_batch + 1);
      actions.push_back(*action);
    }
    if (actions.empty()) return wrong(rank, format("it has no actions; {}", form));
    return {};
  }

  Result<void> check_stages() {
    std::int32_t next = 0;
    for (const auto& [stage, rank] : owners_) {
      if (stage != next) return wrong(rank, format("there is a stage {}, but no line has stage {}", stage, next));
      plan_.rank_of_stage.push_back(static_cast<std::int32_t>(rank));
      ++next;
    }
    return {};
  }

  Result<void> check_line(std::size_t rank) const {
    for (const std::int32_t stage : plan_.stages_of(static_cast<std::int32_t>(rank)))
      for (std::int32_t micro = 0; micro < plan_.micro_batches; ++micro) {
        const auto found = positions_.find({stage, micro});
        if (found == positions_.end())
          return wrong(rank, format("stage {} has no micro-batch {}, but other stages have micro-batches up to {}",
                                    stage, micro, plan_.micro_batches - 1));
        RS_TRY_VOID(check_parts(rank, stage, micro));
      }
    return {};
  }

  Result<void> check_parts(std::size_t rank, std::int32_t stage, std::int32_t micro) const {
    const Positions& has = positions_.at({stage, micro});
    const auto text = [&](PipelinePart part) { return text_of({part, stage, micro}); };
    const auto comes_first = [&](PipelinePart first, PipelinePart then) -> Result<void> {
      if (!has.has(then) || has.of.at(first) < has.of.at(then)) return {};
      return wrong(rank, format("{} must come after {}", text(then), text(first)));
    };
    if (!has.has(forward)) return wrong(rank, format("{} is missing", text(forward)));
    const bool split = has.has(backward_input) && has.has(backward_weight);
    const bool parts = has.has(backward_input) || has.has(backward_weight);
    if (has.has(backward) && parts)
      return wrong(rank, format("{} appears together with its parts I and W: a backward pass is either whole or split",
                                text(backward)));
    if (!has.has(backward) && !split)
      return wrong(rank, format("{} has no complete backward pass: it needs {}, or {} and {}", text(forward),
                                text(backward), text(backward_input), text(backward_weight)));
    for (const PipelinePart part : {backward, backward_input}) RS_TRY_VOID(comes_first(forward, part));
    return split ? comes_first(backward_input, backward_weight) : Result<void>{};
  }

  Result<void> check_order() const {
    const auto still = standstill_of(plan_);
    if (!still) return {};
    const StageAction& action = plan_.ranks[static_cast<std::size_t>(still->rank)][still->position];
    const bool is_forward = action.part == forward;
    StageAction missing{is_forward ? forward : backward, action.stage + (is_forward ? -1 : 1), action.micro_batch};
    if (!is_forward && positions_.at({missing.stage, missing.micro_batch}).has(backward_input))
      missing.part = backward_input;
    return wrong(static_cast<std::size_t>(still->rank),
                 format("the schedule cannot continue with {} (action {}): {} must come first, but can never run",
                        text_of(action), still->position + 1, text_of(missing)));
  }

  const std::string& path_;
  PipelinePlan plan_;
  std::map<std::int32_t, std::size_t> owners_;  // stage -> rank
  std::map<std::pair<std::int32_t, std::int32_t>, Positions> positions_;
};

}  // namespace

Result<PipelinePlan> read_schedule(std::string_view csv, const std::string& path) { return Reader{path}.read(csv); }

std::string schedule_csv(const PipelinePlan& plan) {
  std::string csv;
  for (const auto& actions : plan.ranks) {
    std::string line;
    for (const StageAction& action : actions) line += (line.empty() ? "" : ",") + text_of(action);
    csv += line + "\n";
  }
  return csv;
}

}  // namespace rankscope::trainer

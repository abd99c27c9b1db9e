// The tables of --explain.
#include <algorithm>

#include "costs/parts.h"
#include "rankscope/core/format.h"

namespace rankscope::trainer {
namespace {

/// 12,345,678
std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  }
  return digits;
}

/// Columns as wide as their longest cell; `right` has those of figures.
class Table {
 public:
  Table(std::vector<std::string> head, std::vector<std::size_t> right) : right_(std::move(right)) {
    add(std::move(head));
  }
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  [[nodiscard]] std::string text() const {
    std::vector<std::size_t> widths(rows_.front().size(), 0);
    for (const auto& row : rows_)
      for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    std::string text;
    for (const auto& row : rows_) {
      std::string line;
      for (std::size_t i = 0; i < row.size(); ++i) {
        const std::string blanks(widths[i] - row[i].size(), ' ');
        const bool right = std::ranges::find(right_, i) != right_.end();
        line += (i == 0 ? "" : "  ") + (right ? blanks + row[i] : row[i] + blanks);
      }
      text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
    }
    return text;
  }

 private:
  std::vector<std::size_t> right_;
  std::vector<std::vector<std::string>> rows_;
};

std::string memory_text(const RankCost& rank) {
  Table table{{"memory", "bytes", "held", "made up of"}, {1}};
  for (const Held held : {Held::always, Held::at_most}) {
    for (const MemoryCost& cost : rank.memory) {
      if (cost.held != held) continue;
      table.add({cost.what, grouped(cost.bytes), held == Held::always ? "always" : "in a step", cost.formula});
    }
    table.add({"sum", grouped(held == Held::always ? rank.always() : rank.at_most()),
               held == Held::always ? "between two steps" : "at the peak", ""});
  }
  return table.text();
}

std::string traffic_text(const RankCost& rank) {
  if (rank.traffic.empty()) return "Nothing is sent.\n";
  Table table{{"group", "operation", "times", "bytes in a step", "made up of"}, {2, 3}};
  for (const TrafficCost& cost : rank.traffic) {
    table.add(
        {cost.group, cost.op, grouped(cost.operations), grouped(cost.bytes),
         cost.every > 1 ? format("{}, every {} steps and in the last step", cost.formula, cost.every) : cost.formula});
  }
  table.add({"sum", "", "", grouped(rank.sent()), "in most steps"});
  return table.text();
}

std::string ranks_text(const std::vector<RankCost>& ranks) {
  Table table{{"rank", "has", "between two steps", "at the peak", "sent in a step"}, {0, 2, 3, 4}};
  for (const RankCost& rank : ranks) {
    table.add(
        {std::to_string(rank.rank), rank.has, grouped(rank.always()), grouped(rank.at_most()), grouped(rank.sent())});
  }
  return table.text();
}

std::string what_is_shown(const RankCost& rank, std::size_t kinds, int ranks) {
  if (kinds > 1) return format("needs of rank {} ({}); no other rank needs more memory", rank.rank, rank.has);
  return ranks == 1 ? "needs of the rank" : "needs of each rank";
}

}  // namespace

std::string cost_text(const CostQuestion& question, const std::vector<RankCost>& ranks) {
  const RankCost& shown = largest(ranks);
  std::string text = format("{} on {}, model {} in {}: {}\n\n", question.options.mode->name,
                            counted(question.ranks, "rank"), name_of(question.options.model.kind),
                            name_of(question.options.dtype), what_is_shown(shown, ranks.size(), question.ranks));
  text += memory_text(shown) + '\n' + traffic_text(shown);
  if (ranks.size() > 1) text += '\n' + ranks_text(ranks);
  text += "\nActivations, samples and the libraries' own allocations are not predicted; they need additional memory.\n";
  return text;
}

}  // namespace rankscope::trainer

// Slurm's compressed lists; scontrol, which could expand them, is often absent where tasks run.
#include "rankscope/core/format.h"
#include "rankscope/core/numbers.h"
#include "rankscope/trainer/launch/placement.h"

namespace rankscope::trainer {
namespace {

constexpr int most_names = 1 << 20;

tl::unexpected<Error> bad(std::string_view list, std::string_view why,
                          std::string_view variable = "SLURM_STEP_NODELIST") {
  return fail(ErrorKind::usage, format("{} is '{}', which cannot be read: {}", variable, list, why));
}

std::string padded(std::uint64_t value, std::size_t width) { return format("{:0{}}", value, width); }

// `01-03,7` is 01 02 03 7: the first number's width is kept.
Result<std::vector<std::string>> expand_ranges(std::string_view ranges, std::string_view list) {
  std::vector<std::string> names;
  while (true) {
    const auto comma = ranges.find(',');
    const auto part = ranges.substr(0, comma);
    const auto dash = part.find('-');
    const auto first = part.substr(0, dash);
    const auto last = dash == std::string_view::npos ? first : part.substr(dash + 1);
    const auto low = number_from<std::uint64_t>(first);
    const auto high = number_from<std::uint64_t>(last);
    if (!low || !high) return bad(list, "brackets must contain numbers");
    if (*high < *low) return bad(list, "a range runs backwards");
    if (*high - *low >= most_names) return bad(list, "a range is too long");
    for (std::uint64_t value = *low; value <= *high; ++value) names.push_back(padded(value, first.size()));
    if (comma == std::string_view::npos) return names;
    ranges.remove_prefix(comma + 1);
  }
}

// One name with any number of bracket groups: `a[1-2]b[3-4]`; the last group varies fastest.
Result<std::vector<std::string>> expand_name(std::string_view name, std::string_view list) {
  std::vector<std::string> names{""};
  bool bracketed = false;
  while (!name.empty()) {
    const auto open = name.find('[');
    if (bracketed && open == std::string_view::npos) return bad(list, "text follows the last bracket");
    for (auto& prefix : names) prefix += name.substr(0, open);
    if (open == std::string_view::npos) return names;
    bracketed = true;
    const auto close = name.find(']', open);
    if (close == std::string_view::npos) return bad(list, "a bracket is not closed");
    RS_TRY(const auto numbers, expand_ranges(name.substr(open + 1, close - open - 1), list));
    if (names.size() * numbers.size() > most_names) return bad(list, "it contains too many names");
    std::vector<std::string> longer;
    for (const auto& prefix : names) {
      for (const auto& number : numbers) longer.push_back(prefix + number);
    }
    names = std::move(longer);
    name.remove_prefix(close + 1);
  }
  return names;
}

// The next name ends at a comma outside brackets.
std::size_t end_of_name(std::string_view list) {
  int depth = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] == '[') ++depth;
    if (list[i] == ']') --depth;
    if (list[i] == ',' && depth <= 0) return i;
  }
  return list.size();
}

}  // namespace

Result<std::vector<std::string>> expand_nodelist(std::string_view list) {
  std::vector<std::string> nodes;
  std::string_view rest = list;
  while (true) {
    const auto end = end_of_name(rest);
    if (end == 0) return bad(list, "a name is empty");
    RS_TRY(const auto names, expand_name(rest.substr(0, end), list));
    nodes.insert(nodes.end(), names.begin(), names.end());
    if (end == rest.size()) return nodes;
    rest.remove_prefix(end + 1);
  }
}

Result<std::vector<int>> expand_task_counts(std::string_view counts) {
  std::vector<int> tasks;
  std::string_view rest = counts;
  while (true) {
    const auto comma = rest.find(',');
    const auto part = rest.substr(0, comma);
    const auto open = part.find("(x");
    constexpr Bounds<int> bounds{.least = 0, .most = most_names};
    const auto value = number_from(part.substr(0, open), bounds);
    std::optional<int> times = 1;
    if (open != std::string_view::npos)
      times = part.back() == ')' ? number_from(part.substr(open + 2, part.size() - open - 3), bounds) : std::nullopt;
    if (!value || !times) return bad(counts, "counts must look like 2(x3),1", "SLURM_STEP_TASKS_PER_NODE");
    tasks.insert(tasks.end(), static_cast<std::size_t>(*times), *value);
    if (comma == std::string_view::npos) return tasks;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace rankscope::trainer

#include "rankscope/gui/models/missing.h"

#include <algorithm>
#include <vector>

#include "rankscope/core/format.h"

namespace rankscope::gui {
namespace {

struct Loss {
  const CounterInfo* info;
  std::uint64_t value;
};

std::vector<Loss> losses_of(const Run& run) {
  std::vector<Loss> losses;
  for (const CounterInfo& info : counter_table())
    if (info.severity == Severity::data_loss && run.quality().of(info.counter) > 0)
      losses.push_back({&info, run.quality().of(info.counter)});
  std::ranges::stable_sort(losses, std::greater{}, &Loss::value);
  return losses;
}

}  // namespace

QString missing_text(const Run& run) {
  constexpr std::size_t most = 3;
  const std::vector<Loss> losses = losses_of(run);
  std::string text;
  for (std::size_t i = 0; i < std::min(most, losses.size()); ++i)
    text += format("{}{} {}", i == 0 ? "Not everything is here: " : "; ", losses[i].value, losses[i].info->name);
  if (losses.size() > most) text += format("; {} more", losses.size() - most);
  return QString::fromStdString(text);
}

QString missing_details(const Run& run) {
  std::string text;
  for (const Loss& loss : losses_of(run))
    text += format("{}{} {}: {}", text.empty() ? "" : "\n", loss.value, loss.info->name, loss.info->advice);
  return QString::fromStdString(text);
}

}  // namespace rankscope::gui

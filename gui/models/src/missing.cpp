#include "rankscope/gui/models/missing.h"

#include <QObject>
#include <algorithm>
#include <vector>

#include "rankscope/analyzer/words.h"
#include "rankscope/gui/models/words.h"

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

/// As the panel of data quality calls it.
QString name_of(const CounterInfo& info) {
  QString name = qt_text(info.name);
  name.replace(QLatin1Char{'_'}, QLatin1Char{' '});
  name[0] = name[0].toUpper();
  return name;
}

}  // namespace

QString missing_text(const Run& run, std::size_t most) {
  const std::vector<Loss> losses = losses_of(run);
  if (losses.empty()) return {};
  QString text = QObject::tr("Not everything is here.");
  for (std::size_t i = 0; i < std::min(most, losses.size()); ++i)
    text += QLatin1Char{i == 0 ? ' ' : '\n'} +
            QObject::tr("%1: %2. %3")
                .arg(name_of(*losses[i].info))
                .arg(losses[i].value)
                .arg(qt_text(analyzer::advice_for(losses[i].info->counter, run.info().source)));
  if (losses.size() > most)
    text += QObject::tr("\nData quality, in the menu View, has %1 more.").arg(losses.size() - most);
  return text;
}

}  // namespace rankscope::gui

#include "rankscope/gui/models/base/words.h"

#include <QObject>
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include "rankscope/analyzer/words.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/time_text.h"

namespace rankscope::gui {
namespace {

using End = std::pair<std::string_view, std::string_view>;
constexpr std::array units_of_counters{End{"_percent", "%"}, End{"_watts", "W"}, End{"_celsius", "°C"},
                                       End{"_mhz", "MHz"}};

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

QString time_text(nanoseconds time) {
  return time < nanoseconds{0} ? QStringLiteral("-") + qt_text(duration_text(-time)) : qt_text(duration_text(time));
}

QString moment_text(const Run& run, RunTime moment) {
  return qt_text(axis_text(moment - run.extent().begin, nanoseconds{1}, run.extent().length()));
}

QString counter_text(std::string_view counter, double value) {
  constexpr double most_bytes = 9e18;
  if (!std::isfinite(value)) return QObject::tr("not a number");
  if (std::abs(value) > most_bytes) return QString::number(value);
  if (counter.ends_with("_bytes_per_second"))
    return qt_text(analyzer::bytes_text(std::llround(value))) + QStringLiteral("/s");
  if (counter.ends_with("bytes")) return qt_text(analyzer::bytes_text(std::llround(value)));
  for (const auto& [end, unit] : units_of_counters)
    if (counter.ends_with(end)) return qt_text(format("{:.1f} {}", value, unit));
  return QString::number(value);
}

std::optional<double> value_at(const Run& run, const CounterTrack& counter, RunTime moment) {
  const auto samples = run.samples_of(counter);
  const auto next = std::ranges::upper_bound(samples, moment, {}, &CounterSample::time);
  return next == samples.begin() ? std::nullopt : std::optional{std::prev(next)->value};
}

bool comes_before(std::string_view a, std::string_view b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto take_number = [&](std::string_view& text) {
    const auto end = std::ranges::find_if_not(text, is_digit);
    std::string_view number{text.begin(), end};
    text.remove_prefix(number.size());
    number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
    return number;
  };
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      const std::string_view left = take_number(a);
      const std::string_view right = take_number(b);
      if (left != right) return std::pair{left.size(), left} < std::pair{right.size(), right};
    } else {
      if (a.front() != b.front()) return a.front() < b.front();
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return a.size() < b.size();
}

QString percent_text(double share) { return qt_text(format("{:.1f} %", 100 * share)); }

std::string short_name_of(const Run& run, const Span& span) {
  const std::string_view name = run.text(span.name);
  return span.kind == SpanKind::compute || span.kind == SpanKind::comm ? analyzer::short_kernel_name(name)
                                                                       : std::string{name};
}

QString rank_text(const Run& run, const Lane& lane) {
  if (lane.rank.is_set()) return qt_text(format("rank {}", lane.rank.value));
  const Process& process = run.processes()[lane.process];
  return process.pid == Process::no_pid ? qt_text(run.text(process.program)) : qt_text(format("pid {}", process.pid));
}

QString path_of(const Run& run, const Lane& lane) {
  return rank_text(run, lane) + QStringLiteral(" / ") + qt_text(run.text(lane.name));
}

QString attribute_text(const Run& run, const Attribute& attribute) {
  if (attribute.value.kind != AttributeKind::number) return qt_text(run.text(attribute.value.text));
  const std::int64_t number = attribute.value.number;
  if (!run.text(attribute.key).ends_with("bytes") || number < 0) return QString::number(number);
  return qt_text(format("{} ({})", number, analyzer::bytes_text(number)));
}

QString missing_text(const Run& run, std::size_t most) {
  const std::vector<Loss> losses = losses_of(run);
  if (losses.empty()) return {};
  QString text = QObject::tr("This recording is incomplete.");
  for (std::size_t i = 0; i < std::min(most, losses.size()); ++i)
    text += QLatin1Char{i == 0 ? ' ' : '\n'} +
            QObject::tr("%1: %2. %3")
                .arg(name_of(*losses[i].info))
                .arg(losses[i].value)
                .arg(qt_text(analyzer::advice_for(losses[i].info->counter, run.info().source)));
  if (losses.size() > most) text += QObject::tr("\nView > Data quality lists %1 more.").arg(losses.size() - most);
  return text;
}

}  // namespace rankscope::gui

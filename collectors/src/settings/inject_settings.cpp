#include "settings/inject_settings.h"

#include <algorithm>
#include <array>

#include "rankscope/core/format.h"
#include "rankscope/core/numbers.h"

namespace rankscope::collectors {
namespace {

template <class Number>
void read_into(Number& value, const Lookup& lookup, const char* name) {
  const char* const text = lookup(name);
  if (text == nullptr) return;
  if (const auto number = number_from<Number>(text)) value = *number;
}

std::string text_of(const StepWindow& window) {
  return format("{},{},{},{}", window.wait, window.warmup, window.active, window.repeat);
}

}  // namespace

bool StepWindow::records(std::uint64_t step) const {
  return !is_over(step) && step % cycle() >= std::uint64_t{wait} + warmup;
}

bool StepWindow::waits(std::uint64_t step) const { return !is_over(step) && step % cycle() < wait; }

bool StepWindow::is_over(std::uint64_t step) const { return repeat > 0 && step / cycle() >= repeat; }

Result<StepWindow> step_window_from(std::string_view text) {
  const auto wrong = [&] {
    return fail(
        ErrorKind::usage,
        format("--window must be wait,warmup,active,repeat with active at least 1, as in 10,2,5,1 (is \"{}\")", text));
  };
  std::array<std::uint32_t, 4> numbers{};
  std::size_t count = 0;
  for (std::string_view rest = text;;) {
    const std::string_view item = rest.substr(0, rest.find(','));
    const auto number = number_from<std::uint32_t>(item);
    if (!number || count == numbers.size()) return wrong();
    numbers[count++] = *number;
    if (item.size() == rest.size()) break;
    rest.remove_prefix(item.size() + 1);
  }
  if (count < 3 || numbers[2] == 0) return wrong();
  return StepWindow{.wait = numbers[0], .warmup = numbers[1], .active = numbers[2], .repeat = numbers[3]};
}

Result<GraphLevel> graph_level_from(std::string_view text) {
  if (text.empty() || text == "node") return GraphLevel::node;
  if (text == "graph") return GraphLevel::graph;
  return fail(ErrorKind::usage, format("--cuda-graphs must be node or graph (is \"{}\")", text));
}

Result<double> pm_hz_from(std::string_view text) {
  constexpr double slowest_hz = 1, fastest_hz = 10'000;
  return number_of<double>("--pm-sampling", {.least = slowest_hz, .most = fastest_hz}, text);
}

Result<double> budget_from(std::string_view text) {
  constexpr double most_percent = 100;
  if (text.empty()) return default_budget;
  if (text == "off") return 0.0;
  const bool has_unit = text.ends_with('%');
  const auto percent = has_unit ? number_from<double>(text.substr(0, text.size() - 1)) : std::nullopt;
  if (!percent || *percent <= 0 || *percent > most_percent)
    return fail(ErrorKind::usage,
                format("--budget must be a percentage above 0% and up to 100%, such as 1%, or off (is \"{}\")", text));
  return *percent / 100;
}

bool is_sample_rate(double hz) { return hz >= slowest_sample_hz && hz <= fastest_sample_hz; }

nanoseconds sample_period(const InjectSettings& settings) {
  if (!settings.collect.has(Source::host) || settings.sample_hz <= 0) return nanoseconds{0};
  const double hz = std::clamp(settings.sample_hz, slowest_sample_hz, fastest_sample_hz);
  return nanoseconds{static_cast<std::int64_t>(1e9 / hz)};
}

std::vector<std::pair<std::string, std::string>> to_variables(const InjectSettings& settings) {
  std::vector<std::pair<std::string, std::string>> variables{
      {variable::segments, settings.segments},
      {variable::collect, name_of(settings.collect)},
      {variable::ring_kib, format("{}", settings.ring_kib)},
      {variable::sample_hz, format("{}", settings.sample_hz)},
      {variable::follow, settings.follow ? "1" : "0"},
      {variable::nccl_levels, name_of(settings.nccl)},
      {variable::cuda_graphs, settings.cuda_graphs == GraphLevel::graph ? "graph" : "node"},
      {variable::pm_hz, format("{}", settings.pm_hz)},
      {variable::budget, format("{}", settings.budget)},
      {variable::named, settings.collect_named ? "1" : "0"},
  };
  if (settings.toggled != ToggledBy::nothing)
    variables.emplace_back(variable::toggled, settings.toggled == ToggledBy::cuda ? "cuda" : "signal");
  if (settings.details.bits != 0) variables.emplace_back(variable::details, name_of(settings.details));
  if (!settings.rank_env.empty()) variables.emplace_back(variable::rank_env, settings.rank_env);
  if (settings.window) variables.emplace_back(variable::window, text_of(*settings.window));
  if (settings.until_ns != 0) variables.emplace_back(variable::until, format("{}", settings.until_ns));
  return variables;
}

InjectSettings settings_from(const Lookup& lookup) {
  InjectSettings settings;
  if (const char* const folder = lookup(variable::segments)) settings.segments = folder;
  const char* const list = lookup(variable::collect);
  settings.collect = sources_from(list == nullptr ? "" : list).value_or(all_sources());
  if (const char* const names = lookup(variable::details)) settings.details = details_from(names);
  read_into(settings.ring_kib, lookup, variable::ring_kib);
  const double default_hz = settings.sample_hz;
  read_into(settings.sample_hz, lookup, variable::sample_hz);
  if (settings.sample_hz != 0 && !is_sample_rate(settings.sample_hz)) settings.sample_hz = default_hz;
  read_into(settings.until_ns, lookup, variable::until);
  read_into(settings.budget, lookup, variable::budget);
  if (const char* const names = lookup(variable::nccl_levels))
    settings.nccl = nccl_levels_from(names).value_or(default_nccl_levels);
  if (const char* const name = lookup(variable::rank_env)) settings.rank_env = name;
  if (const char* const text = lookup(variable::window)) {
    if (const auto window = step_window_from(text)) settings.window = *window;
  }
  if (const char* const text = lookup(variable::cuda_graphs))
    settings.cuda_graphs = graph_level_from(text).value_or(GraphLevel::node);
  if (const char* const text = lookup(variable::pm_hz)) settings.pm_hz = pm_hz_from(text).value_or(default_pm_hz);
  const auto is_one = [&lookup](const char* name) {
    const char* const value = lookup(name);
    return value != nullptr && std::string_view{value} == "1";
  };
  settings.collect_named = is_one(variable::named);
  if (const char* const text = lookup(variable::toggled))
    settings.toggled = std::string_view{text} == "cuda" ? ToggledBy::cuda : ToggledBy::signal;
  const char* const follow = lookup(variable::follow);
  settings.follow = follow == nullptr || std::string_view{follow} != "0";
  return settings;
}

}  // namespace rankscope::collectors

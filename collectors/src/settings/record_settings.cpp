#include "settings/record_settings.h"

#include <csignal>
#include <string_view>

#include "rankscope/core/format.h"
#include "rankscope/core/numbers.h"
#include "rankscope/core/recording/segment_writer.h"

namespace rankscope::collectors {
namespace {

constexpr std::uint32_t most_ring_kib = 4 * 1024 * 1024;
constexpr double longest_s = 1e9;  // 31 years; a count of nanoseconds holds 292

Result<void> check_seconds(std::string_view name, double seconds) {
  if (seconds >= 0 && seconds <= longest_s) return {};
  return fail(ErrorKind::usage, format("{} must be {} (is {})", name, number_words<double>({0, longest_s}), seconds));
}

}  // namespace

Result<void> check_options(const RecordOptions& options) {
  if (options.command.empty()) return fail(ErrorKind::usage, "no command to record; give it after --");
  if (options.sample_hz != 0 && !is_sample_rate(options.sample_hz)) {
    return fail(ErrorKind::usage,
                format("--sample-hz must be 0 or {} (is {})",
                       number_words<double>({slowest_sample_hz, fastest_sample_hz}), options.sample_hz));
  }
  if (options.ring_kib < 64 || options.ring_kib > most_ring_kib) {
    return fail(ErrorKind::usage, format("--ring-kib must be {} (is {})",
                                         number_words<std::uint32_t>({64, most_ring_kib}), options.ring_kib));
  }
  RS_TRY_VOID(check_seconds("--duration", options.duration_s));
  RS_TRY_VOID(check_seconds("--hang-after", options.hang_after_s));
  if (options.hang_after_s == 0 && !options.on_hang.empty())
    return fail(ErrorKind::usage, "--on-hang needs --hang-after SECONDS");
  if (options.hang_after_s > 0 && (!options.window.empty() || options.toggle == "cuda"))
    return fail(ErrorKind::usage,
                format("--hang-after cannot be used with {}, because a rank that is not recorded looks like one that "
                       "hangs",
                       options.window.empty() ? "--toggle cuda" : "--window"));
  if (options.pytorch == PyTorch::expected) {
    RS_TRY(const SourceSet sources, sources_from(options.collect));
    if (!sources.has(Source::annotate))
      return fail(ErrorKind::usage, "--pytorch needs the source annotate, which --collect leaves out");
  }
  return {};
}

Result<InjectSettings> inject_settings_from(const RecordOptions& options) {
  InjectSettings settings;
  RS_TRY(settings.collect, sources_from(options.collect));
  settings.collect_named = !options.collect.empty() && options.collect != "all";
  RS_TRY(settings.nccl, nccl_levels_from(options.nccl));
  RS_TRY(settings.cuda_graphs, graph_level_from(options.cuda_graphs));
  RS_TRY(settings.budget, budget_from(options.budget));
  if (!options.pm_sampling.empty()) {
    RS_TRY(settings.pm_hz, pm_hz_from(options.pm_sampling));
    settings.collect.add(Source::pm);
  }
  settings.ring_kib = options.ring_kib;
  settings.sample_hz = options.sample_hz;
  settings.rank_env = options.rank_env;
  if (!options.window.empty()) {
    RS_TRY(const StepWindow window, step_window_from(options.window));
    settings.window = window;
  }
  if (options.duration_s > 0) {
    const auto now = static_cast<std::int64_t>(recording::TickClock::now_monotonic());
    settings.until_ns = now + static_cast<std::int64_t>(options.duration_s * 1e9);
  }
  if (!options.toggle.empty()) settings.toggled = options.toggle == "cuda" ? ToggledBy::cuda : ToggledBy::signal;
  settings.details = options.details;
  settings.follow = options.follow == Follow::descendants;
  return settings;
}

Result<int> toggle_signal_from(const std::string& name) {
  if (name.empty() || name == "cuda") return 0;
  if (name == "USR1") return SIGUSR1;
  if (name == "USR2") return SIGUSR2;
  return fail(ErrorKind::usage, format("--toggle must be USR1, USR2 or cuda (is \"{}\")", name));
}

}  // namespace rankscope::collectors

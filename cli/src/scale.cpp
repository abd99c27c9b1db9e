// rankscope scale RUN... [--to N]
#include "rankscope/analyzer/scaling/scale.h"

#include <memory>

#include "outputs.h"
#include "rankscope/core/command_line.h"
#include "run_argument.h"
#include "say.h"
#include "selection.h"
#include "verb.h"

namespace rankscope::cli {
namespace {

struct ScaleArguments {
  std::vector<std::string> runs;
  ReadingOptions reading;
  Outputs outputs;
  Selection selection;
  analyzer::ScaleOptions options;
  bool strong = false;
  bool weak = false;
};

Result<int> show_scaling(const ScaleArguments& arguments) {
  analyzer::ScaleOptions options = arguments.options;
  RS_TRY(options.report, options_from(arguments.selection));
  if (arguments.strong) options.scaling = analyzer::Scaling::strong;
  if (arguments.weak) options.scaling = analyzer::Scaling::weak;
  RS_TRY_VOID(check_outputs(arguments.runs, arguments.outputs));
  options.names = arguments.runs;
  std::vector<std::shared_ptr<const Run>> runs;
  for (const std::string& path : arguments.runs) {
    RS_TRY(auto run, open({{path}, arguments.reading}));
    runs.push_back(std::move(run));
  }
  RS_TRY(const analyzer::ScaleAnswer answer, analyzer::scale(runs, options));
  RS_TRY_VOID(
      write_outputs(arguments.outputs,
                    {.json = [&] { return analyzer::render_scale_json(answer); },
                     .html = [&] { return analyzer::render_scale_html(answer); },
                     .text = [&](analyzer::Colour colour) { return analyzer::render_scale_text(answer, colour); }}));
  if (answer.why_not_predicted.empty() || answer.measured.size() > 1) return 0;
  say_again(arguments.outputs, arguments.runs.front() + ": nothing can be predicted: " + answer.why_not_predicted);
  return exit_status(ErrorKind::not_computable);
}

}  // namespace

Action declare_scale(CLI::App& app, const Words&) {
  const auto arguments = std::make_shared<ScaleArguments>();
  app.add_option("RUN", arguments->runs,
                 "recordings or traces of one job on different numbers of ranks, or a single one to predict from")
      ->required();
  add_reading(app, arguments->reading);
  app.add_option("--to", arguments->options.to,
                 "numbers of ranks to predict for, e.g. 64,128 (default: 2, 4 and 8 times the recorded number)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(within<std::int64_t>({.least = 1}));
  auto* const strong =
      app.add_flag("--strong", arguments->strong, "assume that the total work stays the same (strong scaling)");
  app.add_flag("--weak", arguments->weak, "assume that the work of each rank stays the same (weak scaling)")
      ->excludes(strong);
  app.add_option("--latency-us", arguments->options.latency_us, "latency of the network between hosts, in µs per hop")
      ->check(within<double>({.least = 0, .most = 1e6}));
  app.add_option("--bandwidth-gbps", arguments->options.bandwidth_gbps,
                 "bandwidth of the network between hosts, per rank, in GB/s (1e9 bytes)")
      ->check(within<double>({.least = 1e-6, .most = 1e6}));
  app.add_option("--ranks-per-host", arguments->options.ranks_per_host,
                 "number of ranks on one host (default: as recorded)")
      ->check(within<int>({.least = 1, .most = 1 << 17}));
  app.add_option("--seed", arguments->options.seed, "seed of the random numbers with which steps are simulated")
      ->capture_default_str()
      ->check(within<std::uint64_t>({}));
  add_outputs(app, arguments->outputs, "the prediction");
  add_steps(app, arguments->selection);
  return [arguments] {
    const auto status = show_scaling(*arguments);
    return status ? *status : say(status.error());
  };
}

}  // namespace rankscope::cli

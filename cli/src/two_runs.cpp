#include "two_runs.h"

#include "rankscope/analyzer/compare/render_comparison.h"

namespace rankscope::cli {
namespace {

Result<analyzer::RunDigest> read(const TwoRuns& runs, const std::string& path, const std::string& label,
                                 const analyzer::ReportOptions& options) {
  RS_TRY(const auto run, open(RunArgument{{path}, runs.reading}));
  RS_TRY_VOID(analyzer::check_ranks(*run, options.ranks, "--ranks").map_error(while_doing(path)));
  analyzer::RunDigest digest = analyzer::digest(*run, options, {label, path});
  RS_TRY_VOID(check_steps(digest.report).map_error(while_doing(path)));
  return digest;
}

}  // namespace

void add_comparison(CLI::App& app, TwoRuns& runs) {
  add_outputs(app, runs.outputs, "the comparison");
  add_reading(app, runs.reading);
  add_selection(app, runs.selection);
  app.add_flag(
      "--accept-losses", runs.accept_losses,
      "also judge runs that lack data, ranks or steps, or that ended with an error; only the recorded data is judged");
  app.add_flag("--allow-different", runs.allow_different,
               "also judge runs of different jobs: those that differ in world size, batch or dtype");
  app.footer("docs/compare.md explains the output and every number. Options apply to both runs.");
}

analyzer::Likes likes_of(const TwoRuns& runs) {
  return runs.allow_different ? analyzer::Likes::may_differ : analyzer::Likes::must_agree;
}

Result<analyzer::Comparison> compare(const TwoRuns& runs) {
  RS_TRY(const analyzer::ReportOptions options, options_from(runs.selection));
  RS_TRY_VOID(check_outputs({runs.a, runs.b}, runs.outputs));
  RS_TRY(const analyzer::RunDigest a, read(runs, runs.a, runs.label_a, options));
  RS_TRY(const analyzer::RunDigest b, read(runs, runs.b, runs.label_b, options));
  return analyzer::compare(a, b, runs.accept_losses ? analyzer::Losses::accepted : analyzer::Losses::refused,
                           likes_of(runs));
}

Result<void> show(const TwoRuns& runs, const analyzer::Comparison& comparison,
                  const std::optional<analyzer::Gate>& gate) {
  const analyzer::ComparisonView view{comparison, gate, runs.selection.top};
  return write_outputs(runs.outputs,
                       {.json = [&] { return analyzer::render_json(view); },
                        .html = [&] { return analyzer::render_html(view); },
                        .text = [&](analyzer::Colour colour) { return analyzer::render_text(view, colour); }});
}

}  // namespace rankscope::cli

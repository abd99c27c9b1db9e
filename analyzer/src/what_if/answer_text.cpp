#include <cmath>
#include <nlohmann/json.hpp>

#include "rankscope/analyzer/what_if/what_if.h"
#include "rankscope/core/format.h"
#include "render/json_number.h"
#include "render/means.h"
#include "render/page.h"
#include "render/words.h"
#include "what_if/parts.h"

namespace rankscope::analyzer {
namespace {

using Json = nlohmann::ordered_json;

double gain_share(const WhatIfAnswer& answer, const Prediction& prediction) {
  if (answer.unchanged.mean_ns <= 0) return 0;
  return static_cast<double>(answer.unchanged.mean_ns - prediction.mean_ns) /
         static_cast<double>(answer.unchanged.mean_ns);
}

std::string words_of(const Prediction& prediction) {
  std::string words;
  for (const std::string& fix : prediction.fixes) words += (words.empty() ? "" : " + ") + printable(fix);
  return words;
}

std::string headline(const WhatIfAnswer& answer) {
  const double share = gain_share(answer, answer.together);
  const std::string after = duration_text(answer.together.mean_ns);
  const std::string before = duration_text(answer.unchanged.mean_ns);
  const std::string what = answer.steps.empty() ? "The whole recording" : "A step";
  if (answer.unchanged.mean_ns == answer.together.mean_ns)
    return format("{} would take {}, as it does now.", what, after);
  return format("{} would take {} instead of {}: {:.1f} % {}.", what, after, before, 100 * std::abs(share),
                share > 0 ? "less" : "more");
}

void add_row(Table& table, const WhatIfAnswer& answer, const std::string& change, const Prediction& prediction) {
  const Means one{1, 0};
  table.rows.push_back({{change},
                        {one.ms(prediction.mean_ns)},
                        {one.ms(prediction.median_ns)},
                        {one.ms(answer.unchanged.mean_ns - prediction.mean_ns)},
                        {format("{:.1f} %", 100 * gain_share(answer, prediction))}});
}

Json prediction_json(const WhatIfAnswer& answer, const Prediction& prediction) {
  return {{"fixes", prediction.fixes},
          {"step_ns", prediction.mean_ns},
          {"median_step_ns", prediction.median_ns},
          {"gain_ns_per_step", answer.unchanged.mean_ns - prediction.mean_ns},
          {"gain", rounded(gain_share(answer, prediction), 6)},
          {"changed", prediction.changed},
          {"saved_ns", prediction.saved_ns},
          {"step_walls_ns", prediction.walls_ns}};
}

std::string text_of(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

}  // namespace

std::string render_what_if_text(const WhatIfAnswer& answer, Colour colour) {
  Page page{colour};
  page.heading("WHAT IF");
  const bool better = answer.together.mean_ns < answer.unchanged.mean_ns;
  page.paragraph(headline(answer), better ? Tone::good : Tone::plain);
  page.heading("PREDICTION", answer.steps.empty()
                                 ? "the whole recording"
                                 : format("{}", counted(static_cast<std::int64_t>(answer.steps.size()), "step")));
  Table table{{{"change", Align::left, 48}, {"mean ms"}, {"median ms"}, {"saves ms"}, {"saves"}}, {}};
  add_row(table, answer, "none: as recorded", answer.unchanged);
  for (const Prediction& alone : answer.alone) add_row(table, answer, words_of(alone), alone);
  add_row(table, answer, answer.alone.empty() ? words_of(answer.together) : "all together", answer.together);
  page.table(table);
  page.paragraph(
      format(
          "The prediction changes the length of {} (operations, host times, transfers and delays): in total, {} over "
          "all ranks and steps. How much shorter a step becomes depends on which changed items it waits for.",
          counted(answer.together.changed, "item"),
          answer.together.saved_ns >= 0 ? duration_text(answer.together.saved_ns) + " less"
                                        : duration_text(-answer.together.saved_ns) + " more"),
      Tone::faint);
  page.paragraph(format("These times come from a replay of the recording (error {:.1f} %). {}",
                        100 * answer.replay_error, not_modelled),
                 Tone::faint);
  for (const std::string& doubt : answer.doubts) page.paragraph(doubt, Tone::faint);
  return std::move(page).take();
}

std::string render_what_if_json(const WhatIfAnswer& answer) {
  Json out{{"schema", "rankscope.whatif/1"}, {"replay_error", rounded(answer.replay_error, 6)}};
  out["steps"] = answer.steps;
  out["unchanged"] = prediction_json(answer, answer.unchanged);
  out["alone"] = Json::array();
  for (const Prediction& alone : answer.alone) out["alone"].push_back(prediction_json(answer, alone));
  out["predicted"] = prediction_json(answer, answer.together);
  out["doubts"] = answer.doubts;
  return text_of(out);
}

std::string render_no_what_if_json(std::string_view why) {
  return text_of({{"schema", "rankscope.whatif/1"}, {"predicted", {{"unavailable", why}}}});
}

}  // namespace rankscope::analyzer

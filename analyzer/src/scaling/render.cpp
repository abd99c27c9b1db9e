#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "rankscope/analyzer/scaling/scale.h"
#include "rankscope/core/format.h"
#include "render/html/document.h"
#include "render/html/elements.h"
#include "render/json_number.h"
#include "render/means.h"
#include "render/noted_table.h"
#include "render/page.h"
#include "render/words.h"

namespace rankscope::analyzer {
namespace {

using Json = nlohmann::ordered_json;

std::string share(double part) { return format("{:.1f} %", 100 * part); }

NotedTable measured_table(const ScaleAnswer& answer) {
  const Means one{1, 0};
  NotedTable noted{"Measured", format("{} scaling", name_of(answer.scaling)),
                   Table{{{"ranks"}, {"step ms"}, {"batch"}, {"efficiency"}}, {}}};
  for (const ScalePoint& point : answer.measured)
    noted.table.rows.push_back({{format("{}", point.ranks)},
                                {one.ms(point.step_ns)},
                                {point.batch ? format("{}", *point.batch) : "–"},
                                {share(point.efficiency)}});
  noted.notes.push_back(
      format("{} scaling: {}.", answer.scaling == Scaling::weak ? "Weak" : "Strong", answer.why_scaling));
  if (!answer.fit) return noted;
  const ScaleFit& fit = *answer.fit;
  noted.notes.push_back(answer.scaling == Scaling::strong
                            ? format("According to a curve fitted to these steps, {} of the work does not get shorter "
                                     "with more ranks, so the speedup over one rank can never exceed {:.1f} (Amdahl).",
                                     share(fit.fixed_share), 1 / std::max(1e-9, fit.fixed_share))
                            : format("According to a curve fitted to these steps, a step becomes {} {} with each "
                                     "doubling of the number of ranks.",
                                     duration_text(std::abs(static_cast<std::int64_t>(fit.per_doubling_ns))),
                                     fit.per_doubling_ns >= 0 ? "longer" : "shorter"));
  noted.notes.push_back(
      answer.measured.size() > 2
          ? format("The measured steps differ from the curve by at most {}.", share(fit.largest_error))
          : "The curve always fits two runs exactly; a third run would show whether it is right.");
  return noted;
}

NotedTable predicted_table(const ScaleAnswer& answer) {
  const Means one{1, 0};
  NotedTable noted{"Predicted", format("from the run on {}", counted(answer.measured.back().ranks, "rank")),
                   Table{{{"ranks"},
                          {"step ms"},
                          {"low"},
                          {"high"},
                          {"efficiency"},
                          {"lost to communication"},
                          {"lost to noise"},
                          {"confidence", Align::left}},
                         {}}};
  for (const ScaledStep& step : answer.predicted)
    noted.table.rows.push_back(
        {{format("{}", step.ranks)},
         {one.ms(step.step_ns)},
         {one.ms(step.low_ns)},
         {one.ms(step.high_ns)},
         {share(step.efficiency)},
         {share(step.lost_to_comm)},
         {share(step.lost_to_noise)},
         {step.low_confidence ? "low" : "usual", step.low_confidence ? Tone::warning : Tone::plain}});
  noted.notes.emplace_back(
      "Low and high: at most 5 % of the simulated steps are shorter than low, and at most 5 % are longer than high; "
      "both are at least 5 % from the median. Lost to communication: the share of the step that would be saved if "
      "transfers took as long as in the recorded run. Lost to noise: the share that would be saved if every rank ran "
      "the typical step.");
  noted.notes.insert(noted.notes.end(), answer.notes.begin(), answer.notes.end());
  if (std::ranges::any_of(answer.predicted, &ScaledStep::low_confidence))
    noted.notes.emplace_back("Low confidence: more than 4 times as many ranks as in the measured run.");
  return noted;
}

std::vector<NotedTable> tables_of(const ScaleAnswer& answer) {
  std::vector<NotedTable> tables{measured_table(answer)};
  if (!answer.predicted.empty()) tables.push_back(predicted_table(answer));
  return tables;
}

// The picture: efficiency over the number of ranks, both axes from the smallest run on.
constexpr double left = 64;
constexpr double right = 24;
constexpr double top = 16;
constexpr double height = 260;
constexpr double bottom = 48;

class Plot {
 public:
  explicit Plot(const ScaleAnswer& answer) : first_(static_cast<double>(answer.measured.front().ranks)) {
    last_ = static_cast<double>(answer.measured.back().ranks);
    for (const ScaledStep& step : answer.predicted) last_ = std::max(last_, static_cast<double>(step.ranks));
    for (const ScalePoint& point : answer.measured) most_ = std::max(most_, point.efficiency);
  }
  [[nodiscard]] double x(std::int64_t ranks) const {
    const double span = std::max(1e-9, std::log2(last_ / first_));
    return left + std::log2(static_cast<double>(ranks) / first_) / span * (html::chart_width - left - right);
  }
  [[nodiscard]] double y(double efficiency) const {
    return top + height * (1 - std::clamp(efficiency / most_, 0.0, 1.0));
  }
  [[nodiscard]] double most() const { return most_; }

 private:
  double first_;
  double last_ = 1;
  double most_ = 1;
};

void draw(html::Writer& page, const ScaleAnswer& answer) {
  const Plot plot{answer};
  html::Chart chart{
      page,
      {"scale-chart", "Efficiency by number of ranks",
       "Squares are measured runs, and bars are the ranges of the predictions. The tables below have the numbers."},
      top + height + bottom};
  for (int tenth = 0; tenth <= 10; tenth += 2) {
    const double y = plot.y(tenth / 10.0);
    chart.line(left, y, html::chart_width - right, y, tenth == 0 ? "axis" : "grid");
    chart.text(left - 10, y + 4, format("{} %", 10 * tenth), "tick end");
  }
  const auto label = [&](std::int64_t ranks) {
    chart.text(plot.x(ranks), top + height + 18, format("{}", ranks), "tick middle");
  };
  for (const ScaledStep& step : answer.predicted) {
    const double base = step.efficiency * static_cast<double>(step.step_ns);
    const double high = plot.y(base / static_cast<double>(std::max<std::int64_t>(1, step.low_ns)));
    const double low = plot.y(base / static_cast<double>(std::max<std::int64_t>(1, step.high_ns)));
    html::write_bar(page, {plot.x(step.ranks) - 5, high, 10, std::max(2.0, low - high)}, "wait",
                    format("{} ranks: predicted efficiency {}, step {}{}", step.ranks, share(step.efficiency),
                           duration_text(step.step_ns), step.low_confidence ? ", low confidence" : ""));
    label(step.ranks);
  }
  for (const ScalePoint& point : answer.measured) {
    html::write_bar(page, {plot.x(point.ranks) - 5, plot.y(point.efficiency) - 5, 10, 10}, "compute",
                    format("{}: measured efficiency {}, step {}", counted(point.ranks, "rank"), share(point.efficiency),
                           duration_text(point.step_ns)));
    label(point.ranks);
  }
  chart.text((left + html::chart_width - right) / 2, top + height + 38, "ranks", "tick middle");
}

std::string headline(const ScaleAnswer& answer) {
  if (answer.predicted.empty()) {
    const ScalePoint& last = answer.measured.back();
    if (answer.measured.size() == 1)
      return format("A step on {} takes {}.", counted(last.ranks, "rank"), duration_text(last.step_ns));
    return format("A step on {} takes {}, with {} of the efficiency of {}.", counted(last.ranks, "rank"),
                  duration_text(last.step_ns), share(last.efficiency), counted(answer.measured.front().ranks, "rank"));
  }
  const ScaledStep& last = answer.predicted.back();
  return format("A step on {} would take {} ({} to {}), with {} of the efficiency of {}.", counted(last.ranks, "rank"),
                duration_text(last.step_ns), duration_text(last.low_ns), duration_text(last.high_ns),
                share(last.efficiency), counted(answer.measured.front().ranks, "rank"));
}

}  // namespace

std::string render_scale_text(const ScaleAnswer& answer, Colour colour) {
  Page page{colour};
  page.heading("SCALING");
  if (!answer.differing_work.empty()) page.paragraph(printable(answer.differing_work), Tone::warning);
  page.paragraph(headline(answer));
  if (!answer.why_not_predicted.empty())
    page.paragraph(format("Nothing is predicted: {}.", answer.why_not_predicted), Tone::warning);
  add_noted_tables(page, tables_of(answer));
  return std::move(page).take();
}

std::string render_scale_json(const ScaleAnswer& answer) {
  Json out{{"schema", "rankscope.scale/1"}, {"scaling", name_of(answer.scaling)}, {"why_scaling", answer.why_scaling}};
  if (!answer.differing_work.empty()) out["differing_work"] = answer.differing_work;
  out["measured"] = Json::array();
  for (const ScalePoint& point : answer.measured)
    out["measured"].push_back(Json{{"ranks", point.ranks},
                                   {"step_ns", point.step_ns},
                                   {"batch", point.batch ? Json(*point.batch) : Json(nullptr)},
                                   {"efficiency", rounded(point.efficiency, 6)}});
  if (answer.fit)
    out["fit"] = Json{{"fixed_share", rounded(answer.fit->fixed_share, 6)},
                      {"per_doubling_ns", rounded(answer.fit->per_doubling_ns, 0)},
                      {"largest_error", rounded(answer.fit->largest_error, 6)}};
  if (!answer.why_not_predicted.empty()) {
    out["predicted"] = Json{{"unavailable", answer.why_not_predicted}};
  } else {
    out["predicted"] = Json::array();
    for (const ScaledStep& step : answer.predicted)
      out["predicted"].push_back(Json{{"ranks", step.ranks},
                                      {"step_ns", step.step_ns},
                                      {"low_ns", step.low_ns},
                                      {"high_ns", step.high_ns},
                                      {"efficiency", rounded(step.efficiency, 6)},
                                      {"lost_to_comm", rounded(step.lost_to_comm, 6)},
                                      {"lost_to_noise", rounded(step.lost_to_noise, 6)},
                                      {"low_confidence", step.low_confidence}});
  }
  out["replay_error"] = rounded(answer.replay_error, 6);
  out["model_error"] = rounded(answer.model_error, 6);
  out["notes"] = answer.notes;
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string render_scale_html(const ScaleAnswer& answer) {
  html::Writer body;
  if (!answer.differing_work.empty()) body.element("p", answer.differing_work, {{"class", "warning"}});
  body.element("p", headline(answer));
  if (!answer.why_not_predicted.empty())
    body.element("p", format("Nothing is predicted: {}.", answer.why_not_predicted), {{"class", "warning"}});
  draw(body, answer);
  html::write_noted_tables(body, tables_of(answer));
  const std::vector<html::DocumentSection> sections{{"scaling", "Scaling", std::move(body).take()}};
  return html::document({"rankscope scale", format("{} scaling", name_of(answer.scaling))}, sections);
}

}  // namespace rankscope::analyzer

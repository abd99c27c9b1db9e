#include "verdict/doubts.h"

#include <algorithm>
#include <vector>

#include "rankscope/analyzer/render.h"
#include "rankscope/core/format.h"
#include "render/words.h"
#include "split/communication.h"
#include "stragglers/parts.h"
#include "words/source_advice.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

/// Questions that have no answer for the same reason.
struct Unanswered {
  std::vector<std::string_view> questions;
  std::string why;
};

class Doubts {
 public:
  void add(std::initializer_list<std::string_view> questions, const std::string& why) {
    auto known = std::ranges::find(list_, why, &Unanswered::why);
    if (known == list_.end()) {
      list_.emplace_back().why = why;
      known = std::prev(list_.end());
    }
    known->questions.insert(known->questions.end(), questions);
  }
  /// "Cannot tell a, b or c: why." for each reason.
  [[nodiscard]] std::string text() const {
    std::string text;
    for (const Unanswered& one : list_) {
      text += text.empty() ? "Cannot tell " : " Cannot tell ";
      for (std::size_t i = 0; i < one.questions.size(); ++i) {
        const bool last = i + 1 == one.questions.size();
        text += format("{}{}", i == 0 ? "" : last ? " or " : ", ", one.questions[i]);
      }
      text += format(": {}.", printable(one.why));
    }
    return text;
  }

 private:
  std::vector<Unanswered> list_;
};

/// Why, and what to do about it; empty if ranks were compared.
std::string not_compared_text(const Report& report) {
  if (report.why_not_compared.empty()) return {};
  const bool some = report.rank_rows && std::ranges::any_of(*report.rank_rows, &RankRow::shows_communication);
  return format(
      "Ranks could not be compared, since {}. {}{}", cause_alone(report.why_not_compared),
      advice_for(Wanted::comparison, advice_source(report)),
      some ? " If ranks communicate only in every n-th step (gradient accumulation), mark n steps as one." : "");
}

}  // namespace

std::string_view fact(const Report& report, std::string_view name) {
  const auto found = std::ranges::find(report.facts, name, &std::pair<std::string, std::string>::first);
  return found == report.facts.end() ? std::string_view{} : std::string_view{found->second};
}

std::string_view advice_source(const Report& report) {
  const bool on_gloo = report.source == "kineto" && fact(report, "backend") == "gloo";
  return on_gloo ? kineto_on_gloo : std::string_view{report.source};
}

bool counts(const Report& report, Counter counter) {
  return std::ranges::find(report.data_quality, counter, &QualityRow::counter) != report.data_quality.end();
}

std::string cut_input_text(const Report& report) {
  const auto row = std::ranges::find(report.data_quality, Counter::truncated_input, &QualityRow::counter);
  std::string where;
  if (row != report.data_quality.end() && !row->where.empty())
    where = format(" ({}{})", printable(row->where.front()), row->where.size() > 1 ? " and others" : "");
  return format("The input is cut short{}: work after the cut is missing and can look like idle time.", where);
}

bool shows_everything(const Report& report) { return cannot_tell(report).empty() && lost_evidence(report).empty(); }

std::string few_ranks_sentence(const Report& report, std::string_view said) {
  if (report.ranks.empty() || report.world_size <= std::ssize(report.ranks)) return {};
  const auto unreadable = std::ranges::find(report.data_quality, Counter::segments_unreadable, &QualityRow::counter);
  const std::string text = only_recorded_text(std::ssize(report.ranks), report.world_size,
                                              unreadable == report.data_quality.end() ? 0 : unreadable->value);
  return said.find(text) == said.npos ? sentence(text) : std::string{};
}

std::string cannot_tell(const Report& report) {
  Doubts doubts;
  if (!report.steps) doubts.add({"which rank is slow", "how long a step takes"}, report.steps.error().why);
  const std::string not_compared = not_compared_text(report);
  const bool compared = not_compared.empty();
  if (compared && report.steps && !report.stragglers)
    doubts.add({"whether a rank is slow"}, report.stragglers.error().why);
  if (report.stragglers && !report.stragglers->cannot_tell.empty())
    doubts.add({question_of(report)}, report.stragglers->cannot_tell);
  if (!report.rank_rows) doubts.add({"where the time went"}, report.rank_rows.error().why);
  if (compared && !report.collectives && report.ranks.size() > 1)
    doubts.add({"how long ranks waited for each other"}, report.collectives.error().why);
  if (report.rank_rows && !report.findings) doubts.add({"what else is wrong"}, report.findings.error().why);
  const std::string text = doubts.text();
  return not_compared.empty() || text.empty() ? not_compared + text : not_compared + " " + text;
}

std::vector<std::string> doubts_about(const Report& report) {
  std::vector<std::string> doubts;
  if (counts(report, Counter::truncated_input))
    doubts.push_back(cut_input_text(report));
  else if (counts(report, Counter::segment_cut))
    doubts.push_back(format("{}.", cut_segment));
  else if (const std::string_view lost = lost_evidence(report); !lost.empty())
    doubts.push_back(format("{}.", lost));
  std::string doubt = cannot_tell(report);
  if (auto few = few_ranks_sentence(report, doubt); !few.empty()) doubts.push_back(std::move(few));
  if (!doubt.empty()) doubts.push_back(std::move(doubt));
  return doubts;
}

}  // namespace rankscope::analyzer

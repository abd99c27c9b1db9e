#include "stragglers/parts.h"

#include <algorithm>

#include <nlohmann/json.hpp>
#include "render/json_parts.h"

namespace rankscope::analyzer {
namespace {

using Json = nlohmann::ordered_json;

Json last_arrivals_json(const LastArrivals& arrivals) {
  Json out{{"counted", arrivals.counted}, {"what", arrivals.by_operation ? "operations" : "steps"}};
  std::int64_t known = 0;
  out["ranks"] = Json::object();
  for (const auto& [rank, times] : arrivals.ranks) {
    out["ranks"][std::to_string(rank.value)] = times;
    known += times;
  }
  out["not_told"] = arrivals.counted - known;
  out["certainty"] = name_of(arrivals.certainty);
  return out;
}

Json code_json(const SlowCode& code) {
  return {{"function", code.function},
          {"file", code.file},
          {"line", code.line},
          {"ns_per_step", code.ns_per_step},
          {"peers_ns_per_step", code.peers_ns_per_step},
          {"share", rounded(code.share, 4)},
          {"peers_share", rounded(code.peers_share, 4)}};
}

}  // namespace

nlohmann::ordered_json straggler_json(const Straggler& row) {
  Json out{{"rank", row.rank.value},
           {"kind", name_of(row.kind)},
           {"persistence", name_of(row.persistence)},
           {"certainty", name_of(row.certainty)},
           {"severity", name_of(row.severity)},
           {"slowdown", rounded(row.slowdown, 4)},
           {"lag_ns_per_step", row.lag_ns_per_step},
           {"gain_ns_per_step", row.gain_ns_per_step},
           {"gain_method", "replay"}};
  Why why;
  if (!row.why_no_gain.empty()) {
    out["gain_ns_per_step"] = why.null("gain_ns_per_step", row.why_no_gain);
    out["gain_method"] = nullptr;
  }
  if (row.since_step) out["since_step"] = *row.since_step;
  if (row.until_step) out["until_step"] = *row.until_step;
  if (row.step_ns_while_slow > 0) {
    out["gain_ns_while_slow"] =
        row.why_no_gain.empty() ? Json(row.gain_ns_while_slow) : why.null("gain_ns_while_slow", row.why_no_gain);
    out["step_ns_while_slow"] = row.step_ns_while_slow;
  }
  if (row.together) {
    out["together_with"] = Json::array();
    for (const RankId rank : row.together->ranks)
      if (rank != row.rank) out["together_with"].push_back(rank.value);
    out["gain_together_ns_per_step"] = row.together->ns_per_step;
  }
  if (row.evidence_units) out["evidence_units"] = {{"last", row.evidence_units->last}, {"of", row.evidence_units->of}};
  out["evidence"] = row.evidence + code_text(row);
  if (row.code) out["code"] = code_json(*row.code);
  if (row.pauses)
    out["garbage_collection"] = {{"ns_per_step", row.pauses->ns_per_step},
                                 {"peers_ns_per_step", row.pauses->peers_ns_per_step}};
  if (row.more_work)
    out["more_work"] = {{"operator", row.more_work->op},
                        {"calls_per_step", rounded(row.more_work->calls_per_step, 4)},
                        {"peers_calls_per_step", rounded(row.more_work->peers_calls_per_step, 4)},
                        {"ns_per_step", row.more_work->ns_per_step},
                        {"peers_ns_per_step", row.more_work->peers_ns_per_step}};
  std::move(why).attach(out);
  return out;
}

nlohmann::ordered_json straggler_basis_json(const StragglersSection& section) {
  Why why;
  Json out;
  out["compared"] = section.compared;
  out["smallest_detectable"] = section.smallest_detectable ? rounded(*section.smallest_detectable, 4)
                                                           : why.null("smallest_detectable", "too few ranks or steps");
  out["last_arrivals"] = last_arrivals_json(section.last_arrivals);
  out["cannot_tell"] = section.cannot_tell.empty() ? Json(nullptr) : Json(section.cannot_tell);
  std::move(why).attach(out);
  return out;
}

}  // namespace rankscope::analyzer

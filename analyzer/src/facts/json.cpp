#include "facts/parts.h"

#include <nlohmann/json.hpp>

#include "alignment/parts.h"
#include "render/json_parts.h"

namespace rankscope::analyzer {

namespace {

using Json = nlohmann::ordered_json;

}  // namespace

Json run_json(const Report& report) {
  Why why;
  Json run;
  run["source"] = report.source;
  run["ranks"] = report.ranks.size();
  run["world_size"] = report.world_size > 0 ? Json(report.world_size) : why.null("world_size", "");
  run["steps"] = report.steps ? Json(report.steps->steps.size()) : why.null("steps", report.steps.error().why);
  run["duration_ns"] = report.duration_ns;
  run["clock"]["method"] = report.clock.method;
  run["clock"]["error_ns"] = report.clock.method == "none"
                                 ? why.null("clock.error_ns", "the ranks have no common clock")
                                 : Json(report.clock.error.count());
  add_clocks(run["clock"], report.clocks);
  std::move(why).attach(run);
  if (report.asked_for.steps)
    run["asked_for"]["steps"] = {report.asked_for.steps->first, report.asked_for.steps->second};
  for (const RankId rank : report.asked_for.ranks) run["asked_for"]["ranks"].push_back(rank.value);
  for (const Straggler& row : report.asked_for.slow_ranks_left_out)
    run["asked_for"]["slow_ranks_left_out"].push_back(row.rank.value);
  if (!report.facts.empty()) {
    auto& facts = run["facts"] = Json::object();
    for (const auto& [key, value] : report.facts) facts[key] = value;
  }
  return run;
}

nlohmann::ordered_json facts_json(const RankFacts& facts) {
  Why why;
  Json out;
  out["rank"] = facts.rank.value;
  out["host"] = facts.host;
  out["program"] = facts.program;
  out["ending"] = name_of(facts.ending);
  out["exit_status"] = facts.ending == Ending::exited ? Json(facts.exit_status) : why.null("exit_status", "not known");
  out["cpu_percent"] = facts.cpu_percent ? rounded(*facts.cpu_percent, 1)
                                         : why.null("cpu_percent", facts.peak_rss_bytes ? "no host samples in the steps"
                                                                                        : "no host samples");
  out["peak_rss_bytes"] =
      facts.peak_rss_bytes ? Json(*facts.peak_rss_bytes) : why.null("peak_rss_bytes", "no host samples");
  std::move(why).attach(out);
  return out;
}

}  // namespace rankscope::analyzer

#include "hta/parts.h"

#include <nlohmann/json.hpp>
#include "render/json_parts.h"

namespace rankscope::analyzer {
namespace {

using Json = nlohmann::ordered_json;

/// HTA's unit. Whole numbers stay whole.
Json micros(std::int64_t ns) {
  if (ns % 1000 == 0) return ns / 1000;
  return static_cast<double>(ns) / 1000.0;
}
Json micros(double ns) { return rounded(ns / 1000.0, 6); }

Json launch_json(const HtaLaunches& launch) {
  return {{"n", launch.count},
          {"cpu_us", micros(launch.cpu_ns)},
          {"gpu_us", micros(launch.gpu_ns)},
          {"delay_us", micros(launch.delay_ns)},
          {"short", launch.short_kernels},
          {"runtime_outliers", launch.runtime_outliers},
          {"delay_outliers", launch.delay_outliers}};
}

Json statistics_json(const HtaStatistics& statistics) {
  return {{"max_us", micros(statistics.max_ns)},
          {"min_us", micros(statistics.min_ns)},
          {"mean_us", micros(statistics.mean_ns)},
          {"stddev_us", micros(statistics.stddev_ns)}};
}

Json hta_kernel_json(const HtaKernel& kernel) {
  Json out{{"name", kernel.name}, {"type", name_of(kernel.kind)}, {"sum_us", micros(kernel.sum_ns)}};
  out.update(statistics_json(kernel.hta));
  out["own"] = {{"count", kernel.own_count}};
  out["own"].update(statistics_json(kernel.own));
  return out;
}

Json hta_idle_json(const HtaStreamIdle& idle) {
  Json out{{"stream", idle.stream}};
  for (std::size_t i = 0; i < hta_idle_cause_count; ++i)
    out[std::string{name_of(static_cast<HtaIdleCause>(i))} + "_us"] = micros(idle.causes_ns[i]);
  out["own_idle_us"] = micros(idle.own_idle_ns);
  return out;
}

Json hta_queue_json(const HtaQueue& queue) {
  Json out{{"stream", queue.stream}, {"points", queue.points}, {"mean", rounded(queue.mean, 6)}, {"max", queue.max}};
  out["own_mean"] = queue.own_mean.value ? rounded(*queue.own_mean.value, 6) : Json(nullptr);
  if (!queue.own_mean.value) out["why"]["own_mean"] = queue.own_mean.why;
  return out;
}

/// A null for each number that HTA cannot give, with the one reason.
void add_times(const Section<HtaTimes>& times, Json& out, Json& why) {
  const auto add = [&](const char* name, const auto& value_of) {
    out[name] = times ? Json(value_of(*times)) : Json(nullptr);
    if (!times) why[name] = times.error().why;
  };
  add("idle_us", [](const HtaTimes& all) { return micros(all.idle_ns); });
  add("compute_us", [](const HtaTimes& all) { return micros(all.compute_ns); });
  add("non_compute_us", [](const HtaTimes& all) { return micros(all.non_compute_ns); });
  add("kernel_us", [](const HtaTimes& all) { return micros(all.kernel_ns); });
  add("idle_pct", [](const HtaTimes& all) { return hta_share(all.idle_ns, all); });
  add("compute_pct", [](const HtaTimes& all) { return hta_share(all.compute_ns, all); });
  add("non_compute_pct", [](const HtaTimes& all) { return hta_share(all.non_compute_ns, all); });
}

Json hta_rank_json(const HtaRank& rank) {
  Json why = Json::object();
  Json out{{"rank", rank.rank.value}};
  add_times(rank.times, out, why);
  out["overlap_pct"] = rank.overlap_percent.value ? Json(*rank.overlap_percent.value) : Json(nullptr);
  if (!rank.overlap_percent.value) why["overlap_pct"] = rank.overlap_percent.why;
  out["launch"] = launch_json(rank.launch);
  out["rows"] = {{"kept", rank.rows}, {"dropped", rank.dropped_rows}, {"doubled", rank.doubled_rows}};
  out["kernels"] = list_json(rank.kernels, hta_kernel_json);
  out["idle"] = list_json(rank.idle, hta_idle_json);
  out["queue"] = list_json(rank.queues, hta_queue_json);
  if (!why.empty()) out["why"] = std::move(why);
  return out;
}

Json stragglers_json(const Section<HtaStragglers>& section) {
  if (!section) return {{"unavailable", section.error().why}};
  Json out{{"kernel", section->kernel}, {"stream", section->stream}, {"steps", section->steps}};
  out["last_in_steps"] = Json::object();
  for (const HtaVotes& votes : section->votes) out["last_in_steps"][std::to_string(votes.rank.value)] = votes.steps;
  return out;
}

}  // namespace

nlohmann::ordered_json hta_json(const Section<HtaSection>& section) {
  if (!section) return {{"unavailable", section.error().why}};
  Json out{{"note", hta_note(section->last_step)}};
  out["last_step"] = section->last_step == HtaLastStep::dropped ? "dropped" : "kept";
  out["ranks"] = list_json(section->ranks, hta_rank_json);
  out["kernel_types"] = list_json(section->types, [](const HtaTypeTime& type) {
    return Json{{"type", type.name}, {"sum_us", micros(type.sum_ns)}, {"pct", type.percent}};
  });
  out["stragglers"] = stragglers_json(section->stragglers);
  return out;
}

}  // namespace rankscope::analyzer

#include "launches/parts.h"

#include <algorithm>

#include <nlohmann/json.hpp>
#include "render/json_parts.h"

namespace rankscope::analyzer {
namespace {

using Json = nlohmann::ordered_json;

Json durations_json(const Durations& durations) {
  Json out;
  out["median_ns"] = durations.median_ns;
  out["p90_ns"] = durations.p90_ns;
  out["p99_ns"] = durations.p99_ns;
  return out;
}

}  // namespace

nlohmann::ordered_json launch_json(const LaunchRow& row) {
  Why why;
  Json out;
  out["rank"] = row.rank.value;
  if (row.stream != -1) {
    out["device"] = row.device;
    out["stream"] = row.stream;
  }
  out["launches"] = row.launches;
  out["in_graphs"] = row.in_graphs;
  out["without_launch"] = row.without_launch;
  out["began_in_call"] = row.began_in_call;
  out["began_before_call"] = row.began_before_call;
  out["call"] = row.has_calls() ? durations_json(row.call) : why.null("call", "all launches were in CUDA graphs");
  out["delay"] = durations_json(row.delay);
  out["issue"] = durations_json(row.issue);
  out["kernels"] = row.kernels;
  out["kernels_ns"] = row.kernels_ns;
  out["short_kernels"] = row.short_kernels;
  out["short_ns"] = row.short_ns;
  Json& queue = out["queue"];
  queue["mean"] = rounded(row.queue.mean, 3);
  queue["median"] = row.queue.median;
  queue["p95"] = row.queue.p95;
  queue["most"] = row.queue.most;
  queue["empty_share"] = rounded(row.queue.empty_share, 6);
  queue["empty_and_idle_share"] = rounded(row.queue.empty_and_idle_share, 6);
  queue["full_share"] = rounded(row.queue.full_share, 6);
  std::move(why).attach(out);
  return out;
}

}  // namespace rankscope::analyzer

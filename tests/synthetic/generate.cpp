#include "synthetic/generate.h"

#include <algorithm>
#include <deque>
#include <map>
#include <stdexcept>

#include "rankscope/core/format.h"
#include "rankscope/core/recording/manifest.h"
#include "synthetic/pipeline.h"

namespace rankscope::synthetic {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t start_up_ns = 5'000'000;
constexpr double slowest_start_ms = 1;

std::vector<HostClock> make_clocks(const Plan& plan) {
  Random random{plan.seed ^ 0xC10C5U};
  std::vector<HostClock> clocks;
  for (std::int32_t host = 0; host < plan.hosts; ++host) {
    HostClock clock;
    clock.boot_ns = 1'000'000'000'000 + ns_of(1e6 * random.uniform());
    clock.skew_ns = ns_of(plan.skew_ms * (2 * random.uniform() - 1));
    clock.drift = plan.drift_ppm * 1e-6 * (2 * random.uniform() - 1);
    clocks.push_back(clock);
  }
  return clocks;
}

class Job {
 public:
  explicit Job(const Plan& plan) : plan_(plan) {
    const auto clocks = make_clocks(plan);
    const std::int32_t per_host = plan.ranks / plan.hosts;
    Random random{plan.seed ^ 0x57A27U};
    for (std::int32_t rank = 0; rank < plan.ranks; ++rank) {
      Worker& worker = workers_.emplace_back(plan, rank, clocks[static_cast<std::size_t>(rank / per_host)]);
      worker.now = start_up_ns + ns_of(slowest_start_ms * random.uniform() * (plan.noise > 0 ? 1 : 0));
      dp_groups_[{place_of(plan, rank).pp, place_of(plan, rank).tp}].push_back(&worker);
    }
    replicas_.resize(static_cast<std::size_t>(plan.dp()), Teams(static_cast<std::size_t>(plan.pp)));
    for (Worker& worker : workers_) {
      const Place place = place_of(plan, worker.rank());
      replicas_[static_cast<std::size_t>(place.dp)][static_cast<std::size_t>(place.pp)].push_back(&worker);
    }
  }

  void run() {
    barrier();
    for (std::int64_t step = 0; step < plan_.steps; ++step) {
      for (Worker& worker : workers_) begin_step(worker, step);
      for (const Teams& teams : replicas_) Pipeline::run(plan_, teams, step);
      for (const auto& [place, group] : dp_groups_) reduce(group, step);
      for (Worker& worker : workers_) end_step(worker, step);
    }
    barrier();
  }

  std::deque<Worker>& workers() { return workers_; }

 private:
  void begin_step(Worker& worker, std::int64_t step) const {
    worker.begin(SpanKind::step, "step");
    worker.attribute("index", step);
    worker.now += ns_of(worker.extra_ms(FaultKind::pause, step)) + plan_.gap_ns;
    worker.load_batch(ns_of(plan_.data_ms + worker.extra_ms(FaultKind::data, step)));
  }

  void end_step(Worker& worker, std::int64_t step) const {
    worker.now += plan_.gap_ns;
    worker.begin(SpanKind::optimizer, "optimizer");
    worker.compute(worker.noisy(plan_.optimizer_ms, step), std::max(1, plan_.operators / 10));
    worker.end();
    worker.count_memory(step);
    worker.now += plan_.gap_ns;
    worker.end();
  }

  /// The gradient exchange of one data-parallel group, bucket by bucket; then everybody waits for all of them.
  void reduce(const std::vector<Worker*>& group, std::int64_t step) const {
    if (group.size() < 2) return;
    double factor = 1;
    for (const Fault& fault : plan_.faults) {
      const auto in_group = [&](std::int32_t rank) {
        return std::ranges::find(group, rank, &Worker::rank) != group.end();
      };
      if (fault.kind == FaultKind::link && fault.hits(step) && in_group(fault.rank) && in_group(fault.other))
        factor = std::max(factor, fault.factor);
    }
    for (std::size_t bucket = 0; bucket < group.front()->gradients.size(); ++bucket) {
      std::int64_t go = 0;
      for (const Worker* worker : group) go = std::max(go, worker->start_of(worker->gradients[bucket]));
      const std::int64_t finish = go + ns_of(plan_.allreduce_ms * factor);
      for (Worker* worker : group) {
        const Pending& pending = worker->gradients[bucket];
        worker->execute(pending, worker->start_of(pending), finish);
        ends_[worker].push_back(finish);
      }
    }
    for (Worker* worker : group) {
      for (std::size_t bucket = 0; bucket < ends_[worker].size(); ++bucket)
        worker->wait_until(ends_[worker][bucket], format("wait allreduce bucket {}", bucket));
      ends_[worker].clear();
      worker->gradients.clear();
    }
  }

  /// Of the data-parallel groups, as the trainer has it at its start and end.
  void barrier() {
    for (const auto& [place, group] : dp_groups_) {
      if (group.size() < 2) continue;
      std::vector<Pending> pending;
      std::int64_t go = 0;
      for (Worker* worker : group) {
        pending.push_back(worker->enqueue(worker->dp, {.op = "barrier", .label = {}, .bytes = 0, .peer = -1}, "dp"));
        go = std::max(go, worker->start_of(pending.back()));
      }
      for (std::size_t i = 0; i < group.size(); ++i) {
        group[i]->execute(pending[i], group[i]->start_of(pending[i]), go);
        group[i]->wait_until(go, "wait barrier");
      }
    }
  }

  const Plan& plan_;
  std::deque<Worker> workers_;
  std::vector<Teams> replicas_;
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<Worker*>> dp_groups_;  // by (pp, tp)
  mutable std::map<const Worker*, std::vector<std::int64_t>> ends_;                  // of this step's buckets
};

recording::Manifest manifest_of(const Plan& plan) {
  recording::Manifest manifest;
  manifest.created_by = "rankscope synthetic recording";
  manifest.launcher = "synthetic";
  manifest.world_size = plan.ranks;
  manifest.exit_status = 0;
  for (std::int32_t host = 0; host < plan.hosts; ++host) manifest.hosts.push_back(format("node{:03}", host));
  manifest.metadata = {{"role", "trainer"},
                       {"model", "synthetic"},
                       {"parallel", format("dp {} x pp {} x tp {}", plan.dp(), plan.pp, plan.tp)},
                       {"steps", std::to_string(plan.steps)}};
  // What no analysis reads: it has to be found out from the events.
  if (plan.pp > 1) manifest.injected.emplace_back("schedule", name_of(plan.schedule));
  for (std::size_t i = 0; i < plan.faults.size(); ++i)
    manifest.injected.emplace_back(std::to_string(i), plan.faults[i].text);
  return manifest;
}

}  // namespace

Written generate(const Plan& plan, const fs::path& recording) {
  if (const std::string why = why_impossible(plan); !why.empty()) throw std::runtime_error(why);
  Job job{plan};
  job.run();
  fs::remove_all(recording);
  fs::create_directories(recording / recording::segment_folder);
  Written written;
  for (Worker& worker : job.workers()) {
    written.end_ns = std::max(written.end_ns, worker.now);
    const ProcessImage image = worker.finish();
    write_segment(image, recording / recording::segment_folder / format("{}-{}.rseg", image.host, image.rank));
    ++written.segments;
  }
  if (!recording::write_manifest(recording, manifest_of(plan)))
    throw std::runtime_error("cannot write the manifest of " + recording.string());
  return written;
}

}  // namespace rankscope::synthetic

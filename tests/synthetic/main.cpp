// Writes a synthetic recording; scripts/make_sample calls it.
#include <cstdio>
#include <exception>

#include <CLI/CLI.hpp>

#include "synthetic/generate.h"

namespace {

using namespace rankscope;

void add_layout(CLI::App& app, synthetic::Plan& plan, std::string& schedule) {
  app.add_option("--ranks", plan.ranks, "processes in all")->capture_default_str();
  app.add_option("--steps", plan.steps)->capture_default_str();
  app.add_option("--pp", plan.pp, "ranks of one pipeline")->capture_default_str();
  app.add_option("--tp", plan.tp, "tensor-parallel ranks; what is left is data-parallel")->capture_default_str();
  app.add_option("--schedule", schedule, "gpipe, 1f1b, interleaved, zb-h1, zb-interleaved or zb-v")
      ->capture_default_str();
  app.add_option("--chunks", plan.chunks, "of the model, per rank")->capture_default_str();
  app.add_option("--micro-batches", plan.micro_batches, "per step")->capture_default_str();
  app.add_option("--hosts", plan.hosts)->capture_default_str();
  app.add_option("--seed", plan.seed)->capture_default_str();
}

void add_times(CLI::App& app, synthetic::Plan& plan) {
  app.add_option("--forward-ms", plan.forward_ms, "of one micro-batch on one rank")->capture_default_str();
  app.add_option("--input-ms", plan.input_ms, "input gradient; backward is input + weight")->capture_default_str();
  app.add_option("--weight-ms", plan.weight_ms)->capture_default_str();
  app.add_option("--stage-work", plan.stage_work, "factor of each rank of the pipeline")->delimiter(',');
  app.add_option("--data-ms", plan.data_ms)->capture_default_str();
  app.add_option("--optimizer-ms", plan.optimizer_ms)->capture_default_str();
  app.add_option("--send-ms", plan.send_ms, "of one micro-batch between two stages")->capture_default_str();
  app.add_option("--allreduce-ms", plan.allreduce_ms, "of one bucket")->capture_default_str();
  app.add_option("--tp-ms", plan.tp_ms, "of one tensor-parallel exchange")->capture_default_str();
  app.add_option("--noise", plan.noise, "standard deviation of all compute")->capture_default_str();
  app.add_option("--gap-ns", plan.gap_ns, "of the host between two spans")->capture_default_str();
  app.add_option("--pick-up-ns", plan.pick_up_ns, "from enqueued to started")->capture_default_str();
  app.add_option("--operators", plan.operators, "per rank and step")->capture_default_str();
  app.add_option("--buckets", plan.buckets, "of gradients")->capture_default_str();
  app.add_option("--layers", plan.layers, "tensor-parallel exchanges of one action")->capture_default_str();
  app.add_option("--skew-ms", plan.skew_ms, "wall clocks of hosts differ by up to this")->capture_default_str();
  app.add_option("--drift-ppm", plan.drift_ppm)->capture_default_str();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Writes a native recording of a job that never ran, whose truth is known."};
  synthetic::Plan plan;
  std::string schedule{name_of(plan.schedule)};
  std::vector<std::string> faults;
  std::string out;
  add_layout(app, plan, schedule);
  add_times(app, plan);
  app.add_option("--fault", faults,
                 "slow:rank=R,factor=F  data|pause|comm:rank=R,ms=M  link:rank=A,other=B,factor=F; "
                 "all with step=S,every=N");
  app.add_option("--out", out, "folder NAME.rankscope")->required();
  CLI11_PARSE(app, argc, argv);
  try {
    const auto known = pipeline_schedule_from(schedule);
    if (!known) throw std::invalid_argument("unknown schedule: " + schedule);
    plan.schedule = *known;
    for (const std::string& fault : faults) plan.faults.push_back(synthetic::fault_from(fault));
    const synthetic::Written written = synthetic::generate(plan, out);
    std::printf("%s: %llu ranks, %.3f s\n", out.c_str(), static_cast<unsigned long long>(written.segments),
                static_cast<double>(written.end_ns) * 1e-9);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_sample: %s\n", error.what());
    return 2;
  }
  return 0;
}

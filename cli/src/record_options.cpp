#include "record_options.h"

#include <string>

#include "rankscope/collectors/sources.h"
#include "say.h"
#include "within.h"

namespace rankscope::cli {

using collectors::RecordOptions;

void add_record_options(CLI::App& app, RecordOptions& options) {
  std::string ids;
  for (const collectors::SourceInfo& source : collectors::sources())
    if (source.built) ids += (ids.empty() ? "" : ",") + std::string{source.id};
  const auto not_empty = [](const std::string& value) { return value.empty() ? "its value is empty" : std::string{}; };
  app.add_option("--out", options.out, "folder to record into (default: PROGRAM-DATE-TIME.rankscope)")
      ->check(not_empty);
  app.add_option("--collect", options.collect, "sources to record, of " + ids + " (default, and all: all but pm)")
      ->check(not_empty);
  app.add_option("--nccl", options.nccl,
                 "of NCCL: coll, p2p (sends and receives too), proxy (and its network operations), kernel (and the "
                 "times of a kernel's channels); default p2p")
      ->check(not_empty);
  app.add_option("--cuda-graphs", options.cuda_graphs,
                 "of a launch of a CUDA graph: node (each kernel in it), graph (one activity as a whole: costs far "
                 "less); default node")
      ->check(not_empty);
  app.add_flag(
      "--pm-sampling{200}", options.pm_sampling,
      "sample SM, tensor, DRAM, NVLink and PCIe activity of the GPUs by their own counters, 200 times a second "
      "or =HZ; needs permission and may hold the GPUs' clocks (docs/gpu.md)");
  app.add_option("--sample-hz", options.sample_hz, "host samples per second; 0 for none")
      ->capture_default_str()
      ->check(within<double>({}));
  app.add_option("--ring-kib", options.ring_kib,
                 "buffer of each process; events that find it full are dropped and counted")
      ->capture_default_str()
      ->check(within<std::uint32_t>({}));
  app.add_option("--rank-env", options.rank_env,
                 "environment variable that holds the rank (default: those of torchrun, Slurm, Open MPI, PMI)");
  app.add_option("--window", options.window, "record only some steps: wait,warmup,active,repeat (default: every step)");
  app.add_option(
         "--toggle", options.toggle,
         "record nothing until this signal (USR1, USR2) comes to rankscope; the next one ends it, and so on. cuda: "
         "from cudaProfilerStart to cudaProfilerStop")
      ->check(not_empty);
  app.add_option("--duration", options.duration_s, "stop recording after this many seconds; 0 for never")
      ->capture_default_str()
      ->check(within<double>({}));
  for (const collectors::DetailInfo& info : collectors::details())
    app.add_flag_callback(
        "--" + std::string{info.id}, [&options, detail = info.detail] { options.details.add(detail); },
        "record " + std::string{info.summary} + " (default: off)");
  app.add_flag_callback(
      "--pytorch", [&options] { options.pytorch = collectors::PyTorch::observed; },
      "record operators, optimizer steps and allocator bytes of Python programs that use PyTorch (docs/pytorch.md)");
  app.add_flag_callback(
      "--no-follow", [&options] { options.follow = collectors::Follow::command_only; },
      "do not record child processes");
  app.add_flag_callback(
      "--no-preload", [&options] { options.preload = collectors::Preload::no; },
      "do not set LD_PRELOAD; programs are then entered through NVTX or CUDA only");
  app.add_flag_callback(
      "--quiet", [&options] { options.talk = collectors::Talk::quiet; }, "say nothing but errors");
  app.add_flag_callback(
      "--verbose", [&options] { options.talk = collectors::Talk::verbose; }, "say where the events are kept meanwhile");
}

int record(const RecordOptions& options) {
  const auto outcome = collectors::run_recorded(options);
  return outcome ? outcome->status : say(outcome.error());
}

}  // namespace rankscope::cli

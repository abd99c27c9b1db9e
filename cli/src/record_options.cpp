#include "record_options.h"

#include <string>

#include "live_hang.h"
#include "rankscope/collectors/sources.h"
#include "rankscope/core/command_line.h"
#include "say.h"

namespace rankscope::cli {

using collectors::RecordOptions;

namespace {

std::string not_empty(const std::string& value) { return value.empty() ? "the value is empty" : std::string{}; }

void add_sources(CLI::App& app, RecordOptions& options) {
  std::string ids;
  for (const collectors::SourceInfo& source : collectors::sources())
    if (source.built) ids += (ids.empty() ? "" : ",") + std::string{source.id};
  app.add_option("--collect", options.collect,
                 "sources to record, separated by commas: any of " + ids +
                     " (default: all, which means every source except pm)")
      ->check(not_empty);
  app.add_option("--nccl", options.nccl,
                 "what to record about NCCL: coll (collectives), p2p (also sends and receives), proxy (also its "
                 "network operations), kernel (also the times of each channel of NCCL's kernels; with NCCL 2.31.2, "
                 "this slows down small collectives); default p2p")
      ->check(not_empty);
  app.add_option(
         "--cuda-graphs", options.cuda_graphs,
         "what to record about a CUDA graph launch: node (each kernel in it) or graph (one activity for the launch, "
         "which costs far less); default node")
      ->check(not_empty);
  app.add_flag("--pm-sampling{200}", options.pm_sampling,
               "sample SM, tensor, DRAM, NVLink and PCIe activity with the GPUs' own counters, 200 times a second or, "
               "with =HZ, HZ times; needs permission and may lock the GPUs' clocks (docs/gpu.md)");
  app.add_option("--sample-hz", options.sample_hz,
                 "how many samples per second to take of the host, and of the GPUs through NVML (NVML: at most 5); "
                 "0 for none, else from 0.001 to 100")
      ->capture_default_str()
      ->check(within<double>({}));
}

void add_limits(CLI::App& app, RecordOptions& options) {
  app.add_option(
         "--budget", options.budget,
         "limit for the time that recording adds to a step, in percent of the step (default: 1%), or off. If "
         "the cost of recording CUDA calls exceeds this limit on a thread that does not wait for the GPU, only the "
         "calls with which NCCL launches kernels are recorded from then on, and the report says so")
      ->type_name("PERCENT")
      ->check(not_empty);
  app.add_option("--ring-kib", options.ring_kib,
                 "maximum size of each process's event buffer in KiB; while it is full, events are dropped and counted")
      ->capture_default_str()
      ->check(within<std::uint32_t>({}));
  app.add_option("--rank-env", options.rank_env,
                 "environment variable that contains the rank (default: those of torchrun, Slurm, Open MPI, PMI)");
  app.add_option("--window", options.window,
                 "record only some steps (default: every step), given as the numbers wait,warmup,active,repeat: skip "
                 "'wait' plus 'warmup' steps, record the next 'active' steps, and do this 'repeat' times, or until the "
                 "program ends if 'repeat' is 0");
  app.add_option(
         "--toggle", options.toggle,
         "start with recording off. USR1 or USR2: each time rankscope receives this signal, recording is turned on or "
         "off. cuda: record from the program's call to cudaProfilerStart until its call to cudaProfilerStop")
      ->check(not_empty);
  app.add_option(
         "--keep", options.keep,
         "which events to keep: the latest ones, up to a period (90s, 10m, 2h) or a size per node (4GiB), or both, "
         "separated by a comma; older events are replaced by sums per step (default: a quarter of the free space for "
         "events, at most 32GiB)")
      ->check(not_empty);
  app.add_option("--duration", options.duration_s,
                 "stop recording after this many seconds; the command itself keeps running; 0 for never")
      ->capture_default_str()
      ->check(within<double>({}));
  app.add_option("--hang-after", options.hang_after_s,
                 "if no rank records an event for this many seconds, print and record which rank stopped first "
                 "(docs/hang.md); the command itself keeps running; 0 for never")
      ->capture_default_str()
      ->check(within<double>({}));
  app.add_option("--on-hang", options.on_hang, "with --hang-after: also run this shell command in that case")
      ->check(not_empty);
}

void add_details(CLI::App& app, RecordOptions& options) {
  for (const collectors::DetailInfo& info : collectors::details())
    app.add_flag_callback(
        "--" + std::string{info.id}, [&options, detail = info.detail] { options.details.add(detail); },
        "record " + std::string{info.summary} + " (default: off)");
  app.add_flag_callback(
      "--no-pytorch", [&options] { options.pytorch = collectors::PyTorch::left_out; },
      "do not record operators, steps and collectives of Python programs that import PyTorch (docs/pytorch.md)");
  app.add_flag_callback(
         "--pytorch", [&options] { options.pytorch = collectors::PyTorch::expected; },
         "report at the end if no operators or steps of PyTorch were recorded; also record PyTorch inside Apptainer "
         "and Singularity containers")
      ->excludes("--no-pytorch");
  app.add_flag_callback(
      "--no-stacks", [&options] { options.stacks = collectors::Stacks::left_out; },
      "do not sample the current line of code in programs that import PyTorch");
}

void add_ways(CLI::App& app, RecordOptions& options) {
  app.add_flag_callback(
      "--no-follow", [&options] { options.follow = collectors::Follow::command_only; },
      "do not record child processes");
  app.add_flag_callback(
      "--no-preload", [&options] { options.preload = collectors::Preload::no; },
      "do not set LD_PRELOAD; the recorder is then loaded through NVTX or CUDA only");
  app.add_flag_callback(
      "--or-run", [&options] { options.otherwise = collectors::Otherwise::run; },
      "if nothing can be recorded (for example, because no folder is writable), run the command without recording it "
      "instead of failing; a recording that already exists at --out remains an error");
  app.add_flag_callback(
      "--quiet", [&options] { options.talk = collectors::Talk::quiet; }, "print errors only");
  app.add_flag_callback(
      "--verbose", [&options] { options.talk = collectors::Talk::verbose; },
      "print where events are kept during the recording");
}

}  // namespace

void add_record_options(CLI::App& app, RecordOptions& options) {
  app.add_option("--out", options.out, "folder to write the recording to (default: PROGRAM-DATE-TIME.rankscope)")
      ->check(not_empty);
  add_sources(app, options);
  add_limits(app, options);
  add_details(app, options);
  add_ways(app, options);
}

int record(const RecordOptions& options) {
  RecordOptions with_judge = options;
  with_judge.judge_hang = judge_live_hang;
  const auto outcome = collectors::run_recorded(with_judge);
  return outcome ? outcome->status : say(outcome.error());
}

}  // namespace rankscope::cli

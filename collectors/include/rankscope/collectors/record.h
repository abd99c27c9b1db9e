// Runs a command with the recorder in it, and gathers what its processes recorded: `rankscope record` and `train`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "rankscope/collectors/details.h"
#include "rankscope/collectors/sources.h"
#include "rankscope/core/result.h"

namespace rankscope::collectors {

enum class Follow : std::uint8_t { descendants, command_only };  ///< --no-follow
enum class Preload : std::uint8_t { yes, no };                   ///< --no-preload
/// --no-pytorch; without either; --pytorch, which also says so where there is none.
enum class PyTorch : std::uint8_t { left_out, where_imported, expected };
enum class Stacks : std::uint8_t { left_out, sampled };     ///< --no-stacks: where the code of PyTorch programs is
enum class Talk : std::uint8_t { quiet, normal, verbose };  ///< on stderr
enum class Otherwise : std::uint8_t { fail, run };          ///< --or-run: what to do if nothing can be recorded
enum class Gpus : std::uint8_t { may_be_used, not_used };   ///< by the command; what is not used is not missed

/// A process of a rank that stands still.
struct HungProcess {
  std::int64_t rank = 0;
  std::int64_t pid = 0;
  std::string host{};
};
/// A verdict on a job that stands still.
struct HangSeen {
  bool stuck = true;                     ///< false: all that is open has only just begun, or nobody waits
  std::string headline{};                ///< a sentence
  std::string text{};                    ///< what stderr shows
  std::vector<HungProcess> processes{};  ///< whose stacks are of interest, on any host
};

/// What `record` is told, on its command line or by the verb `train`.
struct RecordOptions {
  std::vector<std::string> command{};
  std::vector<std::string> shown_command{};  ///< for the manifest, as the user knows it; empty: command
  std::filesystem::path out{};               ///< empty: PROGRAM-YYYYMMDD-HHMMSS.rankscope in the current folder
  std::string collect{};                     ///< as sources_from reads; empty: all
  double sample_hz = 10;                     ///< 0 = no host samples
  std::uint32_t ring_kib = 4096;
  std::string rank_env{};     ///< variable that tells the rank
  std::string window{};       ///< "wait,warmup,active,repeat"; empty: every step
  std::string nccl{};         ///< as nccl_levels_from reads; empty: collectives, sends and receives
  std::string cuda_graphs{};  ///< "node" (each kernel of a graph), "graph" (a launch as a whole); empty: node
  std::string pm_sampling{};  ///< samples per second of the GPUs' counters; empty: only if `collect` names pm
  std::string budget{};       ///< "1%", how much longer a step may become; "off": no limit; empty: 1%
  std::string toggle{};       ///< what switches the recording: signal "USR1", "USR2"; "cuda"; empty: it is on
  double duration_s = 0;      ///< 0 = to the end
  double hang_after_s = 0;    ///< judge the job if no rank moves for so long; 0 = never
  std::string on_hang{};      ///< a shell command to run then; empty: none
  std::function<HangSeen(const std::filesystem::path& out)> judge_hang{};  ///< set if hang_after_s is
  std::string keep{};  ///< as keep_limit_from reads; empty: the default size
  DetailSet details{};
  Follow follow = Follow::descendants;
  Preload preload = Preload::yes;
  PyTorch pytorch = PyTorch::where_imported;
  Stacks stacks = Stacks::sampled;
  Talk talk = Talk::normal;
  Gpus gpus = Gpus::may_be_used;
  Otherwise otherwise = Otherwise::fail;
  std::filesystem::path host_root{"/"};  ///< the folder that holds dev, proc and sys of this host
  std::int64_t refusal_status = -1;      ///< a command that ends so before any step leaves no recording and no summary
  std::filesystem::path library{};       ///< empty: found beside the program
  std::string launcher{};                ///< for the manifest; empty: guessed from the command
  std::int64_t world_size = 0;           ///< for the manifest; 0: what the segments tell
  std::vector<std::pair<std::string, std::string>> metadata{};  ///< for the manifest
  std::vector<std::pair<std::string, std::string>> injected{};  ///< faults of the reference trainer
};

/// What became of the sources that need a GPU, as the recorded processes tell it.
struct SourceStory {
  /// One reason for which a source failed, and in how many processes.
  struct Problem {
    Source source{};
    std::string text{};  ///< why it failed, and what to do
    std::uint64_t processes = 0;
  };
  std::uint64_t cuda_processes = 0;    ///< that initialised CUDA
  std::uint64_t activities = 0;        ///< kernels, copies and waits that were recorded
  std::uint64_t nccl_processes = 0;    ///< that called NCCL
  std::uint64_t plugin_processes = 0;  ///< whose NCCL took our profiler plugin
  std::uint64_t silent_plugins = 0;    ///< of these: NCCL ran collectives and reported none
  std::uint64_t c10d_processes = 0;    ///< whose collectives PyTorch's own backends reported (Gloo)
  std::uint64_t contained = 0;         ///< that ran in a container
  std::uint64_t started = 0;           ///< whose recording cudaProfilerStart switched on
  std::uint64_t sampled_gpus = 0;      ///< whose counters were sampled
  std::uint64_t without_gpu = 0;       ///< processes whose torch.profiler got no CUPTI, since the recorder used it
  std::string nccl_version{};          ///< of the first of them
  std::vector<Problem> problems{};
};

/// What recorded processes that imported PyTorch reported of it.
struct PyTorchSeen {
  bool operators = false;
  bool steps = false;
  std::string problem{};  ///< why something is missing
};

/// What was recorded and what was lost.
struct RecordSummary {
  std::filesystem::path out{};
  std::uint64_t processes = 0;
  std::uint64_t ranks = 0;  ///< that a variable or a communicator told, or the only one
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;
  std::uint64_t events_dropped = 0;
  std::uint64_t disk_refusals = 0;          ///< times a segment could not grow
  std::uint64_t not_recorded = 0;           ///< processes that could not open a segment
  std::uint64_t unreadable = 0;             ///< segments that could not be gathered, since they are damaged
  std::uint64_t thinned = 0;                ///< events that sums per step stand for (--keep)
  std::uint64_t thinned_without_sums = 0;   ///< events of steps that have no sums: a loss
  std::uint64_t thinned_without_steps = 0;  ///< events of processes that have no steps
  std::uint64_t not_watched = 0;            ///< processes without events that could not be sampled either
  DetailSet details{};                      ///< that some process acted on
  SourceStory sources{};
  PyTorchSeen pytorch{};                                        ///< by some process
  std::int64_t world_size = 0;                                  ///< what the segments tell; 0 = unknown
  std::vector<std::pair<std::string, std::string>> metadata{};  ///< of the first process that said anything of itself
  std::vector<std::string> notes{};                             ///< one sentence each: what is missing, and what to do
};

/// How the command ended, which is not how the recording went.
struct RecordOutcome {
  int status = 0;  ///< of the command (128+n on a signal); 125 if it succeeded but the recording failed
  RecordSummary summary{};
};

/// An error means that the command was not started. If nothing can be written, Otherwise::run runs the command without
/// recording it, says so, and leaves `out` empty; a command that cannot be executed is an outcome (127 not found, 126
/// otherwise). Signals that end programs are passed on to the command, children that have ended are reaped. The summary
/// goes to stderr unless quiet.
[[nodiscard]] Result<RecordOutcome> run_recorded(const RecordOptions& options);

inline constexpr int status_recorder_failed = 125;
inline constexpr const char* inject_library_name = "librankscope_inject.so";

/// RANKSCOPE_INJECT_LIB, else beside this program, else in ../lib or ../bin.
[[nodiscard]] Result<std::filesystem::path> find_inject_library();

/// "torchrun", "slurm", "mpirun", ... or empty.
[[nodiscard]] std::string guess_launcher(const std::vector<std::string>& command);

}  // namespace rankscope::collectors

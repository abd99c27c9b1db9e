#include "words/source_advice.h"

#include <algorithm>
#include <array>

namespace rankscope::analyzer {
namespace {

/// Counters whose general advice does not fit the source; empty: it does.
struct CounterAdvice {
  Counter counter;
  std::string_view kineto;
  std::string_view nsys;
  std::string_view gloo{};  ///< of kineto_on_gloo; empty: as of Kineto
};

using enum Counter;
constexpr std::array counters{
    CounterAdvice{ranks_missing,
                  "The traces of some ranks were not given: waits are lower bounds. Profile all ranks and give all "
                  "their files, or the folder that contains them.",
                  "Some ranks of the job are not in the exports: waits are lower bounds. Profile all ranks (nsys "
                  "profile --output=report.%q{RANK}) and give all exports, or the folder that contains them."},
    CounterAdvice{
        rank_unknown,
        "The traces do not contain their ranks, or the ranks were guessed. Give --rank-map FILE=RANK, or name the "
        "files rank0, rank1 and so on.",
        "The exports do not contain the ranks of their processes, or the ranks were guessed. Give --rank-map FILE=RANK "
        "(FILE:PID=RANK if a file contains several processes), or name the files rank0, rank1 and so on."},
    CounterAdvice{collectives_alone,
                  "The partners of these collectives are ranks whose traces were not given, so it is not known how "
                  "much of the collectives' time is waiting. Give the files of all ranks.",
                  "The partners of these collectives are ranks whose exports were not given, so it is not known how "
                  "much of the collectives' time is waiting. Give the exports of all ranks."},
    CounterAdvice{collectives_unmatched,
                  "Some collectives have no partner on other ranks: a file is missing, the ranks did not trace the "
                  "same steps (give "
                  "all ranks the same schedule()), or the ranks called different collectives.",
                  "Some collectives have no partner on other ranks: an export is missing, the ranks did not record the "
                  "same period "
                  "(give all ranks the same --delay and --duration), or the ranks called different collectives."},
    CounterAdvice{
        steps_uneven,
        "Ranks traced different steps; only the common ones are compared. Give all ranks the same schedule().", ""},
    CounterAdvice{no_comm_args,
                  "Groups or sequence numbers of communication were not recorded: calls of different ranks are matched "
                  "by their order, or not at all. "
                  "PyTorch 2.4 or later writes both for NCCL (record_param_comms) if activities=[CPU, CUDA] is given.",
                  "Groups or sequence numbers of communication were not recorded: calls of different ranks are matched "
                  "by their order, or not at all. "
                  "Profile with --trace=cuda,nvtx and export with nsys export --type sqlite --include-blobs=true.",
                  "Groups or sequence numbers of communication were not recorded: calls of different ranks are matched "
                  "by their order, or not at all. PyTorch does not write groups and sequence numbers for Gloo; "
                  "`rankscope record` does."},
    CounterAdvice{truncated_input, "",
                  "An export ends early (it was copied while it was being written, or only in part): the rest is "
                  "missing. Export the report again: nsys export --type sqlite --include-blobs=true REPORT.nsys-rep"},
    CounterAdvice{
        source_lost_events, "",
        "Nsight Systems reported that events were lost or may have been lost; `rankscope dump` shows its messages in "
        "the metadata entry nsys.message. Profile for a shorter time (--duration), or trace fewer kinds of events "
        "(--trace)."},
    CounterAdvice{secrets_dropped, "",
                  "Values that can contain secrets or personal data (environments, command lines, output of programs, "
                  "paths) are not shown or exported. They are still in the file itself: do not pass it on."},
};

struct WantedAdvice {
  Wanted wanted;
  std::string_view rankscope;
  std::string_view kineto;
  std::string_view nsys;
  std::string_view gloo{};  ///< of kineto_on_gloo; empty: as of Kineto
};

constexpr std::array advice_table{
    WantedAdvice{
        Wanted::steps,
        "Mark each step with an NVTX range (nvtxRangePush(\"step 7\") before it, nvtxRangePop() after it) or with the "
        "annotation API (rankscope/collectors/annotate.h, Kind::step), and record again. In PyTorch programs, the "
        "recorder marks the steps itself, by the calls to optimizer.step(), unless --no-pytorch was given.",
        "Call prof.step() after each training step and trace again.",
        "Mark each step with an NVTX range (nvtxRangePush(\"step 7\") before it, nvtxRangePop() after it), and "
        "profile again with --trace=cuda,nvtx."},
    WantedAdvice{Wanted::steps_of_pytorch,
                 "Mark each step with an NVTX range, e.g. torch.cuda.nvtx.range(f\"step {i}\"), or with the annotation "
                 "API (rankscope/collectors/annotate.h, Kind::step), and record again. In PyTorch programs, the "
                 "recorder marks the steps itself, by the calls to optimizer.step(), unless --no-pytorch was given.",
                 "Call prof.step() after each training step and trace again.",
                 "Mark each step with an NVTX range, e.g. torch.cuda.nvtx.range(f\"step {i}\"), and profile again with "
                 "--trace=cuda,nvtx."},
    WantedAdvice{
        Wanted::time_of_ranks,
        "Annotate forward, backward, optimizer and waits with the annotation API (rankscope/collectors/annotate.h); in "
        "PyTorch programs operators need no annotation, unless --no-pytorch was given.",
        "Profile with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA] and trace again.",
        "Profile again with --trace=cuda,nvtx.", "Profile with activities=[ProfilerActivity.CPU] and trace again."},
    WantedAdvice{Wanted::all_ranks,
                 "Record all ranks of one run into one folder: put `rankscope record --` in front of torchrun or "
                 "mpirun, but after srun.",
                 "Profile all ranks and give all their files, or the folder that contains them.",
                 "Profile all ranks and give all exports, or the folder that contains them."},
    WantedAdvice{
        Wanted::collectives,
        "Record more than one rank. Collectives are recorded if they run in PyTorch's groups on Gloo, or if "
        "NCCL's profiler interface, the reference trainer or the annotation API reports them.",
        "Pass the files of all ranks to rankscope.",
        "Profile all ranks with --trace=cuda,nvtx (NCCL marks its calls as NVTX ranges), export each with nsys "
        "export --type sqlite --include-blobs=true, and give all the exports."},
    WantedAdvice{Wanted::groups_of_nccl, "", "Use PyTorch 2.4 or later: it records the group of each NCCL collective.",
                 ""},
    WantedAdvice{Wanted::absent_ranks,
                 "Check that the recorder ran on every host, and that the segments of all hosts are in one folder.",
                 "Also give the file of every missing rank; profile the ranks that have no file.",
                 "Also give the export of every missing rank; profile the ranks that have no export."},
    WantedAdvice{Wanted::memory,
                 "Record with --memory if the program supports this option; otherwise, let the program report "
                 "the counter allocated_bytes with the annotation API (rankscope/collectors/annotate.h).",
                 "Profile with profile_memory=True.", "Profile again with --cuda-memory-usage=true."},
    WantedAdvice{Wanted::comparison,
                 "Record without --no-pytorch; if PyTorch's collectives are not recorded, `record` says why when it "
                 "ends. In programs that do not use PyTorch, mark collectives with the annotation API "
                 "(rankscope/collectors/annotate.h).",
                 "Profile all ranks with activities=[CPU, CUDA] and the NCCL backend; with other backends, record the "
                 "job with `rankscope record`.",
                 "Profile all ranks with --trace=cuda,nvtx and the NCCL backend; with other backends, record the job "
                 "with `rankscope record`.",
                 "Record the job with `rankscope record`: PyTorch's traces do not show which Gloo operations on "
                 "different ranks belong together."},
};

constexpr bool in_order() {
  for (std::size_t i = 0; i < advice_table.size(); ++i)
    if (advice_table[i].wanted != static_cast<Wanted>(i)) return false;
  return true;
}
static_assert(in_order(), "the table must follow the enumeration");

bool is_kineto(std::string_view source) { return source == "kineto" || source == kineto_on_gloo; }

}  // namespace

std::string_view advice_for(Counter counter, std::string_view source) {
  const auto* const found = std::ranges::find(counters, counter, &CounterAdvice::counter);
  std::string_view own;
  if (found != counters.end() && is_kineto(source))
    own = source == kineto_on_gloo && !found->gloo.empty() ? found->gloo : found->kineto;
  if (found != counters.end() && source == "nsys") own = found->nsys;
  return own.empty() ? info_of(counter).advice : own;
}

std::string_view advice_for(Wanted wanted, std::string_view source) {
  const WantedAdvice& advice = advice_table[static_cast<std::size_t>(wanted)];
  if (source == kineto_on_gloo && !advice.gloo.empty()) return advice.gloo;
  if (is_kineto(source)) return advice.kineto;
  return source == "nsys" ? advice.nsys : advice.rankscope;
}

}  // namespace rankscope::analyzer

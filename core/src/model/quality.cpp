#include "rankscope/core/model/quality.h"

namespace rankscope {
namespace {

using enum Counter;
using enum Severity;

constexpr std::array<CounterInfo, counter_count> table{{
    {events_dropped, "events_dropped", data_loss,
     "Events were lost because the ring buffer was full; where they are missing, idle time is overstated. Record with "
     "a larger --ring-kib or fewer sources in --collect."},
    {segments_unreadable, "segments_unreadable", data_loss,
     "A segment file could not be read and was left out, so the process that wrote it is missing. If permission is "
     "denied, read the recording as the user who recorded it, or ask that user for read access. If the header is "
     "damaged, copy the recording again; if the file has a newer format, use a newer rankscope."},
    {segment_cut, "segment_cut", data_loss,
     "A segment file ends in the middle of a chunk, so the last events of the process that wrote it are missing. Copy "
     "the recording again."},
    {chunks_corrupt, "chunks_corrupt", data_loss,
     "A chunk of a segment file does not match its checksum and was left out, so its events are missing. Copy the "
     "recording again or check the disk."},
    {records_unknown, "records_unknown", info,
     "The recording contains records of a newer version of the format; they were skipped. Use a newer rankscope to "
     "read them."},
    {names_lost, "names_lost", error,
     "Some events refer to names that their file does not contain; these events are shown without the names."},
    {names_shortened, "names_shortened", info,
     "Some names or attributes were too long (more than 4000 bytes in a recording, or 64 KiB in a trace of the PyTorch "
     "profiler). In a recording, the end of such a name was replaced by a number, so that different names stay "
     "different; attributes in JSON that were too long were left out. In a trace, the ends of such names and "
     "attributes were cut off."},
    {spans_unclosed, "spans_unclosed", info,
     "Some spans were still open when their process stopped. They are shown as ending at the last event of that "
     "process, and marked as cut."},
    {ranks_missing, "ranks_missing", data_loss,
     "Some ranks of the job are not in the recording, so the true waits may be longer than the ones shown. Record "
     "every rank."},
    {rank_unknown, "rank_unknown", error,
     "The ranks of some processes are not known, or were guessed, so the work of these processes may be missing from "
     "the report. Give --rank-env NAME when recording (or start the processes with torchrun or srun), or --rank-map "
     "FILE=RANK when reading traces."},
    {rank_duplicate, "rank_duplicate", info,
     "Several processes have the same rank, for example a training process and its loader workers. The process with "
     "the most events represents the rank."},
    {pop_without_push, "pop_without_push", info,
     "Some ranges have only an end: they began before the recording, or their beginning was lost."},
    {negative_duration, "negative_duration", error,
     "Some events ended before they began; they are kept with length 0."},
    {collectives_open, "collectives_open", error,
     "Some collectives have no end in the recording. Possible causes: the job was stopped, a rank was lost or hung, or "
     "a file is cut off."},
    {collectives_unmatched, "collectives_unmatched", error,
     "Some collectives have no partner on other ranks. Possible causes: a rank is missing, the recorded window cuts "
     "the collectives off, or the ranks called different collectives."},
    {desync, "desync", error,
     "Ranks of one group called different operations at the same position in the group's sequence of operations. This "
     "is probably a bug in the training program."},
    {clock_violations, "clock_violations", error,
     "Some operations in which every rank waits for all others ended on one rank before they began on another. The "
     "clocks of these ranks therefore disagree by more than their estimated error."},
    {clock_low, "clock_low", error,
     "The clocks of different hosts could not be aligned well. The report says how far apart they may be, and which "
     "comparisons it leaves out for this reason."},
    {manifest_unreadable, "manifest_unreadable", info,
     "manifest.json is missing, or a file of the recording gives an impossibly large number of ranks, so some facts "
     "about the run are unknown."},
    {steps_partial, "steps_partial", info,
     "Steps that are cut off or otherwise incomplete on a rank are left out of the statistics."},
    {steps_uneven, "steps_uneven", info,
     "The ranks did not all record the same steps, or some ranks recorded none; only the steps that are present on "
     "every rank with steps are compared."},
    {warmup_excluded, "warmup_excluded", info,
     "Slow steps at the beginning are left out of the statistics; --include-warmup counts them."},
    {no_comm_args, "no_comm_args", info,
     "Some communication operations were recorded without a group or a sequence number. They are matched across ranks "
     "by their order, or not at all."},
    {pace_overruns, "pace_overruns", info,
     "Some compute blocks of the reference trainer took longer than their nominal time (--pace) because the machine "
     "was too busy, so times vary more than intended."},
    {processes_without_events, "processes_without_events", info,
     "Some processes recorded no events; the recording contains only host samples of them, if anything."},
    {payloads_undecoded, "payloads_undecoded", info, "NVTX payloads without a known schema were left out."},
    {disk_full, "disk_full", data_loss,
     "Events were lost because the folder in which segments are written was full or a file-size limit was reached. Set "
     "RANKSCOPE_SPOOL to a folder with more free space, or raise the limit (ulimit -f)."},
    {attributes_dropped, "attributes_dropped", data_loss,
     "The details of the events need more than 4 GiB of memory; details beyond this limit were left out. Open fewer "
     "ranks or steps at a time."},
    {not_gathered, "not_gathered", error,
     "A recorder is still running, or was killed before it gathered its segments from its node-local folder, which may "
     "be cleared at any time. `rankscope doctor` on the recorder's host shows the folder; `rankscope record --recover "
     "FOLDER` gathers the segments in it."},
    {processes_not_recorded, "processes_not_recorded", data_loss,
     "No segment could be created for some processes, so they are missing. Set RANKSCOPE_SPOOL to a writable folder "
     "with free space."},
    {processes_not_watched, "processes_not_watched", info,
     "Some processes without events were not sampled either, because there were more than 64 of them at a time (256 "
     "if they have ranks) or no segment could be created for them."},
    {chunks_missing, "chunks_missing", data_loss,
     "Chunks are missing in the middle of a thread's events. The events in them are lost, and ranges that were open "
     "there are cut off. Copy the recording again or check the disk."},
    {truncated_input, "truncated_input", data_loss,
     "A trace file ends early (the profiled program died, or the copy is incomplete), so its later events are "
     "missing."},
    {events_malformed, "events_malformed", data_loss,
     "Some events of a trace are not valid JSON and were left out. Record again with a newer profiler if they matter."},
    {events_repaired, "events_repaired", info,
     "Some events contain strings with unescaped quotes, so the ends of these strings had to be guessed."},
    {events_incomplete, "events_incomplete", data_loss,
     "Events that lack a field (such as the name, category, thread or time), and collectives that were exported "
     "incompletely, were left out."},
    {events_unsupported, "events_unsupported", info,
     "Events of kinds that the profiler itself never writes (begin/end pairs, flow events of other tools) were left "
     "out."},
    {categories_unknown, "categories_unknown", info,
     "Events of unknown categories are kept as plain ranges and are not part of the breakdown of a rank's time."},
    {times_unusable, "times_unusable", data_loss,
     "Some events, such as device activities, were left out because their recorded times are impossible (for example, "
     "0, or longer than a day). If device activities were left out, the time in which they ran counts as idle."},
    {time_rounded_us, "time_rounded_us", info,
     "The trace has times in whole microseconds: events shorter than 1 µs may have no length, and their order within 1 "
     "µs is unknown."},
    {base_time_differs, "base_time_differs", info,
     "Trace files have different base times; all times were converted to a common base."},
    {time_origin_unknown, "time_origin_unknown", info,
     "A trace file does not say when its clock started, so its times count from its first event."},
    {kernels_without_launch, "kernels_without_launch", info,
     "Some device activities have no launch call in the trace, as happens at the edges of the recorded window and with "
     "CUDA graphs."},
    {kernel_before_launch, "kernel_before_launch", info,
     "According to the profiler's clocks, some device activities start before their launch call; their times were not "
     "changed."},
    {correlation_reused, "correlation_reused", error,
     "Several host calls have the same correlation number; device activities with this number are linked to the first "
     "of these calls."},
    {blocks_dropped, "blocks_dropped", info,
     "Blocks of a trace file that do not belong to the format (logs, additions by other tools) were left out."},
    {secrets_dropped, "secrets_dropped", info,
     "Blocks of a trace file that look like environment variables or secrets are not shown or exported. They are still "
     "in the file itself: do not pass it on."},
    {graphs_opaque, "graphs_opaque", info,
     "Each replay of a CUDA graph was recorded as one event, so the kernels in it are unknown and its whole time "
     "counts as compute. Record with rankscope record --cuda-graphs node, or nsys profile --cuda-graph-trace=node."},
    {payloads_not_exported, "payloads_not_exported", error,
     "The export lacks NCCL's descriptions of its calls, so bytes and communicators are unknown. Export the report "
     "again: nsys export --type sqlite --include-blobs=true REPORT.nsys-rep"},
    {source_warnings, "source_warnings", info,
     "Nsight Systems reported problems when it made the recording; `rankscope dump` shows them as metadata "
     "(nsys.message)."},
    {collectives_alone, "collectives_alone", info,
     "For some collectives, no other member was recorded, so it is not known how much of their time is waiting. Record "
     "all ranks of the job in one recording."},
    {jobs_mixed, "jobs_mixed", error,
     "Files of different jobs were opened together, so their ranks are not compared. Open the files of one job at a "
     "time."},
    {rank_contested, "rank_contested", error,
     "Two processes that ran at the same time were recorded as the same rank, so the numbers of this rank mix both "
     "processes. Give each its own rank (RANK, SLURM_PROCID), or record one job per recording."},
    {files_left_out, "files_left_out", error,
     "Some files in the folder are named like its traces, but are not traces. They were left out. If they belong to "
     "ranks, those ranks are missing. Copy these files again, or move them to another folder."},
    {clock_split_host, "clock_split_host", error,
     "The end times of operations show that the device times of ranks on one host come from different clocks, so the "
     "clock of each rank was aligned separately."},
    {activities_dropped, "activities_dropped", data_loss,
     "The CUDA profiler ran out of buffers, so some kernels, copies or calls were lost; where they are missing, idle "
     "time is overstated. Record fewer steps (--window)."},
    {activities_unknown, "activities_unknown", info,
     "The CUDA profiler or NCCL delivered records of unknown kinds or lengths; these were left out. Use a newer "
     "rankscope."},
    {sources_failed, "sources_failed", error,
     "Some requested sources could not be recorded. `rankscope record` printed the reason when it ended; the reason is "
     "also in the metadata of the processes (cupti_problem, nvml_problem, pm_problem)."},
    {comm_times_unknown, "comm_times_unknown", info,
     "For NCCL's collectives, only the times at which they were enqueued were recorded, not the times at which they "
     "ran, so these collectives are not part of the breakdown of a rank's time. Record kernels, too (include cupti in "
     "--collect), or use --nccl kernel."},
    {comm_events_dropped, "comm_events_dropped", data_loss,
     "NCCL had more events open at the same time than the recorder can follow; some of them were left out. Record with "
     "a lower --nccl level."},
    {pm_samples_dropped, "pm_samples_dropped", data_loss,
     "Samples of the GPUs' counters were lost before they could be read, or had no usable value. Record with a lower "
     "--pm-sampling rate."},
    {pm_metrics_left_out, "pm_metrics_left_out", info,
     "Counters that a GPU does not have, or that cannot be read in one pass together with the others, were not "
     "sampled. The metadata of the processes lists them (pm_without)."},
    {gpu_clocks_held, "gpu_clocks_held", info,
     "The GPUs' counters were sampled (--pm-sampling), which may keep the GPUs' clocks fixed. Compare durations only "
     "with recordings made the same way."},
    {comm_not_announced, "comm_not_announced", info,
     "NCCL reported operations that the program had not announced (collective_enqueued in annotate.h), although the "
     "program announced other operations of the same ranks. Reported and announced operations are both counted, so the "
     "number of bytes may be too high. Announce each operation before NCCL is called, on the thread that calls it."},
    {comm_announced_only, "comm_announced_only", info,
     "NCCL did not report some of the collectives that the program announced, although it reported others of the same "
     "group. The times of the unreported ones were taken on the host."},
    {comm_groups_unknown, "comm_groups_unknown", data_loss,
     "Collectives of process groups that torch.distributed did not create were left out: time in them counts as "
     "compute or idle. Create the groups with init_process_group or new_group."},
    {comm_without_groups, "comm_without_groups", info,
     "For some libraries (Gloo, MPI, DeepEP, NVSHMEM and others), traces do not name the groups that communicate. "
     "The operations of these libraries are matched across ranks by their end times, or not at all. To get the groups "
     "of PyTorch's Gloo backend, record with `rankscope record`."},
    {tails_lost, "tails_lost", data_loss,
     "For some ranks, the file is complete, but its events end long before those of the other ranks: the profiler lost "
     "the later events. Steps that continue after a rank's last recorded work are left out. Record fewer steps at a "
     "time."},
    {devices_not_read, "devices_not_read", error,
     "Some ranks used an accelerator whose work was not recorded, so their time is not broken down. Use a "
     "profiler that supports the device."},
    {header_damaged, "header_damaged", error,
     "The header of a segment file does not match its checksum, so it is unknown how the process ended and whether it "
     "lost events. Copy the recording again."},
    {manifest_damaged, "manifest_damaged", error,
     "manifest.json is damaged, so its facts about the run and its list of lost data are unknown. Copy the recording "
     "again."},
    {source_lost_events, "source_lost_events", data_loss,
     "The profiler that made the recording reported that events were lost or may have been lost. Record fewer steps at "
     "a time, or use larger buffers."},
    {texts_hidden, "texts_hidden", info,
     "In strings that seem to contain passwords, tokens or other secrets, each secret is shown as asterisks. The input "
     "itself may still contain the secrets, so to share it, send a pack of it (`rankscope pack`) instead. "
     "--keep-texts shows the strings as they were recorded."},
    {processes_without_rank, "processes_without_rank", info,
     "Some processes, such as launchers, have events but no rank. They recorded no kernels, copies, collectives or "
     "steps, so they are not ranks of the job."},
    {recorder_threads_refused, "recorder_threads_refused", error,
     "The recorder could not start its thread, or started it only at a later attempt, so samples are missing and "
     "events may have been lost. Allow more threads (ulimit -u, or the pids limit of the container or job)."},
    {calls_thinned, "calls_thinned", info,
     "Recording CUDA calls cost more time than --budget allows. From the time at which this was noticed, only the "
     "calls with which NCCL launches kernels were recorded; kernels, copies and collectives are complete. To record "
     "all calls, use --budget off, or record a few steps with --window."},
    {events_thinned, "events_thinned", info,
     "Old events were thinned out while the job ran, as --keep or its default requires. If a process has steps, the "
     "recording has sums for each of them instead; if a process has no steps, its old events are gone. Record with a "
     "larger --keep to keep more."},
    {events_without_sums, "events_without_sums", data_loss,
     "Old events were removed while the job ran to keep the recording within the limit of --keep (or its default). The "
     "sums of their steps could not be stored, so these steps are missing. Record with a "
     "larger --keep, or set RANKSCOPE_SPOOL to a folder with more free space."},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < counter_count; ++i)
    if (table[i].counter != static_cast<Counter>(i)) return false;
  return true;
}
static_assert(in_order(), "the table must follow the enumeration");

}  // namespace

const std::array<CounterInfo, counter_count>& counter_table() { return table; }
const CounterInfo& info_of(Counter counter) { return table[static_cast<std::size_t>(counter)]; }

bool is_counted_by_build(Counter counter) {
  return counter == collectives_open || counter == rank_duplicate || counter == rank_contested;
}

std::optional<Counter> counter_from(std::string_view name) {
  for (const CounterInfo& info : table)
    if (info.name == name) return info.counter;
  return std::nullopt;
}

}  // namespace rankscope

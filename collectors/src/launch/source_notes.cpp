#include "source_notes.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "rankscope/core/format.h"

namespace rankscope::collectors {
namespace {

struct ProblemKey {
  Source source;
  std::string_view key;
};
constexpr std::array problem_keys{ProblemKey{Source::cupti, "cupti_problem"},
                                  ProblemKey{Source::nccl, "nccl_timer_problem"},
                                  ProblemKey{Source::nvml, "nvml_problem"}, ProblemKey{Source::pm, "pm_problem"}};

using Metadata = decltype(recording::GatherSummary::metadata);

std::string_view value_of(const Metadata& metadata, std::string_view key) {
  const auto found = std::ranges::find(metadata, key, &Metadata::value_type::first);
  return found == metadata.end() ? std::string_view{} : std::string_view{found->second};
}

std::string_view id_of(Source source) {
  const auto found = std::ranges::find(sources(), source, &SourceInfo::source);
  return found == sources().end() ? std::string_view{} : found->id;
}

void add_problem(SourceStory& story, Source source, std::string_view text) {
  const auto same = std::ranges::find_if(
      story.problems, [&](const SourceStory::Problem& one) { return one.source == source && one.text == text; });
  if (same != story.problems.end())
    ++same->processes;
  else
    story.problems.push_back({.source = source, .text = std::string{text}, .processes = 1});
}

/// "cupti, nccl" of those that were asked for.
std::string gpu_sources(SourceSet asked) {
  std::string ids;
  for (const Source source : {Source::cupti, Source::nccl, Source::nvml, Source::pm})
    if (asked.has(source)) ids += (ids.empty() ? "" : ", ") + std::string{id_of(source)};
  return ids;
}

bool failed(const SourceStory& story, Source source) {
  return std::ranges::find(story.problems, source, &SourceStory::Problem::source) != story.problems.end();
}

std::string nccl_note(const SourceStory& story) {
  if (story.nccl_processes == 0)
    return "nccl: no recorded process called NCCL, so none of its collectives were recorded";
  return format(
      "nccl: NCCL{}{} did not load rankscope's profiler plugin, so only the calls of NCCL's collectives are known; "
      "NCCL 2.23 or newer loads the plugin when the first communicator is created, unless NCCL_PROFILER_PLUGIN names "
      "another plugin",
      story.nccl_version.empty() ? "" : " ", story.nccl_version);
}

std::string profiler_note(std::uint64_t processes) {
  return format(
      "cupti: torch.profiler ran in {}, but could not record the GPU, because only one profiler in a process can use "
      "CUPTI, and the recorder uses it; to leave CUPTI to torch.profiler, record with --collect "
      "annotate,nvtx,host,nccl,nvml",
      counted(processes, "process"));
}

std::string silent_note(const SourceStory& story) {
  return format(
      "nccl: NCCL{}{} loaded rankscope's profiler plugin and ran collectives, but reported none of them (in {}): they "
      "were recorded only as kernels. If the program launches them with CUDA graphs, record with --nccl kernel: NCCL "
      "then reports each launch. Otherwise, please report this, with your version of NCCL, to the developers of "
      "rankscope",
      story.nccl_version.empty() ? "" : " ", story.nccl_version, counted(story.silent_plugins, "process"));
}

/// Of such a host, RCCL loads the plugin as NCCL does.
std::vector<std::string> amd_notes(const std::string& wanted, const SourceStory& story) {
  std::vector<std::string> notes{format(
      "{}: this host has AMD GPUs (/dev/kfd), whose kernels and copies are not recorded{}; other sources are not "
      "affected. Use torch.profiler for these GPUs: rankscope reads its traces",
      wanted, story.plugin_processes > 0 ? " (only the collectives of RCCL are)" : "")};
  for (const SourceStory::Problem& problem : story.problems)
    if (problem.source == Source::nccl) notes.push_back("nccl: " + problem.text);
  return notes;
}

}  // namespace

void add_to_story(SourceStory& story, const recording::GatherSummary& segment) {
  const Metadata& metadata = segment.metadata;
  const auto has = [&](std::string_view key) { return value_of(metadata, key).empty() ? 0U : 1U; };
  story.activities += segment.activities;
  story.cuda_processes += has("cuda");
  story.nccl_processes += has("nccl_version");
  story.plugin_processes += has("nccl_profiler_version");
  if (segment.nccl_kernels > 0 && segment.library_operations == 0) story.silent_plugins += has("nccl_profiler_version");
  story.c10d_processes += has("pytorch_collectives");
  story.contained += has("container");
  story.started += has("recording_switched_by");
  story.without_gpu += has("torch_profiler_without_gpu");
  story.sampled_gpus += static_cast<std::uint64_t>(
      std::ranges::count_if(metadata, [](const auto& entry) { return entry.first.starts_with("pm_gpu_"); }));
  if (story.nccl_version.empty()) story.nccl_version = value_of(metadata, "nccl_version");
  for (const ProblemKey& one : problem_keys)
    if (const std::string_view text = value_of(metadata, one.key); !text.empty()) add_problem(story, one.source, text);
}

std::vector<std::string> source_notes(SourceSet asked, const RecordSummary& summary, HostDevices devices) {
  const SourceStory& story = summary.sources;
  const std::string wanted = gpu_sources(asked);
  if (wanted.empty()) return {};
  if (!devices.nvidia && story.activities == 0) {
    if (devices.amd) return amd_notes(wanted, story);
    if (story.plugin_processes == 0)
      return {format("{}: no NVIDIA GPU was found on this host (no /dev/nvidiactl); other sources are not affected",
                     wanted)};
  }
  std::vector<std::string> notes;
  for (const SourceStory::Problem& problem : story.problems)
    notes.push_back(format("{}: {} ({})", id_of(problem.source), problem.text, counted(problem.processes, "process")));
  if (story.without_gpu > 0) notes.push_back(profiler_note(story.without_gpu));
  if (story.cuda_processes == 0 && story.plugin_processes == 0) {
    notes.push_back(
        format("{}: no recorded process initialised CUDA, so nothing about GPUs was recorded; if the program does use "
               "GPUs, its environment was cleared before it started (docs/gpu.md)",
               wanted));
    return notes;
  }
  if (asked.has(Source::cupti) && story.activities == 0 && !failed(story, Source::cupti))
    notes.emplace_back("cupti: CUDA was initialised, but no kernel or copy ran while events were recorded");
  if (asked.has(Source::pm) && story.sampled_gpus == 0 && !failed(story, Source::pm))
    notes.emplace_back(
        "pm: no GPU was sampled, because no process kept a primary CUDA context (the one that the CUDA runtime "
        "creates) for long enough");
  if (const char* const daemon = std::getenv("KINETO_USE_DAEMON"); asked.has(Source::cupti) && daemon != nullptr)
    notes.emplace_back(
        "cupti: KINETO_USE_DAEMON is set: if the program uses torch.profiler, kernels and copies are missing after "
        "torch.profiler starts; unset this variable");
  // Ranks that talk to each other through Gloo need no NCCL.
  const bool may_talk = (summary.ranks > 1 && story.c10d_processes == 0) || story.nccl_processes > 0;
  if (asked.has(Source::nccl) && story.plugin_processes == 0 && may_talk) notes.push_back(nccl_note(story));
  if (asked.has(Source::nccl) && story.silent_plugins > 0) notes.push_back(silent_note(story));
  return notes;
}

}  // namespace rankscope::collectors

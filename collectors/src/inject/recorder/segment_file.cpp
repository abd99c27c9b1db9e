#include "inject/recorder/segment_file.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "inject/recorder/environment.h"
#include "rankscope/core/recording/manifest.h"
#include "spool/segment_names.h"
#include "spool/tally.h"

namespace rankscope::inject {
namespace {

constexpr int most_execs = 100;  // images of one process that leave a segment each

std::string cpus_allowed() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  return sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? std::to_string(CPU_COUNT(&cpus)) : std::string{};
}

/// The container that the process runs in; empty for none that is known of.
std::string container() {
  if (std::getenv("APPTAINER_CONTAINER") != nullptr) return "apptainer";
  if (std::getenv("SINGULARITY_CONTAINER") != nullptr) return "singularity";
  if (access("/.dockerenv", F_OK) == 0) return "docker";
  return access("/run/.containerenv", F_OK) == 0 ? "podman" : "";
}

}  // namespace

OpenedSegment create_segment(const collectors::InjectSettings& settings) {
  const collectors::RankEnvironment rank = own_rank(settings);
  recording::SegmentOptions options{.path = {},
                                    .ring_kib = settings.ring_kib,
                                    .rank = rank.rank,
                                    .world_size = rank.world_size,
                                    .local_rank = rank.local_rank,
                                    .local_world_size = rank.local_world_size,
                                    .rank_source = rank.source};
  const std::string stem = collectors::segment_stem(getpid());
  for (int image = 0; image < most_execs; ++image) {
    const std::string suffix = image == 0 ? std::string{} : "-" + std::to_string(image);
    options.path = std::filesystem::path{settings.segments} / (stem + suffix + recording::segment_suffix);
    if (access(options.path.c_str(), F_OK) == 0) continue;
    auto created = recording::SegmentWriter::create(options);
    if (!created) return {};
    return {.writer = std::move(*created), .rank = rank};
  }
  return {};
}

void describe_process(recording::ThreadWriter& pen, const collectors::InjectSettings& settings,
                      const collectors::RankEnvironment& rank) {
  pen.clock_pair();
  if (const std::string cpus = cpus_allowed(); !cpus.empty()) pen.metadata("cpus_allowed", cpus);
  if (const std::string name = container(); !name.empty()) pen.metadata("container", name);
  if (!rank.problem.empty()) pen.metadata("rank_problem", rank.problem);
  if (settings.window) {
    const collectors::StepWindow& window = *settings.window;
    pen.metadata("window", std::to_string(window.wait) + "," + std::to_string(window.warmup) + "," +
                               std::to_string(window.active) + "," + std::to_string(window.repeat));
  }
}

void count_failed_segment(const collectors::InjectSettings& settings) { collectors::add_to_tally(settings.segments); }

}  // namespace rankscope::inject

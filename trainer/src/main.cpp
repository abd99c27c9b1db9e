// rankscope-train: one process is either the launcher of the ranks of this machine, or one rank.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>

#include "engine/catching.h"
#include "engine/worker/explain.h"
#include "job.h"
#include "rankscope/core/format.h"
#include "rankscope/trainer/launch/log.h"
#include "rankscope/trainer/launch/placement.h"
#include "rankscope/trainer/options/options.h"

namespace rankscope::trainer {
namespace {

/// A reader who has left is no error of ours; a full disk is.
Result<int> print(const std::string& text) {
  if (std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return 0;
  if (errno == EPIPE) return 0;
  return fail(ErrorKind::cannot_write, format("cannot write to stdout: {}", std::strerror(errno)));
}

Result<int> print_explained(TrainOptions options, const std::optional<Placement>& place) {
  const int ranks = place ? place->world_size : std::max(1, options.launch.ranks) * options.launch.nodes;
  RS_TRY_VOID(fit_to_ranks(options, ranks));
  RS_TRY(const std::string text, catching([&] { return explain(options, ranks); }));
  if (!place || place->rank == 0) return print(text);
  return 0;
}

Result<int> run(int argc, const char* const* argv) {
  RS_TRY(const CommandLine line, parse_command_line(argc, argv));
  if (line.text) return print(*line.text);
  RS_TRY(const auto place, placement_from(process_environment));
  if (line.explains) return print_explained(line.options, place);
  if (place && place->rank == 0 && place->source != "rankscope")  // else it was written before ranks were started
    RS_TRY_VOID(write_schedule(line.options, place->world_size));
  if (place) {
    // Gloo writes to peers that may be gone: that must be an error, which names them, and not the end of this rank.
    std::signal(SIGPIPE, SIG_IGN);
    return run_rank(line.options, *place);
  }
  return launch_job(line.options, {argv + 1, argv + argc});
}

}  // namespace
}  // namespace rankscope::trainer

int main(int argc, char** argv) {
  const auto status = rankscope::trainer::run(argc, argv);
  if (status && *status == 0) return 0;
  if (!status && !status.error().message.empty()) rankscope::trainer::log_error(status.error().message);
  std::fflush(nullptr);
  // A failed rank may still have a thread inside a collective that nobody will complete.
  _exit(status ? *status : rankscope::exit_status(status.error().kind));
}

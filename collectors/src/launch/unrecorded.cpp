#include "unrecorded.h"

#include <cerrno>
#include <chrono>
#include <cstring>

#include "child_process.h"
#include "rankscope/core/format.h"
#include "talk.h"

namespace rankscope::collectors {
namespace {

constexpr int status_not_found = 127;
constexpr int status_not_executable = 126;
constexpr std::chrono::hours until_a_signal{1};  // that a child has ended is one

int wait_for(pid_t process, SignalRelay& signals) {
  while (true) {
    if (const auto status = reap(process)) return *status;
    static_cast<void>(signals.wait(process, until_a_signal, 0));
  }
}

}  // namespace

RecordOutcome not_started(const RecordOptions& options, int error) {
  const bool absent = error == ENOENT;
  say(options.talk, format("rankscope: cannot run {}: {}\n", options.command.front(),
                           absent ? "no such command" : std::strerror(error)));
  return {.status = absent ? status_not_found : status_not_executable};
}

Result<RecordOutcome> run_unrecorded(const RecordOptions& options, const Error& why) {
  const std::string note = format("{} runs without being recorded: {}", options.command.front(), why.message);
  say(Talk::normal, format("rankscope: {}\n", note));
  const SizeSignalIgnored size_signal;
  SignalRelay signals{size_signal};
  RS_TRY(const auto child, start_command(options.command, {}, signals));
  if (child.error != 0) {
    static_cast<void>(reap(child.process));
    return not_started(options, child.error);
  }
  RecordOutcome outcome{.status = wait_for(child.process, signals)};
  outcome.summary.notes.push_back(note);
  return outcome;
}

}  // namespace rankscope::collectors

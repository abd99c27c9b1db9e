#include <sys/resource.h>
#include <sys/timex.h>

#include "rankscope/collectors/gpu_state.h"
#include "rankscope/core/format.h"

namespace rankscope::collectors {
namespace {

constexpr rlim_t enough_files = 512;  // of the recorder, which watches up to 64 processes with a few files each

/// Ranks of several hosts are compared after their collectives brought the clocks together, which is easier from here.
GpuState clock_state() {
  timex time{};
  const int state = adjtimex(&time);
  if (state == -1) return {true, "host clock", "cannot be queried here", "nothing to do"};
  const bool synchronised = state != TIME_ERROR && (time.status & STA_UNSYNC) == 0;
  return {
      synchronised, "host clock",
      synchronised ? format("synchronized by a time service, to within {} µs", time.maxerror)
                   : "not synchronized by a time service",
      "synchronized clocks are needed only to record several hosts: run chrony or ntpd on each host; rankscope also "
      "aligns the clocks of hosts by means of collectives"};
}

GpuState file_state() {
  rlimit limit{};
  const bool known = getrlimit(RLIMIT_NOFILE, &limit) == 0;
  const bool enough = known && limit.rlim_cur >= enough_files;
  return {
      enough, "open files", known ? format("up to {}", limit.rlim_cur) : "the limit cannot be read",
      format("sampling all processes of a large job needs {0} open files: run ulimit -n {0} in the shell that starts "
             "rankscope",
             enough_files)};
}

GpuState size_state() {
  rlimit limit{};
  const bool free = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY;
  return {free, "size of files",
          free ? "no limit" : format("up to {:.1f} MB", static_cast<double>(limit.rlim_cur) / 1e6),
          "events are lost once the segment of a recorded process reaches this size: run ulimit -f unlimited"};
}

}  // namespace

std::vector<GpuState> host_states() { return {clock_state(), file_state(), size_state()}; }

}  // namespace rankscope::collectors

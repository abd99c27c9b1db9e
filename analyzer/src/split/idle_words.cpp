#include "split/parts.h"

namespace rankscope::analyzer {

std::string_view words_of(const IdleShare& share) {
  switch (share.detail) {
    case IdleDetail::launching:
      return "host was in the launch call";
    case IdleDetail::nothing_followed:
      return share.cause == IdleCause::data ? "host waited for data" : "nothing more was launched";
    case IdleDetail::waits_for_event:
      return "waited for another stream";
    case IdleDetail::profiler_overhead:
      return "profiler held the host up";
    case IdleDetail::inside_graph:
      return "gap inside a graph";
    case IdleDetail::no_launch_record:
      return "launch was not recorded";
    case IdleDetail::none:
      break;
  }
  switch (share.cause) {
    case IdleCause::host:
      return "host was late";
    case IdleCause::sync:
      return "host waited for the device";
    case IdleCause::data:
      return "host waited for data";
    case IdleCause::kernel_gap:
      return "gap between kernels";
    case IdleCause::other:
      return "queued, but started late";
  }
  return "";
}

}  // namespace rankscope::analyzer

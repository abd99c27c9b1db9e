// Events of NCCL's profiler interface -> records. Called on every thread that NCCL has, several at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "inject/nccl/handles.h"
#include "inject/nccl/sequence.h"
#include "inject/nccl/timer.h"

namespace rankscope::inject::nccl {

/// A communicator as NCCL introduces it. Lives as long as the process: events may end after it has.
struct Communicator {
  std::uint64_t hash = 0;
  std::string group;            ///< as it stands in the recording
  std::string configured_name;  ///< the user's; empty mostly
  std::uint32_t ranks = 0;      ///< 0 = not told
  std::int32_t rank = -1;
  bool records_pairs = true;  ///< sends and receives, too
  std::mutex naming;          ///< of the threads that see its first events at a time, up to version 3
  std::atomic<bool> identified{false};
  SequenceNumbers sequence;
  CommTimer timer{timer_of_process()};
  std::atomic<std::uint64_t> announced{0};  ///< generation of the recording that knows it
};

/// What init tells; versions up to 3 tell nothing.
struct Introduction {
  std::uint64_t hash = 0;
  const char* name = nullptr;
  int ranks = 0;
  int rank = -1;
};

/// Returns null, with a mask of 0, where nothing is to be recorded. `version` 1 to 7.
Communicator* introduce(const Introduction& introduction, int version, int* mask) noexcept;

/// 0: nothing is to be recorded of it, or there is no room. `held` is the handle that NCCL still has where it will put
/// the new one.
Handle start(Communicator* communicator, const void* descriptor, int version, Handle held) noexcept;
void stop(Handle handle) noexcept;
void change_state(Handle handle, int state, const void* arguments, int version) noexcept;

}  // namespace rankscope::inject::nccl

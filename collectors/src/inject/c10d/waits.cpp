// c10d::Work::wait, which most works of Gloo inherit, and c10d::Reducer, which waits for futures.
#include "inject/c10d/hooks.h"
#include "inject/c10d/next.h"
#include "inject/c10d/operations.h"
#include "inject/c10d/unwinding.h"

namespace rankscope::inject::c10d {
namespace {

enum class Waited { work, send, receive };

// std::chrono::milliseconds is one number.
template <Waited what>
bool wait(void* work, std::int64_t timeout) {
  RANKSCOPE_LEAVE_ON_ERROR();
  enter_wait(work);
  const bool done = next<wait<what>>(work, timeout);
  leave();
  return done;
}

/// At the end of backward(): waits for one bucket after the other, and copies what came in between. Whose backend it is
/// is not known here: NCCL does not block the host, others do whose operations are not recorded.
void finalize_backward(void* reducer) {
  RANKSCOPE_LEAVE_ON_ERROR();
  enter_wait(Op::allreduce);
  next<finalize_backward>(reducer);
  leave();
}
void finalize_bucket(void* reducer, void* bucket) {
  RANKSCOPE_LEAVE_ON_ERROR();
  enter_pause();
  next<finalize_bucket>(reducer, bucket);
  leave();
}

}  // namespace

std::vector<Hook> wait_hooks() {
  return {
      hook<wait<Waited::work>>("_ZN4c10d4Work4waitENSt6chrono8durationIlSt5ratioILl1ELl1000EEEE"),
      hook<wait<Waited::send>>("_ZN4c10d16ProcessGroupGloo8SendWork4waitENSt6chrono8durationIlSt5ratioILl1ELl1000EEEE"),
      hook<wait<Waited::receive>>(
          "_ZN4c10d16ProcessGroupGloo8RecvWork4waitENSt6chrono8durationIlSt5ratioILl1ELl1000EEEE"),
      hook<finalize_backward>("_ZN4c10d7Reducer17finalize_backwardEv"),
      hook<finalize_bucket>("_ZN4c10d7Reducer21finalize_bucket_denseERNS0_6BucketE"),
  };
}

}  // namespace rankscope::inject::c10d

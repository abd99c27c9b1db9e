#include "inject/cupti/subscription.h"

#include <array>

#include "cupti/records.h"
#include "rankscope/core/format.h"

namespace rankscope::inject::cupti {
namespace {

using collectors::cupti::Callback;
using collectors::cupti::Functions;
using collectors::cupti::Library;
using collectors::cupti::Subscriber;
using collectors::cupti::SubscriberParams;
namespace result = collectors::cupti::result;
namespace version = collectors::cupti::version;

/// From CUDA 13.2 on, functions without a version belong to cuptiSubscribe only: after cuptiSubscribe_v2, CUPTI may
/// refuse them (NOT_COMPATIBLE), and the time comes from cuptiGetTimestamp_v2. There, it only asks who holds CUPTI.
Subscription subscribe(const Library& library, Subscriber& subscriber, Callback callback) {
  const Functions& call = library.call;
  std::array<char, 128> other{};
  SubscriberParams params{.name = "rankscope", .other_name = other.data(), .other_size = other.size() - 1};
  if (call.subscribe_v2 != nullptr && library.version < version::v13_2) {
    const int status = call.subscribe_v2(&subscriber, callback, nullptr, &params);
    return {status, other.data()};
  }
  int status = call.subscribe(&subscriber, callback, nullptr);
  if (status != result::several_subscribers || call.subscribe_v2 == nullptr) return {status};
  if (call.subscribe_v2(&subscriber, callback, nullptr, &params) == result::success) {
    call.unsubscribe(subscriber);  // the holder has let go of it meanwhile
    status = call.subscribe(&subscriber, callback, nullptr);
  }
  return {status, other.data()};
}

}  // namespace

Subscription load_and_subscribe(Library& library, Subscriber& subscriber, Callback callback) {
  Subscription subscription;
  const auto trial = [&](const Library& one) {
    subscription = subscribe(one, subscriber, callback);
    return subscription.status != result::incompatible_driver
               ? std::string{}
               : format("CUPTI {} does not work with the driver of this host ({})", one.version,
                        one.call.text_of(subscription.status));
  };
  library = collectors::cupti::load_library(trial, collectors::cupti::Driver::being_initialised);
  return subscription;
}

std::string watch_profiler_calls(const Functions& call, Subscriber subscriber) {
  for (const auto& watched : collectors::cupti::profiler_calls) {
    const int status = call.enable_callback(1, subscriber, watched.domain, watched.number);
    if (status != result::success)
      return "--toggle cuda: CUPTI does not report cudaProfilerStart: " + call.text_of(status);
  }
  return {};
}

std::string problem_of(const Functions& call, const Subscription& subscription) {
  if (subscription.status == result::success) return {};
  if (subscription.status != result::several_subscribers)
    return format("CUPTI refused the recorder: {}; `rankscope doctor` shows what can be recorded on this host",
                  call.text_of(subscription.status));
  return format(
      "{} already uses CUPTI, and only one profiler in a process can use it, so kernels and copies are not recorded; "
      "stop that profiler, or leave CUPTI to it (--collect annotate,nvtx,host,nccl,nvml)",
      subscription.holder.empty() ? "another profiler (torch.profiler, Nsight, a debugger)" : subscription.holder);
}

}  // namespace rankscope::inject::cupti

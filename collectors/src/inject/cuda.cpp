// CUDA loads the library through CUDA_INJECTION64_PATH when a process initialises it: from then on it is recorded.
#include "inject/cupti/pm_source.h"
#include "inject/cupti/source.h"
#include "inject/nvml/source.h"
#include "inject/recorder/recorder.h"
#include "inject/recorder/thread_state.h"

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  namespace inject = rankscope::inject;
  using rankscope::collectors::Source;
  inject::initialise();
  inject::guarded([] {
    if (inject::ThreadState* const state = inject::here()) state->pen().metadata("cuda", "initialised");
  });
  if (inject::collects(Source::cupti)) inject::cupti::start();
  if (inject::collects(Source::nvml)) inject::start_nvml();
  if (inject::collects(Source::pm)) inject::pm::start();
  return 1;
}

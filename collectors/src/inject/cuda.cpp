// CUDA loads the library through CUDA_INJECTION64_PATH when a process initialises it: from then on it is recorded.
#include "cupti_source.h"
#include "recorder.h"

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  rankscope::inject::initialise();
  rankscope::inject::open_segment();
  if (rankscope::inject::collects(rankscope::collectors::Source::cupti)) rankscope::inject::cupti::start();
  return 1;
}

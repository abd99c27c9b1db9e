// A shared library with its own copy of NVTX.
#include <nvtx3/nvToolsExt.h>

extern "C" __attribute__((visibility("default"))) void NVTX_COPY_FUNCTION();
void NVTX_COPY_FUNCTION() {
  nvtxRangePushA(NVTX_COPY_NAME);
  nvtxRangePop();
}

// Scenes of what CUPTI does and a lenient stand-in would not: open kernels, buffers of threads, profilers that take
// over.
#pragma once

#include <string>

#include "cupti_gpu.h"

namespace rankscope::testing {

/// False: it has no such scene.
bool play_strict(const std::string& scene, const Gpu& gpu);

}  // namespace rankscope::testing

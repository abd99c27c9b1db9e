// Scenes of the processes of a host that would all read NVML.
#pragma once

#include <string>

namespace rankscope::testing {

/// What such a scene does before CUDA is initialised.
void prepare_nvml(const std::string& scene, const char* program);
/// The status of the process; -1: it has no such scene.
int play_nvml(const std::string& scene, const char* program);

}  // namespace rankscope::testing

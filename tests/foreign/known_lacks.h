// What the recordings that others made do not have, so that a section that disappears from their reports fails a test.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace rankscope::testing {

/// What a recording does not have. Every other one has it.
enum class Lacks : std::uint8_t { times, steps, kernels, operators, communication, device_compute, several_ranks };

/// One entry of the table below.
struct Lack {
  Lacks what;
  std::string_view recordings;  ///< how their names begin
};

inline constexpr std::array known_lacks{
    Lack{Lacks::times, "kineto/no_distributed_info/"},  // KinetoFacts.ATraceOfTheHostAloneIsNotCalledIdle
    Lack{Lacks::steps, "kineto/b200_eager/"},
    Lack{Lacks::steps, "kineto/critical_path/alexnet/"},
    Lack{Lacks::steps, "kineto/critical_path/cuda_event_sync_multi_stream/"},
    Lack{Lacks::steps, "kineto/critical_path/end_to_end/"},
    Lack{Lacks::steps, "kineto/critical_path/simple_add/"},
    Lack{Lacks::steps, "kineto/gpu_user_annotation/"},
    Lack{Lacks::steps, "kineto/large_integers/"},
    Lack{Lacks::steps, "nsys/"},
    Lack{Lacks::kernels, "kineto/no_distributed_info/"},
    Lack{Lacks::kernels, "kineto/cpu_only_gloo_rank34of300/"},  // no rank has an accelerator
    Lack{Lacks::operators, "nsys/cuda_graph/"},                 // the last three were recorded without NVTX
    Lack{Lacks::operators, "nsys/perlmutter/perlmutter-cloverleaf-cuda"},
    Lack{Lacks::operators, "nsys/synthetic/"},
    Lack{Lacks::communication, "kineto/amd_mi250/"},
    Lack{Lacks::communication, "kineto/critical_path/"},
    Lack{Lacks::communication, "kineto/gpu_user_annotation/"},
    Lack{Lacks::communication, "kineto/no_distributed_info/"},
    Lack{Lacks::communication, "kineto/ns_resolution_v100/"},
    Lack{Lacks::communication, "kineto/old_2021_resnet50/"},
    Lack{Lacks::communication, "kineto/triton/"},
    Lack{Lacks::communication, "nsys/cuda_graph/"},
    Lack{Lacks::communication, "nsys/perlmutter/"},
    Lack{Lacks::communication, "nsys/synthetic/"},
    Lack{Lacks::device_compute, "kineto/cpu_only_gloo_rank34of300/"},
    Lack{Lacks::device_compute, "kineto/large_integers/"},
};

/// A file is of one rank, except these.
inline constexpr std::array<std::string_view, 1> files_of_several_ranks{"nsys/training_2xh100/mfu_2gpu_before.sqlite"};

/// By the name of a recording in shared_recordings().
inline bool lacks(std::string_view recording, Lacks what) {
  if (what == Lacks::several_ranks) return std::ranges::count(files_of_several_ranks, recording) == 0;
  return std::ranges::any_of(
      known_lacks, [&](const Lack& lack) { return lack.what == what && recording.starts_with(lack.recordings); });
}

inline bool lacks_efficiency(std::string_view recording) {
  return lacks(recording, Lacks::communication) || lacks(recording, Lacks::device_compute);
}

/// Rows that compare ranks need steps of several of them.
inline bool lacks_stragglers(std::string_view recording) {
  return lacks(recording, Lacks::several_ranks) || lacks(recording, Lacks::steps);
}

}  // namespace rankscope::testing

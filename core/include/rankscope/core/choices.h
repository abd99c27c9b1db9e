// What users choose from when they record. `record` and `train` read these tables, and so does the viewer, which starts
// both as programs and must not use their code.
#pragma once

#include <array>
#include <string_view>

namespace rankscope::choices {

/// A source of events, as --collect names it.
struct Source {
  std::string_view id;
  std::string_view summary;
  bool by_default = true;  ///< false: recorded only where it is named, since it changes what is measured
};
/// In the order of collectors::Source, in which they are listed to users.
inline constexpr std::array sources{
    Source{"annotate", "spans and collectives that a program reports through annotate.h"},
    Source{"nvtx", "NVTX ranges, marks and payloads, including those of NCCL's functions"},
    Source{"host", "samples of CPU time, memory, context switches, page faults, I/O and pressure (PSI)"},
    Source{"cupti", "kernels, copies and CUDA calls"},
    Source{"nccl", "collectives inside NCCL, through its profiler plugin"},
    Source{"nvml", "samples of busy time, memory, power, clocks and links of the GPUs"},
    Source{"pm",
           "SM, tensor, DRAM, NVLink and PCIe activity of the GPUs, from their own counters (as --pm-sampling does)",
           false},
};

/// A parallel mode of the trainer, as --parallel names it.
struct Mode {
  std::string_view id;
  bool one_rank = false;  ///< it cannot run on several ranks
};
/// In the order of the trainer's own table (options/modes.cpp), which is checked against this one.
inline constexpr std::array modes{
    Mode{"single", true}, Mode{"dp", true}, Mode{"mp", true}, Mode{"ddp"}, Mode{"ddp+mp"}, Mode{"zero1"}, Mode{"zero2"},
    Mode{"zero3"},        Mode{"tp"},       Mode{"tp+sp"},    Mode{"pp"},  Mode{"tile"},   Mode{"3d"},
};

/// In the order of trainer::ModelKind.
inline constexpr std::array<std::string_view, 8> models{
    "mlp", "gpt", "cnn", "resnet18", "resnet50", "resnet152", "wide_resnet28_10", "efficientnet_v2_l"};

/// In the order of trainer::FaultKind.
inline constexpr std::array<std::string_view, 9> faults{"slow", "data", "pause", "comm",   "exit",
                                                        "kill", "hang", "nan",   "corrupt"};

}  // namespace rankscope::choices

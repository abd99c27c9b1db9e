// Where the structures of each NCCL hold what its code for profiler plugins reads.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace nccl_caller {

/// Offsets of NCCL's versions `first` to `last` on x86-64.
struct Layout {
  int first, last;
  struct {
    std::size_t hash, rank, ranks, nodes, name, context;
  } comm;
  struct {
    std::size_t mask, call, handle, channels;
  } coll, pair;
  struct {
    std::size_t pairs, colls;
  } plan;
};

inline constexpr std::size_t absent = 0;  ///< no field that is used is first

// Printed by offsetof in a program that includes comm.h of each tag of NVIDIA/nccl; a patch release between two that
// are listed was not looked at. Those from 2.31 on were read in the machine code of ncclProfilerPluginInit and
// ncclProfilerStartTaskEvents, since their sources were not at hand. Before 2.27, a send has no number of channels.
inline constexpr std::array layouts{
    Layout{22304,
           22304,
           {246944, 246952, 246956, 247136, 246936, 252560},
           {160, absent, 168, 96},
           {48, absent, 56, absent},
           {136, 152}},
    Layout{22403,
           22403,
           {246944, 246952, 246956, 247136, 246936, 252528},
           {184, absent, 192, 96},
           {48, absent, 56, absent},
           {136, 152}},
    Layout{22501,
           22501,
           {492704, 492712, 492716, 492896, 492696, 500976},
           {184, absent, 192, 96},
           {48, absent, 56, absent},
           {136, 152}},
    Layout{22602,
           22602,
           {492720, 492728, 492732, 492912, 492712, 501000},
           {184, absent, 192, 96},
           {48, absent, 56, absent},
           {136, 152}},
    Layout{22703,
           22707,
           {1066160, 1066168, 1066172, 1066352, 1074432, 1074504},
           {184, absent, 192, 200},
           {48, absent, 56, 64},
           {136, 152}},
    Layout{22803,
           22803,
           {1066176, 1066184, 1066188, 1066368, 1075632, 1075712},
           {200, 216, 224, 232},
           {48, 64, 72, 80},
           {136, 152}},
    Layout{22809,
           22809,
           {1066184, 1066192, 1066196, 1066376, 1075640, 1075720},
           {200, 216, 224, 232},
           {48, 64, 72, 80},
           {136, 152}},
    Layout{22907,
           22907,
           {1181392, 1181400, 1181404, 1181584, 1191448, 1191536},
           {208, 224, 232, 240},
           {52, 64, 72, 80},
           {152, 216}},
    Layout{23007,
           23007,
           {1181416, 1181424, 1181428, 1181608, 1191472, 1191568},
           {208, 224, 232, 240},
           {52, 64, 72, 80},
           {152, 216}},
    Layout{23102,
           23102,
           {1181408, 1181416, 1181420, 1181600, 1193656, 1193768},
           {208, 224, 232, 240},
           {52, 64, 72, 80},
           {168, 264}},
    Layout{23203,
           23203,
           {1181408, 1181416, 1181420, 1181612, 1193672, 1193792},
           {224, 240, 248, 256},
           {64, 80, 88, 96},
           {184, 280}},
};

/// Null: the structures of this version are not known.
inline const Layout* layout_of(int version) {
  const auto* const found = std::find_if(layouts.begin(), layouts.end(), [version](const Layout& one) {
    return one.first <= version && version <= one.last;
  });
  return found == layouts.end() ? nullptr : found;
}

}  // namespace nccl_caller

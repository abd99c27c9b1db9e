// Which operators and annotations took the time of the host and of the accelerators (metrics.md 4.3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "rankscope/analyzer/section.h"

namespace rankscope::analyzer {

/// Sums over the counted windows. Self times are exact parts: those of all rows add up; totals hold what is inside,
/// too.
struct OperatorTimes {
  std::int64_t calls = 0;            ///< that began in the windows
  std::int64_t self_ns = 0;          ///< of the host, without what is nested in it
  std::int64_t total_ns = 0;         ///< of the host; a call inside a call of the same name is not counted again
  std::int64_t device_ns = 0;        ///< exclusive time of what it launched itself
  std::int64_t device_total_ns = 0;  ///< the same with what is nested in it
  bool operator==(const OperatorTimes&) const = default;
};

/// What the backward operators of a forward operator took, by the links that the recording has.
struct BackwardTimes {
  std::int64_t calls = 0;
  std::int64_t total_ns = 0;
  std::int64_t device_total_ns = 0;
  bool operator==(const BackwardTimes&) const = default;
};

/// The calls with the same inputs; only self times, so that they add up to those of the operator.
struct ShapeRow {
  std::string shapes;  ///< "[[128,64],[64,10]]"; empty: not recorded
  std::int64_t calls = 0;
  std::int64_t self_ns = 0;
  std::int64_t device_ns = 0;
};

/// All calls of one name over the ranks, with what their backward operators took.
struct OperatorRow {
  std::string name;
  OperatorTimes times;
  BackwardTimes backward;
  std::vector<ShapeRow> shapes;  ///< the longest first; empty: no call has any
};

/// Rows of one kind of range; the time outside of all of them closes the sums.
struct OperatorTable {
  std::vector<OperatorRow> rows;           ///< the longest on the device first, then on the host
  std::int64_t outside_device_ns = 0;      ///< "(no op)": launched outside of all rows, or without a launch record
  std::int64_t outside_unlaunched_ns = 0;  ///< the part of it without a launch record
};

/// The time of hosts and devices by operator and, once more as a whole, by annotation.
struct OperatorsSection {
  OperatorTable operators;
  OperatorTable annotations;   ///< annotations, NVTX ranges, phases of a step, modules
  std::int64_t device_ns = 0;  ///< device_ns of all rows and outside_device_ns, in each table
  std::int64_t ranks = 0;
  std::int64_t accelerators = 0;  ///< ranks that have one; device times of the others are not told
  std::int64_t rank_steps = 0;    ///< steps of all ranks together; 0 where there are none
};

}  // namespace rankscope::analyzer

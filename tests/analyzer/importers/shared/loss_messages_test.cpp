#include "importers/shared/loss_messages.h"

#include <gtest/gtest.h>

#include <array>

namespace rankscope::analyzer {
namespace {

struct Message {
  bool loses;
  std::string_view text;
};

constexpr std::array messages{
    // libkineto
    Message{true, "WARNING:2024-12-05 09:59:04 470227:470227 CuptiActivityApi.cpp:290] Dropped 12 activity records"},
    Message{true, "WARNING: Exceeded max GPU buffer count (33 >= 33) - terminating tracing"},
    Message{false, "WARNING:2024-12-05 09:59:04 470227:470227 CuptiActivityApi.cpp:174] Requested GPU activity buffer"},
    Message{false, "Failed to recover relationship between all profiler and kineto events: 51361 vs. 0 reassociated."},
    // Nsight Systems, of events that reports are made of; none of the exports of tests/foreign has such a message
    Message{true, "Number of CUDA events that were dropped: \t512."},
    Message{true, "Number of NVTX events dropped: 3"},
    Message{true, "Some CUDA events might have been lost."},
    Message{false, "Number of CUDA events that were dropped: \t0."},
    // Of others, which are not read
    Message{false, "Some CPU IP samples were lost."},
    Message{false, "Number of OS runtime libraries events that were dropped: 12."},
    // Nsight Systems only suspects it
    Message{false, "Not all CUDA events might have been collected."},
    Message{false, "Not all NVTX events might have been collected."},
    Message{false, "Not all OS runtime libraries events might have been collected."},
    Message{false, "CUDA profiling might have not been started correctly."},
    // Nothing about losses; all but the first are in the exports of tests/foreign
    Message{false, "No CUDA events collected. Does the process use CUDA?"},
    Message{false, "No NVTX events collected. Does the process use NVTX?"},
    Message{false, "Number of CUDA events collected: \t4639."},
    Message{false, "Number of CUPTI events produced: \t5974, CUPTI buffers: 50."},
    Message{false,
            "Installed CUDA driver version (12.0) is not supported by this build of Nsight Systems. CUDA trace will be "
            "collected using libraries for driver version 11.7"},
    Message{false,
            "Scheduling information is absent. The thread activity is deduced based on OS runtime libraries traces. "
            "This is inaccurate and does not take into account asynchronous interrupts and exception faults."},
    Message{false,
            "CUDA device 0: Unified Memory cannot be traced on devices that don't support peer-to-peer transfers."},
};

TEST(LossMessages, OnlyStatedLossesOfEventsThatAreReadCount) {
  for (const Message& message : messages) EXPECT_EQ(reports_lost_events(message.text), message.loses) << message.text;
}

}  // namespace
}  // namespace rankscope::analyzer

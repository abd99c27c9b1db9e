// Activations and gradients on their way between the ranks of a pipeline.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "engine/comm/comm.h"
#include "rankscope/core/result.h"
#include "rankscope/trainer/plan/pipeline_plan.h"

namespace rankscope::trainer {

/// The groups of a pipeline: each direction has one of its own, so that neither waits behind the other.
struct PipelineGroups {
  Comm& forward;
  Comm& backward;
};

/// What one rank receives and sends. The receives of a channel are posted in the order in which its sender works,
/// whatever order they are needed in: a send and its receive meet always, so nothing can stand still that would not by
/// its data alone.
class PipelineLinks {
 public:
  /// `shapes` are those of the input of each stage, for one micro-batch; `kind` their type and device.
  PipelineLinks(const PipelinePlan& plan, std::int32_t rank, PipelineGroups groups,
                std::vector<std::vector<std::int64_t>> shapes, const at::TensorOptions& kind);

  /// Posts the receive of a parcel, and those that are sent before it.
  void expect(const Parcel& parcel);
  /// The parcel, once it is there; waits for it.
  [[nodiscard]] Result<at::Tensor> take(const Parcel& parcel);
  /// Sends it on; `delay` is injected between enqueued and started.
  void give(const Parcel& parcel, const at::Tensor& tensor, std::chrono::nanoseconds delay);
  /// Waits until all parcels of this step have been sent.
  [[nodiscard]] Result<void> finish_step();

 private:
  struct Incoming {
    Channel channel;
    std::size_t posted = 0;  // of channel.parcels, in this step
  };
  struct Arriving {
    at::Tensor tensor;
    Handle handle;
  };
  [[nodiscard]] Comm& group_of(const Parcel& parcel) const;
  void post_next(Incoming& incoming);

  const PipelinePlan& plan_;
  PipelineGroups groups_;
  std::vector<std::vector<std::int64_t>> shapes_;
  at::TensorOptions kind_;
  std::vector<Incoming> incoming_;
  std::map<Parcel, std::size_t> channel_of_;  // index into incoming_
  std::map<Parcel, Arriving> arriving_;
  std::vector<Handle> sends_;
};

}  // namespace rankscope::trainer

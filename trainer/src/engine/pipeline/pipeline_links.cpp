#include "engine/pipeline/pipeline_links.h"

namespace rankscope::trainer {
namespace {

const char* label_of(const Parcel& parcel) {
  return parcel.direction == PipelineDirection::forward ? "activation" : "gradient";
}

}  // namespace

PipelineLinks::PipelineLinks(const PipelinePlan& plan, std::int32_t rank, PipelineGroups groups,
                             std::vector<std::vector<std::int64_t>> shapes, const at::TensorOptions& kind)
    : plan_(plan), groups_(groups), shapes_(std::move(shapes)), kind_(kind) {
  for (Channel& channel : channels_to(plan, rank)) {
    for (const Parcel& parcel : channel.parcels) channel_of_[parcel] = incoming_.size();
    incoming_.push_back({std::move(channel)});
  }
}

Comm& PipelineLinks::group_of(const Parcel& parcel) const {
  return parcel.direction == PipelineDirection::forward ? groups_.forward : groups_.backward;
}

void PipelineLinks::post_next(Incoming& incoming) {
  const Parcel& parcel = incoming.channel.parcels[incoming.posted++];
  // A gradient has the shape of the output: that of the next stage's input.
  const bool is_forward = parcel.direction == PipelineDirection::forward;
  const auto boundary = static_cast<std::size_t>(parcel.into + (is_forward ? 0 : 1));
  Arriving& arriving = arriving_[parcel];
  arriving.tensor = at::empty(shapes_[boundary], kind_);
  arriving.handle = group_of(parcel).recv(arriving.tensor, incoming.channel.from, label_of(parcel));
}

void PipelineLinks::expect(const Parcel& parcel) {
  Incoming& incoming = incoming_[channel_of_.at(parcel)];
  while (incoming.posted < incoming.channel.parcels.size() && !arriving_.contains(parcel)) post_next(incoming);
}

Result<at::Tensor> PipelineLinks::take(const Parcel& parcel) {
  expect(parcel);
  auto arrived = arriving_.extract(parcel);
  RS_CHECK(!arrived.empty());
  RS_TRY_VOID(arrived.mapped().handle.wait());
  return arrived.mapped().tensor;
}

void PipelineLinks::give(const Parcel& parcel, const at::Tensor& tensor, std::chrono::nanoseconds delay) {
  const std::int32_t to = plan_.rank_of_stage[static_cast<std::size_t>(parcel.into)];
  sends_.push_back(group_of(parcel).enqueue({.op = CommOp::send,
                                             .label = label_of(parcel),
                                             .tensor = tensor.detach().contiguous(),
                                             .root = to,
                                             .delay = delay}));
}

Result<void> PipelineLinks::finish_step() {
  for (auto& send : sends_) RS_TRY_VOID(send.wait());
  sends_.clear();
  for (auto& incoming : incoming_) incoming.posted = 0;
  return {};
}

}  // namespace rankscope::trainer

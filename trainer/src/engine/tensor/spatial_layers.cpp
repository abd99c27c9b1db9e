#include "engine/tensor/spatial_layers.h"

#include <limits>
#include <utility>

#include "engine/layers/layers.h"
#include "engine/layers/precision.h"
#include "engine/tensor/tiles.h"
#include "rankscope/core/result.h"

namespace rankscope::trainer {

void SpatialLayer::spread(std::shared_ptr<const Tiles> tiles, std::string label) {
  tiles_ = std::move(tiles);
  label_ = std::move(label);
}

void SpatialLayer::look_at(const at::Tensor& input) {
  channels_seen_ = input.size(1);
  rows_seen_ = input.size(row_dimension);
  columns_seen_ = input.size(column_dimension);
}

SpatialLayer::Prepared SpatialLayer::prepare(const at::Tensor& input, double fill) {
  look_at(input);
  const Window own = window();
  if (tiles_ == nullptr) return {input, own.padding, own.padding};
  return {tiles_->with_halos(lowered(input), own, own, fill, label_),
          tiles_->count(row_dimension) > 1 ? 0 : own.padding, tiles_->count(column_dimension) > 1 ? 0 : own.padding};
}

Window Conv2dImpl::window() const {
  const auto& padding = std::get<torch::ExpandingArray<2>>(options.padding());  // not "same" or "valid"
  return {options.kernel_size()->front(), options.stride()->front(), padding->front(), options.dilation()->front()};
}

at::Tensor Conv2dImpl::forward(const at::Tensor& input) {
  const Window own = window();
  const Prepared ready = prepare(input, 0);
  if (has_own_backward()) {
    // Our models have square kernels without bias and dilation.
    RS_CHECK(!bias.defined() && own.dilation == 1);
    return own_convolution(ready.input, weight, own.stride, {ready.row_padding, ready.column_padding},
                           options.groups());
  }
  return at::conv2d(ready.input, weight, bias, {own.stride, own.stride}, {ready.row_padding, ready.column_padding},
                    {own.dilation, own.dilation}, options.groups());
}

Window MaxPool2dImpl::window() const {
  return {options.kernel_size()->front(), options.stride()->front(), options.padding()->front(),
          options.dilation()->front()};
}

at::Tensor MaxPool2dImpl::forward(const at::Tensor& input) {
  const Window own = window();
  const Prepared ready = prepare(input, -std::numeric_limits<double>::infinity());
  return at::max_pool2d(ready.input, {own.kernel, own.kernel}, {own.stride, own.stride},
                        {ready.row_padding, ready.column_padding}, {own.dilation, own.dilation});
}

at::Tensor ImageMeanImpl::forward(const at::Tensor& input) {
  look_at(input);
  if (tiles() == nullptr) return input.mean({row_dimension, column_dimension});
  return tiles()->mean_of_image(in_full(input), use_, label()).to(input.scalar_type());
}

}  // namespace rankscope::trainer

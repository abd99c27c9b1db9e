// Reads the attribute structs of NVTX events.
#pragma once

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <array>
#include <string_view>

#include "inject/nvtx/attribute_pen.h"
#include "inject/nvtx/objects.h"

namespace rankscope::inject {

/// Room for a converted text of one call.
using Scratch = std::array<char, 1024>;

/// The message of an event; empty without one.
std::string_view message_of(const nvtxEventAttributes_t& event, Scratch& scratch);

/// True if nothing but a message is told: the common case.
inline bool is_plain(const nvtxEventAttributes_t& event) {
  return event.category == 0 && event.colorType == NVTX_COLOR_UNKNOWN && event.payloadType == NVTX_PAYLOAD_UNKNOWN;
}

/// Category, colour and payload as attributes.
void write_attributes(const AttributePen& pen, const Domain& domain, const nvtxEventAttributes_t& event);

}  // namespace rankscope::inject

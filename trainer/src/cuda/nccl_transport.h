// Groups over NCCL.
#pragma once

#include <memory>

#include "engine/comm/accelerator.h"

namespace rankscope::trainer {

[[nodiscard]] std::unique_ptr<Transport> connect_nccl(const GroupSeat& seat);

}  // namespace rankscope::trainer

// GPUs, as the engine sees them. What needs CUDA is in a library of its own, librankscope_train_cuda.so, which is
// loaded where a driver and a GPU are: a process that trains on the CPU never maps libtorch_cuda.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "engine/comm/comm.h"

namespace rankscope::trainer {

/// A rank's part of a group over GPUs.
struct GroupSeat {
  c10::intrusive_ptr<c10d::Store> store;  ///< of this group alone
  int position = 0;
  int size = 1;
  std::chrono::milliseconds timeout{0};  ///< of each operation
  int device = 0;                        ///< through which tensors of the host go
  bool is_pipeline = false;              ///< neighbours in the ring of members send to each other
};

/// Functions may throw what libtorch throws. Devices are numbered as the driver does.
class Accelerator {
 public:
  struct Device {
    std::string name;
    std::string uuid;  ///< "GPU-..."
  };
  struct Memory {
    std::int64_t allocated = 0;       ///< bytes of tensors
    std::int64_t peak_allocated = 0;  ///< since the process began
    std::int64_t reserved = 0;        ///< bytes that the caching allocator has taken
  };

  virtual ~Accelerator() = default;
  [[nodiscard]] virtual int devices() const = 0;
  [[nodiscard]] virtual Device describe(int device) const = 0;
  /// What the calling thread begins from now on runs on this device.
  virtual void use(int device) = 0;
  /// Returns when the device of the calling thread has done what was begun before.
  virtual void finish() = 0;
  /// Keeps the device of the calling thread busy for so long, and returns then.
  virtual void keep_busy(std::chrono::nanoseconds time) = 0;
  [[nodiscard]] virtual Memory memory(int device) const = 0;
  /// All members of a group call it. Bytes move over NCCL.
  [[nodiscard]] virtual std::unique_ptr<Transport> connect(const GroupSeat& seat) = 0;
};

/// Of this process; null while it trains on the CPU.
[[nodiscard]] Accelerator* accelerator();

/// Loads libtorch_cuda and the library beside this program; before anything of libtorch asks whether there is CUDA,
/// since it remembers the answer.
[[nodiscard]] Result<void> load_accelerator();
/// From now on the process trains on the CPU: its GPU could not be started.
void forget_accelerator();

}  // namespace rankscope::trainer

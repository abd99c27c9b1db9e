// Calls a profiler plugin as NCCL does, of each version of the interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace nccl_actor {

struct Table;

[[noreturn]] void fail(const char* what);
void require(bool holds, const char* what);
[[nodiscard]] int own_rank();
/// On the clock of a GPU.
[[nodiscard]] std::uint64_t gpu_now();

/// NCCL with a plugin of one version. What it starts is told by a handle, which is null where the plugin gives none.
class Nccl {
 public:
  explicit Nccl(int version);

  void* join(std::uint64_t hash, int ranks, const char* name = nullptr);
  void stop(void* handle);
  void state(void* handle, int number, void* arguments);
  void finalize(void* context);

  void* all_reduce(void* context, std::uint64_t sequence, std::size_t count, void* parent = nullptr);
  /// As NCCL counts it: bytes.
  void* all_gather(void* context, std::uint64_t sequence, std::size_t bytes, void* parent);
  void* send(void* context, int peer);
  void* api(void* context, const char* datatype);
  void* proxy_op(void* context, void* parent, bool is_send, int pid);
  void* proxy_step(void* context, void* parent);
  void* kernel_channel(void* context, void* parent, std::uint64_t timer);
  void* unknown(void* context);
  /// A channel of each of them runs for 1 us, which a thread of NCCL's tells.
  void run_channels(void* context, std::span<void* const> operations);
  [[nodiscard]] int mask() const { return mask_; }

 private:
  void* start(void* context, void* descriptor);
  template <class Descriptor, class Owner>
  void* texts(void* context, std::uint64_t sequence, std::size_t count, void* parent, std::uint8_t Owner::*channels);
  template <class Type>
  void* new_send(void* context, int peer);
  template <class Type>
  void* proxy(void* context, void* parent, bool is_send, int pid);

  int version_;
  Table* table_ = nullptr;
  int mask_ = -1;
  std::uint64_t hash_ = 0;
};

}  // namespace nccl_actor

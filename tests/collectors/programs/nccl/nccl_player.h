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

/// Types of calls of NCCL's API: a collective, or a send or receive.
inline constexpr std::uint64_t coll_call = 1 << 9, pair_call = 1 << 10;

/// Whether a CUDA graph captures a call.
enum class Captured : bool { no, yes };

/// What NCCL launches at a time. A CUDA graph launches one again and again; all others are made anew, and zeroed.
struct Plan {
  void* group = nullptr;  ///< handle of its group event
};

struct Operation {
  const char* function = "AllReduce";  ///< or "Broadcast"
  std::uint64_t sequence = 0;          ///< NCCL's number of it among those of its function
  std::size_t count = 0;
};

/// NCCL with a plugin of one version. What it starts is told by a handle, which is null where the plugin gives none,
/// and where NCCL does not tell of it: it asks the activation mask, and up to version 4 tells of nothing in a plan
/// whose group event has no handle (2.23.4 to 2.25.1 src/misc/profiler.cc, 2.26.2 to 2.30.7 src/plugin/profiler.cc).
class Nccl {
 public:
  explicit Nccl(int version);

  void* join(std::uint64_t hash, int ranks, const char* name = nullptr);
  void stop(void* handle);
  void state(void* handle, int number, void* arguments);
  void finalize(void* context);

  void* all_reduce(void* context, std::uint64_t sequence, std::size_t count);
  /// `api`: the call that made the plan; versions up to 4 do not tell it.
  void* collective(void* context, Plan& plan, const Operation& operation, void* api);
  /// As NCCL counts it: bytes.
  void* all_gather(void* context, std::uint64_t sequence, std::size_t bytes, void* api);
  void* send(void* context, int peer);
  /// A call of the API, and the group that NCCL makes around it. Null up to version 4.
  void* call(void* context, std::uint64_t type, const char* datatype, Captured captured = Captured::no);
  void* proxy_op(void* context, void* parent, bool is_send, int pid);
  void* proxy_step(void* context, void* parent);
  void* kernel_channel(void* context, void* parent, std::uint64_t timer);
  /// From version 7 on. NCCL reports it, also unasked, where its monitor (RAS) has changed the mask of the job.
  void* kernel_phase(void* context, void* parent);
  void* unknown(void* context);
  /// A channel of each of them runs for 1 us, which a thread of NCCL's tells.
  void run_channels(void* context, std::span<void* const> operations);
  [[nodiscard]] int mask() const { return mask_; }

 private:
  void start(void* context, void** handle, void* descriptor);
  void* start(void* context, void* descriptor);
  void* in_group(void* context, const Plan& plan, const Operation& operation, void* api);
  [[nodiscard]] bool asked_for(std::uint64_t types) const { return (static_cast<std::uint64_t>(mask_) & types) != 0; }
  /// True if NCCL goes on to tell of what is in the plan, and the events of these types are asked for.
  bool open_group(void* context, Plan& plan, std::uint64_t types);
  void close_group(const Plan& plan);
  template <class Descriptor, class Owner>
  void* texts(void* context, const Operation& operation, void* parent, std::uint8_t Owner::*channels);
  void* old_send(void* context, int peer, void* parent);
  template <class Type>
  void* new_send(void* context, int peer, void* parent);
  template <class Type>
  void* proxy(void* context, void* parent, bool is_send, int pid);

  int version_;
  Table* table_ = nullptr;
  int mask_ = -1;
  std::uint64_t hash_ = 0;
};

}  // namespace nccl_actor

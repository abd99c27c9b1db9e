#include "nccl_player.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <thread>

#include "nccl_descriptors.h"

namespace nccl_actor {
namespace {

/// Padding holds garbage, as it does in NCCL.
template <class Descriptor>
Descriptor blank(uint64_t type, void* parent) {
  Descriptor event;
  std::memset(static_cast<void*>(&event), 0xA5, sizeof event);
  event.head.type = static_cast<decltype(event.head.type)>(type);
  event.head.parent = parent;
  event.head.rank = own_rank();
  if constexpr (requires { event.name; }) event.name = nullptr;
  if constexpr (requires { event.root; }) event.root = 0;
  return event;
}

}  // namespace

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "nccl_actor: %s\n", what);
  std::exit(3);
}

void require(bool holds, const char* what) {
  if (!holds) fail(what);
}

int own_rank() {
  const char* const text = std::getenv("RANK");
  return text == nullptr ? 0 : std::atoi(text);
}

uint64_t gpu_now() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

Nccl::Nccl(int version) : version_(version) {
  const char* const path = std::getenv("NCCL_PROFILER_PLUGIN");
  require(path != nullptr, "no NCCL_PROFILER_PLUGIN");
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  require(library != nullptr, "the plugin does not load");
  table_ = static_cast<Table*>(dlsym(library, ("ncclProfiler_v" + std::to_string(version)).c_str()));
  require(table_ != nullptr, "the plugin lacks a version");
}

void* Nccl::join(uint64_t hash, int ranks, const char* name) {
  void* context = nullptr;
  int status = 0;
  if (version_ < 4)
    status = reinterpret_cast<int (*)(void**, int*)>(table_->init)(&context, &mask_);
  else if (version_ == 4)
    status = reinterpret_cast<int (*)(void**, int*, const char*, uint64_t, int, int, int, void*)>(table_->init)(
        &context, &mask_, name, hash, 1, ranks, own_rank(), nullptr);
  else
    status = reinterpret_cast<int (*)(void**, uint64_t, int*, const char*, int, int, int, void*)>(table_->init)(
        &context, hash, &mask_, name, 1, ranks, own_rank(), nullptr);
  require(status == 0, "init failed");
  hash_ = hash;
  return context;
}

void* Nccl::start(void* context, void* descriptor) {
  void* handle = nullptr;
  require(table_->start(context, &handle, descriptor) == 0, "startEvent failed");
  return handle;
}

void Nccl::stop(void* handle) { require(table_->stop(handle) == 0, "stopEvent failed"); }

void Nccl::state(void* handle, int number, void* arguments) {
  require(table_->state(handle, number, arguments) == 0, "recordEventState failed");
}

void Nccl::finalize(void* context) { require(table_->finalize(context) == 0, "finalize failed"); }

template <class Descriptor, class Owner>
void* Nccl::texts(void* context, uint64_t sequence, size_t count, void* parent, uint8_t Owner::*channels) {
  Descriptor event = blank<Descriptor>(2, parent);
  event.sequence = sequence, event.function = "AllReduce", event.count = count, event.datatype = "ncclFloat32";
  event.algorithm = "RING", event.protocol = "SIMPLE";
  event.*channels = 3;
  if constexpr (requires { event.hash; }) event.hash = hash_;
  return start(context, &event);
}

void* Nccl::all_reduce(void* context, uint64_t sequence, size_t count, void* parent) {
  if (version_ == 1) {
    CollV1 event = blank<CollV1>(2, parent);
    event.hash = hash_, event.sequence = sequence, event.function = 4, event.count = count, event.datatype = 7;
    event.max_channels = 3, event.algorithm = 1, event.protocol = 2;
    return start(context, &event);
  }
  if (version_ == 2) return texts<CollV2>(context, sequence, count, parent, &CollV2::max_channels);
  if (version_ == 3) return texts<CollV3>(context, sequence, count, parent, &CollV3::max_channels);
  if (version_ == 4) return texts<CollV4<uint8_t>>(context, sequence, count, parent, &CollV4<uint8_t>::channels);
  return texts<CollV5>(context, sequence, count, parent, &CollV5::channels);
}

void* Nccl::all_gather(void* context, uint64_t sequence, size_t bytes, void* parent) {
  CollV5 event = blank<CollV5>(2, parent);
  event.sequence = sequence, event.function = "AllGather", event.count = bytes, event.datatype = "ncclInt8";
  event.algorithm = "RING", event.protocol = "LL", event.channels = 2;
  return start(context, &event);
}

template <class Type>
void* Nccl::new_send(void* context, int peer) {
  auto event = blank<P2pNew<Type>>(4, nullptr);
  event.function = "Send", event.datatype = "ncclBfloat16", event.count = 100, event.peer = peer;
  event.channels = 1;
  return start(context, &event);
}

void* Nccl::send(void* context, int peer) {
  if (version_ < 4) {
    P2pOld event = blank<P2pOld>(4, nullptr);
    event.hash = hash_, event.function = "Send", event.datatype = "ncclBfloat16", event.count = 100;
    event.peer = peer;
    return start(context, &event);
  }
  if (version_ == 4) return new_send<uint8_t>(context, peer);
  return new_send<uint64_t>(context, peer);
}

void* Nccl::api(void* context, const char* datatype) {
  CollApi event = blank<CollApi>(1 << 9, nullptr);
  event.function = "AllGather", event.datatype = datatype, event.count = 10;
  return start(context, &event);
}

template <class Type>
void* Nccl::proxy(void* context, void* parent, bool is_send, int pid) {
  auto event = blank<ProxyOp<Type>>(8, parent);
  event.pid = pid, event.channel = 5, event.peer = 1, event.steps = 4, event.chunk_bytes = 512;
  event.is_send = is_send ? 1 : 0;
  return start(context, &event);
}

void* Nccl::proxy_op(void* context, void* parent, bool is_send, int pid) {
  return version_ < 5 ? proxy<uint8_t>(context, parent, is_send, pid) : proxy<uint64_t>(context, parent, is_send, pid);
}

void* Nccl::proxy_step(void* context, void* parent) {
  if (version_ < 5) {
    auto event = blank<ProxyStep<uint8_t>>(16, parent);
    return start(context, &event);
  }
  auto event = blank<ProxyStep<uint64_t>>(16, parent);
  return start(context, &event);
}

void* Nccl::kernel_channel(void* context, void* parent, uint64_t timer) {
  if (version_ < 5) {
    auto event = blank<KernelChannel<uint8_t>>(64, parent);
    event.timer = timer;
    return start(context, &event);
  }
  auto event = blank<KernelChannel<uint64_t>>(64, parent);
  event.timer = timer;
  return start(context, &event);
}

void* Nccl::unknown(void* context) {
  auto event = blank<CollV5>(uint64_t{1} << 40, nullptr);
  return start(context, &event);
}

void Nccl::run_channels(void* context, std::span<void* const> operations) {
  std::thread{[&] {
    for (void* const operation : operations) {
      const uint64_t begin = gpu_now();
      void* const channel = kernel_channel(context, operation, begin);
      uint64_t end = begin + 1'000;
      state(channel, 22, &end);
      stop(channel);
    }
  }}.join();
}

}  // namespace nccl_actor

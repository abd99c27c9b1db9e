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

// Event types by their bits in the activation mask.
constexpr uint64_t group = 1 << 0, coll = 1 << 1, p2p = 1 << 2, proxy_operation = 1 << 3, step = 1 << 4,
                   channel = 1 << 6, net_plugin = 1 << 7, group_call = 1 << 8, kernel_launch = 1 << 11, phase = 1 << 15;
constexpr uint64_t below = proxy_operation | step | channel | net_plugin;

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
  return text == nullptr ? 0 : std::stoi(text);
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

void Nccl::start(void* context, void** handle, void* descriptor) {
  require(table_->start(context, handle, descriptor) == 0, "startEvent failed");
}

void* Nccl::start(void* context, void* descriptor) {
  void* handle = nullptr;
  start(context, &handle, descriptor);
  return handle;
}

bool Nccl::open_group(void* context, Plan& plan, uint64_t types) {
  Head<uint64_t> event{group, nullptr, own_rank()};
  const uint64_t ancestors = version_ < 3 ? coll | p2p | proxy_operation | step : group | coll | p2p | below;
  if (asked_for(ancestors)) start(context, &plan.group, &event);
  if (version_ < 5 && plan.group == nullptr) return false;
  return asked_for(version_ < 3 ? coll | proxy_operation | step : types | below);
}

void Nccl::close_group(const Plan& plan) {
  if (plan.group != nullptr) stop(plan.group);
}

void Nccl::stop(void* handle) { require(table_->stop(handle) == 0, "stopEvent failed"); }

void Nccl::state(void* handle, int number, void* arguments) {
  require(table_->state(handle, number, arguments) == 0, "recordEventState failed");
}

void Nccl::finalize(void* context) { require(table_->finalize(context) == 0, "finalize failed"); }

template <class Descriptor, class Owner>
void* Nccl::texts(void* context, const Operation& operation, void* parent, uint8_t Owner::*channels) {
  Descriptor event = blank<Descriptor>(coll, parent);
  event.sequence = operation.sequence, event.function = operation.function, event.count = operation.count;
  event.datatype = "ncclFloat32";
  event.algorithm = "RING", event.protocol = "SIMPLE";
  event.*channels = 3;
  if constexpr (requires { event.hash; }) event.hash = hash_;
  return start(context, &event);
}

void* Nccl::all_reduce(void* context, uint64_t sequence, size_t count) {
  Plan plan;
  return collective(context, plan, {.sequence = sequence, .count = count}, call(context, coll_call, "ncclFloat32"));
}

void* Nccl::collective(void* context, Plan& plan, const Operation& operation, void* api) {
  if (!open_group(context, plan, coll)) return nullptr;
  void* const handle = in_group(context, plan, operation, api);
  close_group(plan);
  return handle;
}

void* Nccl::in_group(void* context, const Plan& plan, const Operation& operation, void* api) {
  if (version_ == 1) {
    CollV1 event = blank<CollV1>(coll, plan.group);
    event.hash = hash_, event.sequence = operation.sequence, event.count = operation.count, event.datatype = 7;
    event.function = std::strcmp(operation.function, "AllReduce") == 0 ? 4 : 0;
    event.max_channels = 3, event.algorithm = 1, event.protocol = 2;
    return start(context, &event);
  }
  if (version_ == 2) return texts<CollV2>(context, operation, plan.group, &CollV2::max_channels);
  if (version_ == 3) return texts<CollV3>(context, operation, plan.group, &CollV3::max_channels);
  if (version_ == 4) return texts<CollV4<uint8_t>>(context, operation, plan.group, &CollV4<uint8_t>::channels);
  if (version_ < 7) return texts<CollV5>(context, operation, api, &CollV5::channels);
  return texts<CollV7>(context, operation, api, &CollV7::channels);
}

void* Nccl::all_gather(void* context, uint64_t sequence, size_t bytes, void* api) {
  Plan plan;
  if (!open_group(context, plan, coll)) return nullptr;
  CollV5 event = blank<CollV5>(coll, api);
  event.sequence = sequence, event.function = "AllGather", event.count = bytes, event.datatype = "ncclInt8";
  event.algorithm = "RING", event.protocol = "LL", event.channels = 2;
  void* const operation = start(context, &event);
  close_group(plan);
  return operation;
}

template <class Type>
void* Nccl::new_send(void* context, int peer, void* parent) {
  auto event = blank<P2pNew<Type>>(p2p, parent);
  event.function = "Send", event.datatype = "ncclBfloat16", event.count = 100, event.peer = peer;
  event.channels = 1;
  return start(context, &event);
}

void* Nccl::send(void* context, int peer) {
  void* const api = call(context, pair_call, "ncclBfloat16");
  Plan plan;
  if (!open_group(context, plan, p2p)) return nullptr;
  void* const operation = version_ < 4    ? old_send(context, peer, plan.group)
                          : version_ == 4 ? new_send<uint8_t>(context, peer, plan.group)
                                          : new_send<uint64_t>(context, peer, api);
  close_group(plan);
  return operation;
}

void* Nccl::old_send(void* context, int peer, void* parent) {
  P2pOld event = blank<P2pOld>(p2p, parent);
  event.hash = hash_, event.function = "Send", event.datatype = "ncclBfloat16", event.count = 100;
  event.peer = peer;
  return start(context, &event);
}

void* Nccl::call(void* context, uint64_t type, const char* datatype, Captured captured) {
  const uint64_t of_kind = type == coll_call ? coll_call | coll : pair_call | p2p;
  if (version_ < 5) return nullptr;
  CollApi around = blank<CollApi>(group_call, nullptr);
  void* outer = nullptr;
  if (asked_for(group | coll | p2p | below | group_call | coll_call | pair_call | kernel_launch))
    start(context, &outer, &around);
  if (!asked_for(of_kind | below)) return nullptr;
  CollApi event = blank<CollApi>(type, outer);
  event.function = "AllGather", event.datatype = datatype, event.count = 10;
  event.captured = captured == Captured::yes;
  if (type == pair_call) std::memcpy(reinterpret_cast<char*>(&event) + 56, &event.captured, 1);  // it has no root
  void* const api = start(context, &event);
  if (api != nullptr) stop(api);
  if (outer != nullptr) stop(outer);
  return api;
}

template <class Type>
void* Nccl::proxy(void* context, void* parent, bool is_send, int pid) {
  if (!asked_for(proxy_operation | step | (version_ < 3 ? 0 : net_plugin))) return nullptr;
  auto event = blank<ProxyOp<Type>>(proxy_operation, parent);
  event.pid = pid, event.channel = 5, event.peer = 1, event.steps = 4, event.chunk_bytes = 512;
  event.is_send = is_send ? 1 : 0;
  return start(context, &event);
}

void* Nccl::proxy_op(void* context, void* parent, bool is_send, int pid) {
  return version_ < 5 ? proxy<uint8_t>(context, parent, is_send, pid) : proxy<uint64_t>(context, parent, is_send, pid);
}

void* Nccl::proxy_step(void* context, void* parent) {
  if (parent == nullptr || !asked_for(step | (version_ < 3 ? 0 : net_plugin))) return nullptr;
  if (version_ < 5) {
    auto event = blank<ProxyStep<uint8_t>>(step, parent);
    return start(context, &event);
  }
  auto event = blank<ProxyStep<uint64_t>>(step, parent);
  return start(context, &event);
}

void* Nccl::kernel_channel(void* context, void* parent, uint64_t timer) {
  if (!asked_for(channel)) return nullptr;
  if (version_ < 5) {
    auto event = blank<KernelChannel<uint8_t>>(channel, parent);
    event.timer = timer;
    return start(context, &event);
  }
  auto event = blank<KernelChannel<uint64_t>>(channel, parent);
  event.timer = timer;
  return start(context, &event);
}

void* Nccl::kernel_phase(void* context, void* parent) {
  auto event = blank<KernelPhase>(phase, parent);
  event.channel = 0, event.phase = 1, event.name = "compute", event.timer = gpu_now();
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
      void* const ran = kernel_channel(context, operation, begin);
      if (ran == nullptr) continue;
      uint64_t end = begin + 1'000;
      state(ran, 22, &end);
      stop(ran);
    }
  }}.join();
}

}  // namespace nccl_actor

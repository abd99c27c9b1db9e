// The descriptors of NCCL's profiler plugins, declared once more as C structs, so that the offsets of our plugin are
// checked against what a compiler makes of them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nccl_actor {

using std::size_t;
using std::uint32_t;
using std::uint64_t;
using std::uint8_t;

template <class Type>
struct Head {
  Type type;
  void* parent;
  int rank;
};

struct CollV1 {
  Head<uint8_t> head;
  const char* name;
  uint64_t hash, sequence;
  uint8_t function;
  const void* send;
  void* receive;
  size_t count;
  int root;
  uint8_t datatype;
  uint32_t op;
  size_t traffic;
  uint8_t max_channels, warps, algorithm, protocol;
  int is_collnet, is_nvls;
};
struct CollV2 {
  Head<uint8_t> head;
  const char* name;
  uint64_t hash, sequence;
  const char* function;
  const void* send;
  void* receive;
  size_t count;
  int root;
  const char* datatype;
  size_t traffic;
  uint8_t max_channels, warps;
  const char *algorithm, *protocol;
};
struct CollV3 {
  Head<uint8_t> head;
  const char* name;
  uint64_t hash, sequence;
  const char* function;
  const void* send;
  void* receive;
  size_t count;
  int root;
  const char* datatype;
  uint8_t max_channels, warps;
  const char *algorithm, *protocol;
};
template <class Type>
struct CollV4 {
  Head<Type> head;
  uint64_t sequence;
  const char* function;
  const void* send;
  void* receive;
  size_t count;
  int root;
  const char* datatype;
  uint8_t channels, warps;
  const char *algorithm, *protocol;
};
struct CollV5 : CollV4<uint64_t> {
  void* parent_group;
};
struct CollV7 : CollV5 {  // of NCCL; that of RCCL ends before the tag
  const char* variant;
  bool is_symmetric;
  uint64_t user_tag;
};
static_assert(sizeof(CollV7) == 136);
static_assert(sizeof(CollV1) == 120 && sizeof(CollV2) == 128 && sizeof(CollV3) == 120);
static_assert(sizeof(CollV4<uint8_t>) == 104 && sizeof(CollV5) == 112);

struct P2pOld {
  Head<uint8_t> head;
  const char* name;
  uint64_t hash;
  const char* function;
  void* buffer;
  const char* datatype;
  size_t count;
  int peer;
};
template <class Type>
struct P2pNew {
  Head<Type> head;
  const char* function;
  void* buffer;
  const char* datatype;
  size_t count;
  int peer;
  uint8_t channels;
  void* parent_group;
};
template <class Type>
struct ProxyOp {
  Head<Type> head;
  int pid;
  uint8_t channel;
  int peer, steps, chunk_bytes, is_send;
};
template <class Type>
struct ProxyStep {
  Head<Type> head;
  int step;
};
template <class Type>
struct KernelChannel {
  Head<Type> head;
  uint8_t channel;
  uint64_t timer;
};
struct KernelPhase {
  Head<uint64_t> head;
  uint8_t channel, phase;
  const char* name;
  uint64_t timer;
};
struct CollApi {
  Head<uint64_t> head;
  const char* function;
  size_t count;
  const char* datatype;
  int root;
  void* stream;
  bool captured;
};

struct Table {
  const char* name;
  void* init;
  int (*start)(void*, void**, void*);
  int (*stop)(void*);
  int (*state)(void*, int, void*);
  int (*finalize)(void*);
};

}  // namespace nccl_actor

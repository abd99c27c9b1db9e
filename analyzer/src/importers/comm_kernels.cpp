#include "importers/comm_kernels.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>

namespace rankscope::analyzer {
namespace {

struct Named {
  std::string_view plain;  ///< small letters, no signs
  std::string_view op;
};

// Longer words first where one begins another.
constexpr std::array operations{
    Named{"allreduce", "allreduce"}, Named{"reducescatter", "reduce_scatter"},
    Named{"allgather", "allgather"}, Named{"alltoall", "alltoall"},
    Named{"broadcast", "broadcast"}, Named{"barrier", "barrier"},
    Named{"sendrecv", "sendrecv"},   Named{"reduce", "reduce"},
    Named{"gather", "gather"},       Named{"scatter", "scatter"},
    Named{"send", "send"},           Named{"recv", "recv"},
};

struct TypeName {
  std::string_view name;  ///< small letters and digits
  ElementType type;
};
constexpr ElementType f32{"f32", 4, "Float"};
constexpr ElementType f64{"f64", 8, "Double"};
constexpr ElementType f16{"f16", 2, "Half"};
constexpr ElementType bf16{"bf16", 2, "BFloat16"};
constexpr ElementType i32{"i32", 4, "Int"};
constexpr ElementType i64{"i64", 8, "Long"};
constexpr ElementType i16{"i16", 2, "Short"};
constexpr ElementType u8{"u8", 1, "Byte"};
constexpr ElementType i8{"i8", 1, "Char"};
constexpr ElementType boolean{"bool", 1, "Bool"};
constexpr ElementType f8{"f8", 1, "Float8"};
constexpr std::array types{
    TypeName{"float", f32},    TypeName{"double", f64},      TypeName{"half", f16},    TypeName{"bfloat16", bf16},
    TypeName{"int", i32},      TypeName{"long", i64},        TypeName{"longint", i64}, TypeName{"short", i16},
    TypeName{"byte", u8},      TypeName{"unsignedchar", u8}, TypeName{"char", i8},     TypeName{"signedchar", i8},
    TypeName{"bool", boolean}, TypeName{"f32", f32},         TypeName{"f64", f64},     TypeName{"f16", f16},
    TypeName{"bf16", bf16},    TypeName{"i32", i32},         TypeName{"i64", i64},     TypeName{"i16", i16},
    TypeName{"u8", u8},        TypeName{"i8", i8},           TypeName{"f8", f8},
};

/// Small letters and digits only: "c10::_AllGather_Base" -> "c10allgatherbase".
std::string plain(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z')
      text += static_cast<char>(c - 'A' + 'a');
    else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
      text += c;
  }
  return text;
}

/// The word that names the operation: of "ncclDevKernel_AllReduce_Sum_f32_RING(...)" that is "AllReduce_...".
std::string_view behind_prefix(std::string_view name) {
  for (const std::string_view prefix : {"nccl:", "gloo:", "c10d::", "ncclDevKernel_", "ncclKernel_",
                                        "ncclSymkDevKernel_", "rcclGenericKernel", "mscclKernel_"})
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  return name;
}

bool any_of(std::string_view name, std::span<const std::string_view> words) {
  return std::ranges::any_of(words,
                             [name](std::string_view word) { return name.find(word) != std::string_view::npos; });
}

}  // namespace

bool is_comm_kernel(std::string_view name) {
  static constexpr std::array<std::string_view, 5> starts{"nccl", "rccl", "mscclKernel", "userbuffers_", "oneccl_"};
  static constexpr std::array<std::string_view, 7> words{
      "ncclKernel",          "nvshmem",       "deep_ep::", "cross_device_reduce_", "one_shot_all_reduce",
      "two_shot_all_reduce", "shot_allreduce"};
  return std::ranges::any_of(starts, [name](std::string_view start) { return name.starts_with(start); }) ||
         any_of(name, words);
}

std::string_view comm_op_from(std::string_view name) {
  const std::string word = plain(behind_prefix(name).substr(0, 64));
  for (const Named& operation : operations)
    if (word.starts_with(operation.plain)) return operation.op;
  return {};
}

ElementType element_type_from(std::string_view name) {
  std::string word = plain(name);
  if (word.starts_with("c10")) word.erase(0, 3);
  if (word.starts_with("float8")) return f8;
  for (const TypeName& type : types)
    if (word == type.name) return type.type;
  return {};
}

}  // namespace rankscope::analyzer

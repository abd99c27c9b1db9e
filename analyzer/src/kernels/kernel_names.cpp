#include "kernels/kernel_names.h"

#include <algorithm>
#include <array>

#include "rankscope/core/model/run.h"
#include "words/keys.h"

namespace rankscope::analyzer {
namespace {

struct Pattern {
  std::string_view part;
  TensorCores use;
};

// First hit wins. Shapes of the matrix instructions (s16816 = 16x8x16 on half precision) stand in the names of cuBLAS,
// cuDNN and CUTLASS; gmma, wgmma and tcgen05 are those of Hopper and Blackwell; MI..x.. are AMD's in Tensile.
constexpr std::array patterns{
    Pattern{"simt", TensorCores::no},
    Pattern{"tensorop", TensorCores::yes},
    Pattern{"tensor16x8", TensorCores::yes},
    Pattern{"tensor8x8", TensorCores::yes},
    Pattern{"s16816", TensorCores::yes},
    Pattern{"h16816", TensorCores::yes},
    Pattern{"s1688", TensorCores::yes},
    Pattern{"h1688", TensorCores::yes},
    Pattern{"s884", TensorCores::yes},
    Pattern{"h884", TensorCores::yes},
    Pattern{"d884", TensorCores::yes},
    Pattern{"i16832", TensorCores::yes},
    Pattern{"i8816", TensorCores::yes},
    Pattern{"hmma", TensorCores::yes},
    Pattern{"imma", TensorCores::yes},
    Pattern{"gmma", TensorCores::yes},
    Pattern{"tcgen05", TensorCores::yes},
    Pattern{"nvjet", TensorCores::yes},
    Pattern{"xmma_gemm_bf16", TensorCores::yes},
    Pattern{"xmma_gemm_f16", TensorCores::yes},
    Pattern{"tf32f32", TensorCores::yes},
    Pattern{"flash_fwd", TensorCores::yes},
    Pattern{"flash_bwd", TensorCores::yes},
    Pattern{"fmha_cutlass", TensorCores::yes},
    Pattern{"_MI16x16", TensorCores::yes},
    Pattern{"_MI32x32", TensorCores::yes},
    Pattern{"sgemm", TensorCores::no},
    Pattern{"scudnn", TensorCores::no},
    Pattern{"elementwise_kernel", TensorCores::no},
    Pattern{"reduce_kernel", TensorCores::no},
    Pattern{"multi_tensor_apply", TensorCores::no},
};

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

void remove_all(std::string& text, std::string_view part) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at)) text.erase(at, part.size());
}

/// "void a::b<c>(d)": base b, arguments c.
struct Signature {
  std::string_view base;
  std::string_view arguments;
};

Signature signature_of(std::string_view text) {
  Signature parts;
  int depth = 0;                  // of templates
  int brackets = 0;               // inside of templates
  std::size_t begin = 0;          // of the word outside of them
  std::size_t end = text.size();  // of that word; its template follows
  std::size_t arguments = 0;      // begin of that template
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (depth > 0 && (c == '(' || c == ')')) brackets += c == '(' ? 1 : -1;
    if (brackets > 0) continue;  // "<" and ">" may compare there
    if (c == '<' && depth++ == 0) {
      end = at;
      arguments = at + 1;
    }
    if (c == '>' && --depth == 0) parts.arguments = text.substr(arguments, at - arguments);
    if (depth > 0 || c == '>') continue;
    if (c == '(') {
      end = std::min(end, at);
      break;
    }
    if (c != ' ' && c != ':') continue;
    begin = at + 1;  // a return type or namespace ended here
    end = text.size();
    parts.arguments = {};
  }
  if (begin < end) parts.base = text.substr(begin, end - begin);
  return parts;
}

/// Names of kernels that are all in their template.
bool says_nothing(std::string_view base) {
  static constexpr std::array names{std::string_view{"Kernel"}, std::string_view{"Kernel2"}, std::string_view{"kernel"},
                                    std::string_view{"device_kernel"}, std::string_view{"globalKernel"}};
  return std::ranges::find(names, base) != names.end();
}

/// True for a word of a template that tells what the kernel does, and is not one more wrapper.
bool is_distinct(std::string_view word) {
  static constexpr std::array wrappers{std::string_view{"BinaryFunctor"},
                                       std::string_view{"UnaryFunctor"},
                                       std::string_view{"AUnaryFunctor"},
                                       std::string_view{"BUnaryFunctor"},
                                       std::string_view{"gpu_kernel_impl"},
                                       std::string_view{"gpu_kernel_impl_nocast"},
                                       std::string_view{"opmath_symmetric_gpu_kernel_with_scalars"}};
  static constexpr std::array marks{std::string_view{"Functor"},      std::string_view{"_functor"},
                                    std::string_view{"_kernel_impl"}, std::string_view{"_kernel_cuda"},
                                    std::string_view{"_cuda_kernel"}, std::string_view{"Ops"},
                                    std::string_view{"gemm"},         std::string_view{"fprop"},
                                    std::string_view{"dgrad"},        std::string_view{"wgrad"}};
  return std::ranges::find(wrappers, word) == wrappers.end() &&
         std::ranges::any_of(marks, [&](std::string_view mark) { return word.find(mark) != std::string_view::npos; });
}

std::string_view distinct_word(std::string_view text) {
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin;
    while (end < text.size() && is_word(text[end])) ++end;
    if (is_distinct(text.substr(begin, end - begin))) return text.substr(begin, end - begin);
    begin = std::max(end, begin + 1);
  }
  return {};
}

}  // namespace

KernelKeys::KernelKeys(const Run& run)
    : run_(run), grid_(run.strings().find(keys::grid)), block_(run.strings().find(keys::block)) {}

KernelKey KernelKeys::without_shape(const Activity& activity) const {
  return {run_.span(activity.span).name, activity.kind, {}, {}};
}

KernelKey KernelKeys::with_shape(const Activity& activity) const {
  KernelKey key = without_shape(activity);
  for (const Attribute& attribute : run_.attributes_of(activity.span)) {
    if (attribute.value.kind == AttributeKind::number) continue;
    if (attribute.key == grid_) key.grid = attribute.value.text;
    if (attribute.key == block_) key.block = attribute.value.text;
  }
  return key;
}

std::string short_kernel_name(std::string_view name) {
  if (name.find_first_of("<(") == std::string_view::npos || name.starts_with("Memcpy") || name.starts_with("Memset"))
    return std::string{name};
  std::string text{name};
  remove_all(text, "(anonymous namespace)::");
  const Signature parts = signature_of(text);
  if (parts.base.empty()) return std::string{name};
  const std::string_view word = distinct_word(parts.arguments);
  if (word.empty() || word == parts.base) return std::string{parts.base};
  if (says_nothing(parts.base)) return std::string{word};
  return std::string{word}.append(" · ").append(parts.base);  // what is cut off where there is no room is the wrapper
}

bool multiplies_matrices(std::string_view name) {
  constexpr std::array parts{"gemm", "Gemm", "GEMM", "conv", "scudnn", "wgrad", "dgrad", "cutlass", "nvjet", "Cijk_"};
  return std::ranges::any_of(parts,
                             [name](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

TensorCores tensor_cores_of(std::string_view name) {
  const auto found = std::ranges::find_if(
      patterns, [&](const Pattern& pattern) { return name.find(pattern.part) != std::string_view::npos; });
  return found == patterns.end() ? TensorCores::unknown : found->use;
}

std::string_view name_of(ActivityClass kind) {
  switch (kind) {
    case ActivityClass::compute:
      return "compute";
    case ActivityClass::comm:
      return "comm";
    case ActivityClass::memory:
      return "memory";
  }
  return "?";
}

std::string_view name_of(TensorCores use) {
  switch (use) {
    case TensorCores::unknown:
      return "unknown";
    case TensorCores::yes:
      return "yes";
    case TensorCores::no:
      return "no";
  }
  return "?";
}

bool is_pointwise(std::string_view name) {
  constexpr std::array parts{"elementwise_kernel",  "multi_tensor_apply", "triton_poi",
                             "CatArrayBatchedCopy", "copy_kernel",        "fused_dropout"};
  return std::ranges::any_of(parts,
                             [name](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

}  // namespace rankscope::analyzer

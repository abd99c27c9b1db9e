#include "flops/device_peaks.h"

#include <algorithm>
#include <array>

namespace rankscope::analyzer {
namespace {

constexpr std::string_view p100 = "NVIDIA Tesla P100 data sheet";
constexpr std::string_view gp100 = "NVIDIA Quadro GP100 data sheet";
constexpr std::string_view v100 = "NVIDIA V100 data sheet";
constexpr std::string_view dgx_station = "NVIDIA DGX Station data sheet, a quarter of the system's peak";
constexpr std::string_view dgx_2 = "NVIDIA DGX-2 data sheet, a sixteenth of the system's peak";
constexpr std::string_view t4 = "NVIDIA T4 data sheet";
constexpr std::string_view a100 = "NVIDIA A100 data sheet";
constexpr std::string_view a30 = "NVIDIA A30 data sheet";
constexpr std::string_view a10 = "NVIDIA A10 data sheet";
constexpr std::string_view a10g = "NVIDIA A10G data sheet";
constexpr std::string_view a40 = "NVIDIA A40 data sheet";
constexpr std::string_view ga102 = "NVIDIA Ampere GA102 white paper";
constexpr std::string_view ada = "NVIDIA Ada white paper";
constexpr std::string_view l4 = "NVIDIA L4 data sheet";
constexpr std::string_view l40 = "NVIDIA L40 data sheet";
constexpr std::string_view l40s = "NVIDIA L40S data sheet";
constexpr std::string_view h100 = "NVIDIA H100 data sheet";
constexpr std::string_view h200 = "NVIDIA H200 data sheet";
constexpr std::string_view gh200 = "NVIDIA GH200 data sheet";
constexpr std::string_view b200 = "NVIDIA HGX B200 data sheet, an eighth of the system's peak";
constexpr std::string_view gb200 = "NVIDIA GB200 data sheet, half of the superchip's peak";
constexpr std::string_view mi100 = "AMD Instinct MI100 brochure";
constexpr std::string_view mi200 = "AMD Instinct MI200 data sheet";
constexpr std::string_view mi300 = "AMD Instinct MI300 data sheets";
constexpr std::string_view mi325 = "AMD Instinct MI325X data sheet";

// Where one name holds another, the longer one stands first. Makers print tensor peaks with sparsity, or without, or
// both; here stands what holds without. GeForce cards multiply FP16 at half speed when they add up in FP32.
// Columns: FP64, FP64 on matrix units, FP32, FP32 on matrix units (TF32), BF16, FP16, FP8, INT8.
constexpr std::array<DevicePeaks, 36> table{{
    {"P100-SXM2", 5.3, 0, 10.6, 0, 0, 21.2, 0, 0, p100},
    {"P100-PCIE", 4.7, 0, 9.3, 0, 0, 18.7, 0, 0, p100},
    {"Quadro GP100", 5.2, 0, 10.3, 0, 0, 20.7, 0, 0, gp100},
    {"V100S-PCIE", 8.2, 0, 16.4, 0, 0, 130, 0, 0, v100},
    {"V100-PCIE", 7, 0, 14, 0, 0, 112, 0, 0, v100},
    {"V100-SXM2", 7.8, 0, 15.7, 0, 0, 125, 0, 0, v100},
    {"V100-SXM3", 7.8, 0, 15.7, 0, 0, 125, 0, 0, dgx_2},
    {"V100-DGXS", 7.8, 0, 15.7, 0, 0, 125, 0, 0, dgx_station},
    {"Tesla T4", 0, 0, 8.1, 0, 0, 65, 0, 130, t4},
    {"A100", 9.7, 19.5, 19.5, 156, 312, 312, 0, 624, a100},
    {"A30", 5.2, 10.3, 10.3, 82, 165, 165, 0, 330, a30},
    {"A10G", 0, 0, 35, 35, 70, 70, 0, 140, a10g},
    {"A10", 0, 0, 31.2, 62.5, 125, 125, 0, 250, a10},
    {"A40", 0, 0, 37.4, 74.8, 149.7, 149.7, 0, 299.3, a40},
    {"RTX A6000", 0, 0, 38.7, 77.4, 154.8, 154.8, 0, 309.7, ga102},
    {"RTX 3090", 0, 0, 35.6, 35.6, 71.2, 71.2, 0, 284.7, ga102},
    {"RTX 4090", 0, 0, 82.6, 82.6, 165.2, 165.2, 330.3, 660.6, ada},
    {"L40S", 0, 0, 91.6, 183, 362.05, 362.05, 733, 733, l40s},
    {"L40", 0, 0, 90.5, 90.5, 181.05, 181.05, 362, 362, l40},
    {"L4", 0, 0, 30.3, 60, 121, 121, 242.5, 242.5, l4},
    {"GH200", 34, 67, 67, 494.7, 989.4, 989.4, 1978.9, 1978.9, gh200},
    {"H100 PCIe", 26, 51, 51, 378, 756, 756, 1513, 1513, h100},
    {"H100 NVL", 30, 60, 60, 417.5, 835.5, 835.5, 1670.5, 1670.5, h100},
    {"H100 80GB HBM3", 34, 67, 67, 494.7, 989.4, 989.4, 1978.9, 1978.9, h100},
    {"H100 SXM5", 34, 67, 67, 494.7, 989.4, 989.4, 1978.9, 1978.9, h100},
    {"H200 NVL", 30, 60, 60, 417.5, 835.5, 835.5, 1670.5, 1670.5, h200},
    {"H200", 34, 67, 67, 494.7, 989.4, 989.4, 1978.9, 1978.9, h200},
    {"GB200", 40, 40, 80, 1250, 2500, 2500, 5000, 5000, gb200},
    {"B200", 37, 37, 75, 1125, 2250, 2250, 4500, 4500, b200},
    {"MI100", 11.5, 0, 23.1, 46.1, 92.3, 184.6, 0, 184.6, mi100},
    {"MI210", 22.6, 45.3, 22.6, 45.3, 181, 181, 0, 181, mi200},
    {"MI250X", 23.9, 47.9, 23.9, 47.9, 191.5, 191.5, 0, 191.5, mi200},
    {"MI250", 22.6, 45.3, 22.6, 45.3, 181, 181, 0, 181, mi200},
    {"MI300A", 61.3, 122.6, 122.6, 122.6, 980.6, 980.6, 1961.2, 1961.2, mi300},
    {"MI300X", 81.7, 163.4, 163.4, 163.4, 1307.4, 1307.4, 2614.9, 2614.9, mi300},
    {"MI325X", 81.7, 163.4, 163.4, 163.4, 1307.4, 1307.4, 2614.9, 2614.9, mi325},
}};

bool is_letter_or_digit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// True if the words stand in the text and no letter or digit touches them: "A10" is neither in "A100" nor in "GA10".
bool has_words(std::string_view text, std::string_view words) {
  for (std::size_t at = text.find(words); at != std::string_view::npos; at = text.find(words, at + 1)) {
    const std::size_t end = at + words.size();
    const bool begins = at == 0 || !is_letter_or_digit(text[at - 1]);
    const bool ends = end == text.size() || !is_letter_or_digit(text[end]);
    if (begins && ends) return true;
  }
  return false;
}

/// Relatives of the same name with other peaks, parts of a device, and a name that two devices share.
bool is_other_device(std::string_view device) {
  static constexpr std::array<std::string_view, 8> marks{"Laptop",      "Mobile",     "Max-Q",          "MIG",
                                                         "RTX 3090 Ti", "RTX 4090 D", "MI250X / MI250", "MI250X/MI250"};
  return std::ranges::any_of(marks, [&](std::string_view mark) { return has_words(device, mark); });
}

}  // namespace

std::optional<double> DevicePeaks::of(Precision precision) const {
  const auto told = [](double tflops) { return tflops > 0 ? std::optional{tflops} : std::nullopt; };
  switch (precision) {
    case Precision::unknown:
      return std::nullopt;
    case Precision::fp64:
      return told(fp64);
    case Precision::fp64_matrix:
      return told(fp64_matrix);
    case Precision::fp32:
      return told(fp32);
    case Precision::fp32_matrix:
      return told(fp32_matrix);
    case Precision::bf16:
      return told(bf16);
    case Precision::fp16:
      return told(fp16);
    case Precision::fp8:
      return told(fp8);
    case Precision::int8:
      return told(int8);
  }
  return std::nullopt;
}

const DevicePeaks* peaks_of(std::string_view device) {
  if (is_other_device(device)) return nullptr;
  const auto found = std::ranges::find_if(table, [&](const DevicePeaks& row) { return has_words(device, row.name); });
  return found == table.end() ? nullptr : &*found;
}

std::string_view name_of(Precision precision) {
  switch (precision) {
    case Precision::unknown:
      return "unknown";
    case Precision::fp64:
      return "fp64";
    case Precision::fp64_matrix:
      return "fp64_matrix";
    case Precision::fp32:
      return "fp32";
    case Precision::fp32_matrix:
      return "fp32_matrix";
    case Precision::bf16:
      return "bf16";
    case Precision::fp16:
      return "fp16";
    case Precision::fp8:
      return "fp8";
    case Precision::int8:
      return "int8";
  }
  return "?";
}

}  // namespace rankscope::analyzer

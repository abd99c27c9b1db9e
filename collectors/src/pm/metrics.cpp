#include "pm/metrics.h"

#include <utility>

#include "cupti/library.h"

namespace rankscope::collectors {
namespace {

namespace pm = cupti::pm;
namespace result = cupti::result;

// Names as CUPTI 13.0 has them for GA100 to GB202. Bytes on NVLink and PCIe are seen from the GPU, with their headers.
constexpr std::array quantities{
    PmQuantity{"sm_active_percent", {"sm__cycles_active.avg.pct_of_peak_sustained_elapsed"}},
    PmQuantity{"tensor_active_percent",
               {"sm__pipe_tensor_cycles_active_realtime.avg.pct_of_peak_sustained_elapsed",
                "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"}},
    PmQuantity{"dram_read_percent", {"dram__read_throughput.avg.pct_of_peak_sustained_elapsed"}},
    PmQuantity{"dram_write_percent", {"dram__write_throughput.avg.pct_of_peak_sustained_elapsed"}},
    PmQuantity{"nvlink_received_bytes_per_second", {"nvlrx__bytes.sum.per_second"}},
    PmQuantity{"nvlink_sent_bytes_per_second", {"nvltx__bytes.sum.per_second"}},
    PmQuantity{"pcie_read_bytes_per_second", {"pcie__read_bytes.sum.per_second"}},
    PmQuantity{"pcie_write_bytes_per_second", {"pcie__write_bytes.sum.per_second"}},
    PmQuantity{"pcie_active_percent", {"pcie__throughput.avg.pct_of_peak_sustained_elapsed"}},
};

constexpr std::string_view chip_lacks_it = "this GPU has no such counter";
constexpr std::string_view no_room = "it does not fit into one pass with the others";

}  // namespace

std::span<const PmQuantity> pm_quantities() { return quantities; }

PmHost::PmHost(const cupti::PmFunctions& call, const std::string& chip, std::span<const std::uint8_t> availability)
    : call_(call) {
  pm::HostInitialize request{.chip = chip.c_str(),
                             .availability = availability.empty() ? nullptr : availability.data()};
  status_ = call_.host_initialize(&request);
  host_ = status_ == result::success ? request.host : nullptr;
}

PmHost::~PmHost() {
  pm::HostDeinitialize request{.host = host_};
  if (host_ != nullptr) call_.host_deinitialize(&request);
}

void PmHost::add(std::span<const char* const> metrics) {
  if (host_ == nullptr) return;
  std::vector<const char*> names{metrics.begin(), metrics.end()};
  pm::AddMetrics added{.host = host_, .names = names.data(), .count = names.size()};
  status_ = call_.add_metrics(&added);
  if (status_ != result::success) return;
  pm::ConfigSize size{.host = host_};
  status_ = call_.config_size(&size);
  if (status_ != result::success) return;
  config_.resize(size.bytes);
  pm::ConfigImage image{.host = host_, .bytes = config_.size(), .image = config_.data()};
  status_ = call_.config_image(&image);
  if (status_ != result::success) return;
  pm::Passes passes{.bytes = config_.size(), .image = config_.data()};
  status_ = call_.passes(&passes);
  passes_ = passes.passes;
}

PmSelection select_pm_metrics(const cupti::PmFunctions& call, const std::string& chip,
                              std::span<const std::uint8_t> availability) {
  PmSelection selection;
  for (const PmQuantity& quantity : quantities) {
    std::string_view why = chip_lacks_it;
    for (const char* const metric : quantity.metrics) {
      if (metric == nullptr) break;
      // Metrics cannot be taken out again: each try has a host of its own.
      auto host = std::make_unique<PmHost>(call, chip, availability);
      if (host->status() != result::success) {
        selection.status = host->status();
        return selection;
      }
      selection.metrics.push_back(metric);
      host->add(selection.metrics);
      if (host->status() == result::success && host->passes() == 1) {
        selection.names.push_back(quantity.name);
        selection.host = std::move(host);
        why = {};
        break;
      }
      selection.metrics.pop_back();
      if (host->status() == result::success) why = no_room;
    }
    if (!why.empty()) selection.left_out.push_back({quantity.name, why});
  }
  return selection;
}

}  // namespace rankscope::collectors

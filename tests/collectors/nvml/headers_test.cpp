// What NVML is asked with, against NVIDIA's own declarations. Built where nvml.h is installed (toolkit, PyPI's
// nvidia-nvml-dev).
#include <gtest/gtest.h>
#include <nvml.h>

#include "nvml/gpm.h"

namespace rankscope::collectors::nvml {
namespace {

#define EXPECT_AT(ours, our_field, theirs, their_field)                \
  EXPECT_EQ(offsetof(ours, our_field), offsetof(theirs, their_field)); \
  EXPECT_EQ(sizeof(ours{}.our_field), sizeof(theirs{}.their_field))

TEST(NvmlHeaders, GpmIsLaidOutAsNvmlHasIt) {
  EXPECT_AT(GpmSupport, version, nvmlGpmSupport_t, version);
  EXPECT_AT(GpmSupport, supported, nvmlGpmSupport_t, isSupportedDevice);
  EXPECT_EQ(sizeof(GpmSupport), sizeof(nvmlGpmSupport_t));
  EXPECT_AT(GpmMetric, number, nvmlGpmMetric_t, metricId);
  EXPECT_AT(GpmMetric, status, nvmlGpmMetric_t, nvmlReturn);
  EXPECT_AT(GpmMetric, value, nvmlGpmMetric_t, value);
  EXPECT_EQ(sizeof(GpmMetric), sizeof(nvmlGpmMetric_t));
  EXPECT_AT(GpmRequest, version, nvmlGpmMetricsGet_t, version);
  EXPECT_AT(GpmRequest, count, nvmlGpmMetricsGet_t, numMetrics);
  EXPECT_AT(GpmRequest, before, nvmlGpmMetricsGet_t, sample1);
  EXPECT_AT(GpmRequest, after, nvmlGpmMetricsGet_t, sample2);
  EXPECT_EQ(offsetof(GpmRequest, metrics), offsetof(nvmlGpmMetricsGet_t, metrics));
  EXPECT_GE(sizeof(GpmRequest), sizeof(nvmlGpmMetricsGet_t));
  EXPECT_EQ(GpmSupport{}.version, static_cast<unsigned>(NVML_GPM_SUPPORT_VERSION));
  EXPECT_EQ(GpmRequest{}.version, static_cast<unsigned>(NVML_GPM_METRICS_GET_VERSION));
}

TEST(NvmlHeaders, MetricsHaveTheirNumbers) {
  const auto number = [](std::string_view name) {
    for (const GpmQuantity& quantity : gpm_quantities())
      if (quantity.name == name) return static_cast<int>(quantity.number);
    return 0;
  };
  EXPECT_EQ(number("gpm_sm_active_percent"), NVML_GPM_METRIC_SM_UTIL);
  EXPECT_EQ(number("gpm_sm_occupancy_percent"), NVML_GPM_METRIC_SM_OCCUPANCY);
  EXPECT_EQ(number("gpm_tensor_active_percent"), NVML_GPM_METRIC_ANY_TENSOR_UTIL);
  EXPECT_EQ(number("gpm_dram_percent"), NVML_GPM_METRIC_DRAM_BW_UTIL);
  EXPECT_EQ(number("gpm_pcie_sent_bytes_per_second"), NVML_GPM_METRIC_PCIE_TX_PER_SEC);
  EXPECT_EQ(number("gpm_pcie_received_bytes_per_second"), NVML_GPM_METRIC_PCIE_RX_PER_SEC);
  EXPECT_EQ(number("gpm_nvlink_sent_bytes_per_second"), NVML_GPM_METRIC_NVLINK_TOTAL_TX_PER_SEC);
  EXPECT_EQ(number("gpm_nvlink_received_bytes_per_second"), NVML_GPM_METRIC_NVLINK_TOTAL_RX_PER_SEC);
}

TEST(NvmlHeaders, OtherStructuresAndNumbersAreThoseOfNvml) {
  EXPECT_AT(FieldValue, field, nvmlFieldValue_t, fieldId);
  EXPECT_AT(FieldValue, scope, nvmlFieldValue_t, scopeId);
  EXPECT_AT(FieldValue, status, nvmlFieldValue_t, nvmlReturn);
  EXPECT_AT(FieldValue, value, nvmlFieldValue_t, value);
  EXPECT_EQ(sizeof(FieldValue), sizeof(nvmlFieldValue_t));
  EXPECT_AT(MemoryInfo, used, nvmlMemory_t, used);
  EXPECT_AT(Busy, memory, nvmlUtilization_t, memory);
  EXPECT_EQ(success, NVML_SUCCESS);
  EXPECT_EQ(not_supported, NVML_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(no_permission, NVML_ERROR_NO_PERMISSION);
}

}  // namespace
}  // namespace rankscope::collectors::nvml

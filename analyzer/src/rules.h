// The rules, each in the file of its subject; their order and limits are in table.cpp.
#pragma once

#include <span>

#include "findings/rule.h"

namespace rankscope::analyzer {

void judge_lost_ranks(const RuleContext& context, std::vector<Finding>& findings);
void judge_stragglers(const RuleContext& context, std::vector<Finding>& findings);
void judge_rotation(const RuleContext& context, std::vector<Finding>& findings);
void judge_desyncs(const RuleContext& context, std::vector<Finding>& findings);
void judge_step_change(const RuleContext& context, std::vector<Finding>& findings);
void judge_odd_steps(const RuleContext& context, std::vector<Finding>& findings);
void judge_exposed_communication(const RuleContext& context, std::vector<Finding>& findings);
void judge_slow_paths(const RuleContext& context, std::vector<Finding>& findings);
void judge_contention(const RuleContext& context, std::vector<Finding>& findings);
void judge_pipeline(const RuleContext& context, std::vector<Finding>& findings);
void judge_data_loading(const RuleContext& context, std::vector<Finding>& findings);
void judge_idle(const RuleContext& context, std::vector<Finding>& findings);
void judge_synchronizations(const RuleContext& context, std::vector<Finding>& findings);
void judge_blocking_copies(const RuleContext& context, std::vector<Finding>& findings);
void judge_allocations(const RuleContext& context, std::vector<Finding>& findings);
void judge_tensor_cores(const RuleContext& context, std::vector<Finding>& findings);
void judge_throttling(const RuleContext& context, std::vector<Finding>& findings);
void judge_fusable(const RuleContext& context, std::vector<Finding>& findings);
void judge_efficiency(const RuleContext& context, std::vector<Finding>& findings);
void judge_memory(const RuleContext& context, std::vector<Finding>& findings);
void judge_profiler_overhead(const RuleContext& context, std::vector<Finding>& findings);

[[nodiscard]] std::span<const Rule> rules();

}  // namespace rankscope::analyzer

// The findings of this subject.
#pragma once

#include <vector>

#include "rules/rule.h"

namespace rankscope::analyzer {

void judge_lost_ranks(const RuleContext& context, std::vector<Finding>& findings);

}  // namespace rankscope::analyzer

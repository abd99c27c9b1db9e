#include "hang/parts.h"

namespace rankscope::analyzer {

void judge_lost_ranks(const RuleContext& context, std::vector<Finding>& findings) {
  findings.insert(findings.end(), context.lost.begin(), context.lost.end());
}

}  // namespace rankscope::analyzer

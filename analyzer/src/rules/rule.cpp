#include "rules/rule.h"

#include "rankscope/core/format.h"

namespace rankscope::analyzer {

std::string percent_of(double share) { return format("{:.0f} %", share * 100); }

}  // namespace rankscope::analyzer

// The rules that make findings; each stands in the rules.cpp of its subject.
#pragma once

#include <span>

#include "rules/rule.h"

namespace rankscope::analyzer {

/// In the order in which they are judged: a rule may look at the findings of those before it.
[[nodiscard]] std::span<const Rule> rules();

}  // namespace rankscope::analyzer

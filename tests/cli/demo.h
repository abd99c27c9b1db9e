// The recording that is in this tree.
#pragma once

#include <string>

namespace rankscope {

inline const std::string demo = std::string{RANKSCOPE_SAMPLES} + "/demo.rankscope";

}  // namespace rankscope

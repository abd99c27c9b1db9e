// How long work tells how far it is.
#pragma once

#include <functional>

namespace rankscope::analyzer {

/// Called now and then with the share done, 0..1; returns false to cancel.
using Progress = std::function<bool(double)>;

}  // namespace rankscope::analyzer

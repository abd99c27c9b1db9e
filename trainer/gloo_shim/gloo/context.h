// Stand-in for Gloo's own header, which the torch wheel leaves out although ProcessGroupGloo.hpp includes it. Only what
// that header names is declared; the code lives in libtorch_cpu. Never construct these types outside libtorch.
#pragma once
#include <chrono>

#include "gloo/transport/device.h"

namespace gloo {
class Context {
 public:
  void setTimeout(std::chrono::milliseconds timeout);
};
}  // namespace gloo

// A synthetic recording (tests/synthetic), read as a user's would be.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "rankscope/core/recording/recording.h"
#include "support/temporary_folder.h"
#include "synthetic/generate.h"

namespace rankscope::testing {

inline std::shared_ptr<const Run> recorded(const synthetic::Plan& plan) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "run.rankscope";
  synthetic::generate(plan, path);
  auto run = recording::read_recording(path);
  if (!run) throw std::runtime_error(run.error().message);
  return *run;
}

}  // namespace rankscope::testing

#pragma once

#include <string>

#include "rankscope/trainer/checkpoint/manifest.h"

namespace rankscope::trainer {

/// "it has no tensor NAME", and what to do where NAME is a part of another split.
[[nodiscard]] std::string why_missing(const CheckpointManifest& manifest, const std::string& tensor);

}  // namespace rankscope::trainer

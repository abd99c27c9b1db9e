// What the recording should know about this rank.
#pragma once

#include <string>

#include "rankscope/collectors/annotate.h"

namespace rankscope::trainer {

/// Metadata of the recording.
inline void note(const char* key, const std::string& value) { annotate::metadata(key, value.c_str()); }

}  // namespace rankscope::trainer

// Files of a recording, chosen where the folder was meant.
#pragma once

#include "rankscope/gui/models/loader.h"

namespace rankscope::gui {

/// A manifest or segment is replaced by the recording that it lies in, once; all else stays.
[[nodiscard]] Source with_whole_recordings(Source source);

}  // namespace rankscope::gui

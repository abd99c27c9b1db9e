// Records the collectives of torch.distributed that no library reports by itself, in the versions of PyTorch that were
// verified.
#pragma once

namespace rankscope::inject::c10d {

/// Null: they are recorded from now on. Else why not, as a part of a sentence. `version` is torch.__version__.
const char* observe(const char* version) noexcept;

/// The backend that is asked for its sequence number next, on this thread, belongs to this group. With a null name:
/// whether one was; none is expected any more.
int expect_group(const char* name, const char* members) noexcept;

}  // namespace rankscope::inject::c10d

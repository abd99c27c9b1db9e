// Dumps of the Flight Recorder from lines of text, as JSON files:
//
//   @group 1 pair 0,1              name, description, members ("-": not recorded, as Gloo)
//   @rank 3                        a dump without entries
//   0 1 all_reduce 7 open [size=5] [dtype=Half] [at=SECONDS] [backend=nccl] [timeout=SECONDS] [retired=1]
//   0 1 send>1 - done              a send to the member with number 1 of the group; recv<0 is a receive
//   0 1 coalesced 7 open           the end of the coalesced calls before it; [pair=1]: these are sends and receives
// Further words: [seq2=N] the number among sends and receives, [id=N] that of the operation, [record=N] that of the
// entry; [from=FILE] the file whose line 12, in step(), made the call.
#pragma once

#include <filesystem>
#include <string_view>

#include "rankscope/analyzer/hang/hang.h"
#include "support/temporary_folder.h"

namespace rankscope::testing {

/// Writes dump_RANK.json for each rank named; a call is finished if it is "done".
void write_dumps(std::string_view text, const std::filesystem::path& folder);

/// What `rankscope hang` says of these dumps. A failure to read them ends the test program.
[[nodiscard]] analyzer::HangReport judged(std::string_view text);

}  // namespace rankscope::testing

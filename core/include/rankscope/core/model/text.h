// The text form of a Run: what `rankscope dump` prints and what tests accept as input.
//
//   # a comment
//   @run source=rankscope world_size=2 clock=same_host clock_error=1000 [origin_unix=NS] [meta.KEY=VALUE ...]
//   @rank 0 [pid=1 host=n0 program=train local_rank=0 recorded=0:100 ended=exited:0 meta.KEY=VALUE ...]   a process
//   @process - pid=7 ...                        the same for a process without rank
//   @lane 0 main kind=thread number=12          a lane of the rank's latest process; streams add device=0
//   @device 0 0 [name=GPU uuid=U meta.KEY=VALUE ...]   RANK ORDINAL: an accelerator of the rank's latest process
//   @link launch 12 57                          KIND FROM TO: spans by their order in this text, from 0
//   @group dp 0,1
//   @quality events_dropped 3 ["where it happened"] [rank=0 time=0:100]   whose data, and between which times
//   0 compute 0 60 gemm [lane=NAME] [cut=begin|end|both] [KEY=VALUE ...]   RANK KIND BEGIN END NAME, in ns of run time
//   0 comm 40 90 allreduce group=dp [seq=0 op=allreduce bytes=1024 dtype=f32 peer=1 enqueued=38 on=LANE]
//   0 comm 40 90 allreduce group=dp members=0,1   where the rank has several groups of that name
//   0 comm 40 90 allreduce group=-              a collective whose group is not known
//   0 comm 38 - allreduce group=dp              enqueued at 38, never started; `40 - ... state=started`: never finished
//   0 counter 50 1024 rss_bytes                 RANK counter TIME VALUE NAME
//   0 mark 50 checkpoint [lane=NAME] [KEY=VALUE ...]
//
// Everything but the five leading words of a span has a default: an unknown rank is a process of its own, the lane
// follows from the kind ("main", "comm", "stream 0", "loader"), seq counts per rank and group. Names with spaces or
// special characters are written as JSON strings. Values of KEY that are integers are numbers,
// all else is text; KEY=@"[1,2]" is JSON in its own words. "KEY"=VALUE is always an attribute, also where KEY is one of
// the words above.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string_view>

#include "rankscope/core/model/run_parts.h"
#include "rankscope/core/result.h"
#include "rankscope/core/secrets.h"

namespace rankscope {

/// Errors (`unreadable`) name the line.
[[nodiscard]] Result<std::shared_ptr<const Run>> run_from_text(std::string_view text,
                                                               Texts texts = Texts::without_secrets);

/// `progress` is called now and then with the share done, 0..1; it returns false to cancel.
[[nodiscard]] Result<std::shared_ptr<const Run>> run_from_text(std::string_view text, Texts texts,
                                                               const std::function<bool(double)>& progress);

/// Writes the whole run; read back it is the same Run.
void write_text(const Run& run, std::ostream& out);

}  // namespace rankscope

// Puts back what our own export of another source keeps beside Kineto's fields.
#pragma once

#include "importers/kineto/trace_file.h"

namespace rankscope::analyzer::kineto {

/// Kinds and cut ends of spans, where Kineto's categories do not tell them.
void restore_spans(const TraceFile& file, RunBuilder& run);
/// Lanes, collectives and the end of the process; the file must have OwnBlock::rows.
void restore_rows(const TraceFile& file, RankId rank, RunBuilder& run);

/// Counters that were exported stand for what is no longer in the files; what is counted again is not added twice.
void restore_quality(std::span<const TraceFile> files, RunBuilder& run);

}  // namespace rankscope::analyzer::kineto

#include "digest/rank_digest.h"

#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "steps/time_cells.h"

namespace rankscope::analyzer {

Digester::Digester(const Run& run) : run_(run), steps_(local_steps(run)), kernels_(run), copies_(run), launches_(run) {}

RankDigest Digester::of(std::size_t row) {
  RankDigest made;
  made.rank = run_.ranks()[row];
  made.steps = steps_[row];
  for (StepWindow& step : made.steps.windows) step.sums = SpanId::none();  // a span of this run only
  made.device_record = local_device_record(run_, made.rank);
  const TimeCells cells{made.steps.recorded, made.steps.windows};
  made.kernels = kernels_.of(made.rank, cells);
  made.copies = copies_.of(made.rank, cells);
  made.data_loading = local_data_loading(run_, made.rank);
  made.launches = launches_.of(made.rank, cells);
  return made;
}

digest::Job job_of(const Run& run) {
  digest::Job job;
  job.source = run.info().source;
  job.world_size = run.info().world_size;
  job.name = run.metadata("PT_PROFILER_JOB_NAME");
  if (job.source == "rankscope") job.recording = format("{}", run.info().origin_unix_ns);
  return job;
}

}  // namespace rankscope::analyzer

#include "engine/step/progress.h"
#include "engine/note.h"

#include <cmath>
#include <string>
#include <utility>

#include "rankscope/collectors/annotate.h"
#include "rankscope/core/format.h"
#include "rankscope/trainer/launch/log.h"

namespace rankscope::trainer {
namespace {

/// Outputs and labels may have several rows for each sample.
at::Tensor of_first(const at::Tensor& rows, std::int64_t samples, std::int64_t batch) {
  return rows.narrow(0, 0, rows.size(0) / batch * samples);
}

}  // namespace

void Totals::add(const Forward& result, const at::Tensor& labels) {
  const torch::NoGradGuard no_grad;
  const auto samples = static_cast<double>(labels.size(0));
  loss += result.loss.item<double>() * samples;
  correct += result.correct.item<double>();
  count += samples;
}

void Totals::add(const Totals& more) {
  loss += more.loss;
  correct += more.correct;
  count += more.count;
}

Totals totals_of_first(const Model& model, const at::Tensor& logits, const Inputs& samples, std::int64_t counted) {
  Totals totals;
  if (counted == 0) return totals;
  const std::int64_t batch = samples.data.size(0);
  const at::Tensor labels = of_first(samples.labels, counted, batch).to(logits.device());
  const Loss loss = model.loss()(of_first(logits, counted, batch), labels);
  totals.add({loss.mean, loss.correct}, labels);
  return totals;
}

Result<void> check_finite(const Totals& totals, std::int64_t step, int rank) {
  if (std::isfinite(totals.loss)) return {};
  std::string message = format(
      "step {}: the loss of rank {} is {}, so training ends here; try a smaller --lr, add --warmup-steps, "
      "or check the data; earlier checkpoints are intact",
      step, rank, std::isnan(totals.loss) ? "nan" : "infinite");
  // For `rankscope hang`: why the ranks end.
  annotate::metadata("problem", "not_finite");
  annotate::metadata("problem_step", std::to_string(step).c_str());
  annotate::metadata("last_words", message.c_str());
  return fail(ErrorKind::not_computable, std::move(message));
}

Result<Totals> totals_of_all(Comm* comm, const Totals& mine, const std::string& label) {
  if (comm == nullptr) return mine;
  const at::Tensor sums = at::tensor({mine.loss, mine.correct, mine.count}, at::kDouble);
  RS_TRY_VOID(comm->allreduce(sums, label).wait());
  const auto* const data = sums.data_ptr<double>();
  return Totals{data[0], data[1], data[2]};
}

void Progress::begin(std::int64_t step) {
  begun_ = reported_ = Clock::now();
  steps_reported_ = step;
}

void Progress::leave_out(std::chrono::nanoseconds time) { reported_ += time; }

void Progress::report(std::int64_t index, const Totals& totals, std::int64_t global_batch) {
  const auto now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - reported_).count();
  const auto steps = static_cast<double>(index + 1 - steps_reported_);
  log_progress(format("step {:>5}  loss {:.4f}  accuracy {:5.1f} %  {:.1f} ms/step  {:.0f} samples/s", index + 1,
                      totals.loss / totals.count, 100 * totals.correct / totals.count, 1000 * seconds / steps,
                      steps * static_cast<double>(global_batch) / seconds));
  reported_ = now;
  steps_reported_ = index + 1;
}

void Progress::end(std::int64_t steps, const Pacer& pacer) const {
  note("pace_overruns", std::to_string(pacer.overruns()));
  note("pace_longest_overrun_ns", std::to_string(pacer.longest_overrun().count()));
  log_progress(format(
      "done: {} in {:.2f} s{}", counted(steps, "step"), std::chrono::duration<double>(Clock::now() - begun_).count(),
      pacer.overruns() > 0
          ? format("; {} took longer than the nominal time, by up to {:.1f} ms", counted(pacer.overruns(), "block"),
                   static_cast<double>(pacer.longest_overrun().count()) / 1e6)
          : ""));
}

}  // namespace rankscope::trainer

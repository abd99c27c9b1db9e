#include "analyzer/synthetic_run.h"

#include <algorithm>
#include <random>
#include <vector>

#include "rankscope/core/format.h"
#include "rankscope/core/model/text.h"

namespace rankscope::testing {
namespace {

constexpr std::int64_t host_gap_ns = 20'000;  // between the spans of a step
constexpr std::int64_t pick_up_ns = 50'000;   // from enqueued to started on a free communication thread

class Writer {
 public:
  explicit Writer(const SyntheticRun& plan) : plan_(plan), random_(plan.seed), now_(plan.ranks, 0) {}

  std::string write() {
    text_ = plan_.head + "@group dp " + members() + "\n";
    for (std::int64_t step = 0; step < plan_.steps; ++step) write_step(step);
    return std::move(text_);
  }

 private:
  struct Rank {
    StepPlan plan;
    std::int64_t begin = 0;
    std::int64_t backward_end = 0;
    std::int64_t first_ready = 0;  // first bucket: in the middle of backward
    std::int64_t free_at = 0;      // the communication thread
  };

  std::string members() const {
    std::string list;
    for (std::uint32_t rank = 0; rank < plan_.ranks; ++rank) list += format("{}{}", rank == 0 ? "" : ",", rank);
    return list;
  }

  std::int64_t noisy(double ms) {
    std::normal_distribution<double> normal(1, plan_.noise);
    return static_cast<std::int64_t>(ms * 1e6 * std::max(0.1, normal(random_)));
  }

  std::int64_t span(std::uint32_t rank, std::string_view kind, std::int64_t begin, std::int64_t length) {
    text_ += format("{} {} {} {} {}\n", rank, kind, begin, begin + length, kind);
    return begin + length;
  }

  std::int64_t compute(std::uint32_t rank, std::string_view kind, std::int64_t begin, std::int64_t length) {
    text_ += format("{} op {} {} {}_block\n", rank, begin + 1000, begin + length - 1000, kind);
    return span(rank, kind, begin, length);
  }

  void write_step(std::int64_t step) {
    std::vector<Rank> ranks(plan_.ranks);
    for (std::uint32_t rank = 0; rank < plan_.ranks; ++rank) {
      Rank& own = ranks[rank];
      plan_.fault(own.plan, rank, step);
      own.begin = now_[rank];
      const std::int64_t data = span(rank, "data", own.begin + host_gap_ns, noisy(own.plan.data));
      const std::int64_t stalled = data + static_cast<std::int64_t>(own.plan.stall * 1e6);
      const std::int64_t forward = compute(rank, "forward", stalled + host_gap_ns, noisy(own.plan.forward));
      own.backward_end = compute(rank, "backward", forward + host_gap_ns, noisy(own.plan.backward));
      own.first_ready = (forward + own.backward_end) / 2;
    }
    bucket(
        ranks, 2 * step, [](const Rank& own) { return own.first_ready; }, 0);
    bucket(
        ranks, 2 * step + 1, [](const Rank& own) { return own.backward_end; }, 1);
    for (std::uint32_t rank = 0; rank < plan_.ranks; ++rank) finish_step(ranks[rank], rank, step);
  }

  template <class Ready>
  void bucket(std::vector<Rank>& ranks, std::int64_t sequence, Ready ready, double delayed) {
    std::vector<std::int64_t> starts;
    for (const Rank& own : ranks) {
      const auto delay = static_cast<std::int64_t>(own.plan.comm_delay * delayed * 1e6);
      starts.push_back(std::max(ready(own), own.free_at) + pick_up_ns + delay);
    }
    const std::int64_t transfer = noisy(ranks.front().plan.transfer);
    const std::int64_t end = *std::ranges::max_element(starts) + transfer;
    for (std::uint32_t rank = 0; rank < plan_.ranks; ++rank) {
      ranks[rank].free_at = end;
      text_ += format("{} comm {} {} allreduce group=dp seq={} bytes=1000000 dtype=f32 enqueued={} on=main\n", rank,
                      starts[rank], end, sequence, ready(ranks[rank]));
    }
  }

  void finish_step(const Rank& own, std::uint32_t rank, std::int64_t step) {
    const std::int64_t waited = span(rank, "wait", own.backward_end, own.free_at - own.backward_end + host_gap_ns);
    const std::int64_t end = compute(rank, "optimizer", waited + host_gap_ns, noisy(own.plan.optimizer)) + host_gap_ns;
    text_ += format("{} step {} {} step index={}\n", rank, own.begin, end, step);
    now_[rank] = end + host_gap_ns;
  }

  const SyntheticRun& plan_;
  std::mt19937_64 random_;
  std::vector<std::int64_t> now_;
  std::string text_;
};

}  // namespace

std::string text_of(const SyntheticRun& plan) { return Writer(plan).write(); }

std::shared_ptr<const Run> run_of(std::string_view text) {
  auto run = run_from_text(text);
  if (!run) {
    std::fprintf(stderr, "the test's text is wrong: %s\n", run.error().message.c_str());
    std::abort();
  }
  return *run;
}

std::shared_ptr<const Run> make(const SyntheticRun& plan) { return run_of(text_of(plan)); }

}  // namespace rankscope::testing

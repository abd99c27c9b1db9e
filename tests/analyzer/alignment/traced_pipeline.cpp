#include "analyzer/alignment/traced_pipeline.h"

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <utility>

#include "analyzer/synthetic_run.h"
#include "rankscope/core/format.h"

namespace rankscope::testing {
namespace {

enum class What : std::uint8_t { send, wait_for_send, receive, forward, backward };

struct Action {
  What what;
  std::uint32_t peer = 0;
};
using Actions = std::vector<Action>;

/// What one rank does in one step.
class Schedule {
 public:
  Schedule(const TracedPipeline& plan, std::uint32_t rank) : plan_(plan), rank_(rank) {}

  Actions actions() && {
    const std::int64_t warm_up = std::min<std::int64_t>(plan_.micro_batches, plan_.ranks - rank_);
    for (std::int64_t i = 0; i < warm_up; ++i) {
      from_previous(What::receive);
      all_.push_back({What::forward});
      if (i > 0) to_next(What::wait_for_send);
      if (i + 1 < warm_up) to_next(What::send);
    }
    for (std::int64_t i = 0; i < plan_.micro_batches; ++i) steady(i, warm_up + i < plan_.micro_batches);
    return std::move(all_);
  }

 private:
  /// A backward pass, and a forward pass while there are any.
  void steady(std::int64_t done, bool forward_follows) {
    const std::int64_t warm_up = std::min<std::int64_t>(plan_.micro_batches, plan_.ranks - rank_);
    if (done + warm_up <= plan_.micro_batches) send_to_next();
    to_next(What::receive);
    all_.push_back({What::backward});
    from_previous(What::send);
    from_previous(What::wait_for_send);
    if (!forward_follows) return;
    from_previous(What::receive);
    all_.push_back({What::forward});
  }
  void send_to_next() {
    to_next(What::send);
    to_next(What::wait_for_send);
  }
  void from_previous(What what) {
    if (rank_ > 0) all_.push_back({what, rank_ - 1});
  }
  void to_next(What what) {
    if (rank_ + 1 < plan_.ranks) all_.push_back({what, rank_ + 1});
  }

  const TracedPipeline& plan_;
  std::uint32_t rank_;
  Actions all_;
};

/// Runs the actions of all ranks.
class Simulation {
 public:
  explicit Simulation(const TracedPipeline& plan) : plan_(plan), random_(plan.seed), ranks_(plan.ranks) {
    text_ = "@run clock=wall_clock clock_error=10000000 source=kineto\n";
    std::string members;
    for (std::uint32_t rank = 0; rank < plan.ranks; ++rank) {
      text_ += format("@rank {}\n@lane {} main kind=thread number=1\n", rank, rank);
      members += format("{}{}", rank == 0 ? "" : ",", rank);
    }
    text_ += format("@group default_pg {}\n", members);
  }

  std::string text() && {
    for (std::int64_t step = 0; step < plan_.steps; ++step) run_step(step);
    return std::move(text_);
  }

 private:
  struct Rank {
    std::int64_t now = 0;
    std::size_t done = 0;  // of the actions of the step
    Actions actions;
    std::int64_t step_began = 0;
    std::map<std::uint32_t, std::int64_t> open_sends;  // begins, by receiver
  };
  using Link = std::pair<std::uint32_t, std::uint32_t>;

  void run_step(std::int64_t step) {
    for (std::uint32_t rank = 0; rank < plan_.ranks; ++rank) {
      ranks_[rank].actions = Schedule{plan_, rank}.actions();
      ranks_[rank].done = 0;
      ranks_[rank].step_began = ranks_[rank].now;
    }
    for (bool moved = true; moved;) {
      moved = false;
      for (std::uint32_t rank = 0; rank < plan_.ranks; ++rank) moved = advance(rank) || moved;
    }
    for (std::uint32_t rank = 0; rank < plan_.ranks; ++rank) {
      ranks_[rank].now += 200'000;
      add(rank, "step", ranks_[rank].step_began, ranks_[rank].now, format("ProfilerStep#{0} index={0}", step));
    }
  }

  /// As far as messages have arrived; false if nothing could be done.
  bool advance(std::uint32_t rank) {
    Rank& own = ranks_[rank];
    const std::size_t before = own.done;
    while (own.done < own.actions.size() && perform(rank, own.actions[own.done])) ++own.done;
    return own.done > before;
  }

  bool perform(std::uint32_t rank, const Action& action) {
    Rank& own = ranks_[rank];
    switch (action.what) {
      case What::send:
        sent_[{rank, action.peer}].push_back(own.now);
        own.open_sends[action.peer] = own.now;
        own.now += 30'000;
        return true;
      case What::wait_for_send:
        own.now += 5'000;
        add_pair(rank, "send", own.open_sends[action.peer], own.now);
        return true;
      case What::receive:
        return receive(rank, action.peer);
      case What::forward:
        own.now += plan_.sleep_ns(rank);
        compute(rank, plan_.compute_ns(rank));
        return true;
      case What::backward:
        compute(rank, 300'000);
        return true;
    }
    return false;
  }

  bool receive(std::uint32_t rank, std::uint32_t sender) {
    std::vector<std::int64_t>& sent = sent_[{sender, rank}];
    std::size_t& taken = taken_[{sender, rank}];
    if (taken == sent.size()) return false;
    Rank& own = ranks_[rank];
    const std::int64_t begin = own.now;
    const auto late = static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(plan_.most_late_ns + 1));
    own.now = std::max(own.now + 20'000, sent[taken++] + plan_.latency_ns + late);
    add_pair(rank, "recv", begin, own.now);
    return true;
  }

  void compute(std::uint32_t rank, std::int64_t ns) {
    Rank& own = ranks_[rank];
    own.now += 10'000;
    add(rank, "op", own.now, own.now + ns, "aten::linear");
    own.now += ns + 10'000;
  }

  void add_pair(std::uint32_t rank, std::string_view op, std::int64_t begin, std::int64_t end) {
    add(rank, "comm", begin, end,
        format("gloo:{0} op={0} group=default_pg seq=-1{1}", op, plan_.knows_sizes ? " bytes=8192" : ""));
  }
  void add(std::uint32_t rank, std::string_view kind, std::int64_t begin, std::int64_t end, std::string_view rest) {
    const std::int64_t offset = plan_.offsets_ns.empty() ? 0 : plan_.offsets_ns[rank];
    text_ += format("{} {} {} {} {} lane=main\n", rank, kind, begin + offset, end + offset, rest);
  }

  const TracedPipeline& plan_;
  std::mt19937_64 random_;
  std::vector<Rank> ranks_;
  std::map<Link, std::vector<std::int64_t>> sent_;
  std::map<Link, std::size_t> taken_;
  std::string text_;
};

}  // namespace

std::string text_of(const TracedPipeline& plan) { return Simulation{plan}.text(); }

std::shared_ptr<const Run> make(const TracedPipeline& plan) { return run_of(text_of(plan)); }

}  // namespace rankscope::testing

#include "synthetic/worker.h"

#include <algorithm>
#include <array>

#include "rankscope/core/format.h"
#include "rankscope/core/recording/rank_list.h"

namespace rankscope::synthetic {
namespace {

constexpr std::array<std::string_view, 6> operators{"aten::linear", "aten::gelu", "aten::layer_norm",
                                                    "aten::matmul", "aten::add",  "aten::softmax"};
constexpr std::int64_t first_pid = 100'000;
constexpr std::int64_t pids_of_a_rank = 20;

ProcessImage describe(const Plan& plan, std::int32_t rank, const HostClock& clock) {
  const std::int32_t per_host = plan.ranks / plan.hosts;
  return {.rank = rank,
          .world_size = plan.ranks,
          .local_rank = rank % per_host,
          .host = format("node{:03}", rank / per_host),
          .clock = clock};
}

template <class Same>
Communicator communicator(const Plan& plan, std::string name, const Place& own, Same same) {
  std::vector<RankId> members;
  for (std::int32_t rank = 0; rank < plan.ranks; ++rank)
    if (same(place_of(plan, rank), own)) members.push_back(RankId{static_cast<std::uint32_t>(rank)});
  return {std::move(name), recording::rank_list(members)};
}

}  // namespace

double Random::uniform() {
  std::uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

double Random::normal() { return (uniform() + uniform() + uniform() + uniform() - 2) * 1.7320508; }

Worker::Worker(const Plan& plan, std::int32_t rank, const HostClock& clock)
    : plan_(plan),
      image_(describe(plan, rank, clock)),
      random_(plan.seed * 1'000'003 + static_cast<std::uint64_t>(rank)) {
  for (const Fault& fault : plan.faults)
    if (fault.rank == rank) faults_.push_back(&fault);
  const std::int64_t pid = first_pid + pids_of_a_rank * rank;
  image_.threads.emplace_back(pid, image_.clock);
  image_.threads.emplace_back(pid + 1, image_.clock);
  free_at_ = {0, 0};
  main().clock_pair(0);
  main().thread_name("main", 0);
  image_.threads.back().thread_name("loader 0", 0);
  const Place own = place_of(plan, rank);
  dp = communicator(plan, "dp", own, [](const auto& a, const auto& b) { return a.tp == b.tp && a.pp == b.pp; });
  tp = communicator(plan, "tp", own, [](const auto& a, const auto& b) { return a.dp == b.dp && a.pp == b.pp; });
  forward =
      communicator(plan, "pp forward", own, [](const auto& a, const auto& b) { return a.dp == b.dp && a.tp == b.tp; });
  backward = {"pp backward", forward.members};
  main().metadata("role", "trainer");
  main().metadata("model", "synthetic");
  main().metadata("parallel", format("dp {} x pp {} x tp {}", plan.dp(), plan.pp, plan.tp));
  main().metadata("steps", std::to_string(plan.steps));
  if (plan.pp > 1) main().metadata("pp_rank", std::to_string(own.pp));
  if (plan.tp > 1) main().metadata("tp_rank", std::to_string(own.tp));
}

void Worker::compute(std::int64_t length_ns, std::int32_t count) {
  const std::int64_t begin = now;
  for (std::int32_t i = 0; i < count; ++i) {
    main().push(SpanKind::op, operators[next_operator_++ % operators.size()], begin + length_ns * i / count);
    main().pop(begin + length_ns * (i + 1) / count);
  }
  now = begin + length_ns;
}

void Worker::load_batch(std::int64_t length_ns) {
  ThreadImage& loader = image_.threads[1];
  loader.push(SpanKind::loader, "load batch", now);
  loader.pop(now + length_ns / 2);
  begin(SpanKind::data, "data");
  now += length_ns;
  end();
}

void Worker::count_memory(std::int64_t step) {
  main().counter("allocated_bytes", now, 1e9 + static_cast<double>(step % 2) * 1e6);
  main().counter("peak_allocated_bytes", now, 2e9);
}

Pending Worker::enqueue(Communicator& group, const Call& call, const std::string& lane) {
  const auto [known, added] = lanes_.try_emplace(lane, image_.threads.size());
  if (added) {
    const std::int64_t thread = main().os_thread() + static_cast<std::int64_t>(image_.threads.size());
    image_.threads.emplace_back(thread, image_.clock).thread_name("comm " + lane, now);
    free_at_.push_back(0);
  }
  const std::uint64_t uid = next_uid_++;
  main().enqueued({.uid = uid,
                   .sequence = group.next_sequence++,
                   .bytes = call.bytes,
                   .group = group.name,
                   .op = call.op,
                   .members = group.members,
                   .peer = call.peer},
                  now);
  return {uid, now + plan_.pick_up_ns, known->second};
}

std::int64_t Worker::start_of(const Pending& pending) const {
  return std::max(pending.ready_ns, free_at_[pending.lane]);
}

void Worker::execute(const Pending& pending, std::int64_t start, std::int64_t finish) {
  image_.threads[pending.lane].started(pending.uid, start);
  image_.threads[pending.lane].finished(pending.uid, finish);
  free_at_[pending.lane] = finish;
}

void Worker::wait_until(std::int64_t finish, std::string_view what) {
  begin(SpanKind::wait, what);
  now = std::max(now, finish);
  end();
}

double Worker::slowness(std::int64_t step) const {
  double factor = 1;
  for (const Fault* fault : faults_)
    if (fault->kind == FaultKind::slow && fault->hits(step)) factor *= fault->factor;
  return factor;
}

double Worker::extra_ms(FaultKind kind, std::int64_t step) const {
  double ms = 0;
  for (const Fault* fault : faults_)
    if (fault->kind == kind && fault->hits(step)) ms += fault->ms;
  return ms;
}

std::int64_t Worker::noisy(double ms, std::int64_t step) {
  return std::max<std::int64_t>(0, ns_of(ms * slowness(step) * (1 + plan_.noise * random_.normal())));
}

ProcessImage Worker::finish() {
  main().clock_pair(now + 1'000'000);
  image_.end_ns = now + 1'000'000;
  return std::move(image_);
}

double link_factor(const Plan& plan, std::int64_t step, std::int32_t a, std::int32_t b) {
  double factor = 1;
  for (const Fault& fault : plan.faults) {
    const bool same = (fault.rank == a && fault.other == b) || (fault.rank == b && fault.other == a);
    if (fault.kind == FaultKind::link && same && fault.hits(step)) factor *= fault.factor;
  }
  return factor;
}

}  // namespace rankscope::synthetic

#include "synthetic/pipeline.h"

#include <algorithm>
#include <stdexcept>

#include "rankscope/core/format.h"

namespace rankscope::synthetic {
namespace {

using enum PipelinePart;

constexpr std::int64_t bucket_bytes = 25 << 20;
constexpr std::int64_t layer_bytes = 1 << 20;
constexpr std::int64_t parcel_bytes = 4 << 20;

double nominal_ms(const Plan& plan, PipelinePart part) {
  switch (part) {
    case forward:
      return plan.forward_ms;
    case backward:
      return plan.input_ms + plan.weight_ms;
    case backward_input:
      return plan.input_ms;
    case backward_weight:
      return plan.weight_ms;
  }
  return 0;
}

}  // namespace

Pipeline::Pipeline(const Plan& plan, const Teams& teams, std::int64_t step)
    : plan_(plan), teams_(teams), step_(step), next_(teams.size()) {
  for (std::int32_t place = 0; place < plan.pp; ++place)
    orders_.push_back(pipeline_order(plan.schedule, plan.shape(), place));
  const auto actions = static_cast<std::int32_t>(orders_.front().size());
  operators_per_action_ = std::max(1, plan.operators / (actions + 1));
}

void Pipeline::run() {
  for (std::int32_t place = 0; place < plan_.pp; ++place) expect(place, 0);
  for (bool moved = true; moved;) {
    moved = false;
    for (std::int32_t place = 0; place < plan_.pp; ++place)
      while (try_next(place)) moved = true;
  }
  for (std::size_t place = 0; place < orders_.size(); ++place)
    if (next_[place] < orders_[place].size()) throw std::logic_error("the schedule stands still");
}

std::int32_t Pipeline::stage(std::int32_t place, const PipelineAction& action) const {
  return stage_of(plan_.schedule, plan_.shape(), place, action.chunk);
}

std::int32_t Pipeline::place_of_stage(std::int32_t stage) const {
  for (std::int32_t place = 0; place < plan_.pp; ++place)
    for (std::int32_t chunk = 0; chunk < plan_.chunks; ++chunk)
      if (stage_of(plan_.schedule, plan_.shape(), place, chunk) == stage) return place;
  throw std::logic_error("no such stage");
}

/// The stage whose result the action needs, if another rank has it.
std::optional<std::int32_t> Pipeline::stage_before(std::int32_t place, const PipelineAction& action) const {
  if (action.part == backward_weight) return std::nullopt;
  const std::int32_t before = stage(place, action) + (action.part == forward ? -1 : 1);
  if (before < 0 || before >= plan_.pp * plan_.chunks || place_of_stage(before) == place) return std::nullopt;
  return before;
}

/// Posts the receive of an action ahead of it, so that what is sent need not wait for the receiver to be idle.
void Pipeline::expect(std::int32_t place, std::size_t next) {
  const auto at = static_cast<std::size_t>(place);
  if (next >= orders_[at].size()) return;
  const PipelineAction& action = orders_[at][next];
  const auto before = stage_before(place, action);
  if (!before) return;
  const std::int32_t source = place_of_stage(*before);
  for (std::int32_t tp = 0; tp < plan_.tp; ++tp) {
    Worker& worker = *teams_[at][static_cast<std::size_t>(tp)];
    const bool is_forward = action.part == forward;
    Transfer& transfer = transfers_[{is_forward, stage(place, action), action.micro_batch, tp}];
    const std::int32_t peer = teams_[static_cast<std::size_t>(source)][static_cast<std::size_t>(tp)]->rank();
    Communicator& group = is_forward ? worker.forward : worker.backward;
    transfer.receiver = &worker;
    transfer.receive = worker.enqueue(group, {.op = "recv", .label = {}, .bytes = parcel_bytes, .peer = peer},
                                      format("{} from {}", group.name, peer));
    settle(transfer);
  }
}

void Pipeline::settle(Transfer& transfer) const {
  if (transfer.sender == nullptr || transfer.receiver == nullptr || transfer.finish) return;
  const std::int64_t send = transfer.sender->start_of(transfer.send);
  const std::int64_t receive = transfer.receiver->start_of(transfer.receive);
  const double factor = link_factor(plan_, step_, transfer.sender->rank(), transfer.receiver->rank());
  transfer.finish = std::max(send, receive) + ns_of(plan_.send_ms * factor);
  transfer.sender->execute(transfer.send, send, *transfer.finish);
  transfer.receiver->execute(transfer.receive, receive, *transfer.finish);
}

bool Pipeline::try_next(std::int32_t place) {
  const auto at = static_cast<std::size_t>(place);
  if (next_[at] >= orders_[at].size()) return false;
  const PipelineAction& action = orders_[at][next_[at]];
  if (stage_before(place, action)) {
    for (std::int32_t tp = 0; tp < plan_.tp; ++tp) {
      const Parcel parcel{action.part == forward, stage(place, action), action.micro_batch, tp};
      if (!transfers_[parcel].finish) return false;
    }
  }
  ++next_[at];
  act(place, action);
  return true;
}

void Pipeline::act(std::int32_t place, const PipelineAction& action) {
  const auto at = static_cast<std::size_t>(place);
  const Team& team = teams_[at];
  if (stage_before(place, action)) {
    for (std::int32_t tp = 0; tp < plan_.tp; ++tp) {
      Worker& worker = *team[static_cast<std::size_t>(tp)];
      const Parcel parcel{action.part == forward, stage(place, action), action.micro_batch, tp};
      worker.wait_until(*transfers_.at(parcel).finish, "wait recv");
    }
  }
  expect(place, next_[at]);
  work(team, place, action);
  if (action.part != backward_weight) pass_on(place, action);
}

void Pipeline::work(const Team& team, std::int32_t place, const PipelineAction& action) {
  const double share = plan_.stage_work.empty() ? 1 : plan_.stage_work[static_cast<std::size_t>(place)];
  const double ms = nominal_ms(plan_, action.part) * share / plan_.chunks;
  for (Worker* worker : team) {
    worker->now += plan_.gap_ns;
    worker->begin(action.part == forward ? SpanKind::forward : SpanKind::backward, span_name_of(action.part));
    if (plan_.pp == 1) continue;
    worker->attribute("stage", stage(place, action));
    worker->attribute("micro_batch", action.micro_batch);
    if (plan_.chunks > 1) worker->attribute("chunk", action.chunk);
  }
  const bool is_last = next_[static_cast<std::size_t>(place)] == orders_[static_cast<std::size_t>(place)].size();
  const std::int32_t layers = std::max(1, plan_.layers);
  for (std::int32_t layer = 0; layer < layers; ++layer) {
    for (Worker* worker : team) {
      worker->compute(worker->noisy(ms / layers, step_), std::max(1, operators_per_action_ / layers));
      if (is_last) enqueue_gradients(*worker, layer);
    }
    if (plan_.tp > 1 && action.part != backward_weight) exchange(team);
  }
  for (Worker* worker : team) worker->end();
}

/// The tensor-parallel all-reduce at the end of a layer.
void Pipeline::exchange(const Team& team) {
  std::vector<Pending> pending;
  std::int64_t go = 0;
  double factor = 1;
  for (Worker* worker : team) {
    pending.push_back(worker->enqueue(worker->tp, {.op = "allreduce", .label = {}, .bytes = layer_bytes}, "tp"));
    go = std::max(go, worker->start_of(pending.back()));
    for (const Worker* other : team)
      factor = std::max(factor, link_factor(plan_, step_, worker->rank(), other->rank()));
  }
  const std::int64_t finish = go + ns_of(plan_.tp_ms * factor);
  for (std::size_t i = 0; i < team.size(); ++i) {
    team[i]->execute(pending[i], team[i]->start_of(pending[i]), finish);
    team[i]->wait_until(finish, "wait allreduce tp");
  }
}

void Pipeline::pass_on(std::int32_t place, const PipelineAction& action) {
  const bool is_forward = action.part == forward;
  const std::int32_t into = stage(place, action) + (is_forward ? 1 : -1);
  if (into < 0 || into >= plan_.pp * plan_.chunks) return;
  const std::int32_t target = place_of_stage(into);
  if (target == place) return;
  for (std::int32_t tp = 0; tp < plan_.tp; ++tp) {
    Worker& worker = *teams_[static_cast<std::size_t>(place)][static_cast<std::size_t>(tp)];
    Communicator& group = is_forward ? worker.forward : worker.backward;
    const std::int32_t peer = teams_[static_cast<std::size_t>(target)][static_cast<std::size_t>(tp)]->rank();
    Transfer& transfer = transfers_[{is_forward, into, action.micro_batch, tp}];
    transfer.sender = &worker;
    transfer.send = worker.enqueue(group, {.op = "send", .label = {}, .bytes = parcel_bytes, .peer = peer},
                                   format("{} to {}", group.name, peer));
    settle(transfer);
  }
}

/// Buckets fill evenly over the layers of the last action.
void Pipeline::enqueue_gradients(Worker& worker, std::int32_t layer) const {
  if (plan_.dp() == 1) return;
  const std::int32_t layers = std::max(1, plan_.layers);
  const std::int32_t first = plan_.buckets * layer / layers;
  const std::int32_t last = plan_.buckets * (layer + 1) / layers;
  for (std::int32_t bucket = first; bucket < last; ++bucket) {
    Pending pending =
        worker.enqueue(worker.dp, {.op = "allreduce", .label = {}, .bytes = bucket_bytes, .peer = -1}, "dp");
    if (bucket + 1 == plan_.buckets) pending.ready_ns += ns_of(worker.extra_ms(FaultKind::comm, step_));
    worker.gradients.push_back(pending);
  }
}

}  // namespace rankscope::synthetic

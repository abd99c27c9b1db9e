#include "engine/comm/gloo.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <thread>

#include "engine/comm/accelerator.h"
#include "rankscope/core/format.h"
#include "rankscope/core/numbers.h"
#include "rankscope/core/process_stat.h"
#include "rankscope/trainer/launch/gpu_plan.h"
#include "rankscope/trainer/launch/log.h"
#include "rankscope/trainer/layout/ring.h"

namespace rankscope::trainer {
namespace {

using c10d::ProcessGroupGloo;

constexpr std::chrono::milliseconds time_for_others{300};
constexpr int point_to_point_tag = 0;  // partners agree on the order, so tags need not tell transfers apart

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

struct Peer {
  int rank = 0;
  std::string host{};
  pid_t pid = 0;
  std::uint64_t started = 0;  ///< tells a reused pid
  std::string device{};       ///< as RankDevice has it
};

std::string own_card(const Placement& place) {
  const auto own = process_stat(getpid());
  const std::string device = place.gpu ? accelerator()->describe(*place.gpu).uuid : "cpu";
  return format("{} {} {} {}", host_name(), getpid(), own ? own->start_ticks_of_boot : 0, device);
}

Result<Peer> peer_of(int rank, const std::string& card) {
  std::array<std::string_view, 4> words;
  std::string_view rest = card;
  for (std::string_view& word : words) {
    word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
  }
  const auto pid = number_from<pid_t>(words[1]);
  const auto started = number_from<std::uint64_t>(words[2]);
  if (!pid || !started || words[3].empty())
    return fail(ErrorKind::usage, format("rank {} identifies itself as \"{}\", which this rankscope-train cannot read; "
                                         "use the same version on all machines",
                                         rank, card));
  return Peer{
      .rank = rank, .host = std::string{words[0]}, .pid = *pid, .started = *started, .device = std::string{words[3]}};
}

// Only processes of this host can be looked at; "" means alive.
std::string trouble_of(const Peer& peer, const std::string& host) {
  if (peer.host != host) return {};
  const auto now = process_stat(peer.pid);
  if (now && now->state == 'T') return format("rank {} is stopped", peer.rank);
  const bool gone = !now || now->state == 'X' || now->state == 'Z' || now->start_ticks_of_boot != peer.started;
  return gone ? format("rank {} is gone", peer.rank) : std::string{};
}

std::vector<std::uint8_t> bytes_of(const std::string& text) { return {text.begin(), text.end()}; }
std::string text_of(const std::vector<std::uint8_t>& bytes) { return {bytes.begin(), bytes.end()}; }

// Gloo's thread drops the tensors a moment after it has told that it is done. Whoever waits for an operation shall be
// alone with its tensors then, or memory that is freed is not counted, since that is by thread. No operation depends on
// it, so this does not last.
void wait_until_dropped(const c10::intrusive_ptr<c10d::Work>& work) {
  const auto latest = std::chrono::steady_clock::now() + std::chrono::milliseconds{10};
  while (work.use_count() > 1 && std::chrono::steady_clock::now() < latest) std::this_thread::yield();
}

class GlooTransport final : public Transport {
 public:
  explicit GlooTransport(c10::intrusive_ptr<ProcessGroupGloo> group) : group_(std::move(group)) {}

  void run(Operation& operation) override {
    at::Tensor received;  // what the others have for this rank's part of a reduce_scatter
    if (operation.op == CommOp::reduce_scatter) received = at::empty_like(operation.tensor).flatten();
    c10::intrusive_ptr<c10d::Work> work;
    {
      // Sends, receives and collectives start on threads of their own; the group numbers them without a lock.
      const std::lock_guard lock{starting_};
      work = start(operation, received);
    }
    work->wait();
    wait_until_dropped(work);
    if (received.defined()) {
      at::Tensor own = operation.outputs.front().flatten();
      at::sum_out(own, received.view({-1, own.numel()}), {0});
    }
  }

 private:
  c10::intrusive_ptr<c10d::Work> start(Operation& operation, at::Tensor& received) {
    std::vector<at::Tensor> tensors{operation.tensor};
    switch (operation.op) {
      case CommOp::allreduce: {
        c10d::AllreduceOptions options;
        options.reduceOp = operation.reduce == Reduce::max ? c10d::ReduceOp::MAX : c10d::ReduceOp::SUM;
        return group_->allreduce(tensors, options);
      }
      case CommOp::reduce_scatter: {
        // Gloo's own reduces all of it on every rank and throws most of it away.
        at::Tensor input = operation.tensor.flatten();
        std::vector<std::int64_t> equal_parts;
        return group_->alltoall_base(received, input, equal_parts, equal_parts);
      }
      case CommOp::broadcast: {
        c10d::BroadcastOptions options;
        options.rootRank = operation.root;
        return group_->broadcast(tensors, options);
      }
      case CommOp::allgather: {
        std::vector<std::vector<at::Tensor>> outputs{operation.outputs};
        return group_->allgather(outputs, tensors);
      }
      case CommOp::barrier:
        return group_->barrier();
      case CommOp::send:
        return group_->send(tensors, operation.root, point_to_point_tag);
      case CommOp::recv:
        return group_->recv(tensors, operation.root, point_to_point_tag);
    }
    return nullptr;
  }

  c10::intrusive_ptr<ProcessGroupGloo> group_;
  std::mutex starting_;
};

// GLOO_SOCKET_IFNAME is read by PyTorch's Python layer only, so we read it here.
std::shared_ptr<gloo::transport::Device> device_for(const Placement& place) {
  if (const auto interface = process_environment("GLOO_SOCKET_IFNAME")) {
    return ProcessGroupGloo::createDeviceForInterface(*interface);
  }
  if (place.local_world_size == place.world_size) return ProcessGroupGloo::createDeviceForHostname("127.0.0.1");
  return ProcessGroupGloo::createDefaultDevice();
}

c10d::TCPStoreOptions store_options(const Placement& place, std::chrono::seconds timeout) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(place.master_port);
  options.isServer = place.rank == 0 && place.server == StoreServer::rank_zero;
  options.waitWorkers = false;  // the groups wait for one another
  options.timeout = timeout;
  if (options.isServer) options.masterListenFd = place.store_fd;
  return options;
}

std::string silent_ranks(const std::vector<int>& ranks, std::chrono::milliseconds timeout) {
  std::string list;
  for (const int rank : ranks) list += format("{}{}", list.empty() ? "" : ", ", rank);
  return format("rank{} {} {} not answered for {} s", ranks.size() == 1 ? "" : "s", list,
                ranks.size() == 1 ? "has" : "have", timeout.count() / 1000);
}

/// NCCL connects two ranks in their first operation, and its work on the device for this waits for what runs there: in
/// a pipeline that may be a receive whose sender waits for that operation. So neighbours send one element before all
/// else.
Result<void> meet_neighbours(Comm& comm) {
  const Group& group = comm.group();
  for (const Direction& direction : directions_in_ring(group.position, group.size())) {
    at::Tensor one = at::zeros({1});
    Handle contact = direction.from == group.position ? comm.send(one, direction.to, "first contact")
                                                      : comm.recv(one, direction.from, "first contact");
    RS_TRY_VOID(contact.wait());
  }
  return {};
}

}  // namespace

struct Rendezvous::Parts {
  Placement place;
  std::chrono::milliseconds timeout;
  c10::intrusive_ptr<c10d::Store> store;
  std::vector<Peer> ranks{};  // this one, too

  [[nodiscard]] std::unique_ptr<Transport> connect(const Group& group, Traffic traffic) const;

  [[nodiscard]] Result<void> exchange_cards() {
    store->set(format("card/{}", place.rank), bytes_of(own_card(place)));
    for (int rank = 0; rank < place.world_size; ++rank) {
      RS_TRY(Peer peer, peer_of(rank, text_of(store->get(format("card/{}", rank)))));
      ranks.push_back(std::move(peer));
    }
    return {};
  }

  // All ranks come to the same result.
  [[nodiscard]] Result<void> check_devices() const {
    std::vector<RankDevice> all;
    for (const Peer& peer : ranks) all.push_back({peer.rank, peer.host, peer.device, place.shares_gpu});
    const std::string conflict = device_conflict(all);
    if (conflict.empty()) return {};
    if (place.rank == 0) std::this_thread::sleep_for(time_for_others);  // it serves the store
    return fail(ErrorKind::usage, conflict);
  }

  // Those that wait for others give up at about the same time, and say so here; who stands still does not.
  [[nodiscard]] std::string who_is_silent() {
    store->set(format("waited/{}", place.rank), bytes_of("yes"));
    std::vector<int> silent;
    for (int attempt = 0; attempt < 40; ++attempt) {
      silent.clear();
      for (int rank = 0; rank < place.world_size; ++rank)
        if (!store->check({format("waited/{}", rank)})) silent.push_back(rank);
      if (silent.size() <= 1) break;
      std::this_thread::sleep_for(std::chrono::milliseconds{50});
    }
    return silent.empty() ? "" : silent_ranks(silent, timeout);
  }

  /// How many have found it when all have, or a second later.
  [[nodiscard]] int finders(const std::string& count) {
    const auto latest = std::chrono::steady_clock::now() + std::chrono::seconds{1};
    while (true) {
      const auto found = static_cast<int>(store->add(count, 0));
      if (found >= place.world_size || std::chrono::steady_clock::now() > latest) return found;
      std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
  }

  void wait_for_completion(const std::string& reason) {
    const auto latest = std::chrono::steady_clock::now() + std::chrono::seconds{3};
    while (!store->check({"reported/" + reason}) && std::chrono::steady_clock::now() < latest)
      std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }

  [[nodiscard]] std::string look() const {
    std::string found;
    for (const Peer& peer : ranks) {
      if (peer.rank == place.rank) continue;
      const std::string trouble = trouble_of(peer, host_name());
      if (!trouble.empty()) found += (found.empty() ? "" : ", ") + trouble;
    }
    return found;
  }
};

Rendezvous::Rendezvous(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Rendezvous::~Rendezvous() = default;

Result<std::unique_ptr<Rendezvous>> Rendezvous::meet(const Placement& place, std::chrono::seconds timeout) {
  auto parts = std::make_unique<Parts>(Parts{place, timeout, nullptr});
  try {
    auto store = c10::make_intrusive<c10d::TCPStore>(place.master_address, store_options(place, timeout));
    parts->store = c10::make_intrusive<c10d::PrefixStore>("rankscope/" + place.attempt, std::move(store));
    RS_TRY_VOID(parts->exchange_cards());
  } catch (const std::exception& error) {
    const std::string what = error.what();
    if (what.find("EADDRINUSE") != std::string::npos) {
      return fail(ErrorKind::cannot_write,
                  format("port {} is in use; give a free one with --master-port or MASTER_PORT", place.master_port));
    }
    return fail(ErrorKind::cannot_write, format("rank {} could not connect to {} through {}:{}: {}", place.rank,
                                                counted(place.world_size - 1, "other rank"), place.master_address,
                                                place.master_port, what.substr(0, what.find('\n'))));
  }
  RS_TRY_VOID(parts->check_devices());
  return std::unique_ptr<Rendezvous>{new Rendezvous{std::move(parts)}};
}

std::unique_ptr<Transport> Rendezvous::Parts::connect(const Group& group, Traffic traffic) const {
  auto group_store = c10::make_intrusive<c10d::PrefixStore>("group/" + group.name, store);
  if (place.gpu)
    return accelerator()->connect(
        {std::move(group_store), group.position, group.size(), timeout, *place.gpu, traffic == Traffic::stages});
  auto options = ProcessGroupGloo::Options::create(timeout);
  options->threads = 1;  // one thread, one order
  options->devices.push_back(device_for(place));
  return std::make_unique<GlooTransport>(
      c10::make_intrusive<ProcessGroupGloo>(group_store, group.position, group.size(), options));
}

Result<std::unique_ptr<Comm>> Rendezvous::make_group(const std::string& name, std::vector<int> members,
                                                     Traffic traffic) {
  const auto self = std::ranges::find(members, parts_->place.rank);
  RS_CHECK(self != members.end());
  const int position = static_cast<int>(self - members.begin());
  Group group{name, std::move(members), position};
  try {
    auto transport = parts_->connect(group, traffic);
    auto comm = std::make_unique<Comm>(std::move(group), std::move(transport));
    if (parts_->place.gpu && traffic == Traffic::stages) RS_TRY_VOID(meet_neighbours(*comm));
    return comm;
  } catch (const std::exception& error) {
    const std::string what = error.what();
    return fail(ErrorKind::cannot_write, format("group {}: {}", name, what.substr(0, what.find('\n'))));
  }
}

void Rendezvous::wait_for_groups() {
  constexpr const char* all_made = "all groups made";
  try {
    if (parts_->store->add("groups", 1) == parts_->place.world_size) parts_->store->set(all_made, bytes_of("yes"));
    parts_->store->wait({all_made}, parts_->timeout);
  } catch (const std::exception&) {
    // Time is up, or rank 0, which serves the store, has ended: after all had made their groups, or the first operation
    // shows who is gone.
  }
}

std::optional<int> Rendezvous::others_who_found(const std::string& reason) {
  const std::string count = "found/" + reason;
  bool is_first = true;  // as far as it knows, where rank 0 is gone and the store with it
  try {
    is_first = parts_->store->add(count, 1) == 1;
    if (is_first) return parts_->finders(count) - 1;
    parts_->wait_for_completion(reason);
  } catch (const std::exception&) {
    if (is_first) return 0;
  }
  return std::nullopt;
}

void Rendezvous::mark_reported(const std::string& reason) {
  try {
    parts_->store->set("reported/" + reason, bytes_of("yes"));
  } catch (const std::exception& error) {
    log_progress(format("cannot notify the other ranks that the error has been reported: {}", error.what()));
  }
}

std::string Rendezvous::who_is_gone(const std::string& failure) {
  // A peer's connections close shortly before it can be seen as dead.
  std::string found = parts_->look();
  for (int attempt = 0; attempt < 400 && found.empty(); ++attempt) {
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
    found = parts_->look();
  }
  if (parts_->place.rank != 0 && found.starts_with("rank 0 is")) return found;  // the store went with it
  try {
    const bool waited = failure.find("Timed out") != std::string::npos;  // Gloo's words
    if (found.empty() && waited) found = parts_->who_is_silent();
    // It serves the store, which the others still ask.
    if (parts_->place.rank == 0) std::this_thread::sleep_for(time_for_others);
    // Ranks that end because of the first one must not be named as lost, too.
    const auto first_answer = parts_->store->compareSet("gone", {}, bytes_of(found));
    return text_of(first_answer);
  } catch (const std::exception&) {
    return found;
  }
}

}  // namespace rankscope::trainer

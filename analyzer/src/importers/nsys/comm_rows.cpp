#include "importers/nsys/comm_rows.h"

#include <algorithm>
#include <map>
#include <set>

#include "importers/shared/comm_names.h"

namespace rankscope::analyzer::nsys {
namespace {

constexpr std::string_view sends_and_receives = "sendrecv";  // who with whom is not known
constexpr std::ptrdiff_t furthest_back = 64;                 // ranges that nest around a launch

/// The calls that one kernel carries out. `id` tells kernels of one group apart from those of another.
struct Carried {
  std::vector<const NcclCall*> calls{};
  const NcclCall* id = nullptr;
};

/// Index of the innermost range that contains a time; -1 if none does.
template <class Call>
std::ptrdiff_t innermost(const std::vector<Call>& calls, RunTime time) {
  const auto after = std::ranges::upper_bound(calls, time, {}, [](const Call& call) { return call.time.begin; });
  const std::ptrdiff_t last = after - calls.begin() - 1;
  for (std::ptrdiff_t i = last; i >= 0 && i > last - furthest_back; --i)
    if (calls[static_cast<std::size_t>(i)].time.contains(time)) return i;
  return -1;
}

/// Operations between ncclGroupStart and the ncclGroupEnd in which the kernel was launched.
Carried group_of(const std::vector<NcclCall>& calls, std::ptrdiff_t end) {
  Carried carried{.calls = {}, .id = &calls[static_cast<std::size_t>(end)]};
  int depth = 1;
  for (std::ptrdiff_t i = end - 1; i >= 0 && depth > 0; --i) {
    const NcclCall& call = calls[static_cast<std::size_t>(i)];
    switch (call.role) {
      case CallRole::group_end:
        ++depth;
        break;
      case CallRole::group_start:
        --depth;
        break;
      case CallRole::operation:
        carried.calls.push_back(&call);
        break;
    }
  }
  std::ranges::reverse(carried.calls);
  return carried;
}

Carried carried_by(const std::vector<NcclCall>& calls, RunTime launch) {
  const std::ptrdiff_t inner = innermost(calls, launch);
  if (inner < 0) return {};
  const NcclCall& call = calls[static_cast<std::size_t>(inner)];
  if (call.role == CallRole::operation) return {{&call}, &call};
  for (std::ptrdiff_t i = inner - 1; i >= 0 && i > inner - furthest_back; --i) {
    const NcclCall& outer = calls[static_cast<std::size_t>(i)];
    if (outer.role == CallRole::operation && outer.time.contains(launch)) return {{&outer}, &outer};
  }
  return call.role == CallRole::group_end ? group_of(calls, inner) : Carried{};
}

std::int64_t sum_of_bytes(const std::vector<const NcclCall*>& calls, std::string_view op = {}) {
  std::int64_t sum = -1;
  for (const NcclCall* call : calls) {
    const auto bytes = call->payload.bytes;
    if (!bytes || *bytes < 0 || (!op.empty() && call->op != op)) continue;
    sum = std::max<std::int64_t>(sum, 0);
    if (__builtin_add_overflow(sum, *bytes, &sum)) return -1;
  }
  return sum;
}

class FileRows {
 public:
  FileRows(const RunBuilder& builder, const FileCommunication& file) : builder_(builder), file_(file) {
    for (const Joined& joined : file.joined) size_of_[joined.communicator] = joined.ranks;
  }

  std::vector<CommRow> read() {
    for (const CommKernel& kernel : file_.kernels)
      if (const auto rank = file_.ranks.find(kernel.process); rank != file_.ranks.end()) add(kernel, rank->second);
    name_unlaunched();
    std::ranges::stable_sort(rows_, {}, [](const CommRow& row) { return std::pair{row.rank, row.started()}; });
    return std::move(rows_);
  }

 private:
  void add(const CommKernel& kernel, RankId rank) {
    const KernelOp named = op_of_kernel(builder_.text(kernel.name));
    CommRow row{.rank = rank, .kernel = &kernel, .op = named.op, .dtype = named.dtype};
    const auto thread = kernel.launched ? file_.calls.find(kernel.global_tid) : file_.calls.end();
    if (thread == file_.calls.end()) {
      rows_.push_back(row);
      return;
    }
    Carried carried = carried_by(thread->second.nccl, kernel.launch.begin);
    if (carried.id != nullptr && !used_.insert(carried.id).second) carried.calls.clear();  // a second kernel of a group
    const std::ptrdiff_t range = innermost(thread->second.framework, kernel.launch.begin);
    const FrameworkCall* const framework =
        range < 0 ? nullptr : &thread->second.framework[static_cast<std::size_t>(range)];
    describe(row, carried, framework);
  }

  void describe(CommRow row, const Carried& carried, const FrameworkCall* framework) {
    if (!carried.calls.empty()) row.communicator = carried.calls.front()->payload.communicator;
    const bool only_pairs = !carried.calls.empty() &&
                            std::ranges::all_of(carried.calls, [](const NcclCall* call) { return is_pair(call->op); });
    if (framework != nullptr && !is_pair(framework->op)) {
      row.op = framework->op;
      row.bytes = row.op == "alltoall" && only_pairs ? per_peer(carried, row) : sum_of_bytes(carried.calls);
      take_root(row, carried);
      rows_.push_back(row);
    } else if (only_pairs && is_alltoall(carried, row)) {
      row.op = "alltoall";
      row.bytes = per_peer(carried, row);
      rows_.push_back(row);
    } else if (only_pairs && std::ranges::all_of(carried.calls,
                                                 [](const NcclCall* call) { return call->payload.peer.has_value(); })) {
      add_pairs(row, carried);
    } else if (framework != nullptr) {
      row.op = framework->op;
      row.peer = framework->peer.value_or(-1);
      row.bytes = sum_of_bytes(carried.calls, row.op);
      rows_.push_back(row);
    } else {
      if (!carried.calls.empty()) row.op = only_pairs ? sends_and_receives : carried.calls.front()->op;
      row.bytes = sum_of_bytes(carried.calls);
      take_root(row, carried);
      rows_.push_back(row);
    }
  }

  static void take_root(CommRow& row, const Carried& carried) {
    if (!carried.calls.empty()) row.peer = carried.calls.front()->payload.root.value_or(-1);
  }

  [[nodiscard]] std::int64_t size_of(const CommRow& row) const {
    const auto found = row.communicator ? size_of_.find(*row.communicator) : size_of_.end();
    return found == size_of_.end() ? 0 : found->second;
  }

  /// An all-to-all has no call of its own before NCCL 2.28: everybody sends to everybody.
  [[nodiscard]] bool is_alltoall(const Carried& carried, const CommRow& row) const {
    std::set<std::int64_t> to;
    std::set<std::int64_t> from;
    for (const NcclCall* call : carried.calls)
      if (call->payload.peer) (call->op == "send" ? to : from).insert(*call->payload.peer);
    const auto others = static_cast<std::size_t>(std::max<std::int64_t>(size_of(row) - 1, 0));
    return others >= 2 && to.size() >= others && from.size() >= others;
  }

  /// The convention is the part for one peer (metrics.md 6).
  [[nodiscard]] std::int64_t per_peer(const Carried& carried, const CommRow& row) const {
    const std::int64_t sent = sum_of_bytes(carried.calls, "send");
    const auto sends = std::ranges::count(carried.calls, std::string_view{"send"}, &NcclCall::op);
    const std::int64_t peers = size_of(row) > 0 ? size_of(row) : sends;
    return sent < 0 || peers == 0 ? -1 : sent / peers;
  }

  void add_pairs(CommRow row, const Carried& carried) {
    for (const NcclCall* call : carried.calls) {
      row.op = call->op;
      row.peer = *call->payload.peer;
      row.bytes = call->payload.bytes.value_or(-1);
      rows_.push_back(row);
      row.owns_span = false;
    }
  }

  // At the edges of a window the launch is missing, and the name of the kernel tells less than the range around it. If
  // all others of its name in that process were one operation, so was this one.
  void name_unlaunched() {
    std::map<std::pair<RankId, StringId>, std::set<std::string_view>> known;
    for (const CommRow& row : rows_)
      if (row.kernel->launched) known[{row.rank, row.kernel->name}].insert(row.op);
    for (CommRow& row : rows_) {
      const auto& ops = known[{row.rank, row.kernel->name}];
      if (!row.kernel->launched && ops.size() == 1 && !is_pair(*ops.begin())) row.op = *ops.begin();
    }
  }

  const RunBuilder& builder_;
  const FileCommunication& file_;
  std::map<std::uint64_t, std::int64_t> size_of_;
  std::set<const NcclCall*> used_;
  std::vector<CommRow> rows_;
};

}  // namespace

std::vector<CommRow> rows_of(const RunBuilder& builder, const FileCommunication& file) {
  return FileRows(builder, file).read();
}

}  // namespace rankscope::analyzer::nsys

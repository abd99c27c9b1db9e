// Lets the real libnccl load a profiler plugin and tell it of its operations, on a machine without a GPU: NCCL's own
// code that finds the plugin and fills in the event descriptors is called by the names in the library's symbol table.
// What that code reads of a communicator and a plan stands at offsets that nccl_layouts.h lists by version; those of
// proxy operations were measured for NCCL 2.28.9.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "nccl_layouts.h"
#include "nccl_library.h"
#include "rankscope/collectors/annotate.h"

namespace {

using nccl_caller::cannot_be_tried;
using nccl_caller::give_up;
using nccl_caller::Layout;
using nccl_caller::Nccl;
using nccl_caller::require;
using nccl_caller::Structure;

/// Of which also the proxy's structures are known.
constexpr int best_known_version = 22809;

// Numbers of nccl.h and of NCCL's tables.
constexpr int all_gather = 2, all_reduce = 4, send_call = 6;
constexpr int float16 = 6, float32 = 7, bfloat16 = 9;
constexpr std::int8_t ring = 1, nvls = 4, ll128 = 1, simple = 2;
constexpr std::uint64_t hash = 0xFEDCBA9876543210;
constexpr int send_gpu_wait = 8, send_wait = 9, send_peer_wait = 20;
constexpr int net_transport = 2;

// What all known versions have in common; sizes are of the largest.
constexpr std::size_t communicator_bytes = 1'300'000, task_bytes = 512, plan_bytes = 512, plan_comm = 16;
namespace info {
constexpr std::size_t bytes = 256, call = 0, count = 32, datatype = 40, root = 48, comm = 56;
}
namespace collective {
constexpr std::size_t function = 8, count = 32, root = 40, datatype = 44, warps = 97, algorithm = 98, protocol = 99;
}
namespace pair {
constexpr std::size_t function = 8, count = 24, datatype = 32, peer = 36;
}
namespace proxy {  // the first of the operations that its arguments hold
constexpr std::size_t bytes = 33'016, channel = 72, steps = 76, peer = 96, mask = 248, rank = 252, process = 256,
                      context = 264, task = 272, moved = 424, progress = 32'768, slice_steps = 32'800,
                      chunk_bytes = 32'808;
}
constexpr std::size_t api_state_pair = 24, api_state_collective = 32;  // handles of the API calls of a thread
constexpr std::size_t transport_bytes = 8 + 8 + 2 * 80, send_progress = 72;

class Caller {
 public:
  explicit Caller(const char* path)
      : nccl_(path), comm_(communicator_bytes), info_(info::bytes), plan_(plan_bytes), at_(layout()) {
    comm_.set(at_.comm.hash, hash);
    comm_.set(at_.comm.rank, 1);
    comm_.set(at_.comm.ranks, 2);
    comm_.set(at_.comm.nodes, 1);
    comm_.set(at_.comm.name, "mine");
    info_.set(info::comm, comm_.address());
    plan_.set(plan_comm, comm_.address());
  }

  void join() {
    call_reduce(1);  // as a call of NCCL does, this pushes a range before the plugin is loaded
    nccl_.call("_Z22ncclProfilerPluginInitP8ncclComm", comm_.address());
    const char* const mask = nccl_.has("ncclProfilerEventMask") ? "ncclProfilerEventMask" : "_ZL15eActivationMask";
    std::memcpy(&mask_, nccl_.internal(mask), sizeof mask_);
    std::printf("mask %d\n", mask_);
    std::fflush(stdout);
    require(comm_.read<void*>(at_.comm.context) != nullptr, "NCCL got no context from the plugin");
  }
  void leave() { nccl_.call("_Z26ncclProfilerPluginFinalizeP8ncclComm", comm_.address()); }
  [[nodiscard]] bool has_known_proxy() const { return version_ == best_known_version; }

  /// The API call, then the task of it in a plan of its own. Returns the task's handle.
  void* reduce(std::uint64_t count, std::int8_t algorithm, std::int8_t protocol) {
    return collect(all_reduce, {count, bfloat16}, {count, bfloat16}, algorithm, protocol);
  }
  /// NCCL turns it into bytes below the API.
  void* gather() { return collect(all_gather, {500, float32}, {2000, 0}, ring, simple); }

  /// The public call, which pushes its range and then refuses a communicator that is none.
  void call_reduce(std::size_t count) {
    void* const none = nullptr;
    const auto call = nccl_.exported<int (*)(void*, void*, std::size_t, int, int, void*, void*)>("ncclAllReduce");
    require(call(none, none, count, bfloat16, 0, comm_.address(), none) != 0, "ncclAllReduce");
  }

  void send(int peer) {
    void* const call = begin_call(send_call, {300, float16}, peer);
    Structure task{task_bytes};
    task.set(pair::function, send_call);
    task.set<std::uint64_t>(pair::count, 300);
    task.set(pair::datatype, float16);
    task.set(pair::peer, peer);
    finish_task(task, at_.pair, call);
    if (at_.pair.channels != nccl_caller::absent) task.set<std::uint8_t>(at_.pair.channels, 2);
    run_plan(at_.plan.pairs, task, at_.pair.handle);
    end_call(send_call);
  }

  void move(void* task) {
    Structure arguments = proxy_of(task);
    nccl_.call("_Z29ncclProfilerStartProxyOpEventiP13ncclProxyArgs", 0, arguments.address());
    nccl_.call("_Z35ncclProfilerStartSendProxyStepEventiP13ncclProxyArgsi", 0, arguments.address(), 0);
    for (const int state : {send_gpu_wait, send_peer_wait, send_wait}) {
      if (state == send_wait) arguments.set<std::uint64_t>(proxy::moved, 4096);
      usleep(2000);
      nccl_.call("_Z37ncclProfilerRecordProxyStepEventStateiP13ncclProxyArgsi24ncclProfilerEventState_t", 0,
                 arguments.address(), 0, state);
    }
    usleep(2000);
    nccl_.call("_Z30ncclProfilerStopProxyStepEventiP13ncclProxyArgsi", 0, arguments.address(), 0);
    nccl_.call("_Z28ncclProfilerStopProxyOpEventiP13ncclProxyArgs", 0, arguments.address());
  }

  void run_channel(void* task, std::uint64_t begin, std::uint64_t end) {
    Structure arguments = proxy_of(task);
    nccl_.call("_Z30ncclProfilerStartKernelChEventP13ncclProxyArgsim", arguments.address(), 0, begin);
    nccl_.call("_Z29ncclProfilerStopKernelChEventP13ncclProxyArgsim", arguments.address(), 0, end);
  }

 private:
  struct Amount {
    std::uint64_t count;
    int datatype;
  };

  void* collect(int function, Amount asked, Amount done, std::int8_t algorithm, std::int8_t protocol) {
    void* const call = begin_call(function, asked, 0);
    Structure task{task_bytes};
    task.set(collective::function, function);
    task.set(collective::count, done.count);
    task.set(collective::datatype, done.datatype);
    task.set<std::uint8_t>(collective::warps, 7);
    task.set(collective::algorithm, algorithm);
    task.set(collective::protocol, protocol);
    task.set<std::uint8_t>(at_.coll.channels, 24);
    finish_task(task, at_.coll, call);
    void* const handle = run_plan(at_.plan.colls, task, at_.coll.handle);
    end_call(function);
    return handle;
  }
  template <class Fields>
  void finish_task(Structure& task, const Fields& at, void* call) {
    task.set(at.mask, mask_);
    if (at.call != nccl_caller::absent) task.set(at.call, call);
  }
  /// Null before 2.28, which does not tell of calls.
  void* begin_call(int function, Amount amount, int root) {
    if (at_.coll.call == nccl_caller::absent) return nullptr;
    info_.set(info::call, function);
    info_.set(info::count, amount.count);
    info_.set(info::datatype, amount.datatype);
    info_.set(info::root, root);
    nccl_.call("_Z30ncclProfilerStartGroupApiEventP8ncclInfob", info_.address(), false);
    const bool is_pair = function == send_call;
    nccl_.call(is_pair ? "_Z28ncclProfilerStartP2pApiEventP8ncclInfob" : "_Z29ncclProfilerStartCollApiEventP8ncclInfob",
               info_.address(), false);
    void* handle = nullptr;
    std::memcpy(&handle, nccl_.of_thread("ncclProfilerApiState") + (is_pair ? api_state_pair : api_state_collective),
                sizeof handle);
    return handle;
  }
  void end_call(int function) {
    if (at_.coll.call == nccl_caller::absent) return;
    nccl_.call(function == send_call ? "_Z27ncclProfilerStopP2pApiEventv" : "_Z28ncclProfilerStopCollApiEventv");
    nccl_.call("_Z29ncclProfilerStopGroupApiEventv");
  }
  /// Launches a plan of one task and returns the task's handle.
  void* run_plan(std::size_t queue, Structure& task, std::size_t task_handle) {
    plan_ = Structure{plan_bytes};
    plan_.set(plan_comm, comm_.address());
    plan_.set(queue, task.address());
    nccl_.call("_Z27ncclProfilerStartGroupEventP14ncclKernelPlan", plan_.address());
    nccl_.call("_Z27ncclProfilerStartTaskEventsP14ncclKernelPlan", plan_.address());
    void* const handle = task.read<void*>(task_handle);
    nccl_.call("_Z26ncclProfilerStopTaskEventsP14ncclKernelPlan", plan_.address());
    nccl_.call("_Z26ncclProfilerStopGroupEventP14ncclKernelPlan", plan_.address());
    require(handle != nullptr, "an operation has no handle");
    return handle;
  }
  Structure proxy_of(void* task) {
    Structure arguments{proxy::bytes};
    arguments.set(proxy::channel, 5);
    arguments.set(proxy::steps, 8);
    arguments.set(proxy::peer, 0);
    arguments.set(proxy::mask, mask_);
    arguments.set(proxy::rank, 1);
    arguments.set(proxy::process, static_cast<int>(getpid()));
    arguments.set(proxy::context, comm_.read<void*>(at_.comm.context));
    arguments.set(proxy::task, task);
    arguments.set(proxy::slice_steps, 2);
    arguments.set(proxy::chunk_bytes, 2048);
    // What sends is told by the function that moves it on.
    const char* transport = nullptr;
    std::memcpy(&transport, static_cast<char*>(nccl_.internal("ncclTransports")) + net_transport * sizeof transport,
                sizeof transport);
    void* progress = nullptr;
    std::memcpy(&progress, transport + send_progress, sizeof progress);
    arguments.set(proxy::progress, progress);
    return arguments;
  }

  const Layout& layout() {
    nccl_.exported<int (*)(int*)>("ncclGetVersion")(&version_);
    const Layout* const found = nccl_caller::layout_of(version_);
    if (found == nullptr) give_up("the structures of this NCCL are not known: ", std::to_string(version_).c_str());
    return *found;
  }

  Nccl nccl_;
  int version_ = 0;
  Structure comm_, info_, plan_;
  const Layout& at_;
  int mask_ = 0;
};

/// Every call that NCCL describes; it refuses each, since the communicator is none, after its range was pushed.
void call_everything(const Nccl& nccl) {
  Structure comm{communicator_bytes};
  comm.set(nccl_caller::layout_of(best_known_version)->comm.hash, hash);
  void* const none = nullptr;
  const auto refused = [&](const char* name, auto... arguments) {
    require(nccl.exported<int (*)(decltype(arguments)...)>(name)(arguments...) != 0, name);
  };
  const std::size_t count = 100;
  refused("ncclAllReduce", none, none, count, bfloat16, 2, comm.address(), none);
  refused("ncclReduceScatter", none, none, count, float32, 0, comm.address(), none);
  refused("ncclReduce", none, none, count, float16, 3, 5, comm.address(), none);
  refused("ncclBroadcast", none, none, count, float32, 6, comm.address(), none);
  refused("ncclAllGather", none, none, count, float32, comm.address(), none);
  refused("ncclAlltoAll", none, none, count, float32, comm.address(), none);
  refused("ncclGather", none, none, count, float32, 7, comm.address(), none);
  refused("ncclScatter", none, none, count, float32, 4, comm.address(), none);
  refused("ncclSend", none, count, float16, 3, comm.address(), none);
  refused("ncclRecv", none, count, float16, 2, comm.address(), none);
}

/// The program, the range of NCCL's call and the plugin tell of one operation.
void tell_three_times(Caller& caller) {
  namespace annotate = rankscope::annotate;
  constexpr std::uint64_t uid = 7;
  annotate::collective_enqueued({.uid = uid,
                                 .sequence = 0,
                                 .bytes = 4000,
                                 .group = "world",
                                 .op = "allreduce",
                                 .dtype = "bf16",
                                 .members = "0,1",
                                 .peer = -1});
  annotate::collective_started(uid);
  caller.call_reduce(2000);
  void* const task = caller.reduce(2000, nvls, simple);
  annotate::collective_finished(uid);
  caller.run_channel(task, 1'700'000'000'000'000'000, 1'700'000'000'000'060'000);
}

}  // namespace

/// nccl_caller SCENE PATH-OF-LIBNCCL
int main(int argc, char** argv) {
  require(argc == 3, "nccl_caller SCENE PATH");
  const std::string_view scene = argv[1];
  if (scene == "calls") return call_everything(Nccl{argv[2]}), 0;
  Caller caller{argv[2]};
  caller.join();
  if (scene == "operations") {
    caller.reduce(1000, ring, ll128);
    void* const second = caller.reduce(2000, nvls, simple);
    caller.gather();
    caller.send(0);
    if (!caller.has_known_proxy()) return caller.leave(), 0;
    caller.move(second);
    caller.run_channel(second, 1'700'000'000'000'000'000, 1'700'000'000'000'060'000);
  }
  if (scene == "announced") tell_three_times(caller);
  caller.leave();
}

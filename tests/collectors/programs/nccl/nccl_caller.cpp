// Lets the real libnccl load a profiler plugin and tell it of its operations, on a machine without a GPU: NCCL's own
// code that finds the plugin and fills in the event descriptors is called by the names in the library's symbol table.
// What that code reads of a communicator, a plan and a proxy operation stands at offsets measured for NCCL 2.28.9.
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/collectors/annotate.h"

namespace {

constexpr int cannot_be_tried = 77;
constexpr int known_version = 22809;

[[noreturn]] void give_up(const char* why, const char* what = "") {
  std::fprintf(stderr, "nccl_caller: %s%s\n", why, what);
  std::exit(cannot_be_tried);
}
void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "nccl_caller: %s\n", what);
  std::exit(1);
}

/// libnccl with the addresses of what it does not export.
class Nccl {
 public:
  explicit Nccl(const char* path) : library_(dlopen(path, RTLD_NOW)) {
    if (library_ == nullptr) give_up("cannot load ", dlerror());
    if (dlinfo(library_, RTLD_DI_LINKMAP, &map_) != 0) give_up("libnccl has no link map");
    read_symbols(map_->l_name);
  }
  template <class Function>
  Function exported(const char* name) const {
    const auto function = reinterpret_cast<Function>(dlsym(library_, name));
    if (function == nullptr) give_up("libnccl lacks ", name);
    return function;
  }
  void* internal(const char* name) const { return reinterpret_cast<void*>(map_->l_addr + offset_of(name)); }
  template <class... Arguments>
  void call(const char* name, Arguments... arguments) const {
    const auto function = reinterpret_cast<int (*)(Arguments...)>(internal(name));
    require(function(arguments...) == 0, name);
  }
  /// A variable of the calling thread.
  [[nodiscard]] char* of_thread(const char* name) const {
    void* block = nullptr;
    if (dlinfo(library_, RTLD_DI_TLS_DATA, &block) != 0 || block == nullptr) give_up("libnccl has no thread data yet");
    return static_cast<char*>(block) + offset_of(name);
  }

 private:
  std::uintptr_t offset_of(const char* name) const {
    const auto found = symbols_.find(name);
    if (found == symbols_.end()) give_up("the symbol table of libnccl lacks ", name);
    return found->second;
  }
  void read_symbols(const char* path) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status {};
    if (file < 0 || fstat(file, &status) != 0) give_up("cannot read ", path);
    const auto size = static_cast<std::size_t>(status.st_size);
    void* const bytes = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (bytes == MAP_FAILED) give_up("cannot map ", path);
    const char* const base = static_cast<const char*>(bytes);
    const auto* const header = reinterpret_cast<const ElfW(Ehdr)*>(base);
    const auto* const sections = reinterpret_cast<const ElfW(Shdr)*>(base + header->e_shoff);
    for (int i = 0; i < header->e_shnum; ++i) {
      if (sections[i].sh_type != SHT_SYMTAB) continue;
      const auto* const symbols = reinterpret_cast<const ElfW(Sym)*>(base + sections[i].sh_offset);
      const char* const names = base + sections[sections[i].sh_link].sh_offset;
      for (std::size_t k = 0; k < sections[i].sh_size / sizeof *symbols; ++k)
        symbols_.emplace(names + symbols[k].st_name, symbols[k].st_value);
    }
    munmap(bytes, size);
  }

  void* library_;
  link_map* map_ = nullptr;
  std::map<std::string, std::uintptr_t> symbols_;
};

/// Memory of a structure of NCCL's; what is not set is zero.
class Structure {
 public:
  explicit Structure(std::size_t bytes) : bytes_((bytes + 7) / 8) {}
  template <class T>
  void set(std::size_t offset, T value) {
    std::memcpy(at(offset), &value, sizeof value);
  }
  template <class T>
  [[nodiscard]] T read(std::size_t offset) {
    T value{};
    std::memcpy(&value, at(offset), sizeof value);
    return value;
  }
  [[nodiscard]] char* at(std::size_t offset) { return reinterpret_cast<char*>(bytes_.data()) + offset; }
  [[nodiscard]] void* address() { return bytes_.data(); }

 private:
  std::vector<std::uint64_t> bytes_;
};

// Numbers of nccl.h and of the tables of 2.28.
constexpr int all_gather = 2, all_reduce = 4, send_call = 6;
constexpr int float16 = 6, float32 = 7, bfloat16 = 9;
constexpr std::int8_t ring = 1, nvls = 4, ll128 = 1, simple = 2;
constexpr std::uint64_t hash = 0xFEDCBA9876543210;
constexpr int send_gpu_wait = 8, send_wait = 9, send_peer_wait = 20;
constexpr int net_transport = 2;

namespace communicator {
constexpr std::size_t bytes = 1'082'968, commhash = 1'066'184, rank = 1'066'192, ranks = 1'066'196, nodes = 1'066'376,
                      name = 1'075'640, context = 1'075'720;
}
namespace info {
constexpr std::size_t bytes = 80, call = 0, count = 32, datatype = 40, root = 48, comm = 56;
}
namespace collective {
constexpr std::size_t bytes = 240, function = 8, count = 32, root = 40, datatype = 44, warps = 97, algorithm = 98,
                      protocol = 99, mask = 200, api = 216, handle = 224, channels = 232;
}
namespace pair {
constexpr std::size_t bytes = 88, function = 8, count = 24, datatype = 32, peer = 36, mask = 48, api = 64, handle = 72,
                      channels = 80;
}
namespace plan {
constexpr std::size_t bytes = 208, comm = 16, pairs = 136, collectives = 152;
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
  explicit Caller(const char* path) : nccl_(path), comm_(communicator::bytes), info_(info::bytes), plan_(plan::bytes) {
    int version = 0;
    nccl_.exported<int (*)(int*)>("ncclGetVersion")(&version);
    if (version != known_version) give_up("the structures of this NCCL are not known: it is not 2.28.9");
    comm_.set(communicator::commhash, hash);
    comm_.set(communicator::rank, 1);
    comm_.set(communicator::ranks, 2);
    comm_.set(communicator::nodes, 1);
    comm_.set(communicator::name, "mine");
    info_.set(info::comm, comm_.address());
    plan_.set(plan::comm, comm_.address());
  }

  void join() {
    nccl_.call("_Z22ncclProfilerPluginInitP8ncclComm", comm_.address());
    std::memcpy(&mask_, nccl_.internal("ncclProfilerEventMask"), sizeof mask_);
    std::printf("mask %d\n", mask_);
    std::fflush(stdout);
    require(comm_.read<void*>(communicator::context) != nullptr, "NCCL got no context from the plugin");
  }
  void leave() { nccl_.call("_Z26ncclProfilerPluginFinalizeP8ncclComm", comm_.address()); }

  /// The API call, then the task of it in a plan of its own. Returns the task's handle.
  void* reduce(std::uint64_t count, std::int8_t algorithm, std::int8_t protocol) {
    return collect(all_reduce, all_reduce, {count, bfloat16}, {count, bfloat16}, algorithm, protocol);
  }
  /// NCCL turns it into bytes below the API.
  void* gather() { return collect(all_gather, all_gather, {500, float32}, {2000, 0}, ring, simple); }

  /// The public call, which pushes its range and then refuses a communicator that is none.
  void call_reduce(std::size_t count) {
    void* const none = nullptr;
    const auto call = nccl_.exported<int (*)(void*, void*, std::size_t, int, int, void*, void*)>("ncclAllReduce");
    require(call(none, none, count, bfloat16, 0, comm_.address(), none) != 0, "ncclAllReduce");
  }

  void send(int peer) {
    begin_api(send_call, 300, float16, peer);
    nccl_.call("_Z28ncclProfilerStartP2pApiEventP8ncclInfob", info_.address(), false);
    Structure task{pair::bytes};
    task.set(pair::function, send_call);
    task.set<std::uint64_t>(pair::count, 300);
    task.set(pair::datatype, float16);
    task.set(pair::peer, peer);
    task.set(pair::mask, mask_);
    task.set(pair::api, read_of_thread(api_state_pair));
    task.set<std::uint8_t>(pair::channels, 2);
    plan_.set(plan::pairs, task.address());
    run_plan();
    plan_.set<void*>(plan::pairs, nullptr);
    require(task.read<void*>(pair::handle) != nullptr, "a send has no handle");
    nccl_.call("_Z27ncclProfilerStopP2pApiEventv");
    end_api();
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

  void* collect(int call, int function, Amount asked, Amount done, std::int8_t algorithm, std::int8_t protocol) {
    begin_api(call, asked.count, asked.datatype, 0);
    nccl_.call("_Z29ncclProfilerStartCollApiEventP8ncclInfob", info_.address(), false);
    Structure task{collective::bytes};
    task.set(collective::function, function);
    task.set(collective::count, done.count);
    task.set(collective::datatype, done.datatype);
    task.set<std::uint8_t>(collective::warps, 7);
    task.set(collective::algorithm, algorithm);
    task.set(collective::protocol, protocol);
    task.set(collective::mask, mask_);
    task.set(collective::api, read_of_thread(api_state_collective));
    task.set<std::uint8_t>(collective::channels, 24);
    plan_.set(plan::collectives, task.address());
    run_plan();
    plan_.set<void*>(plan::collectives, nullptr);
    nccl_.call("_Z28ncclProfilerStopCollApiEventv");
    end_api();
    void* const handle = task.read<void*>(collective::handle);
    require(handle != nullptr, "a collective has no handle");
    return handle;
  }
  void begin_api(int call, std::uint64_t count, int datatype, int root) {
    info_.set(info::call, call);
    info_.set(info::count, count);
    info_.set(info::datatype, datatype);
    info_.set(info::root, root);
    nccl_.call("_Z30ncclProfilerStartGroupApiEventP8ncclInfob", info_.address(), false);
  }
  void end_api() { nccl_.call("_Z29ncclProfilerStopGroupApiEventv"); }
  void* read_of_thread(std::size_t offset) {
    void* handle = nullptr;
    std::memcpy(&handle, nccl_.of_thread("ncclProfilerApiState") + offset, sizeof handle);
    return handle;
  }
  void run_plan() {
    nccl_.call("_Z27ncclProfilerStartGroupEventP14ncclKernelPlan", plan_.address());
    nccl_.call("_Z27ncclProfilerStartTaskEventsP14ncclKernelPlan", plan_.address());
    nccl_.call("_Z26ncclProfilerStopTaskEventsP14ncclKernelPlan", plan_.address());
    nccl_.call("_Z26ncclProfilerStopGroupEventP14ncclKernelPlan", plan_.address());
  }
  Structure proxy_of(void* task) {
    Structure arguments{proxy::bytes};
    arguments.set(proxy::channel, 5);
    arguments.set(proxy::steps, 8);
    arguments.set(proxy::peer, 0);
    arguments.set(proxy::mask, mask_);
    arguments.set(proxy::rank, 1);
    arguments.set(proxy::process, static_cast<int>(getpid()));
    arguments.set(proxy::context, comm_.read<void*>(communicator::context));
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

  Nccl nccl_;
  Structure comm_, info_, plan_;
  int mask_ = 0;
};

/// Every call that NCCL describes; it refuses each, since the communicator is none, after its range was pushed.
void call_everything(const Nccl& nccl) {
  Structure comm{communicator::bytes};
  comm.set(communicator::commhash, hash);
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
    caller.move(second);
    caller.run_channel(second, 1'700'000'000'000'000'000, 1'700'000'000'000'060'000);
  }
  if (scene == "announced") tell_three_times(caller);
  caller.leave();
}

// c10d_actor SCENE LIBRARY: calls the stand-in for libtorch_cpu as PyTorch is called, with the recorder in front of it.
// Ends with 0 if the library behind did what it was asked.
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>

#include "c10d/torch_standin.h"
#include "rankscope/collectors/annotate.h"

namespace {

constexpr at::Facts floats{100, 6}, halves{50, 15}, many{300, 4}, odd{7, 99};
constexpr std::chrono::milliseconds forever{-1};
constexpr std::size_t last_entry = 22;  // of the vtable: barrier, behind two destructors and 20 others

struct Stage {
  const StandinEntry& torch;
  const rankscope_api_v1& recorder;
  c10d::Backend* group = nullptr;

  void enter_group(const char* name, const char* members) {
    group = torch.make_group();
    name_group(name, members);
  }
  void name_group(const char* name, const char* members) const {
    recorder.c10d_group(name, members);
    if (group->getSequenceNumberForGroup() != 42 || recorder.c10d_group(nullptr, nullptr) != 1)
      throw std::runtime_error{"the group was not met"};
  }
  void run(int count, bool fails = false) const {
    std::thread{[&] {
      for (int i = 0; i < count; ++i) torch.run_next(fails);
    }}.join();
  }
};

void collectives(Stage& stage) {
  stage.enter_group("default_pg 0", "4,6,5");
  c10d::Backend& group = *stage.group;
  at::Tensor tensor{&floats}, half{&halves}, part{&many}, unknown{&odd};
  c10d::Tensors one{tensor}, two{tensor, half}, none, strange{unknown};
  c10d::TensorLists all{{tensor, tensor, tensor}};
  std::vector<std::int64_t> even;
  c10d::ReduceOptions reduce;
  reduce.rootRank = 2;
  c10d::BroadcastOptions from_first;
  c10d::GatherOptions to_second;
  to_second.rootRank = 1;
  group.broadcast(one, from_first);
  group.allreduce(one, {});
  group.allreduce_coalesced(two, {});
  group.reduce(one, reduce);
  group.allgather(all, one, {});
  group._allgather_base(part, half, {});
  group.gather(all, one, to_second);
  group.scatter(one, all, {});
  group.reduce_scatter(one, all, {});
  group._reduce_scatter_base(tensor, part, {});
  group.alltoall_base(part, part, even, even, {});
  group.barrier({});
  group.allreduce(strange, {});
  group.allreduce_sparse(one, {});
  stage.run(14);
}

void made_of_parts(Stage& stage) {
  stage.enter_group("default_pg 0", "0,1");
  at::Tensor tensor{&floats}, part{&many};
  c10d::Tensors own{tensor}, all{part};
  const auto work = stage.group->reduce_scatter_tensor_coalesced(own, all, {});
  stage.run(2);
  work->wait(forever);
  stage.group->monitoredBarrier({}, false);
}

void pairs(Stage& stage) {
  stage.enter_group("pair 3", "8,9");
  at::Tensor tensor{&floats};
  c10d::Tensors one{tensor};
  const auto sent = stage.group->send(one, 1, 0);
  const auto received = stage.group->recv(one, 1, 0);
  stage.group->recvAnysource(one, 0);
  stage.torch.received(1);
  stage.torch.sent(0);
  if (!sent->wait(forever)) throw std::runtime_error{"send"};
  try {
    received->wait(forever);
  } catch (const std::runtime_error& error) {
    if (std::strcmp(error.what(), "nothing came") == 0) return;
  }
  throw std::runtime_error{"what the library throws must arrive"};
}

void abandoned(Stage& stage) {
  stage.enter_group("pair 3", "8,9");
  at::Tensor tensor{&floats};
  c10d::Tensors one{tensor};
  stage.group->recv(one, 1, 0);
  stage.torch.replace(0);
  stage.torch.received(0);
}

void waits(Stage& stage) {
  stage.enter_group("default_pg 0", "0,1");
  at::Tensor tensor{&floats};
  c10d::Tensors one{tensor};
  const auto work = stage.group->allreduce(one, {});
  stage.run(1);
  if (!work->wait(forever)) throw std::runtime_error{"allreduce"};
  stage.torch.finalize_backward();
}

void throws(Stage& stage) {
  stage.enter_group("default_pg 0", "0,1");
  c10d::Tensors none;
  try {
    stage.group->broadcast(none, {});
  } catch (const std::invalid_argument&) {
    at::Tensor tensor{&floats};
    c10d::Tensors one{tensor};
    stage.group->allreduce(one, {});
    stage.run(1);
    stage.group->allreduce(one, {});
    stage.run(1, true);
    return;
  }
  throw std::runtime_error{"what the library throws must arrive"};
}

/// Groups that were made behind the back of torch.distributed, one of them where another was.
void strangers(Stage& stage) {
  at::Tensor tensor{&floats};
  c10d::Tensors one{tensor};
  stage.group = stage.torch.make_group();
  stage.group->allreduce(one, {});
  delete stage.group;
  stage.enter_group("default_pg 0", "0,1");
  stage.group->allreduce(one, {});
  delete stage.group;
  stage.group = stage.torch.make_group();
  stage.group->allreduce(one, {});
  stage.run(3);
}

/// A job that ends torch.distributed and begins it again, so that the names of its groups are used again.
void made_again(Stage& stage) {
  at::Tensor tensor{&floats};
  c10d::Tensors one{tensor};
  const auto begin = [&](const char* members) {
    stage.enter_group("default_pg 0", members);
    stage.group->allreduce(one, {});
    stage.name_group("default_pg 0", members);  // of its second device
    stage.group->allreduce(one, {});
    stage.run(2);
  };
  begin("0,1");
  delete stage.group;
  begin("0,1");
  begin("0,1,2");
  begin("0,1");
}

/// Nobody stands in front, and all is as without the recorder.
void left_alone(Stage& stage) {
  at::Tensor tensor{&floats};
  c10d::Tensors one{tensor};
  stage.group = stage.torch.make_group();
  const auto work = stage.group->allreduce(one, {});
  stage.run(1);
  if (!work->wait(forever)) throw std::runtime_error{"allreduce"};
}

/// Another tool that stands in front of what the recorder wants: overwrites one entry of the vtable of a group.
void* in_front_of_all() { return nullptr; }
void pretend_other_tool(const StandinEntry& torch) {
  void** const vtable = *reinterpret_cast<void***>(torch.make_group());
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  mprotect(reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(&vtable[last_entry]) & ~(page - 1)), page,
           PROT_READ | PROT_WRITE);
  vtable[last_entry] = reinterpret_cast<void*>(in_front_of_all);
}

const std::map<std::string, void (*)(Stage&)> scenes{{"collectives", collectives},
                                                     {"made_of_parts", made_of_parts},
                                                     {"pairs", pairs},
                                                     {"abandoned", abandoned},
                                                     {"waits", waits},
                                                     {"throws", throws},
                                                     {"strangers", strangers},
                                                     {"made_again", made_again},
                                                     {"left_alone", left_alone}};

}  // namespace

int main(int count, char** words) {
  const auto* const recorder = rankscope::annotate::newer_api();
  void* const library = count < 3 ? nullptr : dlopen(words[2], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr || recorder == nullptr) return 3;
  const auto* const entry = static_cast<const StandinEntry*>(dlsym(library, "standin_entry"));
  if (std::getenv("C10D_ACTOR_OTHER_TOOL") != nullptr) pretend_other_tool(*entry);
  const char* const version = count > 3 ? words[3] : "2.11.0+cu130";
  const char* const problem = recorder->c10d_observe(version);
  if (problem != nullptr) rankscope::annotate::metadata("problem", problem);
  rankscope::annotate::mark("the scene begins");
  Stage stage{*entry, *recorder};
  try {
    scenes.at(words[1])(stage);
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
}

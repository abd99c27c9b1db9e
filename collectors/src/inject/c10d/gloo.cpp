// c10d::ProcessGroupGloo. Each function has the signature that its mangled name shows; what stands behind a reference
// is only read where tensors.h or Layout says what it is.
#include <algorithm>
#include <cstring>

#include "inject/c10d/groups.h"
#include "inject/c10d/hooks.h"
#include "inject/c10d/next.h"
#include "inject/c10d/operations.h"
#include "inject/c10d/unwinding.h"

namespace rankscope::inject::c10d {
namespace {

using Sizes = std::vector<std::int64_t>;

Layout layout_in_use;

std::int64_t root_in(const void* options, std::size_t offset = 0) {
  std::int64_t root = 0;
  std::memcpy(&root, static_cast<const char*>(options) + offset, sizeof root);
  return root;
}

/// An alltoall gives each member one part (metrics.md 6, "count x t").
Payload part_of(const void* backend, Payload whole) {
  const Group* const group = group_of(backend);
  if (group != nullptr && whole.bytes > 0)
    whole.bytes /= static_cast<std::int64_t>(std::max<std::size_t>(group->ranks.size(), 1));
  return whole;
}

/// The call of the library, told as `asked`.
template <class Function, class... Arguments>
WorkPointer called(const Asked& asked, Function function, void* backend, Arguments&&... arguments) {
  RANKSCOPE_LEAVE_ON_ERROR();
  enter_call(backend, asked);
  WorkPointer result = function(backend, std::forward<Arguments>(arguments)...);
  returns(result);
  leave();
  return result;
}

WorkPointer broadcast(void* self, Tensors& tensors, const void* options) {
  return called({Op::broadcast, payload_of(tensors), root_in(options)}, next<broadcast>, self, tensors, options);
}
WorkPointer allreduce(void* self, Tensors& tensors, const void* options) {
  return called({Op::allreduce, payload_of(tensors)}, next<allreduce>, self, tensors, options);
}
WorkPointer allreduce_sparse(void* self, Tensors& tensors, const void* options) {
  return called({Op::allreduce}, next<allreduce_sparse>, self, tensors, options);
}
WorkPointer allreduce_coalesced(void* self, Tensors& tensors, const void* options) {
  return called({Op::allreduce, payload_of(tensors)}, next<allreduce_coalesced>, self, tensors, options);
}
WorkPointer reduce(void* self, Tensors& tensors, const void* options) {
  const std::int64_t root = root_in(options, layout_in_use.reduce_root);
  return called({Op::reduce, payload_of(tensors), root}, next<reduce>, self, tensors, options);
}
WorkPointer allgather(void* self, TensorLists& all, Tensors& own, const void* options) {
  return called({Op::allgather, payload_of(own)}, next<allgather>, self, all, own, options);
}
WorkPointer allgather_base(void* self, Tensor& all, Tensor& own, const void* options) {
  return called({Op::allgather, payload_of(own)}, next<allgather_base>, self, all, own, options);
}
WorkPointer allgather_coalesced(void* self, TensorLists& all, Tensors& own, const void* options) {
  return called({Op::allgather, payload_of(own)}, next<allgather_coalesced>, self, all, own, options);
}
WorkPointer allgather_flat(void* self, Tensors& all, Tensors& own, const void* options) {
  return called({Op::allgather, payload_of(own)}, next<allgather_flat>, self, all, own, options);
}
WorkPointer gather(void* self, TensorLists& all, Tensors& own, const void* options) {
  return called({Op::gather, payload_of(own), root_in(options)}, next<gather>, self, all, own, options);
}
WorkPointer scatter(void* self, Tensors& own, TensorLists& all, const void* options) {
  return called({Op::scatter, payload_of(own), root_in(options)}, next<scatter>, self, own, all, options);
}
WorkPointer reduce_scatter(void* self, Tensors& own, TensorLists& all, const void* options) {
  return called({Op::reduce_scatter, payload_of(own)}, next<reduce_scatter>, self, own, all, options);
}
WorkPointer reduce_scatter_base(void* self, Tensor& own, Tensor& all, const void* options) {
  return called({Op::reduce_scatter, payload_of(own)}, next<reduce_scatter_base>, self, own, all, options);
}
WorkPointer reduce_scatter_flat(void* self, Tensors& own, Tensors& all, const void* options) {
  return called({Op::reduce_scatter, payload_of(own)}, next<reduce_scatter_flat>, self, own, all, options);
}
WorkPointer alltoall_base(void* self, Tensor& out, Tensor& in, Sizes& out_parts, Sizes& in_parts,
                          const void* options) {  // NOLINT(readability-function-size): as c10d has it
  const Asked asked{Op::alltoall, part_of(self, payload_of(in))};
  return called(asked, next<alltoall_base>, self, out, in, out_parts, in_parts, options);
}
WorkPointer send(void* self, Tensors& tensors, int to, int tag) {
  return called({Op::send, payload_of(tensors), to}, next<send>, self, tensors, to, tag);
}
WorkPointer receive(void* self, Tensors& tensors, int from, int tag) {
  return called({Op::recv, payload_of(tensors), from}, next<receive>, self, tensors, from, tag);
}
WorkPointer receive_from_any(void* self, Tensors& tensors, int tag) {
  return called({Op::recv, payload_of(tensors)}, next<receive_from_any>, self, tensors, tag);
}
WorkPointer barrier(void* self, const void* options) {
  return called({Op::barrier, {.bytes = 0}}, next<barrier>, self, options);
}
void monitored_barrier(void* self, const void* options, bool wait_for_all);
__attribute__((noinline)) void run_monitored_barrier(void* self, const void* options, bool wait_for_all) {
  RANKSCOPE_LEAVE_ON_ERROR();
  enter_call(self, {Op::barrier, {.bytes = 0}});
  run_here();
  next<monitored_barrier>(self, options, wait_for_all);
  leave();
}
void monitored_barrier(void* self, const void* options, bool wait_for_all) {
  RANKSCOPE_LEAVE_ON_ERROR();
  enter_wait(Op::barrier);
  run_monitored_barrier(self, options, wait_for_all);
  leave();
}

/// Asked of a new group by the hook in Python, so that its backend is known.
std::uint64_t get_sequence_number(void* self) {
  meet_backend(self);
  return next<get_sequence_number>(self);
}
void destroy(void* self) {
  forget_backend(self);
  next<destroy>(self);
}
void destroy_and_free(void* self) {
  forget_backend(self);
  next<destroy_and_free>(self);
}

// A c10::intrusive_ptr<AsyncWork> is passed by the address of its one pointer.
void enqueue(void* self, void* const* work) {
  hand_over(*work);
  next<enqueue>(self, work);
}
void execute(void* const* work) {
  RANKSCOPE_LEAVE_ON_ERROR();
  enter_execution(*work);
  next<execute>(work);
  leave();
}
void finish(void* work) {
  has_ended(work);
  next<finish>(work);
}
void finish_with_error(void* work, const void* error) {
  has_failed(work);
  next<finish_with_error>(work, error);
}

// The parts of mangled names that repeat.
#define GLOO "_ZN4c10d16ProcessGroupGloo"
#define TENSORS "ERSt6vectorIN2at6TensorESaIS3_EE"
#define TENSORS_OUT_OF_LISTS "ERSt6vectorIN2at6TensorESaIS3_EERS1_IS5_SaIS5_EE"
#define LISTS_OUT_OF_TENSORS "ERSt6vectorIS1_IN2at6TensorESaIS3_EESaIS5_EERS5_"
#define TENSORS_OUT_OF_TENSORS "ERSt6vectorIN2at6TensorESaIS3_EES6_"
#define TENSOR_OUT_OF_TENSOR "ERN2at6TensorES3_"
#define POINTER_TO_WORK "N3c1013intrusive_ptr"

std::vector<Hook> call_hooks() {
  return {
      hook<broadcast>(GLOO "9broadcast" TENSORS "RKNS_16BroadcastOptionsE"),
      hook<allreduce>(GLOO "9allreduce" TENSORS "RKNS_16AllreduceOptionsE"),
      hook<allreduce_sparse>(GLOO "16allreduce_sparse" TENSORS "RKNS_16AllreduceOptionsE"),
      hook<allreduce_coalesced>(GLOO "19allreduce_coalesced" TENSORS "RKNS_25AllreduceCoalescedOptionsE"),
      hook<reduce>(GLOO "6reduce" TENSORS "RKNS_13ReduceOptionsE"),
      hook<allgather>(GLOO "9allgather" LISTS_OUT_OF_TENSORS "RKNS_16AllgatherOptionsE"),
      hook<allgather_base>(GLOO "15_allgather_base" TENSOR_OUT_OF_TENSOR "RKNS_16AllgatherOptionsE"),
      hook<allgather_coalesced>(GLOO "19allgather_coalesced" LISTS_OUT_OF_TENSORS "RKNS_16AllgatherOptionsE"),
      hook<allgather_flat>(GLOO "31allgather_into_tensor_coalesced" TENSORS_OUT_OF_TENSORS "RKNS_16AllgatherOptionsE"),
      hook<gather>(GLOO "6gather" LISTS_OUT_OF_TENSORS "RKNS_13GatherOptionsE"),
      hook<scatter>(GLOO "7scatter" TENSORS_OUT_OF_LISTS "RKNS_14ScatterOptionsE"),
      hook<reduce_scatter>(GLOO "14reduce_scatter" TENSORS_OUT_OF_LISTS "RKNS_20ReduceScatterOptionsE"),
      hook<reduce_scatter_base>(GLOO "20_reduce_scatter_base" TENSOR_OUT_OF_TENSOR "RKNS_20ReduceScatterOptionsE"),
      hook<reduce_scatter_flat>(GLOO "31reduce_scatter_tensor_coalesced" TENSORS_OUT_OF_TENSORS
                                     "RKNS_20ReduceScatterOptionsE"),
      hook<alltoall_base>(GLOO "13alltoall_base" TENSOR_OUT_OF_TENSOR "RSt6vectorIlSaIlEES7_RKNS_15AllToAllOptionsE"),
      hook<send>(GLOO "4send" TENSORS "ii"),
      hook<receive>(GLOO "4recv" TENSORS "ii"),
      hook<receive_from_any>(GLOO "13recvAnysource" TENSORS "i"),
      hook<barrier>(GLOO "7barrierERKNS_14BarrierOptionsE"),
      hook<monitored_barrier>(GLOO "16monitoredBarrierERKNS_14BarrierOptionsEb"),
      hook<get_sequence_number>(GLOO "25getSequenceNumberForGroupEv"),
      hook<destroy>(GLOO "D1Ev"),
      hook<destroy_and_free>(GLOO "D0Ev"),
  };
}

std::vector<Hook> work_hooks() {
  return {
      hook<enqueue>(GLOO "7enqueueE" POINTER_TO_WORK
                         "INS0_9AsyncWorkENS1_6detail34intrusive_target_default_null_typeIS3_EEEE"),
      hook<execute>(GLOO "9AsyncWork7executeERK" POINTER_TO_WORK
                         "IS1_NS2_6detail34intrusive_target_default_null_typeIS1_EEEE"),
      hook<finish>(GLOO "9AsyncWork14finishWorkGlooEv"),
      hook<finish_with_error>(GLOO "9AsyncWork19finishWorkGlooErrorERKNSt15__exception_ptr13exception_ptrE"),
  };
}

#undef GLOO
#undef TENSORS
#undef TENSORS_OUT_OF_LISTS
#undef LISTS_OUT_OF_TENSORS
#undef TENSORS_OUT_OF_TENSORS
#undef TENSOR_OUT_OF_TENSOR
#undef POINTER_TO_WORK

}  // namespace

std::vector<Hook> gloo_hooks(const Layout& layout) {
  layout_in_use = layout;
  std::vector<Hook> hooks = call_hooks();
  const std::vector<Hook> of_work = work_hooks();
  hooks.insert(hooks.end(), of_work.begin(), of_work.end());
  return hooks;
}

}  // namespace rankscope::inject::c10d

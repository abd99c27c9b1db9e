#include "importers/shared/comm_names.h"

#include <gtest/gtest.h>

#include "importers/shared/comm_kernels.h"

namespace rankscope::analyzer {
namespace {

TEST(CommNames, KernelsOfCommunicationLibrariesAreTold) {
  EXPECT_TRUE(is_comm_kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"));
  EXPECT_TRUE(is_comm_kernel("ncclKernel_Broadcast_RING_LL_Sum_int8_t(ncclDevComm*)"));
  EXPECT_TRUE(is_comm_kernel("void vllm::cross_device_reduce_1stage<__nv_bfloat16, 2>(RankData*)"));
  EXPECT_TRUE(is_comm_kernel("void one_shot_all_reduce_kernel<c10::BFloat16>(int)"));
  EXPECT_FALSE(is_comm_kernel("void at::native::reduce_kernel<512, 1>()"));
  EXPECT_FALSE(is_comm_kernel("nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN"));
}

TEST(CommNames, AKernelTellsOperationAndType) {
  EXPECT_EQ(op_of_kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)").op, "allreduce");
  EXPECT_EQ(op_of_kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL").dtype, "bf16");
  EXPECT_EQ(op_of_kernel("ncclKernel_ReduceScatter_TREE_LL_Sum_f16(ncclDevComm*)").op, "reduce_scatter");
  EXPECT_EQ(op_of_kernel("ncclSymkDevKernel_AllGather_LL").op, "allgather");
  EXPECT_EQ(op_of_kernel("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)").op, "sendrecv");
  EXPECT_EQ(op_of_kernel("ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)").op, "");
}

TEST(CommNames, KernelsOverSymmetricMemoryAreTold) {
  const auto of_torch = [](std::string_view kernel) {
    return "void (anonymous namespace)::" + std::string{kernel} + "(c10::BFloat16*, unsigned long, unsigned int**)";
  };
  for (const auto& [kernel, op] : std::initializer_list<std::pair<std::string_view, std::string_view>>{
           {"multimem_all_reduce_kernel<c10::BFloat16, 16>", "allreduce"},
           {"multimem_one_shot_all_reduce_kernel<float, 16>", "allreduce"},
           {"multimem_one_shot_reduce_kernel<float, 16>", "reduce"},
           {"multimem_all_gather_kernel<16>", "allgather"},
           {"one_shot_all_reduce_kernel<float, 16, 8>", "allreduce"},
           {"two_shot_all_reduce_kernel<float, 16, 8, false, false>", "allreduce"},
           {"two_shot_all_reduce_kernel<float, 16, 8, true, false>", "reduce_scatter"},
           {"two_shot_all_reduce_kernel<float, (int)16, (int)8, (bool)1, (bool)0>", "reduce_scatter"},
           {"two_shot_all_reduce_kernel<float, (int)16, (int)8, (bool)0, (bool)0>", "allreduce"},
           {"two_shot_all_reduce_kernel<float, 16, 8, 1>", "reduce_scatter"},
           {"two_shot_all_reduce_kernel<float, 16, 8, 16>", "allreduce"},
           {"two_shot_all_reduce_kernel_inplace<c10::BFloat16, 16, 2>", "allreduce"}}) {
    EXPECT_TRUE(is_comm_kernel(of_torch(kernel))) << kernel;
    EXPECT_EQ(op_of_kernel(of_torch(kernel)).op, op) << kernel;
  }
  EXPECT_FALSE(is_comm_kernel("multimem_copy_test(float*)"));
  EXPECT_EQ(comm_op_from("not_one_shot_all_reduce"), "") << "inside of another word";
}

TEST(CommNames, KernelsOfExpertParallelLibrariesAreTold) {
  for (const std::string_view kernel :
       {"void dpsk::ep::internode::dispatch<false, 8, true, 8>(int4*, float*, long*)",
        "void dpsk::ep::internode::cached_notify<false>(int, int, int)",
        "void deep_ep::intranode::notify_dispatch<8>(int const*, int*)",
        "void deep_ep::internode_ll::combine<7168, 9>(void*, void*)",
        "void deep_ep::legacy::internode::combine<false, 8>(int4*, float*)",
        "void deep_ep::elastic::hybrid_dispatch_impl<4>(int4*)", "void hybrid_ep::combine_kernel<1, 2>(int)",
        "void mori::moe::EpDispatchIntraNodeKernel<float>(int)", "nvshmemi_proxy_quiet_kernel(int*)",
        "mscclKernel_Sum_half_Simple_false(ncclDevComm*, mscclAlgo*, mscclWork*)",
        "void mscclpp::executionKernel<float>(int)", "kuserbuffers_pullrecv(int, int)", "hcom_allReduce__111_5939",
        "c10d::symmetric_memory::barrier_kernel(unsigned int**, int)"})
    EXPECT_TRUE(is_comm_kernel(kernel)) << kernel;
  EXPECT_EQ(op_of_kernel("void dpsk::ep::internode::dispatch<false, 8, true, 8>(int4*)").op, "dispatch");
  EXPECT_EQ(op_of_kernel("void dpsk::ep::internode::cached_notify<false>(int)").op, "notify");
  for (const std::string_view kernel :
       {"void dpsk::ep::cuda::get_dispatch_layout<256, 32, 8>(long const*, int*)",
        "void deep_ep::layout::get_dispatch_layout<256, 32, 8>(long const*, int*)",
        "void cutlass::device_kernel<dpsk::grouped_gemm::cuda::fp8_ptp128c::GemmKernel>(int)",
        "void my_gemm<deep_ep::internode::SourceMeta>(ncclComm*)", "triton_poi_fused_add_all_reduce_0"})
    EXPECT_FALSE(is_comm_kernel(kernel)) << kernel << ": computes, or only has an argument of such a type";
}

TEST(CommNames, AllReducesThatAreNotOfNcclAreTold) {
  for (const std::string_view kernel :
       {"void vllm::cross_device_reduce_2stage<__nv_bfloat16, 8>(RankData*)",
        "_ZN4vllm26cross_device_reduce_2stageI13__nv_bfloat16Li8EEEvP8RankData",
        "void sglang::cross_device_reduce_1stage<float, 4>(RankData*)",
        "void quickreduce::allreduce_prototype_twoshot<AllReduceTwoshot<__half, CodecQ4<__half, 8>, true>, __half>()",
        "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<1, __nv_bfloat16>(int)",
        "void tensorrt_llm::kernels::oneShotAllReduceKernel<half, 8>(tensorrt_llm::kernels::AllReduceParams)",
        "void (anonymous namespace)::all_reduce_one_shot_push_kernel<float, 4u>((anonymous namespace)::Data)",
        "void <unnamed>::two_shot_all_reduce_kernel<float, (int)16, (int)8, (bool)0, (bool)0>(int)"}) {
    EXPECT_TRUE(is_comm_kernel(kernel)) << kernel;
    EXPECT_EQ(op_of_kernel(kernel).op, "allreduce") << kernel;
  }
}

TEST(CommNames, RangesOfOtherBackendsAreTold) {
  ASSERT_NE(comm_backend_of("xccl:all_reduce"), nullptr);
  EXPECT_FALSE(comm_backend_of("xccl:all_reduce")->executes) << "its kernels do";
  EXPECT_TRUE(comm_backend_of("mpi:send")->executes);
  EXPECT_EQ(comm_backend_of("mlp:forward"), nullptr);
  EXPECT_EQ(comm_op_from("mpi:send"), "send");
  EXPECT_EQ(comm_op_from("hccl:_all_gather_base"), "allgather");
}

TEST(CommNames, CallsOfNcclTellTheirOperation) {
  EXPECT_EQ(op_of_nccl_call("ncclAllReduce"), "allreduce");
  EXPECT_EQ(op_of_nccl_call("ncclBcast"), "broadcast");
  EXPECT_EQ(op_of_nccl_call("ncclCommInitRank"), "");
  EXPECT_EQ(op_of_nccl_call("AllReduce"), "");
}

TEST(CommNames, RangesOfPyTorchTellOperationAndPartner) {
  EXPECT_EQ(op_of_framework_range("nccl:all_to_all").op, "alltoall");
  EXPECT_EQ(op_of_framework_range("nccl:_all_gather_base").op, "allgather");
  EXPECT_EQ(op_of_framework_range("nccl:send 0->3").op, "send");
  EXPECT_EQ(op_of_framework_range("nccl:send 0->3").peer, 3);
  EXPECT_EQ(op_of_framework_range("nccl:recv 1<-12").peer, 12);
  EXPECT_EQ(op_of_framework_range("nccl:coalesced").op, "");
  EXPECT_EQ(op_of_framework_range("ncclSend").op, "");
}

}  // namespace
}  // namespace rankscope::analyzer

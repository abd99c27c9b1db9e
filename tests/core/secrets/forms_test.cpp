// Which forms of secrets are found, and which strings only look like one.
#include "core/secrets/forms.h"

#include <gmock/gmock.h>

#include "rankscope/core/secrets.h"

namespace rankscope {
namespace {

using testing::canary;
using ::testing::HasSubstr;
using ::testing::Not;

std::string joined(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += word + " ";
  return line;
}

TEST(SecretForms, NoFormOfACommandLineKeepsItsSecret) {
  ASSERT_GE(testing::secret_commands().size(), 34U);
  for (const testing::Command& command : testing::secret_commands())
    EXPECT_THAT(joined(scrub(command)), Not(HasSubstr(canary))) << joined(command);
}

TEST(SecretForms, NoFormOfATextKeepsItsSecret) {
  for (std::string text : testing::secret_texts()) {
    const std::string before = text;
    EXPECT_GT(hide_secrets(text), 0U) << before;
    EXPECT_THAT(text, Not(HasSubstr(canary))) << before;
  }
}

TEST(SecretForms, TokensOfServicesAreHiddenInCommandsToo) {
  for (const std::string& token : testing::secret_tokens())
    EXPECT_THAT(joined(scrub({"train.py", token, "--x=" + token})), Not(HasSubstr(canary))) << token;
}

TEST(SecretForms, OrdinaryCommandsStayAsTheyAre) {
  const std::vector<std::vector<std::string>> commands{
      {"mkdir", "-p", "out2/logs"},
      {"ssh", "-p", "2222", "host"},
      {"docker", "run", "-p", "8080:80", "-u", "1000:1000", "image:v2"},
      {"docker", "run", "-u", "root:root", "image"},
      {"train.py", "-p", "8080"},
      {"train.py", "-p", "bf16"},
      {"train.py", "-p", "4x2"},
      {"train.py", "-p", "high"},
      {"train.py", "-p", "runs/a1"},
      {"train.py", "-p", "--verbose"},
      {"srun", "-p", "gpu01", "-u", "train.py"},
      {"python", "-u", "train.py", "-parallel", "-p8080", "-pipe", "-pthread", "-profile1000"},
      {"pytest", "-p", "no:cacheprovider"},
      {"train.py", "--pass", "2", "--tokenizer", "gpt2", "--max-tokens", "512", "--eos-token", "<eos>"},
      {"train.py", "--max-new-token", "a1b2", "--cache-key", "abc1", "--key", "2"},
      {"train.py", "--ssh-key", "/home/me/.ssh/id_rsa", "--token-file", "a1.txt"},
      {"docker", "login", "--password-stdin", "registry.example"},
      {"mysql", "-p", "-u", "root", "db1"},
      {"torchrun", "--nproc-per-node", "8", "--rdzv-endpoint", "n0:29500", "train.py", "--lr=1e-4"},
      {"echo", "Next token: forward"},
      {"git", "clone", "git@github.com:me/x.git"},
      {"git", "clone", "ssh://git@github.com/me/x.git"},
      {"wget", "https://host/x?page=2&sort=key"},
  };
  for (const auto& command : commands) EXPECT_EQ(scrub(command), command);
}

TEST(SecretForms, NamesOfKernelsOperatorsAndModulesStayAsTheyAre) {
  for (const std::string text : {
           "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>(int, float)",
           "at::native::(anonymous namespace)::softmax_warp_forward<float, float, float, 8, false, true>",
           "aten::scaled_dot_product_attention",
           "torch/nn/modules/module.py(1740): _call_impl",
           "nn.Module: Attention_0",
           "self.attn.key=1",
           "model.layers.0.self_attn.k_proj",
           "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage)",
           "[[1, -2], [3, 4]]",
           "ProfilerStep#3",
           "nccl:all_to_all",
           "hf_transformer_block_forward_pass",
           "hf_Bert::forward_attention_scores_v2",
           "sk-learn/site-packages/estimator",
           "task: forward",
           "decode token 17 of 128",
           "next token: sampling",
           "num_tokens=4096, eos_token=<eos>, token=128000",
           "def login(user: str, password: str, token: Optional[str] = None)",
           "c10d::TCPStore tcp://10.0.0.1:29500",
           "key: value",
           "author: bob, keyboard: us, compass=north",
           "triton_poi_fused_add_0.run(key=a1)",
           "cutlass::device_kernel<at::cuda::detail::(anonymous)::GroupedGemm<Key=int>>",
           "private_segment_size=128 group_segment_size=0",
           "pass 2 of 3: backward_pass=true",
           "Authorization of ranks",
           "Basic training of 3 layers",
       }) {
    EXPECT_EQ(without_secrets(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace rankscope

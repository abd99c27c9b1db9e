#include "rankscope/core/secrets.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

std::string hidden(std::string text) {
  hide_secrets(text);
  return text;
}

TEST(Secrets, OptionsAndVariablesOfACommandAreHidden) {
  const std::vector<std::string> command{"python",   "train.py",  "--api-key",           "abc",    "WANDB_API_KEY=xyz",
                                         "--lr=0.1", "--token=t", "http://me:pw@host/x", "--auth", "--verbose"};
  EXPECT_EQ(scrub(command),
            (std::vector<std::string>{"python", "train.py", "--api-key", "***", "WANDB_API_KEY=***", "--lr=0.1",
                                      "--token=***", "http://me:**@host/x", "--auth", "--verbose"}));
}

TEST(Secrets, AValueMayBeginWithADash) {
  EXPECT_EQ(
      scrub({"app", "--password", "-x", "-v", "--token", "--verbose", "--secret", "-token", "shown"}),
      (std::vector<std::string>{"app", "--password", "***", "-v", "--token", "--verbose", "--secret", "***", "shown"}));
}

TEST(Secrets, NamesAreReadWordByWord) {
  for (const char* name : {"HF_TOKEN", "--token", "accessToken", "AWS_SECRET_ACCESS_KEY", "db.password", "api-key",
                           "PGPASSWORD", "--authtoken", "HFTOKEN", "Authorization", "SSHPASS", "X-Api-Key", "db_pass",
                           "user_pwd", "OPENAI_KEY", "Set-Cookie", "pw"})
    EXPECT_TRUE(names_secret(name)) << name;
  for (const char* name : {"tokenizer",
                           "--max-tokens",
                           "eos_token_id",
                           "author",
                           "key",
                           "forward_pass",
                           "num_tokens",
                           "monkey",
                           "",
                           "keys_per_step",
                           "PWD",
                           "eos_token",
                           "max_new_token",
                           "cache_key",
                           "sort_key",
                           "private_segment_size",
                           "password_file",
                           "token-path",
                           "DispatchKey",
                           "pass",
                           "passes",
                           "compass",
                           "pattern",
                           "signature"})
    EXPECT_FALSE(names_secret(name)) << name;
}

TEST(Secrets, UnderSomeNamesNumbersAndMarksAreNoSecrets) {
  EXPECT_TRUE(is_secret_value("token", "abc"));
  EXPECT_TRUE(is_secret_value("password", "12345"));
  for (const char* value : {"128000", "0.5", "<eos>", "[1,2]", "None", "str", "", "***"})
    EXPECT_FALSE(is_secret_value("token", value)) << value;
  EXPECT_FALSE(is_secret_value("password", "None"));
  EXPECT_FALSE(is_secret_value("lr", "abc"));
}

TEST(Secrets, TokensOfKnownFormAreHiddenWhereverTheyStand) {
  EXPECT_EQ(hidden("push to hub with hf_abcdefghijklmnopqrstuvwx now"),
            "push to hub with *************************** now");
  EXPECT_EQ(hidden("AKIAIOSFODNN7EXAMPLE"), std::string(20, '*'));
  EXPECT_EQ(hidden("aten::sk-learn"), "aten::sk-learn");
  EXPECT_EQ(hidden("task-force ghp_short"), "task-force ghp_short");
}

TEST(Secrets, PasswordsInAddressesAndInEnvironmentsAreHidden) {
  EXPECT_EQ(hidden("clone https://me:hunter2@git.example/x.git done"),
            "clone https://me:*******@git.example/x.git done");
  EXPECT_EQ(hidden("Authorization: Bearer abc.def-ghi_jkl"), "Authorization: Bearer ***************");
  EXPECT_EQ(hidden("Basic training of 3 layers"), "Basic training of 3 layers");
  EXPECT_EQ(hidden("store tcp://10.0.0.1:29500/x"), "store tcp://10.0.0.1:29500/x");
  EXPECT_EQ(hidden("A=1\nWANDB_API_KEY=0123abc\nB=2"), "A=1\nWANDB_API_KEY=*******\nB=2");
  EXPECT_EQ(hidden(R"({"db_password": "x y", "size": 3})"), R"({"db_password": "***", "size": 3})");
}

TEST(Secrets, APrivateKeyIsHiddenToItsEnd) {
  const std::string key = "-----BEGIN RSA PRIVATE KEY-----\nabc\n";
  EXPECT_EQ(hidden("x " + key + "-----END RSA PRIVATE KEY-----"),
            "x " + std::string(key.size(), '*') + "-----END RSA PRIVATE KEY-----");
}

TEST(Secrets, HidingTwiceFindsNothingMore) {
  std::string text = "PASSWORD=abc hf_abcdefghijklmnopqrstuvwx";
  EXPECT_EQ(hide_secrets(text), 2U);
  EXPECT_EQ(hide_secrets(text), 0U);
  EXPECT_EQ(hide_secrets({}), 0U);
}

TEST(Secrets, ACommandThatWasScrubbedStaysAsItIs) {
  const auto once = scrub({"mysql", "-pabc123", "--token=abc", "login", "https://me:pw@host", "-u", "me:abc1"});
  EXPECT_EQ(scrub(once), once);
}

TEST(Secrets, AStringWithoutSecretsIsNotCopied) {
  EXPECT_EQ(without_secrets("void gemm<float, 4>(float const*, int)"), std::nullopt);
  EXPECT_EQ(without_secrets("token=abc"), "token=***");
}

}  // namespace
}  // namespace rankscope

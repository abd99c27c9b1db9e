// Forms in which secrets stand in command lines and strings. CANARY stands for the secret.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rankscope::testing {

/// Letters and digits, as passwords have them.
inline constexpr std::string_view canary = "c4n4ryB1rd77x";

using Command = std::vector<std::string>;

inline std::string with_canary(std::string text) {
  for (auto at = text.find("CANARY"); at != std::string::npos; at = text.find("CANARY", at))
    text.replace(at, 6, canary);
  return text;
}

/// Words as a program gets them.
inline std::vector<Command> secret_commands() {
  std::vector<Command> commands{
      {"train.py", "-p", "CANARY"},
      {"train.py", "-pCANARY"},
      {"train.py", "-u", "me:CANARY"},
      {"train.py", "--user", "me:CANARY"},
      {"train.py", "--pass", "CANARY"},
      {"train.py", "--pw", "CANARY"},
      {"train.py", "--pwd", "CANARY"},
      {"train.py", "--key", "CANARY"},
      {"train.py", "--key=CANARY"},
      {"train.py", "--password", "CANARY"},
      {"train.py", "--password=CANARY"},
      {"train.py", "--passphrase", "CANARY"},
      {"train.py", "--api-key", "CANARY"},
      {"train.py", "--api_key=CANARY"},
      {"train.py", "--hf-token", "CANARY"},
      {"train.py", "--token=CANARY"},
      {"train.py", "--secret", "CANARY"},
      {"train.py", "--auth", "CANARY"},
      {"train.py", "--credentials", "CANARY"},
      {"train.py", "--header", "X-Api-Key: CANARY"},
      {"curl", "-H", "Authorization: Bearer CANARY"},
      {"curl", "-H", "Authorization: Token CANARY"},
      {"curl", "-H", "Cookie: session=CANARY"},
      {"curl", "-u", "me:CANARY", "https://host/x"},
      {"curl", "-ume:CANARY", "https://host/x"},
      {"curl", "--user=me:CANARY", "https://host/x"},
      {"echo", "password: CANARY"},
      {"train.py", "--config", "{'password': 'CANARY'}"},
      {"train.py", "--config", R"({"token": "CANARY"})"},
      {"train.py", "--config", R"({"db": {"password": "CANARY"}})"},
      {"git", "clone", "https://CANARY@host/x.git"},
      {"git", "clone", "https://me:CANARY@host/x.git"},
      {"git", "clone", "https://CANARY:x-oauth-basic@host/x.git"},
      {"wget", "https://host/x?sig=CANARY"},
      {"wget", "https://host/x?a=1&X-Amz-Signature=CANARY&b=2"},
      {"wget", "https://host/x?access_token=CANARY"},
      {"env", "WANDB_API_KEY=CANARY", "train.py"},
      {"env", "MY_PASSWORD=CANARY", "train.py"},
      {"docker", "run", "-e", "HF_TOKEN=CANARY", "image"},
      {"docker", "login", "-u", "me", "-p", "CANARY"},
      {"wandb", "login", "CANARY"},
      {"python", "-m", "wandb", "login", "--relogin", "CANARY"},
      {"mysql", "-pCANARY", "-u", "root"},
      {"mysqldump", "-u", "root", "-pCANARY", "db"},
      {"sshpass", "-p", "CANARY", "ssh", "host"},
      {"redis-cli", "-a", "CANARY"},
      {"aws", "configure", "set", "aws_secret_access_key", "CANARY"},
      {"ngrok", "authtoken", "CANARY"},
      {"bash", "-c", "export HF_TOKEN=CANARY; python train.py"},
      {"bash", "-c", "python train.py --password CANARY --lr 0.1"},
      {"bash", "-c", "mysql -pCANARY -u root < x.sql"},
      {"bash", "-c", "wandb login CANARY && python train.py"},
      {"python", "-c", "import wandb; wandb.login(api_key='CANARY')"},
      {"echo", "-----BEGIN PRIVATE KEY-----\nCANARY\n-----END PRIVATE KEY-----"},
  };
  for (Command& command : commands)
    for (std::string& word : command) word = with_canary(std::move(word));
  return commands;
}

/// Tokens that show by their own form what they are, wherever they stand.
inline std::vector<std::string> secret_tokens() {
  std::vector<std::string> tokens;
  const std::string rest = std::string{canary} + std::string{canary} + std::string{canary} + std::string{canary};
  for (const char* prefix : {"gsk_", "SG.", "dckr_pat_", "ghp_", "github_pat_", "glpat-", "hf_", "sk-", "sk-proj-",
                             "xoxb-", "npm_", "pypi-", "nvapi-", "AIza", "ya29.", "r8_", "hvs.", "eyJ", "wandb_v1_"})
    tokens.push_back(prefix + rest);
  return tokens;
}

/// Strings as programs, traces and logs have them.
inline std::vector<std::string> secret_texts() {
  std::vector<std::string> texts{
      "password=CANARY",
      "password = CANARY",
      "password: CANARY",
      "PASSWORD: 'CANARY'",
      "login with --token CANARY now",
      "connect postgres://me:CANARY@db:5432/x",
      "upload https://CANARY@host/x",
      "get https://host/x?a=1&sig=CANARY",
      "Authorization: Basic CANARYCANARY",
      "Config(password='CANARY', lr=0.1)",
      "{'password': 'CANARY', 'lr': 0.1}",
      R"({"token": "CANARY"})",
      R"({\"token\": \"CANARY\"})",
      R"({"credentials": {"user": "CANARY", "id": "CANARY"}})",
      "curl -u me:CANARY https://host",
      "mysql -pCANARY db",
      "wandb login CANARY",
      "aws_secret_access_key := CANARY",
  };
  for (std::string& text : texts) text = with_canary(std::move(text));
  for (const std::string& token : secret_tokens()) texts.push_back("push with " + token + " now");
  return texts;
}

}  // namespace rankscope::testing

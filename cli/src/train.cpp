// rankscope train …: the reference trainer under the recorder. Options that are not the recorder's are the trainer's.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "programs.h"
#include "rankscope/core/format.h"
#include "record_options.h"
#include "say.h"
#include "verb.h"

namespace rankscope::cli {
namespace {

struct TrainArguments {
  collectors::RecordOptions record;
  bool no_record = false;
  bool help = false;
};

int become(const std::vector<std::string>& command) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execv(words[0], words.data());
  say(format("cannot start {}: {}", command.front(), std::strerror(errno)));
  return collectors::status_recorder_failed;
}

/// What is broken on purpose goes into the manifest under a key that no analysis reads.
std::vector<std::pair<std::string, std::string>> faults_in(const std::vector<std::string>& words) {
  constexpr std::string_view option = "--fault";
  std::vector<std::pair<std::string, std::string>> faults;
  const auto add = [&faults](std::string_view text) { faults.emplace_back(std::to_string(faults.size()), text); };
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == option && i + 1 < words.size()) add(words[i + 1]);
    if (words[i].starts_with("--fault=")) add(std::string_view{words[i]}.substr(option.size() + 1));
  }
  return faults;
}

/// Whether the ranks compute on GPUs or end.
bool asks_for_gpus(const Words& words) {
  if (std::ranges::find(words, "--device=cuda") != words.end()) return true;
  const auto option = std::ranges::find(words, "--device");
  return option != words.end() && option + 1 != words.end() && *(option + 1) == "cuda";
}

int train(TrainArguments& arguments, const Words& words, const CLI::App& app) {
  const auto trainer = find_program_file(trainer_name);
  if (!trainer) {
    say("this build has no reference trainer: configure with -DRANKSCOPE_TRAINER=ON and libtorch (scripts/setup "
        "fetches it)");
    return collectors::status_recorder_failed;
  }
  arguments.record.command = {trainer->string()};
  if (arguments.help) {
    const auto printed = print(app.help("rankscope"));
    return printed ? become({trainer->string(), "--help-options"}) : say(printed.error());
  }
  arguments.record.command.insert(arguments.record.command.end(), words.begin(), words.end());
  const bool only_prints =  // there is nothing to record
      std::ranges::any_of(words, [](const auto& word) { return word == "--explain" || word == "--list-modes"; });
  if (arguments.no_record || only_prints) return become(arguments.record.command);
  arguments.record.shown_command = {"rankscope", "train"};
  arguments.record.shown_command.insert(arguments.record.shown_command.end(), words.begin(), words.end());
  arguments.record.injected = faults_in(words);
  const bool launched = std::getenv("RANK") != nullptr || std::getenv("SLURM_STEP_ID") != nullptr;
  if (!launched) arguments.record.launcher = "rankscope train";
  // Where the trainer takes a GPU by itself, the recording has what was recorded of it, and nothing is missing.
  if (!asks_for_gpus(words)) arguments.record.gpus = collectors::Gpus::not_used;
  arguments.record.refusal_status = exit_status(ErrorKind::usage);  // the launcher or its ranks said why
  arguments.record.pytorch = collectors::PyTorch::left_out;         // the trainer is no Python program
  return record(arguments.record);
}

}  // namespace

Action declare_train(CLI::App& app, const Words& after_dashes) {
  const auto arguments = std::make_shared<TrainArguments>();
  app.set_help_flag();
  app.add_flag("-h,--help", arguments->help, "print this help and the options of the trainer");
  add_record_options(app, arguments->record);
  app.add_flag("--no-record", arguments->no_record, "train without recording");
  app.allow_extras();
  app.footer("rankscope train --parallel ddp --ranks 4 --steps 20 --fault slow:rank=2,factor=1.5 --out run.rankscope");
  return [arguments, &app, &after_dashes] {
    Words words = app.remaining();
    words.insert(words.end(), after_dashes.begin(), after_dashes.end());
    return train(*arguments, words, app);
  };
}

}  // namespace rankscope::cli

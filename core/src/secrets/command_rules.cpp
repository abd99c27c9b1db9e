#include "secrets/command_rules.h"

#include <algorithm>
#include <array>
#include <utility>

#include "secrets/names.h"
#include "secrets/shapes.h"

namespace rankscope::secrets {
namespace {

/// Where an option has its value, and which part of the value is secret.
enum class Place : std::uint8_t { next, attached, either, user_next };

/// What a short option of some programs means.
struct ProgramRule {
  std::string_view programs;  ///< names between spaces
  std::string_view option;
  Place place;
  bool after_login = false;  ///< only in `PROGRAM login`: in `docker run`, -p is a port
};

constexpr std::array rules{
    ProgramRule{" mysql mysqldump mysqladmin mysqlimport mysqlshow mysqlcheck mysqlsh mycli mariadb mariadb-dump "
                "mariadb-admin ",
                "-p", Place::attached},
    ProgramRule{" sshpass ", "-p", Place::either},
    ProgramRule{" docker podman nerdctl buildah skopeo helm oras az ", "-p", Place::either, true},
    ProgramRule{" mongo mongosh mongodump mongorestore mongoimport mongoexport ", "-p", Place::either},
    ProgramRule{" redis-cli ", "-a", Place::next},
    ProgramRule{" ldapsearch ldapmodify ldapadd ldapdelete ldapwhoami ", "-w", Place::either},
    ProgramRule{" zip unzip sqlcmd bcp ", "-P", Place::either},
    ProgramRule{" 7z 7za 7zz rar unrar ", "-p", Place::attached},
    ProgramRule{" curl ", "-u", Place::user_next},
    ProgramRule{" curl ", "-U", Place::user_next},
    ProgramRule{" http https ", "-a", Place::user_next},
};

/// Programs whose -p and -u mean something harmless: ports, folders, partitions, processes, users.
constexpr std::string_view harmless_programs =
    " srun sbatch salloc sinfo squeue mkdir install cp rsync scp ssh tar pytest perf gdb lldb strace ltrace py-spy top "
    "ps "
    "kill pgrep nc make ninja xargs patch protoc iperf iperf3 bash sh unshare su sudo runuser chown docker podman "
    "nerdctl "
    "buildah skopeo helm oras az mysql mysqldump mysqladmin zip unzip ";

/// They end what another program in front of them means: the options that follow are their own.
constexpr auto starters =
    std::to_array<std::string_view>({"python", "python3", "torchrun", "accelerate", "deepspeed", "env"});

bool lists(std::string_view names, std::string_view name) {
  for (std::size_t at = names.find(name); at != std::string_view::npos; at = names.find(name, at + 1))
    if (at > 0 && names[at - 1] == ' ' && names.substr(at + name.size()).starts_with(' ')) return !name.empty();
  return false;
}

std::string_view base_name(std::string_view word) { return word.substr(word.find_last_of('/') + 1); }

bool is_known_program(std::string_view name) {
  const auto has = [name](const ProgramRule& rule) { return lists(rule.programs, name); };
  return lists(harmless_programs, name) || std::ranges::any_of(rules, has);
}

/// Between two commands of a shell.
bool ends_command(std::string_view word) {
  return word == "&&" || word == "||" || word == "|" || word == ";" || word == "&";
}

bool is_option(std::string_view word) { return word.size() > 1 && word.front() == '-'; }

class Reader {
 public:
  Reader(std::span<const std::string_view> words, Guesses guesses) : words_(words), guesses_(guesses) {}

  std::vector<HiddenWord> read() {
    for (at_ = 0; at_ < words_.size(); ++at_) {
      const std::string_view word = words_[at_];
      if (ends_command(word)) {
        start({});
        next_ = Next::anything;
      }
      if (take_value(word)) continue;
      is_option(word) ? option(word) : argument(word);
    }
    return std::move(found_);
  }

 private:
  /// What the next word is.
  enum class Next : std::uint8_t { anything, secret, user_and_secret, guessed_secret, guessed_user };

  void hide(std::size_t from) { found_.push_back({at_, from}); }

  /// "-x" may be a value: rather too much is hidden. "--verbose" is none.
  bool take_value(std::string_view word) {
    const Next next = std::exchange(next_, Next::anything);
    if (next == Next::anything || word.starts_with("--")) return false;
    switch (next) {
      case Next::secret:
        hide(0);
        return true;
      case Next::user_and_secret:
        hide_after_colon(word, 0);
        return true;
      case Next::guessed_secret:
        if (mixes_letters_and_digits(word)) hide(0);
        return !is_option(word);
      case Next::guessed_user:
        guess_user(word, 0);
        return !is_option(word);
      case Next::anything:
        break;
    }
    return false;
  }

  void hide_after_colon(std::string_view word, std::size_t from) {
    const std::size_t colon = word.find(':', from);
    if (colon != std::string_view::npos && colon + 1 < word.size()) hide(colon + 1);
  }

  /// user:X, but not 1000:1000 or root:root, which are a user and a group, nor module:function in a path.
  void guess_user(std::string_view word, std::size_t from) {
    const std::size_t colon = word.find(':', from);
    if (colon == std::string_view::npos || colon == from || word.find('/') < colon) return;
    const std::string_view user = word.substr(from, colon - from);
    const std::string_view rest = word.substr(colon + 1);
    if (rest.empty() || rest.front() == ':' || rest.front() == '/' || user == rest || is_short_number(rest, 6)) return;
    hide(colon + 1);
  }

  void argument(std::string_view word) {
    const std::string_view name = base_name(word);
    if (login_with_key_ && word.find("://") == std::string_view::npos) {
      login_with_key_ = false;
      return hide(0);
    }
    if (sets_ && kind_of_name(word) != NameKind::harmless && word.find('=') == std::string_view::npos) {
      next_ = Next::secret;
      return;
    }
    if (word == "login") {
      login_ = true;
      login_with_key_ = program_ == "wandb";
    } else if (word == "set" || word == "config" || word == "authtoken" || word == "add-authtoken") {
      sets_ = word == "set" || word == "config";
      if (!sets_ && program_ == "ngrok") next_ = Next::secret;
    } else if (is_known_program(name) || name == "wandb" || name == "ngrok") {
      start(name);
    } else if (name.ends_with(".py") || std::ranges::find(starters, name) != starters.end()) {
      start({});
    }
  }

  void start(std::string_view program) {
    program_ = program;
    login_ = login_with_key_ = sets_ = false;
  }

  void option(std::string_view word) {
    if (known_option(word) || word.find('=') != std::string_view::npos) return user_option_with_value(word);
    const bool long_option = word.starts_with("--") || guesses_ == Guesses::yes;
    if (long_option && kind_of_option(word) != NameKind::harmless) {
      if (at_ + 1 < words_.size() && is_secret_of_option(word, words_[at_ + 1])) next_ = Next::secret;
    } else if (word == "--user" || word == "--proxy-user") {
      next_ = program_ == "curl" ? Next::user_and_secret : guessed(Next::guessed_user);
    } else {
      guess(word);
    }
  }

  /// --user=me:X
  void user_option_with_value(std::string_view word) {
    for (const std::string_view option : {"--user=", "--proxy-user="})
      if (word.starts_with(option) && (guesses_ == Guesses::yes || program_ == "curl") && !is_harmless_program())
        guess_user(word, option.size());
  }

  bool known_option(std::string_view word) {
    for (const ProgramRule& rule : rules) {
      if (!word.starts_with(rule.option) || !lists(rule.programs, program_) || (rule.after_login && !login_)) continue;
      const bool alone = word == rule.option;
      if (alone && rule.place != Place::attached)
        next_ = rule.place == Place::user_next ? Next::user_and_secret : Next::secret;
      if (!alone && rule.place == Place::user_next) hide_after_colon(word, rule.option.size());
      if (!alone && rule.place != Place::user_next && rule.place != Place::next) hide(rule.option.size());
      return true;
    }
    return false;
  }

  [[nodiscard]] bool is_harmless_program() const { return lists(harmless_programs, program_); }

  [[nodiscard]] Next guessed(Next next) const {
    return guesses_ == Guesses::yes && !is_harmless_program() ? next : Next::anything;
  }

  void guess(std::string_view word) {
    if (guesses_ == Guesses::no || is_harmless_program()) return;
    if (word == "-p") next_ = Next::guessed_secret;
    if (word == "-u") next_ = Next::guessed_user;
    if (word.starts_with("-u") && word.size() > 2) guess_attached_user(word);
    if (word.starts_with("-p") && is_attached_secret(word)) hide(2);
  }

  void guess_attached_user(std::string_view word) {
    const std::size_t colon = word.find(':');
    if (colon != std::string_view::npos && mixes_letters_and_digits(word.substr(colon + 1))) hide(colon + 1);
  }

  /// -phunter2, but not -parallel, -p8080 or -profile2.
  static bool is_attached_secret(std::string_view word) {
    constexpr std::size_t shortest = 6;
    constexpr auto long_options = std::to_array<std::string_view>(
        {"-pa", "-prof", "-prec", "-port", "-pre", "-proc", "-pip", "-pool", "-prin", "-pp", "-po", "-ppn"});
    const auto begins = [word](std::string_view option) { return word.starts_with(option); };
    return word.size() >= 2 + shortest && mixes_letters_and_digits(word.substr(2)) &&
           std::ranges::none_of(long_options, begins);
  }

  std::span<const std::string_view> words_;
  Guesses guesses_;
  std::vector<HiddenWord> found_;
  std::size_t at_ = 0;
  std::string_view program_;
  Next next_ = Next::anything;
  bool login_ = false;
  bool login_with_key_ = false;  // wandb login KEY
  bool sets_ = false;            // aws configure set NAME VALUE
};

}  // namespace

std::vector<HiddenWord> secret_words(std::span<const std::string_view> words, Guesses guesses) {
  return Reader{words, guesses}.read();
}

}  // namespace rankscope::secrets

#include "what_if/fix.h"

#include <algorithm>
#include <array>

#include "rankscope/analyzer/what_if/what_if.h"
#include "rankscope/core/format.h"
#include "rankscope/core/numbers.h"

namespace rankscope::analyzer::replay {
namespace {

enum class Subject : std::uint8_t { none, name, rank, pair, last };
enum class Factor : std::uint8_t { none, optional, required };

struct FixForm {
  std::string_view word;
  FixKind kind;
  Subject subject;
  Factor factor;
  std::string_view form;  ///< as a user writes it
  std::string_view meaning;
};

constexpr std::array forms{
    FixForm{"rank", FixKind::rank, Subject::rank, Factor::none, "rank:R", "rank R takes as long as its peers"},
    FixForm{"host", FixKind::host, Subject::name, Factor::none, "host:NAME",
            "the ranks of a host take as long as those of other hosts"},
    FixForm{"op", FixKind::op, Subject::name, Factor::optional, "op:GLOB[*F]",
            "operators, ranges and kernels by name, with the work that they launch"},
    FixForm{"group", FixKind::group, Subject::name, Factor::optional, "group:NAME[*F]",
            "transfers of a group of ranks"},
    FixForm{"link", FixKind::link, Subject::pair, Factor::optional, "link:A-B[*F]",
            "transfers in which both rank A and rank B take part"},
    FixForm{"network", FixKind::network, Subject::none, Factor::none, "network", "transfers take no time"},
    FixForm{"launch", FixKind::launch, Subject::none, Factor::none, "launch",
            "work starts as soon as everything that it waits for has ended"},
    FixForm{"hostcode", FixKind::hostcode, Subject::none, Factor::required, "hostcode*F",
            "host time outside data loading"},
    FixForm{"data", FixKind::data, Subject::none, Factor::none, "data", "no rank waits for the loader"},
    FixForm{"gc", FixKind::gc, Subject::none, Factor::none, "gc", "garbage collection takes no time"},
    FixForm{"stage", FixKind::stage, Subject::last, Factor::none, "stage:last",
            "the last pipeline stage takes the mean compute time of all stages"},
    FixForm{"balance", FixKind::balance, Subject::none, Factor::none, "balance",
            "in each step, each piece of compute takes its mean time over all peers"},
    FixForm{"remove", FixKind::remove, Subject::name, Factor::none, "remove:GLOB", "op:GLOB takes no time"},
    FixForm{"overlap", FixKind::overlap, Subject::name, Factor::none, "overlap:all",
            "work does not wait for communication that was enqueued before it"},
};

std::string what_there_is() {
  std::string list;
  for (const FixForm& form : forms) list.append(list.empty() ? "" : ", ").append(form.form);
  return list;
}

tl::unexpected<Error> no_fix(std::string_view text, std::string_view why) {
  return fail(ErrorKind::usage, format("--fix {}: {}; choose from {}", text, why, what_there_is()));
}

/// The number after the last "*", if there is one; cuts it off. "aten::*" has none.
std::optional<double> take_factor(std::string_view& text) {
  const std::size_t star = text.rfind('*');
  if (star == std::string_view::npos) return std::nullopt;
  const auto factor = number_from<double>(text.substr(star + 1));
  if (factor) text = text.substr(0, star);
  return factor;
}

/// Reads what follows the colon; returns what is wrong, or nothing.
std::string_view read_subject(const FixForm& form, std::string_view subject, Fix& fix) {
  fix.subject = subject;
  switch (form.subject) {
    case Subject::none:
      return subject.empty() ? "" : "nothing may follow the name of this fix";
    case Subject::name:
      return subject.empty() ? "a name must follow the colon" : "";
    case Subject::last:
      return subject == "last" ? "" : "only \"last\" may follow the colon, for the last stage";
    case Subject::rank: {
      const auto rank = number_from<std::uint32_t>(subject);
      fix.first = rank.value_or(0);
      return rank ? "" : "the number of a rank must follow the colon";
    }
    case Subject::pair: {
      const std::size_t dash = subject.find('-');
      const auto first = number_from<std::uint32_t>(subject.substr(0, dash));
      const auto second =
          number_from<std::uint32_t>(subject.substr(dash == std::string_view::npos ? subject.size() : dash + 1));
      fix.first = first.value_or(0);
      fix.second = second.value_or(0);
      return first && second && fix.first != fix.second ? "" : "two ranks must follow the colon, as in link:0-1";
    }
  }
  return "";
}

}  // namespace

Result<Fix> parse_fix(std::string_view text) {
  Fix fix;
  fix.text = text;
  std::string_view rest = text;
  const std::size_t colon = rest.find(':');
  std::optional<double> factor;
  // A star belongs to the pattern where the kind takes no factor.
  const std::string_view before = rest.substr(0, std::min(colon, rest.find('*')));
  const auto form = std::ranges::find(forms, before, &FixForm::word);
  if (form == forms.end()) return no_fix(text, "no such fix");
  if (form->factor != Factor::none) factor = take_factor(rest);
  if (colon != std::string_view::npos && text.find('*') < colon)
    return no_fix(text, "a factor must come last, as in group:dp*0.5");
  fix.kind = form->kind;
  fix.factor = factor;
  if (factor && (*factor < 0 || *factor > 1e6)) return no_fix(text, "the factor must be from 0 to 1,000,000");
  if (form->factor == Factor::required && !factor) return no_fix(text, "a factor must follow, as in hostcode*0.5");
  const std::string_view subject = colon == std::string_view::npos ? std::string_view{} : rest.substr(colon + 1);
  if (colon == std::string_view::npos && rest != form->word) return no_fix(text, "no such fix");
  if (const std::string_view wrong = read_subject(*form, subject, fix); !wrong.empty()) return no_fix(text, wrong);
  if (fix.kind == FixKind::overlap && fix.subject != "all") return no_fix(text, "only \"all\" may follow the colon");
  return fix;
}

}  // namespace rankscope::analyzer::replay

namespace rankscope::analyzer {

std::vector<FixInfo> fix_infos() {
  std::vector<FixInfo> infos;
  for (const replay::FixForm& form : replay::forms) infos.push_back({form.form, form.meaning});
  return infos;
}

std::string fixes_help() {
  std::string help;
  for (const FixInfo& fix : fix_infos()) help += format("  {:<16}{}\n", fix.form, fix.meaning);
  return help;
}

}  // namespace rankscope::analyzer

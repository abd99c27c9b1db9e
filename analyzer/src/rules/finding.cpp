#include "rankscope/analyzer/rules/finding.h"

namespace rankscope::analyzer {

std::string_view name_of(FindingSeverity severity) {
  switch (severity) {
    case FindingSeverity::info:
      return "info";
    case FindingSeverity::minor:
      return "minor";
    case FindingSeverity::major:
      return "major";
    case FindingSeverity::critical:
      return "critical";
  }
  return "?";
}

std::string_view name_of(Certainty certainty) {
  switch (certainty) {
    case Certainty::fact:
      return "fact";
    case Certainty::of_two:
      return "of_two";
    case Certainty::of_three:
      return "of_three";
    case Certainty::few_steps:
      return "few_steps";
  }
  return "?";
}

bool is_about_one_rank(const Finding& finding) {
  return finding.id.starts_with(finding_family::straggler) || finding.id.starts_with(finding_family::unequal) ||
         finding.id == finding_id::slow_tcp_link || finding.id == finding_id::waited_for;
}

}  // namespace rankscope::analyzer

// Names of the report's enumerations, as they stand in the JSON.
#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {

std::string_view name_of(StragglerKind kind) {
  switch (kind) {
    case StragglerKind::compute:
      return "compute";
    case StragglerKind::host:
      return "host";
    case StragglerKind::data:
      return "data";
    case StragglerKind::network:
      return "network";
    case StragglerKind::memory:
      return "memory";
    case StragglerKind::mixed:
      return "mixed";
  }
  return "?";
}

std::string_view name_of(Persistence persistence) {
  switch (persistence) {
    case Persistence::persistent:
      return "persistent";
    case Persistence::transient:
      return "transient";
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

std::string_view name_of(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::device:
      return "device";
    case MemoryKind::host:
      return "host";
  }
  return "?";
}

}  // namespace rankscope::analyzer

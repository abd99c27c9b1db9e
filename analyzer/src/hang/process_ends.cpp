#include "hang/process_ends.h"

#include <algorithm>
#include <array>
#include <csignal>

#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/numbers.h"

namespace rankscope::analyzer::hang {
namespace {

struct SignalName {
  int number;
  std::string_view name;
};
constexpr std::array<SignalName, 15> signal_names{{{SIGKILL, "SIGKILL"},
                                                   {SIGTERM, "SIGTERM"},
                                                   {SIGSEGV, "SIGSEGV"},
                                                   {SIGABRT, "SIGABRT"},
                                                   {SIGBUS, "SIGBUS"},
                                                   {SIGFPE, "SIGFPE"},
                                                   {SIGILL, "SIGILL"},
                                                   {SIGINT, "SIGINT"},
                                                   {SIGHUP, "SIGHUP"},
                                                   {SIGQUIT, "SIGQUIT"},
                                                   {SIGPIPE, "SIGPIPE"},
                                                   {SIGTRAP, "SIGTRAP"},
                                                   {SIGXCPU, "SIGXCPU"},
                                                   {SIGUSR1, "SIGUSR1"},
                                                   {SIGUSR2, "SIGUSR2"}}};

std::string_view take_word(std::string_view& text) {
  const std::size_t end = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(text.size(), end + 1));
  return word;
}

}  // namespace

ProcessEnds process_ends_from(std::string_view text) {
  ProcessEnds ends;
  while (!text.empty()) {
    const std::size_t size = std::min(text.find(';'), text.size());
    std::string_view row = text.substr(0, size);
    text.remove_prefix(std::min(text.size(), size + 1));
    const std::string_view host = take_word(row);
    const auto pid = number_from<std::int64_t>(take_word(row), {.least = 1});
    const auto status = number_from<std::int64_t>(take_word(row), {.least = 0, .most = 0xFFFF});
    const auto at = number_from<std::int64_t>(take_word(row), {.least = 1});
    if (!pid || !status || !at) continue;
    ends.push_back({.host = std::string{host},
                    .pid = *pid,
                    .signal = *status & 0x7F,
                    .status = (*status >> 8) & 0xFF,
                    .at_unix_ns = *at});
  }
  return ends;
}

ProcessEnds process_ends_of(const Run& run) { return process_ends_from(run.metadata("process_ends")); }

const ProcessEnd* find_end(const ProcessEnds& ends, const Run& run, const Process& process) {
  const std::string_view host = run.text(process.host);
  const auto found = std::ranges::find_if(ends, [&](const ProcessEnd& end) {
    return end.pid == process.pid && (host.empty() || end.host.empty() || end.host == host);
  });
  return found == ends.end() ? nullptr : &*found;
}

bool asks_to_end(std::int64_t signal) { return signal == SIGTERM || signal == SIGINT || signal == SIGHUP; }

bool is_own_fault(std::int64_t signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL;
}

std::optional<RankId> first_bad_end(const ProcessEnds& ends, const Run& run, const ClockTrust& clocks,
                                    std::span<const RankId> ranks) {
  const bool several_hosts = std::ranges::any_of(
      ranks, [&](RankId rank) { return run.process_of(rank).host != run.process_of(ranks.front()).host; });
  if (several_hosts && !clocks.comparable(ranks)) return std::nullopt;
  std::optional<RankId> first;
  std::int64_t at = 0;
  for (const RankId rank : ranks) {
    const ProcessEnd* const end = find_end(ends, run, run.process_of(rank));
    if (end == nullptr) return std::nullopt;
    if (asks_to_end(end->signal) || (first && end->at_unix_ns >= at)) continue;
    first = rank;
    at = end->at_unix_ns;
  }
  return first;
}

std::string signal_words(std::int64_t signal) {
  const auto found = std::ranges::find(signal_names, signal, &SignalName::number);
  return found == signal_names.end() ? format("signal {}", signal) : std::string{found->name};
}

}  // namespace rankscope::analyzer::hang

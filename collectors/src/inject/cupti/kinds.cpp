#include "inject/cupti/kinds.h"

#include <algorithm>
#include <array>

#include "inject/recorder/recorder.h"
#include "rankscope/core/format.h"

namespace rankscope::inject::cupti {
namespace {

using collectors::cupti::driver_launches;
using collectors::cupti::Functions;
using collectors::cupti::Kind;
namespace result = collectors::cupti::result;

constexpr std::array always{Kind::concurrent_kernel, Kind::memcpy, Kind::memcpy_peer, Kind::memset, Kind::overhead};
/// Told by the program's threads themselves, several for each kernel.
constexpr std::array of_threads{Kind::runtime, Kind::driver, Kind::synchronization, Kind::cuda_event};

/// After kinds were enabled, which sets all of it back.
void leave_out_idle_calls(const Functions& call) {
  if (call.enable_runtime_call != nullptr)
    for (const std::uint32_t number : collectors::cupti::idle_runtime_calls) call.enable_runtime_call(number, 0);
  if (call.enable_driver_call != nullptr)
    for (const std::uint32_t number : collectors::cupti::idle_driver_calls) call.enable_driver_call(number, 0);
  // Queries that found nothing ready are no waiting. Which one is the default differs between versions.
  if (call.enable_all_sync_records != nullptr) call.enable_all_sync_records(0);
}

constexpr std::uint32_t most_calls = 1024;  // of a domain; a version refuses the numbers that it lacks

}  // namespace

void Kinds::leave_out_calls(const Functions& call) const {
  leave_out_idle_calls(call);
  if (!thinned_) return;
  for (std::uint32_t number = 1; number < most_calls; ++number) {
    call.enable_runtime_call(number, 0);
    if (std::ranges::find(driver_launches, number) == driver_launches.end()) call.enable_driver_call(number, 0);
  }
}

bool Kinds::thin(const Functions& call) {
  if (call.enable_runtime_call == nullptr || call.enable_driver_call == nullptr) return false;
  thinned_ = true;
  if (!resting_) leave_out_calls(call);
  return true;
}

std::string Kinds::add(const Functions& call, Kind kind, Existing existing) {
  const auto number = static_cast<std::uint32_t>(kind);
  const int status = existing == Existing::tell ? call.enable_and_dump(number) : call.enable(number);
  if (status != result::success) return format("CUPTI refuses records of kind {}: {}", number, call.text_of(status));
  enabled_.push_back(kind);
  return {};
}

std::string Kinds::enable(const Functions& call) {
  std::string problem;
  const auto ask = [&](Kind kind, Existing existing = Existing::skip) {
    const std::string refused = add(call, kind, existing);
    if (problem.empty()) problem = refused;
  };
  for (const Kind kind : {Kind::device, Kind::context})
    if (!add(call, kind, Existing::tell).empty()) refused_at_first_.push_back(kind);
  for (const Kind kind : always) ask(kind);
  for (const Kind kind : of_threads) ask(kind);
  if (asked_graph_level() == collectors::GraphLevel::graph) ask(Kind::graph_trace);  // in place of its kernels
  if (asked_details().has(collectors::Detail::memory)) {
    ask(Kind::memory);
    ask(Kind::memory_pool);
  }
  leave_out_idle_calls(call);
  return problem;
}

std::string Kinds::ask_again(const Functions& call) {
  if (refused_at_first_.empty()) return {};
  std::string problem;
  std::erase_if(refused_at_first_, [&](Kind kind) {
    const std::string refused = add(call, kind, Existing::tell);
    if (problem.empty()) problem = refused;
    return refused.empty();
  });
  if (++attempts_ < most_attempts) return {};
  refused_at_first_.clear();
  return problem;
}

void Kinds::rest(const Functions& call) {
  for (const Kind kind : of_threads)
    if (has(kind)) call.disable(static_cast<std::uint32_t>(kind));
  resting_ = true;
}

void Kinds::wake(const Functions& call) {
  for (const Kind kind : of_threads)
    if (has(kind)) call.enable(static_cast<std::uint32_t>(kind));
  leave_out_calls(call);
  resting_ = false;
}

bool Kinds::has(Kind kind) const { return std::ranges::find(enabled_, kind) != enabled_.end(); }

void Kinds::disable(const Functions& call) {
  for (const Kind kind : enabled_) call.disable(static_cast<std::uint32_t>(kind));
  enabled_.clear();
}

}  // namespace rankscope::inject::cupti

#include "rankscope/trainer/options/fault.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "rankscope/core/choices.h"
#include "rankscope/core/format.h"
#include "rankscope/core/numbers.h"

namespace rankscope::trainer {
namespace {

struct Kind {
  FaultKind kind;
  std::string_view form;
  std::string_view required;  // space separated keys
  std::string_view optional;

  [[nodiscard]] constexpr std::string_view id() const { return choices::faults[static_cast<std::size_t>(kind)]; }
};

constexpr std::array kinds{
    Kind{FaultKind::slow, "slow:rank=R,factor=F[,step=S]", "rank factor", "step"},
    Kind{FaultKind::data, "data:rank=R,ms=M[,step=S]", "rank ms", "step"},
    Kind{FaultKind::pause, "pause:rank=R,ms=M,every=K[,step=S]", "rank ms", "every step"},
    Kind{FaultKind::comm, "comm:rank=R,ms=M[,step=S]", "rank ms", "step"},
    Kind{FaultKind::exit, "exit:rank=R,step=S", "rank step", ""},
    Kind{FaultKind::kill, "kill:rank=R,step=S", "rank step", ""},
    Kind{FaultKind::hang, "hang:rank=R,step=S", "rank step", ""},
    Kind{FaultKind::nan, "nan:rank=R,step=S", "rank step", ""},
    Kind{FaultKind::corrupt, "corrupt:rank=R,step=S", "rank step", ""},
};

static_assert(std::ranges::all_of(kinds, [](const Kind& kind) { return kind.form.starts_with(kind.id()); }) &&
              kinds.size() == choices::faults.size());

const Kind& kind_row(FaultKind kind) { return *std::ranges::find(kinds, kind, &Kind::kind); }

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const auto end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
    if (text.empty()) parts.emplace_back();
  }
  return parts;
}

bool lists(std::string_view keys, std::string_view key) { return std::ranges::count(split(keys, ' '), key) > 0; }

/// How a key is read: ranks and steps are whole, a delay is at most an hour, a factor at most 1000.
struct Key {
  std::string_view id;
  Result<void> (*store)(Fault&, std::string_view key, std::string_view value);
};

template <class Number, auto Member>
Result<void> store_bounded(Fault& fault, std::string_view key, Bounds<Number> bounds, std::string_view value) {
  RS_TRY(fault.*Member, number_of(key, bounds, value));
  return {};
}

using Text = std::string_view;
constexpr std::array keys{
    Key{"rank",
        [](Fault& f, Text key, Text value) {
          return store_bounded<int, &Fault::rank>(f, key, {0, 1'000'000}, value);
        }},
    Key{"factor",
        [](Fault& f, Text key, Text value) {
          return store_bounded<double, &Fault::factor>(f, key, {1, 1000}, value);
        }},
    Key{"ms",
        [](Fault& f, Text key, Text value) -> Result<void> {
          RS_TRY(const double ms, number_of<double>(key, {0, 3'600'000}, value));
          f.delay = std::chrono::nanoseconds{std::llround(ms * 1e6)};
          return {};
        }},
    Key{"every",
        [](Fault& f, Text key, Text value) {
          return store_bounded<std::int64_t, &Fault::every>(f, key, {1, 1'000'000'000}, value);
        }},
    Key{"step",
        [](Fault& f, Text key, Text value) {
          return store_bounded<std::int64_t, &Fault::step>(f, key, {0, 1'000'000'000'000}, value);
        }},
};

Result<void> store_key(Fault& fault, std::string_view key, std::string_view value) {
  const auto* row = std::ranges::find(keys, key, &Key::id);
  RS_CHECK(row != keys.end());
  return row->store(fault, key, value);
}

Result<Fault> parse_keys(const Kind& kind, std::string_view text) {
  Fault fault{.kind = kind.kind};
  std::vector<std::string_view> seen;
  for (const auto part : split(text, ',')) {
    const auto equal = part.find('=');
    const auto key = part.substr(0, equal);
    if (equal == std::string_view::npos)
      return fail(ErrorKind::usage, format("'{}' is not of the form key=value", part));
    if (!lists(kind.required, key) && !lists(kind.optional, key)) {
      return fail(ErrorKind::usage, format("'{}' is not a key of {}", key, kind.id()));
    }
    if (std::ranges::count(seen, key) > 0) return fail(ErrorKind::usage, format("{} is given twice", key));
    seen.push_back(key);
    RS_TRY_VOID(store_key(fault, key, part.substr(equal + 1)));
  }
  for (const auto key : split(kind.required, ' ')) {
    if (std::ranges::count(seen, key) == 0) return fail(ErrorKind::usage, format("{}= is missing", key));
  }
  return fault;
}

}  // namespace

Result<Fault> parse_fault(std::string_view text) {
  const auto colon = text.find(':');
  const auto* kind = std::ranges::find(kinds, text.substr(0, colon), &Kind::id);
  if (kind == kinds.end()) {
    return fail(ErrorKind::usage, format("--fault {}: unknown kind of fault; choose from: {}", text, fault_forms()));
  }
  const auto rest = colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
  return parse_keys(*kind, rest).map_error([&](Error error) {
    error.message = format("--fault {}: {}; write {}", text, error.message, kind->form);
    return error;
  });
}

std::string fault_text(const Fault& fault) {
  const Kind& kind = kind_row(fault.kind);
  const auto has = [&](std::string_view key) { return lists(kind.required, key) || lists(kind.optional, key); };
  std::string text = format("{}:rank={}", kind.id(), fault.rank);
  if (has("factor")) text += format(",factor={}", fault.factor);
  if (has("ms")) text += format(",ms={}", std::chrono::duration<double, std::milli>(fault.delay).count());
  if (has("every")) text += format(",every={}", fault.every);
  if (lists(kind.required, "step") || fault.step > 0) text += format(",step={}", fault.step);
  return text;
}

std::int64_t first_step_of(const Fault& fault) {
  const std::int64_t due = fault.every / 2;  // in each period
  const std::int64_t into = fault.step % fault.every;
  return fault.step - into + due + (into > due ? fault.every : 0);
}

bool happens_once(FaultKind kind) { return lists(kind_row(kind).required, "step"); }

std::string all_fault_texts(std::span<const Fault> faults) {
  std::string text;
  for (const auto& fault : faults) text += (text.empty() ? "" : "; ") + fault_text(fault);
  return text;
}

std::string fault_forms() {
  std::string text;
  for (const auto& kind : kinds) text += format("{}{}", text.empty() ? "" : " · ", kind.form);
  return text;
}

FaultPlan::FaultPlan(std::span<const Fault> faults, int rank) {
  std::ranges::copy_if(faults, std::back_inserter(faults_), [&](const Fault& fault) { return fault.rank == rank; });
}

double FaultPlan::compute_factor(std::int64_t step) const {
  double factor = 1.0;
  for (const auto& fault : faults_) {
    if (fault.kind == FaultKind::slow && step >= fault.step) factor *= fault.factor;
  }
  return factor;
}

std::chrono::nanoseconds FaultPlan::total_delay(FaultKind kind, std::int64_t step) const {
  std::chrono::nanoseconds total{0};
  for (const auto& fault : faults_) {
    // In the middle of each period: neither the first step, which warms up, nor only the last one of a short run.
    if (fault.kind == kind && step >= fault.step && step % fault.every == fault.every / 2) total += fault.delay;
  }
  return total;
}

std::chrono::nanoseconds FaultPlan::data_delay(std::int64_t step) const { return total_delay(FaultKind::data, step); }
std::chrono::nanoseconds FaultPlan::pause(std::int64_t step) const { return total_delay(FaultKind::pause, step); }
std::chrono::nanoseconds FaultPlan::comm_delay(std::int64_t step) const { return total_delay(FaultKind::comm, step); }

bool FaultPlan::happens(FaultKind kind, std::int64_t step) const {
  return std::ranges::any_of(faults_, [&](const Fault& fault) { return fault.kind == kind && fault.step == step; });
}

}  // namespace rankscope::trainer

#include "rankscope/trainer/options/fault.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "rankscope/core/format.h"

namespace rankscope::trainer {
namespace {

struct Kind {
  FaultKind kind;
  std::string_view id;
  std::string_view form;
  std::string_view required;  // space separated keys
  std::string_view optional;
};

constexpr std::array kinds{
    Kind{FaultKind::slow, "slow", "slow:rank=R,factor=F[,step=S]", "rank factor", "step"},
    Kind{FaultKind::data, "data", "data:rank=R,ms=M[,step=S]", "rank ms", "step"},
    Kind{FaultKind::pause, "pause", "pause:rank=R,ms=M,every=K[,step=S]", "rank ms", "every step"},
    Kind{FaultKind::comm, "comm", "comm:rank=R,ms=M[,step=S]", "rank ms", "step"},
    Kind{FaultKind::exit, "exit", "exit:rank=R,step=S", "rank step", ""},
    Kind{FaultKind::kill, "kill", "kill:rank=R,step=S", "rank step", ""},
    Kind{FaultKind::hang, "hang", "hang:rank=R,step=S", "rank step", ""},
    Kind{FaultKind::nan, "nan", "nan:rank=R,step=S", "rank step", ""},
    Kind{FaultKind::corrupt, "corrupt", "corrupt:rank=R,step=S", "rank step", ""},
};

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

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

// Bounds keep conversions exact: ranks and steps are whole, a delay is at most an hour, a factor at most 1000.
struct Key {
  std::string_view id;
  double low;
  double high;
  bool whole;
  void (*store)(Fault&, double);
};

constexpr std::array keys{
    Key{"rank", 0, 1e6, true, [](Fault& f, double v) { f.rank = static_cast<int>(v); }},
    Key{"factor", 1, 1000, false, [](Fault& f, double v) { f.factor = v; }},
    Key{"ms", 0, 3.6e6, false, [](Fault& f, double v) { f.delay = std::chrono::nanoseconds{std::llround(v * 1e6)}; }},
    Key{"every", 1, 1e9, true, [](Fault& f, double v) { f.every = static_cast<std::int64_t>(v); }},
    Key{"step", 0, 1e12, true, [](Fault& f, double v) { f.step = static_cast<std::int64_t>(v); }},
};

Result<void> store_key(Fault& fault, std::string_view key, std::string_view value) {
  const auto* row = std::ranges::find(keys, key, &Key::id);
  RS_CHECK(row != keys.end());
  const auto parsed = number(value);
  if (!parsed) return fail(ErrorKind::usage, format("'{}' is no number for {}", value, key));
  if (*parsed < row->low || *parsed > row->high || (row->whole && *parsed != std::floor(*parsed))) {
    return fail(ErrorKind::usage, format("{}={} is out of range; it must be {} from {} to {}", key, value,
                                         row->whole ? "a whole number" : "a number", row->low, row->high));
  }
  row->store(fault, *parsed);
  return {};
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
      return fail(ErrorKind::usage, format("'{}' is no key of {}", key, kind.id));
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
    return fail(ErrorKind::usage, format("--fault {}: unknown kind of fault; there are: {}", text, fault_forms()));
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
  std::string text = format("{}:rank={}", kind.id, fault.rank);
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

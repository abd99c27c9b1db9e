#include <array>
#include <limits>
#include <utility>

#include "copies/local.h"
#include "math/checked_product.h"

namespace rankscope::analyzer {
namespace {

constexpr std::int64_t most_of_sum = std::int64_t{1} << 62;

/// The numbers of an entry, in the order of the bytes.
constexpr std::array copy_numbers{
    &CopiesPart::Copies::count,          &CopiesPart::Copies::sum_ns,      &CopiesPart::Copies::bytes,
    &CopiesPart::Copies::sized,          &CopiesPart::Copies::too_large,   &CopiesPart::Copies::unmeasured,
    &CopiesPart::Copies::measured_bytes, &CopiesPart::Copies::measured_ns, &CopiesPart::Copies::exposed_ns,
};

/// Sums over all entries of a part must fit, too; bytes are added with care.
class SumLimits {
 public:
  explicit SumLimits(digest::PartReader& in) : in_(in) {}
  void add(std::int64_t count, std::int64_t ns) {
    if (!add_fits(count_, count) || !add_fits(ns_, ns) || count_ > most_of_sum || ns_ > most_of_sum)
      in_.fail("its sums are too large");
  }

 private:
  digest::PartReader& in_;
  std::int64_t count_ = 0;
  std::int64_t ns_ = 0;
};

bool contradicts_itself(const CopiesPart::Copies& entry) {
  return entry.sized > entry.count - entry.too_large || entry.unmeasured > entry.count ||
         entry.measured_bytes > entry.bytes || entry.measured_ns > entry.sum_ns;
}

CopiesPart::Copies read_copies(digest::PartReader& in, const TimeCells& cells, const CopiesPart& part) {
  CopiesPart::Copies entry;
  entry.name = read_set_text_row(in, part.texts);
  entry.cell = static_cast<std::uint32_t>(in.number_to(cells.count() - 1));
  for (const auto number : copy_numbers) entry.*number = in.signed_between(0, std::numeric_limits<std::int64_t>::max());
  if (contradicts_itself(entry)) in.fail("the numbers of copies contradict each other");
  if (!part.copies.empty() &&
      std::pair{entry.name, entry.cell} <= std::pair{part.copies.back().name, part.copies.back().cell})
    in.fail("copies are not in the order of their names and cells");
  return entry;
}

CopiesPart::Calls read_calls(digest::PartReader& in, const TimeCells& cells, const CopiesPart& part) {
  CopiesPart::Calls calls;
  calls.use = static_cast<CallUse>(in.number_to(call_use_count - 1));
  calls.call = read_set_text_row(in, part.texts);
  calls.op = read_text_row(in, part.texts);
  calls.range = read_text_row(in, part.texts);
  calls.cell = static_cast<std::uint32_t>(in.number_to(cells.count() - 1));
  calls.before_work = in.number_to(1) == 1;
  calls.count = in.signed_between(0, most_of_sum);
  calls.ns = in.signed_between(0, most_of_sum);
  return calls;
}

}  // namespace

void write_part(digest::PartWriter& out, const CopiesPart& part) {
  write_texts(out, part.texts);
  out.number(part.copies.size());
  for (const CopiesPart::Copies& entry : part.copies) {
    write_text_row(out, entry.name);
    out.number(entry.cell);
    for (const auto number : copy_numbers) out.signed_number(entry.*number);
  }
  out.number(part.calls.size());
  for (const CopiesPart::Calls& calls : part.calls) {
    out.number(static_cast<std::uint64_t>(calls.use));
    for (const std::uint32_t row : {calls.call, calls.op, calls.range}) write_text_row(out, row);
    out.number(calls.cell);
    out.number(calls.before_work ? 1 : 0);
    out.signed_number(calls.count);
    out.signed_number(calls.ns);
  }
}

CopiesPart read_copies_part(digest::PartReader& in, const TimeCells& cells) {
  CopiesPart part;
  part.texts = read_texts(in);
  SumLimits sums{in};
  constexpr std::size_t bytes_of_entry = 2 + copy_numbers.size();
  for (std::size_t left = in.count(bytes_of_entry); left > 0 && !in.failed(); --left) {
    part.copies.push_back(read_copies(in, cells, part));
    sums.add(part.copies.back().count, part.copies.back().sum_ns);
    sums.add(0, part.copies.back().exposed_ns);
  }
  constexpr std::size_t bytes_of_calls = 8;
  for (std::size_t left = in.count(bytes_of_calls); left > 0 && !in.failed(); --left) {
    part.calls.push_back(read_calls(in, cells, part));
    sums.add(part.calls.back().count, part.calls.back().ns);
  }
  return part;
}

}  // namespace rankscope::analyzer

#include <limits>

#include "kernels/local.h"
#include "math/checked_product.h"

namespace rankscope::analyzer {
namespace {

constexpr std::uint64_t most_rows = std::numeric_limits<std::uint32_t>::max() - 1;
constexpr std::int64_t most_ns = std::int64_t{1} << 62;

void write_key(digest::PartWriter& out, const KernelsPart::Key& key) {
  write_text_row(out, key.name);
  write_text_row(out, key.grid);
  write_text_row(out, key.block);
  out.number(static_cast<std::uint64_t>(key.kind));
}

KernelsPart::Key read_kernel_key(digest::PartReader& in, const std::vector<std::string>& texts) {
  KernelsPart::Key key;
  key.name = read_set_text_row(in, texts);
  key.grid = read_text_row(in, texts);
  key.block = read_text_row(in, texts);
  key.kind = static_cast<ActivityClass>(in.number_to(activity_class_count - 1));
  return key;
}

/// The time of all activities of a part, which must fit 62 bits.
class TimeSum {
 public:
  explicit TimeSum(digest::PartReader& in) : in_(in) {}
  void add(std::int64_t ns) {
    if (ns < 0 || !add_fits(sum_, ns) || sum_ > most_ns) in_.fail("durations are negative or too large");
  }

 private:
  digest::PartReader& in_;
  std::int64_t sum_ = 0;
};

/// One entry and its durations, behind those that were read before.
void read_entry(digest::PartReader& in, const TimeCells& cells, TimeSum& sum, KernelsPart& part) {
  const KernelsPart::Entry last = part.entries.empty() ? KernelsPart::Entry{} : part.entries.back();
  KernelsPart::Entry entry;
  entry.key = last.key + static_cast<std::uint32_t>(in.number_to(part.keys.size() - 1 - last.key));
  entry.cell = static_cast<std::uint32_t>(in.number_to(cells.count() - 1));
  entry.first = static_cast<std::uint32_t>(in.number_to(most_rows));
  entry.exclusive_ns = in.signed_between(0, most_ns);
  const std::vector<std::int64_t> durations = in.ascending();
  entry.begun = static_cast<std::uint32_t>(durations.size());
  if (!part.entries.empty() && entry.key == last.key && entry.cell <= last.cell)
    in.fail("entries are not in the order of their keys and cells");
  sum.add(entry.exclusive_ns);
  for (const std::int64_t ns : durations) sum.add(ns);
  part.entries.push_back(entry);
  part.durations.insert(part.durations.end(), durations.begin(), durations.end());
}

std::array<std::int64_t, together_count> read_together(digest::PartReader& in, std::int64_t length_ns) {
  std::array<std::int64_t, together_count> ns{};
  std::int64_t left = length_ns;
  for (std::int64_t& combination : ns) {
    combination = in.signed_between(0, left);
    left -= combination;
  }
  if (left != 0) in.fail("the activities in a cell do not add up to its length");
  return ns;
}

}  // namespace

void write_part(digest::PartWriter& out, const KernelsPart& part) {
  write_texts(out, part.texts);
  out.number(part.keys.size());
  for (const KernelsPart::Key& key : part.keys) write_key(out, key);
  out.number(part.entries.size());
  std::uint32_t last_key = 0;
  std::span<const std::int64_t> durations{part.durations};
  for (const KernelsPart::Entry& entry : part.entries) {
    out.number(entry.key - last_key);
    out.number(entry.cell);
    out.number(entry.first);
    out.signed_number(entry.exclusive_ns);
    out.ascending(durations.first(entry.begun));
    durations = durations.subspan(entry.begun);
    last_key = entry.key;
  }
  out.number(part.together.size());
  for (const auto& cell : part.together)
    for (const std::int64_t ns : cell) out.signed_number(ns);
}

KernelsPart read_kernels_part(digest::PartReader& in, const TimeCells& cells) {
  KernelsPart part;
  part.texts = read_texts(in);
  constexpr std::size_t bytes_of_key = 4;
  for (std::size_t left = in.count(bytes_of_key); left > 0 && !in.failed(); --left)
    part.keys.push_back(read_kernel_key(in, part.texts));
  TimeSum sum{in};
  constexpr std::size_t bytes_of_entry = 5;
  const std::size_t entries = in.count(bytes_of_entry);
  if (entries > 0 && part.keys.empty()) in.fail("it has entries but no keys");
  for (std::size_t row = 0; row < entries && !in.failed(); ++row) read_entry(in, cells, sum, part);
  if (in.number() != cells.bounded()) in.fail("its steps differ from those of the rank");
  for (std::size_t cell = 1; cell <= cells.bounded() && !in.failed(); ++cell)
    part.together.push_back(read_together(in, cells.range(cell).length().count()));
  return part;
}

}  // namespace rankscope::analyzer

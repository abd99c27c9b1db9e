#include "rankscope/core/digest/part_bytes.h"

#include <iterator>
#include <limits>

#include "rankscope/core/format.h"

namespace rankscope::digest {
namespace {

constexpr std::string_view too_short = "it ends too early";
constexpr unsigned bits_a_byte = 7;
constexpr std::uint64_t more_follow = 0x80;

}  // namespace

void PartWriter::number(std::uint64_t value) {
  for (; value >= more_follow; value >>= bits_a_byte) bytes_.push_back(static_cast<char>(value | more_follow));
  bytes_.push_back(static_cast<char>(value));
}

void PartWriter::signed_number(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value) << 1;
  number(value < 0 ? ~bits : bits);
}

void PartWriter::text(std::string_view value) {
  number(value.size());
  bytes_.append(value);
}

void PartWriter::ascending(std::span<const std::int64_t> values) {
  number(values.size());
  if (values.empty()) return;
  signed_number(values.front());
  for (std::size_t i = 1; i < values.size(); ++i) {
    RS_CHECK(values[i - 1] <= values[i]);
    number(static_cast<std::uint64_t>(values[i]) - static_cast<std::uint64_t>(values[i - 1]));
  }
}

std::uint64_t PartReader::number() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; !failed(); shift += bits_a_byte) {
    if (rest_.empty()) {
      fail(too_short);
      break;
    }
    const std::uint64_t byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    const std::uint64_t bits = byte & (more_follow - 1);
    if (shift >= 64 || (bits << shift) >> shift != bits) {
      fail("a number has more than 64 bits");
      break;
    }
    value |= bits << shift;
    if (byte < more_follow) return value;
  }
  return 0;
}

std::uint64_t PartReader::number_to(std::uint64_t most) {
  const std::uint64_t value = number();
  if (value <= most) return value;
  fail(format("{} must be at most {}", value, most));
  return 0;
}

std::int64_t PartReader::signed_number() {
  const std::uint64_t value = number();
  const std::uint64_t bits = value >> 1;
  return static_cast<std::int64_t>((value & 1) != 0 ? ~bits : bits);
}

std::int64_t PartReader::signed_between(std::int64_t least, std::int64_t most) {
  const std::int64_t value = signed_number();
  if (failed()) return 0;
  if (least <= value && value <= most) return value;
  fail(format("{} must be from {} to {}", value, least, most));
  return 0;
}

std::string_view PartReader::text() {
  const std::size_t bytes = count();
  const std::string_view value = rest_.substr(0, bytes);
  rest_.remove_prefix(bytes);
  return value;
}

std::size_t PartReader::count(std::size_t least_bytes) {
  const std::uint64_t entries = number();
  if (entries <= rest_.size() / least_bytes) return static_cast<std::size_t>(entries);
  fail(too_short);
  return 0;
}

std::vector<std::int64_t> PartReader::ascending() {
  std::vector<std::int64_t> values(count());
  std::int64_t last = 0;
  for (std::size_t i = 0; i < values.size() && !failed(); ++i) {
    if (i == 0) {
      last = signed_number();
    } else {
      const std::uint64_t more = number();
      constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
      const bool fits = more <= most - static_cast<std::uint64_t>(last);  // modulo 2^64: how far it is to the largest
      if (!fits) fail("a number has more than 64 bits");
      last = fits ? static_cast<std::int64_t>(static_cast<std::uint64_t>(last) + more) : 0;
    }
    values[i] = last;
  }
  if (failed()) values.clear();
  return values;
}

void PartReader::fail(std::string_view why) {
  if (failed()) return;
  why_ = why;
  rest_ = {};
}

Result<void> PartReader::end() const {
  if (failed()) return rankscope::fail(ErrorKind::unreadable, why_);
  if (!rest_.empty())
    return rankscope::fail(ErrorKind::unreadable, format("it is {} too long", counted(std::ssize(rest_), "byte")));
  return {};
}

}  // namespace rankscope::digest

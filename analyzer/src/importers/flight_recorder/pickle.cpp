#include "importers/flight_recorder/pickle.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <vector>

#include "importers/flight_recorder/pickle_opcodes.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer::flight_recorder {
namespace {

constexpr std::size_t most_open_marks = 64;  // dumps nest 6 deep
constexpr ValueRef unset = std::numeric_limits<ValueRef>::max();

/// One decoding. A step returns false once there is a fault.
class PickleDecoder {
 public:
  PickleDecoder(std::string_view bytes, PlainValues& values) : bytes_(bytes), values_(values) {}

  tl::expected<ValueRef, Fault> run() {
    while (!done_)
      if (!step()) return tl::make_unexpected(fault_);
    return stack_.back();
  }

 private:
  bool step();
  bool step_on_data(Opcode opcode);
  bool step_on_stack(Opcode opcode);

  bool set(FaultKind kind, std::string why) {
    fault_ = {kind, std::move(why)};
    return false;
  }
  bool cut(std::string_view what) {
    return set(FaultKind::cut, format("ends in the middle of {} (at byte {})", what, bytes_.size()));
  }
  bool damaged(std::string_view why) { return set(FaultKind::damaged, format("{} (at byte {})", why, opcode_at_)); }

  /// The next bytes; nothing if the input ends before.
  bool take(std::size_t count, std::string_view& into) {
    if (count > bytes_.size() - at_) return cut("a value");
    into = bytes_.substr(at_, count);
    at_ += count;
    return true;
  }
  /// A little-endian number of 1 to 8 bytes.
  bool take_number(std::size_t size, std::uint64_t& into) {
    std::string_view bytes;
    if (!take(size, bytes)) return false;
    into = 0;
    for (std::size_t i = size; i-- > 0;) into = into << 8 | static_cast<unsigned char>(bytes[i]);
    return true;
  }
  bool push(std::optional<ValueRef> value) {
    if (!value || stack_.size() >= PlainValues::most)
      return set(FaultKind::refused, format("has more than {} values", PlainValues::most));
    stack_.push_back(*value);
    return true;
  }
  bool push_integer(std::size_t size, bool with_sign) {
    std::uint64_t value = 0;
    if (!take_number(size, value)) return false;
    if (with_sign) return push(values_.integer(static_cast<std::int32_t>(static_cast<std::uint32_t>(value))));
    return push(values_.integer(static_cast<std::int64_t>(value)));
  }
  bool push_long(std::size_t size_bytes);
  bool push_text(std::size_t size_bytes);
  bool push_real();
  bool put(std::uint64_t index);
  bool get(std::size_t size_bytes);
  /// Where the values after the latest mark begin; removes the mark.
  bool take_mark(std::size_t& begin) {
    if (marks_.empty() || marks_.back() > stack_.size()) return damaged("lacks a mark");
    begin = marks_.back();
    marks_.pop_back();
    return true;
  }
  [[nodiscard]] bool has(std::size_t count) const {
    return stack_.size() >= count + (marks_.empty() ? 0 : marks_.back());
  }
  /// Replaces the values from `begin` on by a container of them.
  bool gather(std::size_t begin, std::optional<ValueRef> container) {
    if (!container) return push(container);
    if (!values_.append(*container, std::span{stack_}.subspan(begin)))
      return set(FaultKind::refused, format("has more than {} items", PlainValues::most));
    stack_.resize(begin);
    stack_.push_back(*container);
    return true;
  }
  /// Adds the values from `begin` on to the container in front of them.
  bool add_to_container(std::size_t begin, bool is_map);

  std::string_view bytes_;
  PlainValues& values_;
  std::size_t at_ = 0;
  std::size_t opcode_at_ = 0;
  std::vector<ValueRef> stack_;
  std::vector<std::size_t> marks_;
  std::vector<ValueRef> memo_;
  std::size_t memoized_ = 0;
  Fault fault_;
  bool done_ = false;
};

bool PickleDecoder::push_long(std::size_t size_bytes) {
  std::uint64_t size = 0;
  if (!take_number(size_bytes, size)) return false;
  if (size > 8)
    return damaged(format("contains an integer that is {} bytes long; integers in dumps have at most 8 bytes", size));
  std::uint64_t value = 0;
  if (!take_number(size, value)) return false;
  // Two's complement of `size` bytes.
  if (size > 0 && size < 8 && (value >> (8 * size - 1)) != 0) value |= ~std::uint64_t{0} << (8 * size);
  return push(values_.integer(static_cast<std::int64_t>(value)));
}

bool PickleDecoder::push_text(std::size_t size_bytes) {
  std::uint64_t size = 0;
  if (!take_number(size_bytes, size)) return false;
  if (size > bytes_.size() - at_)
    return set(FaultKind::cut, format("ends in the middle of a string of {} bytes (at byte {})", size, bytes_.size()));
  std::string_view text;
  return take(size, text) && push(values_.text(text));
}

bool PickleDecoder::push_real() {
  std::string_view bytes;
  if (!take(8, bytes)) return false;
  std::uint64_t value = 0;  // big-endian, unlike all else
  for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
  return push(values_.real(std::bit_cast<double>(value)));
}

bool PickleDecoder::put(std::uint64_t index) {
  // Writers number what they store from 0, and each store takes a byte.
  if (index > std::min(bytes_.size(), PlainValues::most))
    return damaged(format("stores a value as number {}, but is only {} bytes long", index, bytes_.size()));
  if (!has(1)) return damaged("stores a value that is missing");
  if (index >= memo_.size()) memo_.resize(index + 1, unset);
  memo_[index] = stack_.back();
  return true;
}

bool PickleDecoder::get(std::size_t size_bytes) {
  std::uint64_t index = 0;
  if (!take_number(size_bytes, index)) return false;
  if (index >= memo_.size() || memo_[index] == unset)
    return damaged(format("refers to a value (number {}) that was never stored", index));
  return push(memo_[index]);
}

bool PickleDecoder::add_to_container(std::size_t begin, bool is_map) {
  const bool fits = begin > 0 && (is_map ? values_.is_map(stack_[begin - 1]) : values_.is_list(stack_[begin - 1]));
  if (!fits) return damaged(is_map ? "adds to a dictionary that is missing" : "adds to a list that is missing");
  const std::span<const ValueRef> items = std::span{stack_}.subspan(begin);
  if (is_map && items.size() % 2 != 0) return damaged("has a dictionary key without a value");
  if (!values_.append(stack_[begin - 1], items))
    return set(FaultKind::refused, format("has more than {} items", PlainValues::most));
  stack_.resize(begin);
  return true;
}

// What pushes a value that the input holds.
bool PickleDecoder::step_on_data(Opcode opcode) {
  std::uint64_t number = 0;
  switch (opcode) {
    case Opcode::none:
      return push(PlainValues::none);
    case Opcode::new_true:
      return push(PlainValues::yes);
    case Opcode::new_false:
      return push(PlainValues::no);
    case Opcode::bin_int:
      return push_integer(4, true);
    case Opcode::bin_int1:
      return push_integer(1, false);
    case Opcode::bin_int2:
      return push_integer(2, false);
    case Opcode::long1:
      return push_long(1);
    case Opcode::long4:
      return push_long(4);
    case Opcode::bin_float:
      return push_real();
    case Opcode::bin_unicode:
    case Opcode::bin_string:
    case Opcode::bin_bytes:
      return push_text(4);
    case Opcode::short_bin_unicode:
    case Opcode::short_bin_string:
    case Opcode::short_bin_bytes:
      return push_text(1);
    case Opcode::bin_unicode8:
    case Opcode::bin_bytes8:
      return push_text(8);
    case Opcode::empty_list:
    case Opcode::empty_tuple:
      return push(values_.list());
    case Opcode::empty_dict:
      return push(values_.map());
    case Opcode::bin_get:
      return get(1);
    case Opcode::long_bin_get:
      return get(4);
    case Opcode::bin_put:
      return take_number(1, number) && put(number);
    case Opcode::long_bin_put:
      return take_number(4, number) && put(number);
    case Opcode::memoize:
      return put(memoized_++);
    case Opcode::proto:
      if (!take_number(1, number)) return false;
      return (number >= 2 && number <= 5) || damaged(format("is a pickle of protocol {}; dumps use 2 to 5", number));
    case Opcode::frame:
      return take_number(8, number) && (number <= bytes_.size() - at_ || cut(format("a frame of {} bytes", number)));
    default:
      return step_on_stack(opcode);
  }
}

// What works on values that were pushed before.
bool PickleDecoder::step_on_stack(Opcode opcode) {
  std::size_t begin = 0;
  const auto last = [this](std::size_t count) { return stack_.size() - count; };
  switch (opcode) {
    case Opcode::mark:
      if (marks_.size() >= most_open_marks)
        return set(FaultKind::refused, format("nests values more than {} deep", most_open_marks));
      marks_.push_back(stack_.size());
      return true;
    case Opcode::stop:
      done_ = true;
      return (marks_.empty() && stack_.size() == 1) || damaged("ends with values left over");
    case Opcode::pop:
      if (!has(1)) return damaged("removes a value that is missing");
      stack_.pop_back();
      return true;
    case Opcode::pop_mark:
      if (!take_mark(begin)) return false;
      stack_.resize(begin);
      return true;
    case Opcode::dup:
      return has(1) ? push(stack_.back()) : damaged("repeats a value that is missing");
    case Opcode::tuple1:
      return has(1) ? gather(last(1), values_.list()) : damaged("lacks a value");
    case Opcode::tuple2:
      return has(2) ? gather(last(2), values_.list()) : damaged("lacks a value");
    case Opcode::tuple3:
      return has(3) ? gather(last(3), values_.list()) : damaged("lacks a value");
    case Opcode::tuple:
    case Opcode::list:
      return take_mark(begin) && gather(begin, values_.list());
    case Opcode::dict:
      if (!take_mark(begin)) return false;
      if ((stack_.size() - begin) % 2 != 0) return damaged("has a dictionary key without a value");
      return gather(begin, values_.map());
    case Opcode::append:
      return has(2) ? add_to_container(last(1), false) : damaged("lacks a value");
    case Opcode::set_item:
      return has(3) ? add_to_container(last(2), true) : damaged("lacks a value");
    case Opcode::appends:
      return take_mark(begin) && add_to_container(begin, false);
    case Opcode::set_items:
      return take_mark(begin) && add_to_container(begin, true);
    default:
      break;
  }
  const auto byte = static_cast<std::uint8_t>(opcode);
  const std::string_view name = refused_name(byte);
  if (name.empty()) return damaged(format("contains the byte 0x{:02x}, which is not a pickle opcode", byte));
  return set(
      FaultKind::refused,
      format("contains the pickle opcode {} (at byte {}), which dumps do not need and rankscope does not execute", name,
             opcode_at_));
}

bool PickleDecoder::step() {
  opcode_at_ = at_;
  if (at_ >= bytes_.size())
    return set(FaultKind::cut, format("ends before the end of the pickle (at byte {})", bytes_.size()));
  return step_on_data(static_cast<Opcode>(bytes_[at_++]));
}

}  // namespace

bool looks_like_pickle(std::string_view bytes) {
  return bytes.size() >= 2 && bytes[0] == static_cast<char>(Opcode::proto) && bytes[1] >= 2 && bytes[1] <= 5;
}

tl::expected<ValueRef, Fault> read_pickle(std::string_view bytes, PlainValues& values) {
  if (bytes.empty()) return tl::make_unexpected(Fault{FaultKind::empty, "is empty"});
  return PickleDecoder{bytes, values}.run();
}

}  // namespace rankscope::analyzer::flight_recorder

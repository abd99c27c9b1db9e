// The opcodes of pickles (pickletools of CPython lists them all).
#pragma once

#include <cstdint>
#include <string_view>

namespace rankscope::analyzer::flight_recorder {

enum class Opcode : std::uint8_t {
  mark = '(',
  stop = '.',
  pop = '0',
  pop_mark = '1',
  dup = '2',
  bin_bytes = 'B',
  short_bin_bytes = 'C',
  bin_float = 'G',
  bin_int = 'J',
  bin_int1 = 'K',
  bin_int2 = 'M',
  none = 'N',
  bin_string = 'T',
  short_bin_string = 'U',
  bin_unicode = 'X',
  empty_list = ']',
  append = 'a',
  dict = 'd',
  appends = 'e',
  bin_get = 'h',
  long_bin_get = 'j',
  list = 'l',
  bin_put = 'q',
  long_bin_put = 'r',
  set_item = 's',
  tuple = 't',
  set_items = 'u',
  empty_dict = '}',
  empty_tuple = ')',
  proto = 0x80,
  tuple1 = 0x85,
  tuple2 = 0x86,
  tuple3 = 0x87,
  new_true = 0x88,
  new_false = 0x89,
  long1 = 0x8A,
  long4 = 0x8B,
  short_bin_unicode = 0x8C,
  bin_unicode8 = 0x8D,
  bin_bytes8 = 0x8E,
  memoize = 0x94,
  frame = 0x95,
};

/// The name of an opcode that dumps never contain; empty for a byte that is not an opcode.
[[nodiscard]] constexpr std::string_view refused_name(std::uint8_t byte) {
  switch (byte) {
    case 'c':
      return "GLOBAL";
    case 'R':
      return "REDUCE";
    case 'b':
      return "BUILD";
    case 'i':
      return "INST";
    case 'o':
      return "OBJ";
    case 'P':
      return "PERSID";
    case 'Q':
      return "BINPERSID";
    case 'I':
      return "INT";
    case 'L':
      return "LONG";
    case 'F':
      return "FLOAT";
    case 'S':
      return "STRING";
    case 'V':
      return "UNICODE";
    case 'g':
      return "GET";
    case 'p':
      return "PUT";
    case 0x81:
      return "NEWOBJ";
    case 0x82:
      return "EXT1";
    case 0x83:
      return "EXT2";
    case 0x84:
      return "EXT4";
    case 0x8F:
      return "EMPTY_SET";
    case 0x90:
      return "ADDITEMS";
    case 0x91:
      return "FROZENSET";
    case 0x92:
      return "NEWOBJ_EX";
    case 0x93:
      return "STACK_GLOBAL";
    case 0x96:
      return "BYTEARRAY8";
    case 0x97:
      return "NEXT_BUFFER";
    case 0x98:
      return "READONLY_BUFFER";
    default:
      return {};
  }
}

}  // namespace rankscope::analyzer::flight_recorder

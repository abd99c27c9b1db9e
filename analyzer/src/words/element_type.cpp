#include "words/element_type.h"

#include <array>
#include <string>

#include "words/letters.h"

namespace rankscope::analyzer {
namespace {

struct TypeName {
  std::string_view name;  ///< small letters and digits
  ElementType type;
};
constexpr ElementType f32{"f32", 4, "Float"};
constexpr ElementType f64{"f64", 8, "Double"};
constexpr ElementType f16{"f16", 2, "Half"};
constexpr ElementType bf16{"bf16", 2, "BFloat16"};
constexpr ElementType i32{"i32", 4, "Int"};
constexpr ElementType i64{"i64", 8, "Long"};
constexpr ElementType i16{"i16", 2, "Short"};
constexpr ElementType u8{"u8", 1, "Byte"};
constexpr ElementType i8{"i8", 1, "Char"};
constexpr ElementType boolean{"bool", 1, "Bool"};
constexpr ElementType f8{"f8", 1, "Float8"};
constexpr std::array types{
    TypeName{"float", f32},    TypeName{"double", f64},      TypeName{"half", f16},    TypeName{"bfloat16", bf16},
    TypeName{"int", i32},      TypeName{"long", i64},        TypeName{"longint", i64}, TypeName{"short", i16},
    TypeName{"byte", u8},      TypeName{"unsignedchar", u8}, TypeName{"char", i8},     TypeName{"signedchar", i8},
    TypeName{"bool", boolean}, TypeName{"f32", f32},         TypeName{"f64", f64},     TypeName{"f16", f16},
    TypeName{"bf16", bf16},    TypeName{"i32", i32},         TypeName{"i64", i64},     TypeName{"i16", i16},
    TypeName{"u8", u8},        TypeName{"i8", i8},           TypeName{"f8", f8},
};

}  // namespace

ElementType element_type_from(std::string_view name) {
  std::string word = plain_letters(name);
  if (word.starts_with("c10")) word.erase(0, 3);
  if (word.starts_with("float8")) return f8;
  for (const TypeName& type : types)
    if (word == type.name) return type.type;
  return {};
}

}  // namespace rankscope::analyzer

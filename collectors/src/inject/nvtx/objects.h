// What the program's NVTX handles point to. Handles are ours, never 0, and never die: a range may outlive its domain.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "rankscope/core/model/span.h"

namespace rankscope::inject {

struct PayloadSchema;
struct PayloadEnum;

/// A list that only grows; readers take no lock.
template <class Node>
class GrowingList {
 public:
  void add(Node* node) {
    node->next = head_.load(std::memory_order_relaxed);
    while (!head_.compare_exchange_weak(node->next, node, std::memory_order_release, std::memory_order_relaxed)) {
    }
  }
  /// The latest with that id, or null.
  [[nodiscard]] const Node* find(std::uint64_t id) const {
    const Node* node = head_.load(std::memory_order_acquire);
    while (node != nullptr && node->id != id) node = node->next;
    return node;
  }

 private:
  std::atomic<Node*> head_{nullptr};
};

struct Category {
  Category* next = nullptr;
  std::uint64_t id = 0;
  std::string name;
};

/// The domain is an attribute of its ranges, not part of their names: a range "step" is a step in every domain. The
/// default domain has none, and NCCL's needs none: its ranges are of kind `api`, nobody else's are.
struct alignas(8) Domain {
  std::string name;
  SpanKind kind = SpanKind::user;
  bool is_nccl = false;
  bool names_it = false;  ///< attribute "domain"
  GrowingList<Category> categories;
  GrowingList<PayloadSchema> schemas;
  GrowingList<PayloadEnum> enums;
};

struct RegisteredString {
  std::string text;
};

/// A static object that is never destroyed: events may come after all destructors.
template <class Type>
union Immortal {
  Type value;
  constexpr Immortal() : value{} {}
  ~Immortal() {}
};
extern Immortal<Domain> default_domain;

/// The domain behind a handle; null is the default domain.
inline Domain& domain_of(void* handle) {
  return handle == nullptr ? default_domain.value : *static_cast<Domain*>(handle);
}
Domain* new_domain(std::string_view name);

/// UTF-8 of a NUL-terminated wide string, in `buffer`; cut at its end.
std::string_view narrow(const wchar_t* text, char* buffer, std::size_t size);

}  // namespace rankscope::inject

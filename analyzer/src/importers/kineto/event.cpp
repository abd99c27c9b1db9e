#include "importers/kineto/event.h"

namespace rankscope::analyzer::kineto {
namespace {

Scan read_arguments(Scanner& scanner, std::vector<Argument>& arguments) {
  if (scanner.peek() != '{') {
    Value ignored;
    return scanner.value(ignored);
  }
  (void)scanner.expect('{');
  if (scanner.peek() == '}') return scanner.expect('}');
  while (true) {
    if (scanner.peek() != '"') return scanner.at_end() ? Scan::cut : Scan::bad;
    Argument& argument = arguments.emplace_back();
    if (const Scan scan = scanner.text(argument.value); scan != Scan::ok) return scan;
    argument.key = argument.value.raw;
    if (const Scan scan = scanner.expect(':'); scan != Scan::ok) return scan;
    if (const Scan scan = scanner.value(argument.value); scan != Scan::ok) return scan;
    if (argument.value.kind == ValueKind::absent) arguments.pop_back();
    const char next = scanner.peek();
    if (next != ',' && next != '}') return scanner.at_end() ? Scan::cut : Scan::bad;
    (void)scanner.expect(next);
    if (next == '}' || scanner.peek() == '}') return next == '}' ? Scan::ok : scanner.expect('}');
  }
}

/// Where the value of a key goes; null: nobody needs it.
Value* field_of(Event& event, std::string_view key) {
  switch (key.size()) {
    case 2:
      if (key == "ts") return &event.time;
      return key == "id" ? &event.id : nullptr;
    case 3:
      if (key == "cat") return &event.category;
      if (key == "pid") return &event.pid;
      if (key == "tid") return &event.tid;
      return key == "dur" ? &event.duration : nullptr;
    case 4:
      return key == "name" ? &event.name : nullptr;
    default:
      return nullptr;
  }
}

Scan read_field(Scanner& scanner, Event& event, std::string_view key) {
  if (key == "args") return read_arguments(scanner, event.arguments);
  Value unused;
  if (Value* const field = field_of(event, key); field != nullptr) return scanner.value(*field);
  if (const Scan scan = scanner.value(unused); scan != Scan::ok) return scan;
  if (key == "ph" && unused.kind == ValueKind::text && unused.raw.size() == 1) event.phase = unused.raw.front();
  return Scan::ok;
}

}  // namespace

void Event::clear() {
  phase = '\0';
  for (Value* const value : {&category, &name, &pid, &tid, &time, &duration, &id}) {
    value->kind = ValueKind::absent;
    value->short_number = false;
    value->raw = {};
  }
  arguments.clear();
}

Scan read_event(Scanner& scanner, Event& event) {
  event.clear();
  if (const Scan scan = scanner.expect('{'); scan != Scan::ok) return scan;
  if (scanner.peek() == '}') return scanner.expect('}');
  while (true) {
    if (scanner.peek() != '"') return scanner.at_end() ? Scan::cut : Scan::bad;
    Value key;
    if (const Scan scan = scanner.text(key); scan != Scan::ok) return scan;
    if (const Scan scan = scanner.expect(':'); scan != Scan::ok) return scan;
    if (const Scan scan = read_field(scanner, event, key.raw); scan != Scan::ok) return scan;
    const char next = scanner.peek();
    if (next != ',' && next != '}') return scanner.at_end() ? Scan::cut : Scan::bad;
    (void)scanner.expect(next);
    if (next == '}' || scanner.peek() == '}') return next == '}' ? Scan::ok : scanner.expect('}');
  }
}

}  // namespace rankscope::analyzer::kineto

#include "importers/kineto/trace_reader.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace rankscope::analyzer::kineto {
namespace {

/// An event that is longer than this is damaged: its end was missed.
constexpr std::ptrdiff_t longest_event = std::ptrdiff_t{4} << 20;
/// How far the end of an event is sought at least, once many were missed: the same text is not read over and over.
constexpr std::ptrdiff_t shortest_reach = std::ptrdiff_t{64} << 10;

constexpr std::array<std::string_view, 9> last_members{"traceName",     "displayTimeUnit",  "baseTimeNanoseconds",
                                                       "INFO",          "deviceProperties", "distributedInfo",
                                                       "schemaVersion", "rankscope",        "host_name"};

bool is_last_member(const char* at, const char* end) {
  Scanner scanner{at, end, Quotes::forgiving};
  if (scanner.expect(',') != Scan::ok || scanner.peek() != '"') return false;
  const char* const quote = scanner.at() + 1;
  return std::ranges::any_of(last_members, [quote, end](std::string_view name) {
    const auto size = static_cast<std::ptrdiff_t>(name.size());
    return end - quote > size && std::memcmp(quote, name.data(), name.size()) == 0 && quote[size] == '"';
  });
}

bool is_end_of_object(const char* at, const char* end) {
  Scanner scanner{at, end};
  return scanner.expect('}') == Scan::ok && scanner.peek() == '\0' && scanner.at_end();
}

}  // namespace

const char* find_end_of_events(const char* from, const char* end) {
  for (const char* at = from; at < end; ++at) {
    at = static_cast<const char*>(std::memchr(at, ']', static_cast<std::size_t>(end - at)));
    if (at == nullptr) return end;
    if (is_last_member(at + 1, end) || is_end_of_object(at + 1, end)) return at;
  }
  return end;
}

TraceReader::TraceReader(Part& part, Metadata& metadata) : part_(part), metadata_(metadata), reach_(longest_event) {}

TraceReader TraceReader::inside_events(Part& part, Metadata& metadata) {
  TraceReader reader{part, metadata};
  reader.place_ = Place::events;
  reader.found_events_ = true;
  return reader;
}

const char* TraceReader::read(const char* begin, const char* end, MoreComes more) {
  const char* at = begin;
  while (at < end) {
    const char* next = at;
    switch (place_) {
      case Place::start:
        next = start(at, end);
        break;
      case Place::members:
        next = member(at, end, more);
        break;
      case Place::events:
        next = event(at, end, more);
        break;
      case Place::stopped:
        return at;
      case Place::done:
        return end;
    }
    if (next == at && place_ != Place::stopped) return at;  // the rest is needed
    at = next;
  }
  return at;
}

const char* TraceReader::start(const char* at, const char* end) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (std::string_view{at, static_cast<std::size_t>(end - at)}.starts_with(byte_order_mark)) at += 3;
  Scanner scanner{at, end};
  const char first = scanner.peek();
  if (scanner.at_end()) return end;
  bare_list_ = first == '[';
  found_events_ = bare_list_;
  place_ = first == '{' ? Place::members : bare_list_ ? Place::events : Place::done;
  return scanner.at() + 1;
}

/// A member of the top-level object, with the comma before it; or the end of the object.
const char* TraceReader::member(const char* at, const char* end, MoreComes more) {
  Scanner scanner{at, end};
  while (scanner.peek() == ',') (void)scanner.expect(',');
  if (scanner.at_end()) return end;
  if (scanner.peek() == '}') {
    place_ = Place::done;
    return end;
  }
  Value key;
  Value value;
  Scan scan = scanner.peek() == '"' ? scanner.text(key) : Scan::bad;
  if (scan == Scan::ok) scan = scanner.expect(':');
  if (scan == Scan::ok && key.raw == "traceEvents" && scanner.peek() == '[') {
    place_ = Place::events;
    found_events_ = true;
    return scanner.at() + 1;
  }
  if (scan == Scan::ok) scan = scanner.value(value);
  if (scan == Scan::ok) {
    metadata_.take(key.raw, value, part_.quality());
    return scanner.at();
  }
  if (scan == Scan::cut && more == MoreComes::yes) return at;
  // Damaged, or cut: the events are what matters.
  constexpr std::string_view events = "\"traceEvents\"";
  const char* const found = std::search(at + 1, end, events.begin(), events.end());
  if (!found_events_ && found != end) {
    part_.quality().add(Counter::events_malformed);
    return found;
  }
  return lose_rest(end);
}

const char* TraceReader::event(const char* at, const char* end, MoreComes more) {
  Scanner scanner{at, end};
  while (scanner.peek() == ',') (void)scanner.expect(',');
  if (scanner.at_end()) return end;
  if (scanner.peek() == ']') {
    place_ = bare_list_ ? Place::done : Place::members;
    return scanner.at() + 1;
  }
  const char* const begin = scanner.at();
  if (is_stop(begin)) {
    place_ = Place::stopped;
    return begin;
  }
  const char* const limit = end - begin > reach_ ? begin + reach_ : end;
  Scanner inside{begin, limit};
  const Scan scan = *begin == '{' ? read_event(inside, event_) : Scan::bad;
  if (scan == Scan::ok) {
    part_.take(event_);
    return inside.at();
  }
  if (scan == Scan::cut && limit == end && more == MoreComes::yes) return at;
  if (inside.at() - begin > shortest_reach) reach_ = std::max(shortest_reach, reach_ / 2);
  return recover(begin, end, scan, more);
}

/// The event at `at` is damaged, or the text ends in it.
const char* TraceReader::recover(const char* at, const char* end, Scan why, MoreComes more) {
  const char* const next = find_event(at + 1, end);
  const char* limit = std::min(next, find_end_of_events(at + 1, next));
  // A file may be cut where the end of a list inside of an event looks like the end of all.
  if (why == Scan::cut && limit != next && !is_last_member(limit + 1, end)) limit = next;
  if (limit == end) {
    if (more == MoreComes::no) return lose_rest(end);
    if (end - at < longest_event) return at;
    part_.quality().add(Counter::events_malformed);
    return end;
  }
  Scanner scanner{at, limit, Quotes::forgiving};
  const Scan scan = scanner.peek() == '{' ? read_event(scanner, event_) : Scan::bad;
  while (scan == Scan::ok && scanner.peek() == ',') (void)scanner.expect(',');
  if (scan == Scan::ok && scanner.at_end()) {
    part_.quality().add(Counter::events_repaired);
    part_.take(event_);
  } else {
    part_.quality().add(Counter::events_malformed);
  }
  return limit;
}

const char* TraceReader::lose_rest(const char* end) {
  cut_ = true;
  place_ = Place::done;
  return end;
}

bool TraceReader::is_stop(const char* at) {
  while (!stops_.empty() && stops_.front() < at) stops_ = stops_.subspan(1);
  return !stops_.empty() && stops_.front() == at;
}

void TraceReader::finish() {
  const bool whole = place_ == Place::done || place_ == Place::stopped;
  if (found_events_ && (cut_ || !whole)) part_.quality().add(Counter::truncated_input);
}

}  // namespace rankscope::analyzer::kineto

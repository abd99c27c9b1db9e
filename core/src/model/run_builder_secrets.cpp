// RunBuilder: strings lose their secrets on their way into a run.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "rankscope/core/format.h"
#include "run_builder_pending.h"

namespace rankscope {
namespace {

constexpr std::string_view hidden_value = "***";

/// Nothing but asterisks.
bool is_masked(std::string_view text) { return !text.empty() && text.find_first_not_of('*') == std::string_view::npos; }

/// Which strings of a run are referred to.
class UsedTexts {
 public:
  explicit UsedTexts(const Run& run) : used_(run.strings().size(), false) {
    for (const Span& span : run.spans()) note(span.name);
    for (const Mark& mark : run.marks()) note(mark.name);
    for (const Lane& lane : run.lanes()) note(lane.name);
    for (const Group& group : run.groups()) note(group.name);
    for (const Collective& row : run.collectives()) {
      note(row.op);
      note(row.dtype);
    }
    for (const Process& process : run.processes()) {
      note(process.host);
      note(process.program);
      facts(process.metadata);
    }
    for (const Device& device : run.devices()) {
      note(device.name);
      note(device.uuid);
      facts(device.metadata);
    }
  }

  void note(StringId id) {
    if (id.is_set()) used_[id.index()] = true;
  }
  void attributes(const AttributeStore& store, std::span<const AttributeStore::Place> places) {
    for (const AttributeStore::Place place : places)
      for (const Attribute& attribute : store.at(place)) {
        note(attribute.key);
        note(attribute.value.text);
      }
  }
  [[nodiscard]] bool has(StringId id) const { return used_[id.index()]; }

 private:
  void facts(std::span<const std::pair<StringId, StringId>> metadata) {
    for (const auto& [key, value] : metadata) {
      note(key);
      note(value);
    }
  }

  std::vector<bool> used_;
};

}  // namespace

StringId RunBuilder::intern(std::string_view text) {
  const StringId known = run_->strings_.find(text);
  return known.is_set() ? known : pending_->add_text(*run_, text);
}

StringId RunBuilder::find(std::string_view text) const {
  const StringId known = run_->strings_.find(text);
  if (known.is_set() || pending_->hidden_texts.empty()) return known;
  const auto found = pending_->hidden_texts.find(std::string{text});
  return found == pending_->hidden_texts.end() ? StringId::none() : found->second;
}

StringId RunBuilder::Pending::add_text(Run& run, std::string_view text) {
  if (texts == Texts::as_recorded) return run.strings_.intern(text);
  if (!hidden_texts.empty())
    if (const auto found = hidden_texts.find(std::string{text}); found != hidden_texts.end()) return found->second;
  const std::optional<std::string> shown = without_secrets(text);
  if (!shown) return run.strings_.intern(text);
  return hidden_texts[std::string{text}] = run.strings_.intern(*shown);
}

bool RunBuilder::Pending::is_secret_key(const Run& run, StringId key) {
  enum : std::uint8_t { unknown, harmless, secret };
  if (key.index() >= key_kinds.size()) key_kinds.resize(key.index() + std::size_t{1}, unknown);
  std::uint8_t& kind = key_kinds[key.index()];
  if (kind == unknown) kind = names_secret(run.text(key)) ? secret : harmless;
  return kind == secret;
}

std::span<const Attribute> RunBuilder::Pending::shown(Run& run, std::span<const Attribute> attributes) {
  if (texts == Texts::as_recorded) return attributes;
  const auto may_change = [&](const Attribute& attribute) {
    return is_secret_key(run, attribute.key) || (attribute.value.kind == AttributeKind::json && !hidden_texts.empty());
  };
  if (std::ranges::none_of(attributes, may_change)) return attributes;
  scratch.clear();
  for (const auto& [key, value] : attributes) scratch.push_back({key, shown(run, key, value)});
  return scratch;
}

AttributeValue RunBuilder::Pending::shown(Run& run, StringId key, AttributeValue value) {
  if (value.kind == AttributeKind::number) {
    std::string number = std::to_string(value.number);
    if (!is_secret_key(run, key) || !is_secret_value(run.text(key), number)) return value;
    hidden_values.emplace(run.text(key), std::move(number));
    return run.strings_.intern(hidden_value);
  }
  const StringId text = shown(run, key, value.text);
  // Who writes JSON in its own words must be able to rely on it.
  const bool is_text = value.kind == AttributeKind::text || !nlohmann::json::accept(run.text(text));
  return is_text ? AttributeValue{text} : AttributeValue{JsonText{text}};
}

StringId RunBuilder::Pending::shown(Run& run, StringId key, StringId value) {
  if (!key.is_set() || !value.is_set() || !is_secret_key(run, key)) return value;
  if (is_masked(run.text(value))) return run.strings_.intern(hidden_value);  // by pack, which keeps the length
  if (!is_secret_value(run.text(key), run.text(value))) return value;
  hidden_values.emplace(run.text(key), run.text(value));
  replaced.push_back(value);
  return run.strings_.intern(hidden_value);
}

/// Of processes and devices, which can be changed until now, and of the run.
void RunBuilder::Pending::hide_facts(Run& run) {
  if (texts == Texts::as_recorded) return;
  for (Process& process : run.processes_)
    for (auto& [key, value] : process.metadata) value = shown(run, key, value);
  for (Device& device : run.devices_)
    for (auto& [key, value] : device.metadata) value = shown(run, key, value);
  hide_run_facts(run);
  forget_replaced(run);
  run.quality_.add(Counter::texts_hidden, hidden_texts.size() + hidden_values.size());
}

void RunBuilder::Pending::hide_run_facts(Run& run) {
  const auto hide = [&](std::string& text) {
    if (without_secrets(text)) text = run.text(add_text(run, text));
  };
  for (auto& [key, value] : run.info_.metadata) {
    hide(key);
    hide(value);
    if (!is_secret_value(key, value)) continue;
    hidden_values.emplace(key, value);
    value = hidden_value;
  }
  for (QualityPlace& place : run.info_.places) hide(place.where);
  hide(run.info_.source);
  hide(run.info_.clock.method);
}

void RunBuilder::Pending::forget_replaced(Run& run) const {
  if (replaced.empty()) return;
  UsedTexts used{run};
  used.attributes(run.attributes_, run.span_attributes_);
  used.attributes(run.attributes_, run.mark_attributes_);
  for (const PendingSample& sample : samples) used.note(sample.counter);
  std::size_t number = 0;
  for (const StringId value : replaced) {
    if (used.has(value) || is_masked(run.text(value))) continue;
    std::string instead;
    do instead = format("{}{}", hidden_value, ++number);  // a copy of the run relies on each string once
    while (run.strings_.find(instead).is_set());
    run.strings_.replace(value, instead);
  }
}

void RunBuilder::Pending::take_hidden(const Pending& part, std::span<const StringId> now) {
  for (const auto& [text, id] : part.hidden_texts) hidden_texts.emplace(text, now[id.index()]);
  hidden_values.insert(part.hidden_values.begin(), part.hidden_values.end());
  for (const StringId value : part.replaced) replaced.push_back(now[value.index()]);
}

}  // namespace rankscope

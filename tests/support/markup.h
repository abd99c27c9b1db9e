// A page of ours as a list of its tags, for tests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rankscope::testing {

struct Tag {
  std::string name;
  std::string attributes;  ///< as written
  std::string text;        ///< up to the next tag, as written
  bool closes = false;
  bool empty = false;  ///< <meta .../>
  [[nodiscard]] bool has(std::string_view attribute) const { return attributes.find(attribute) != std::string::npos; }
};

/// Without the contents of style and script. A '<' that begins no tag, or an attribute with '>', would come out as a
/// bad tag; both are escaped in our pages.
inline std::vector<Tag> tags_of(std::string_view page) {
  std::vector<Tag> tags;
  for (auto begin = page.find('<'); begin != std::string_view::npos;) {
    const auto end = page.find('>', begin);
    if (end == std::string_view::npos) break;
    auto inside = page.substr(begin + 1, end - begin - 1);
    auto next = page.find('<', end);
    Tag tag;
    tag.closes = inside.starts_with('/');
    tag.empty = inside.ends_with('/');
    if (tag.closes) inside.remove_prefix(1);
    if (tag.empty) inside.remove_suffix(1);
    tag.name = inside.substr(0, inside.find(' '));
    tag.attributes = inside.substr(tag.name.size());
    if (!tag.closes && (tag.name == "style" || tag.name == "script")) next = page.find("</" + tag.name, end);
    tag.text = page.substr(end + 1, next == std::string_view::npos ? next : next - end - 1);
    if (!tag.name.starts_with('!')) tags.push_back(tag);
    begin = next;
  }
  return tags;
}

/// The first tag that is not closed in its order, in words; empty if all are.
inline std::string badly_nested(std::string_view page) {
  std::vector<std::string> open;
  for (const Tag& tag : tags_of(page)) {
    if (tag.empty) continue;
    if (!tag.closes) {
      open.push_back(tag.name);
    } else if (open.empty() || open.back() != tag.name) {
      return tag.name + " closes " + (open.empty() ? "nothing" : open.back());
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : open.back() + " stays open";
}

}  // namespace rankscope::testing

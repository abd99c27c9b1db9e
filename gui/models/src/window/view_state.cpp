#include "rankscope/gui/models/window/view_state.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <algorithm>
#include <array>

#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/numbers.h"
#include "rankscope/gui/models/base/words.h"

namespace rankscope::gui {
namespace {

const QString schema = QStringLiteral("rankscope.view/");
constexpr std::int64_t version = 1;
constexpr std::array colours{"kind", "name", "lateness"};

QJsonObject json_of(TimeRange time) {
  return {{QStringLiteral("begin_ns"), static_cast<qint64>(ns_of(time.begin))},
          {QStringLiteral("end_ns"), static_cast<qint64>(ns_of(time.end))}};
}

QJsonObject json_of(const TimeMark& mark) {
  QJsonObject json = json_of(mark.time);
  if (!mark.note.empty()) json.insert(QStringLiteral("note"), qt_text(mark.note));
  return json;
}

QJsonObject json_of(const PinnedLane& lane) {
  QJsonObject json{{QStringLiteral("pid"), static_cast<qint64>(lane.pid)},
                   {QStringLiteral("lane"), qt_text(lane.lane)}};
  if (lane.rank) json.insert(QStringLiteral("rank"), static_cast<qint64>(*lane.rank));
  if (!lane.which) return json;
  json.insert(QStringLiteral("kind"), qt_text(lane.which->kind));
  json.insert(QStringLiteral("number"), static_cast<qint64>(lane.which->number));
  json.insert(QStringLiteral("device"), lane.which->device);
  return json;
}

QJsonObject json_of(const ViewState::Recording& recording) {
  return {{QStringLiteral("source"), qt_text(recording.source)},
          {QStringLiteral("ranks"), static_cast<qint64>(recording.ranks)},
          {QStringLiteral("origin_unix_ns"), static_cast<qint64>(recording.origin_unix_ns)}};
}

/// Reads fields; the first one that is missing or of another type is remembered.
class Fields {
 public:
  explicit Fields(QJsonObject object) : object_(std::move(object)) {}

  std::int64_t number(const char* name) {
    const QJsonValue value = take(name, QJsonValue::Double);
    return value.toInteger();
  }
  double real(const char* name) { return take(name, QJsonValue::Double).toDouble(); }
  bool boolean(const char* name) { return take(name, QJsonValue::Bool).toBool(); }
  std::string text(const char* name) { return take(name, QJsonValue::String).toString().toStdString(); }
  Fields object(const char* name) { return Fields{take(name, QJsonValue::Object).toObject()}; }
  QJsonArray list(const char* name) { return take(name, QJsonValue::Array).toArray(); }
  TimeRange time() {
    const TimeRange range{at(number("begin_ns")), at(number("end_ns"))};
    if (range.end < range.begin) wrong_ = "end_ns";
    return range;
  }
  [[nodiscard]] bool has(const char* name) const { return object_.contains(QLatin1String{name}); }
  [[nodiscard]] const std::string& wrong() const { return wrong_; }
  void join(const Fields& part) {
    if (wrong_.empty()) wrong_ = part.wrong_;
  }

 private:
  QJsonValue take(const char* name, QJsonValue::Type type) {
    const QJsonValue value = object_.value(QLatin1String{name});
    if (value.type() != type && wrong_.empty()) wrong_ = name;
    return value;
  }

  QJsonObject object_;
  std::string wrong_;
};

/// Items of a list that are read by `read`, which is given the fields of each.
template <class Item, class Read>
std::vector<Item> items(Fields& fields, const char* name, Read read) {
  std::vector<Item> all;
  for (const QJsonValue value : fields.list(name)) {
    Fields item{value.toObject()};
    all.push_back(read(item));
    fields.join(item);
  }
  return all;
}

PinnedLane pinned_lane(Fields& item) {
  PinnedLane lane;
  if (item.has("rank")) lane.rank = static_cast<std::uint32_t>(item.number("rank"));
  lane.pid = item.number("pid");
  lane.lane = item.text("lane");
  if (item.has("kind"))
    lane.which = {item.text("kind"), item.number("number"), static_cast<std::int32_t>(item.number("device"))};
  return lane;
}

TimeMark mark(Fields& item) {
  TimeMark mark{item.time(), true, {}};
  if (item.has("note")) mark.note = item.text("note");
  return mark;
}

/// All but the schema.
Result<ViewState> state_from(const QJsonObject& root) {
  Fields fields{root};
  ViewState state;
  Fields recording = fields.object("recording");
  state.recording = {recording.text("source"), recording.number("ranks"), recording.number("origin_unix_ns")};
  fields.join(recording);
  Fields visible = fields.object("visible");
  state.visible = visible.time();
  fields.join(visible);
  state.pinned = items<PinnedLane>(fields, "pinned", pinned_lane);
  state.marks = items<TimeMark>(fields, "marks", mark);
  for (const QJsonValue rank : fields.list("ranks"))
    state.ranks.push_back(static_cast<std::uint32_t>(rank.toInteger()));
  for (const QJsonValue panel : fields.list("panels")) state.panels.push_back(panel.toString().toStdString());
  state.colour = fields.text("colour");
  state.critical_path = fields.boolean("critical_path");
  state.row_height = fields.real("row_height");
  if (!fields.wrong().empty())
    return fail(ErrorKind::unreadable, format("is damaged: '{}' is missing or wrong", fields.wrong()));
  if (std::ranges::find(colours, state.colour) == colours.end())
    return fail(ErrorKind::unreadable,
                format("is damaged: 'colour' must be kind, name or lateness, not '{}'", state.colour));
  return state;
}

PinnedLane pinned_lane(const Run& run, const Lane& lane) {
  return {lane.rank.is_set() ? std::optional{lane.rank.value} : std::nullopt, run.processes()[lane.process].pid,
          std::string{run.text(lane.name)},
          PinnedLane::Which{std::string{name_of(lane.kind)}, lane.number, lane.device}};
}

constexpr const char* counter_kind = "counter";

PinnedLane pinned_counter(const Run& run, const CounterTrack& counter) {
  return {counter.rank.is_set() ? std::optional{counter.rank.value} : std::nullopt,
          run.processes()[counter.process].pid, std::string{run.text(counter.name)},
          PinnedLane::Which{counter_kind, 0, -1}};
}

std::optional<std::uint32_t> counter_of(const Run& run, const PinnedLane& wanted) {
  for (std::uint32_t counter = 0; counter < run.counters().size(); ++counter)
    if (pinned_counter(run, run.counters()[counter]) == wanted) return counter;
  return std::nullopt;
}

std::optional<LaneId> lane_of(const Run& run, const PinnedLane& wanted) {
  for (const Lane& lane : run.lanes()) {
    PinnedLane here = pinned_lane(run, lane);
    if (!wanted.which) here.which.reset();
    if (here == wanted) return run.id_of(lane);
  }
  return std::nullopt;
}

}  // namespace

ViewState::Recording recording_of(const Run& run) {
  return {run.info().source, static_cast<std::int64_t>(run.ranks().size()), run.info().origin_unix_ns};
}

ViewState view_of(const Session& session, const Navigator& navigator) {
  const Run& run = *session.run();
  ViewState state;
  state.recording = recording_of(*session.recorded());
  state.visible = session.visible();
  for (const LaneId id : session.pinned()) state.pinned.push_back(pinned_lane(run, run.lane(id)));
  for (const std::uint32_t counter : session.pinned_counters())
    state.pinned.push_back(pinned_counter(run, run.counters()[counter]));
  for (const TimeMark& mark : navigator.marks())
    if (mark.kept) state.marks.push_back(mark);
  for (const RankId rank : session.filter().ranks) state.ranks.push_back(rank.value);
  return state;
}

void restore(const ViewState& state, Session& session, Navigator& navigator) {
  const Run& run = *session.run();
  for (const PinnedLane& wanted : state.pinned) {
    const auto lane = lane_of(run, wanted);
    if (lane && std::ranges::find(session.pinned(), *lane) == session.pinned().end()) session.toggle_pin(*lane);
    const auto counter = counter_of(run, wanted);
    const auto& counters = session.pinned_counters();
    if (counter && std::ranges::find(counters, *counter) == counters.end()) session.toggle_counter_pin(*counter);
  }
  Filter filter = session.filter();
  filter.ranks.clear();
  for (const std::uint32_t rank : state.ranks)
    if (std::ranges::binary_search(run.ranks(), RankId{rank})) filter.ranks.push_back(RankId{rank});
  session.set_filter(std::move(filter));
  navigator.set_marks(state.marks);
  if (!state.visible.empty()) session.set_visible(state.visible);
}

std::string to_json(const ViewState& state) {
  const auto list = [](const auto& all) {
    QJsonArray array;
    for (const auto& one : all) array.append(json_of(one));
    return array;
  };
  QJsonArray ranks;
  for (const std::uint32_t rank : state.ranks) ranks.append(static_cast<qint64>(rank));
  QJsonArray panels;
  for (const std::string& panel : state.panels) panels.append(qt_text(panel));
  const QJsonObject root{{QStringLiteral("schema"), schema + QString::number(version)},
                         {QStringLiteral("recording"), json_of(state.recording)},
                         {QStringLiteral("visible"), json_of(state.visible)},
                         {QStringLiteral("pinned"), list(state.pinned)},
                         {QStringLiteral("marks"), list(state.marks)},
                         {QStringLiteral("ranks"), ranks},
                         {QStringLiteral("colour"), qt_text(state.colour)},
                         {QStringLiteral("critical_path"), state.critical_path},
                         {QStringLiteral("row_height"), state.row_height},
                         {QStringLiteral("panels"), panels}};
  return QJsonDocument{root}.toJson().toStdString();
}

Result<ViewState> view_from_json(std::string_view text) {
  const auto document =
      QJsonDocument::fromJson(QByteArray::fromRawData(text.data(), static_cast<qsizetype>(text.size())));
  const QString named = document.object().value(QLatin1String{"schema"}).toString();
  if (!document.isObject()) return fail(ErrorKind::unreadable, "is damaged or not a rankscope view");
  const auto found = number_from<std::int64_t>(named.mid(schema.size()).toStdString());
  if (!named.startsWith(schema) || !found) return fail(ErrorKind::unreadable, "is not a rankscope view");
  if (*found > version)
    return fail(ErrorKind::unreadable, format("was written by a newer rankscope ({}; this one reads {}{})",
                                              named.toStdString(), schema.toStdString(), version));
  return state_from(document.object());
}

}  // namespace rankscope::gui

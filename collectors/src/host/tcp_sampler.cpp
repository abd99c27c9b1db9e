#include "host/tcp_sampler.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace rankscope::collectors {
namespace {

constexpr std::int64_t search_period_ns = 1'000'000'000;
constexpr double longest_look_seconds = 0.1;   // after a longer pause nobody knows what waited
constexpr double longest_tick_seconds = 0.01;  // of a kernel, in which it counts peer_limited_us
constexpr std::uint64_t least_bytes = 100'000;
constexpr std::uint64_t advantage = 2;  // of those that have a place: others with as much traffic do not take turns

/// Where it is less than before, the connection is another one between the same ends.
std::uint64_t growth(std::uint64_t before, std::uint64_t now) { return now >= before ? now - before : now; }

}  // namespace

void TcpSampler::look(std::int64_t now_ns) {
  if (ended_) return;
  const double seconds = last_look_ns_ == 0 ? 0 : static_cast<double>(now_ns - last_look_ns_) * 1e-9;
  last_look_ns_ = now_ns;
  for (Connection* const connection : watched_)
    if (const auto state = source_.state_of(connection->file)) add(*connection, *state, seconds);
  if (last_search_ns_ != 0 && now_ns - last_search_ns_ < search_period_ns) return;
  last_search_ns_ = now_ns;
  search();
}

/// What happened before is not in its totals.
void TcpSampler::begin(Connection& connection, const TcpState& state) {
  connection.acknowledged = state.acknowledged_bytes;
  connection.peer_limited_us = state.peer_limited_us;
  connection.peer_seconds = 0;
  connection.waits = state.unsent_bytes > 0;
}

/// Where data waits at one end of this time only, half of it counts; less the time in which it waited for the other end
/// to read. This is known to a tick, so that more of it than of the time is taken off the next time.
void TcpSampler::add(Connection& connection, const TcpState& state, double seconds) {
  if (state.acknowledged_bytes < connection.acknowledged) return;  // another connection by now, until the next search
  const auto sent = static_cast<double>(state.acknowledged_bytes - connection.acknowledged);
  const bool waits = state.unsent_bytes > 0;
  const bool seen = seconds <= longest_look_seconds;
  const double waited = seen ? ((waits ? 0.5 : 0) + (connection.waits ? 0.5 : 0)) * seconds : 0;
  connection.peer_seconds += static_cast<double>(growth(connection.peer_limited_us, state.peer_limited_us)) * 1e-6;
  const double backlog = std::max(0.0, waited - connection.peer_seconds);
  const auto total = [&](TcpTotal which) -> double& {
    return connection.totals[static_cast<std::size_t>(which)].value;
  };
  total(TcpTotal::sent_bytes) += sent;
  total(TcpTotal::backlog_seconds) += backlog;
  if (backlog > 0) total(TcpTotal::backlog_bytes) += sent * backlog / seconds;
  connection.acknowledged = state.acknowledged_bytes;
  connection.peer_limited_us = state.peer_limited_us;
  connection.peer_seconds = waits ? std::clamp(connection.peer_seconds - waited, 0.0, longest_tick_seconds) : 0;
  connection.waits = waits;
}

void TcpSampler::search() {
  const auto files = source_.files();
  if (!files) {
    end();
    return;
  }
  ++search_;
  unknown_ = 0;
  for (const int file : *files) consider(file);
  // What is closed by now is forgotten once its last totals were written.
  std::erase_if(connections_, [this](const auto& known) {
    return known.second.search != search_ && known.second.place == Place::apart;
  });
  rank();
}

void TcpSampler::consider(int file) {
  const auto state = source_.state_of(file);
  // What only receives is known, too: its ends are those of a sender elsewhere.
  if (!state || state->acknowledged_bytes + state->received_bytes < least_bytes) return;
  const auto ends = source_.ends_of(file);
  if (!ends) return;
  if (connections_.size() >= most_known && !connections_.contains(*ends)) {
    ++unknown_;
    return;
  }
  Connection& connection = connections_[*ends];
  if (connection.search == search_) return;  // a second descriptor of the same connection
  connection.search = search_;
  connection.file = file;
  connection.sent_lately = growth(connection.carried_sent, state->acknowledged_bytes);
  connection.received_lately = growth(connection.carried_received, state->received_bytes);
  connection.carried_sent = state->acknowledged_bytes;
  connection.carried_received = state->received_bytes;
  if (connection.place != Place::watched || state->acknowledged_bytes < connection.acknowledged)
    begin(connection, *state);
}

void TcpSampler::rank() {
  ranked_.clear();
  for (auto& [ends, connection] : connections_) {
    if (connection.search == search_)
      ranked_.push_back(&connection);
    else
      put(connection, Place::apart);
  }
  const auto sort = [](std::span<Connection*> all, Place place, std::uint64_t Connection::*lately) {
    std::ranges::stable_sort(all, std::greater{}, [=](const Connection* one) {
      const bool has_place = one->place == place;
      return std::pair{(has_place ? advantage : 1) * (one->*lately), has_place};
    });
  };
  const std::span<Connection*> all{ranked_};
  sort(all, Place::watched, &Connection::sent_lately);
  const auto watched = all.first(std::min(all.size(), most_watched));
  const auto others = all.subspan(watched.size());
  sort(others, Place::receiving, &Connection::received_lately);
  const auto receiving = others.first(std::min(others.size(), most_receiving));
  for (Connection* const connection : watched) put(*connection, Place::watched);
  for (Connection* const connection : receiving) put(*connection, Place::receiving);
  for (Connection* const connection : others.subspan(receiving.size())) put(*connection, Place::apart);
  watched_.assign(watched.begin(), watched.end());
  left_out_ = unknown_ + static_cast<std::size_t>(
                             std::ranges::count_if(others, [](const Connection* one) { return one->sent_lately > 0; }));
}

void TcpSampler::put(Connection& connection, Place place) {
  if (connection.place == place) return;
  connection.place = place == Place::apart ? Place::leaving : place;
  for (Total& total : connection.totals) total.has_changed = true;
}

/// Those that were known are the ones that are not watched from now on.
void TcpSampler::end() {
  ended_ = true;
  watched_.clear();
  for (auto& [ends, connection] : connections_) put(connection, Place::apart);
  left_out_ = connections_.size();
}

std::span<const HostSample> TcpSampler::sample() {
  samples_.clear();
  for (auto& [ends, connection] : connections_) {
    if (connection.place == Place::apart) continue;
    for (std::size_t i = 0; i < tcp_total_count; ++i) {
      Total& total = connection.totals[i];
      if (total.name.empty()) total.name = counter_name_of({ends.local, ends.remote, static_cast<TcpTotal>(i)});
      const bool changed = total.value != total.written;
      if (changed || total.has_changed) samples_.push_back({total.name, total.value});
      total.has_changed = changed;
      total.written = total.value;
    }
    if (connection.place == Place::leaving) connection.place = Place::apart;
  }
  if (left_out_ > 0) samples_.push_back({tcp_unwatched_name, static_cast<double>(left_out_)});
  return samples_;
}

}  // namespace rankscope::collectors

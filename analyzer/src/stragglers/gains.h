// What fixing slow ranks saves, by replay (metrics.md 9.5).
#pragma once

#include "rankscope/analyzer/section.h"
#include "rankscope/analyzer/stragglers/section.h"
#include "rankscope/analyzer/what_if/section.h"
#include "replay/peers.h"

namespace rankscope::analyzer {

/// Of classes with several slow ranks: what is saved if all of them are as the others. One alone saves nothing while
/// another is as slow.
void set_gains_together(const Section<WhatIfSection>& replay, const replay::Graph& graph,
                        const replay::ItemPeers& peers, StragglersSection& section);

/// The gain of each is what replaying the run with that rank as its peers saves; without a replay it is not known. A
/// rank without a gain worth the name, alone or together with others, is at most major (metrics.md 9.5).
void set_replayed_gains(const Section<WhatIfSection>& replay, const StepsSection& steps, StragglersSection& section);

}  // namespace rankscope::analyzer

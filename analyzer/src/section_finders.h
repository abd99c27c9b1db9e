// How the rows of sections.cpp are found that need several functions of their subject, or what others left in Work.
#pragma once

#include "sections.h"

namespace rankscope::analyzer {

void find_all_steps(Work& work);
void find_collectives(Work& work);
void find_ranks(Work& work);
void find_blame_and_waits(Work& work);
void find_memory(Work& work);
void find_critical_path(Work& work);
void find_what_if(Work& work);
void find_slow_ranks(Work& work);
void find_trends(Work& work);
void find_efficiencies(Work& work);
void find_copies(Work& work);
void find_schedules(Work& work);
void find_bandwidths(Work& work);
void find_numbers_of_hta(Work& work);
void find_findings(Work& work);

}  // namespace rankscope::analyzer

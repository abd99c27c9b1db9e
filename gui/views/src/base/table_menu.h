// What a click with the right button on a table offers.
#pragma once

#include <QTableView>

namespace rankscope::gui {

/// Copies of a row or of the whole table and, of tables whose rows lead somewhere, going there.
void add_table_menu(QTableView& table);
/// The rows of the table lead somewhere: `activated` goes there.
void leads_somewhere(QTableView& table);

}  // namespace rankscope::gui

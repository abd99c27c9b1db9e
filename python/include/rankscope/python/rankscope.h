/* The C interface of rankscope, in librankscope.so. The Python package calls it by ctypes.

   Every function that can fail returns the exit status of the command line (docs/cli.md): 0 done, 2 wrong request, 3
   the input cannot be read, 4 cannot tell, 5 cannot write; 125 for an error inside of rankscope. Then *message is the
   sentence of the command line, and nothing else is set. Texts that come back are UTF-8, end in NUL and are freed by
   rankscope_free(). Requests are JSON objects; a member that is not known is an error. Several threads may use one
   handle at a time; the caller closes a handle only after every call with it has returned. */
#pragma once

#include <stdint.h>

#include "rankscope/python/arrow_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RANKSCOPE_API __attribute__((visibility("default")))

/* Raised by every change that a caller built for an older one would not survive. */
#define RANKSCOPE_INTERFACE_VERSION 1

/* NOLINTBEGIN(modernize-use-using): this is C, too. */
typedef struct rankscope_run rankscope_run;
typedef struct rankscope_table rankscope_table;

/* Shared with a thread that watches the work: `stop` is set from outside to cancel, `done` (0 to 1) says how far it is.
 */
typedef struct rankscope_task {
  int32_t stop;
  double done;
} rankscope_task;
/* NOLINTEND(modernize-use-using) */

RANKSCOPE_API int32_t rankscope_interface_version(void);
RANKSCOPE_API const char* rankscope_version(void);
RANKSCOPE_API void rankscope_free(char* text);

/* {"paths": ["run.rankscope"], "rank_map": "a.json=0,b.json=1", "keep_texts": false} */
RANKSCOPE_API int32_t rankscope_open(const char* request, rankscope_task* task, rankscope_run** run, char** message);
/* A run in its text form (core/model/text.h). */
RANKSCOPE_API int32_t rankscope_open_text(const char* text, int64_t bytes, rankscope_task* task, rankscope_run** run,
                                          char** message);
RANKSCOPE_API void rankscope_close(rankscope_run* run);

/* {"form": "json" | "text" | "html" | "verdict", "steps": [first, last or null], "ranks": [0, 1], "include_warm_up":
   false, "instances": false, "full": false, "only": ["ranks"], "hta": "dropped" | "kept", "peak_tflops": 312, "top":
   10, "name": "run.rankscope"} */
RANKSCOPE_API int32_t rankscope_report(rankscope_run* run, const char* request, char** text, char** message);
/* {"form": "json" | "text" | "both", "fixes": ["rank:2"], "steps": ..., "include_warm_up": false} */
RANKSCOPE_API int32_t rankscope_what_if(rankscope_run* run, const char* request, char** text, char** message);
/* "both" is {"answer": the JSON, "text": the text}.
   {"form": "json" | "text" | "both" | "html", "label_a": "A", "label_b": "B", "steps": ..., "ranks": ...,
   "include_warm_up": false, "accept_losses": false, "allow_different": false, "top": 10} */
RANKSCOPE_API int32_t rankscope_compare(rankscope_run* a, rankscope_run* b, const char* request, char** text,
                                        char** message);
/* Status 2 if `out` holds what was recorded, or a trace, which an output must not replace. */
RANKSCOPE_API int32_t rankscope_check_output(const char* out, char** message);
/* {"to": "sqlite", "out": "run.sqlite"} */
RANKSCOPE_API int32_t rankscope_export(rankscope_run* run, const char* request, rankscope_task* task, char** message);

/* {"table": "spans", "steps": ..., "ranks": ..., "columns": ["rank", "name"], "first": 20}; "first": only as many rows
 */
RANKSCOPE_API int32_t rankscope_read_table(rankscope_run* run, const char* request, rankscope_table** table,
                                           char** message);
RANKSCOPE_API int64_t rankscope_table_rows(const rankscope_table* table);
/* May be called again; every stream shares the columns, which live until the last one is released. Status 0 or 125. */
RANKSCOPE_API int32_t rankscope_table_stream(const rankscope_table* table, struct ArrowArrayStream* stream,
                                             char** message);
RANKSCOPE_API void rankscope_table_close(rankscope_table* table);
/* [{"name": "spans", "row": "...", "chosen_by": ["ranks", "steps"], "columns": [{"name": "id", "type": "int64",
   "nulls": false}]}]; null if there is not enough memory */
RANKSCOPE_API char* rankscope_tables(void);

#ifdef __cplusplus
}
#endif

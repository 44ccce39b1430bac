"""Writes the rows of a mixseek database (DuckDB) as JSON Lines: one object each, with the table's name."""
import json
import sys

import duckdb

TABLES = {
    "round_history": {"execution_id", "team_id", "team_name", "round_number", "message_history",
                      "member_submissions_record", "created_at"},
    "leader_board": {"execution_id", "team_id", "team_name", "round_number", "submission_content",
                     "submission_format", "created_at"},
    "execution_summary": {"execution_id", "user_prompt", "status", "team_results", "total_teams", "best_team_id",
                          "best_score", "total_execution_time_seconds", "completed_at", "created_at"},
}
# A leader board has scores out of 100 and their details or, in older databases, scores up to 1 and the feedback.
SCORES = ({"score", "score_details"}, {"evaluation_score", "evaluation_feedback", "usage_info"})

try:
    db = duckdb.connect(sys.argv[1], read_only=True)
    found = {}
    for table, column in db.execute("SELECT table_name, column_name FROM information_schema.columns").fetchall():
        found.setdefault(table, set()).add(column)
except duckdb.Error as e:
    sys.exit(f"it can't be read as a DuckDB database: {e}")
if not TABLES.keys() & found.keys():
    sys.exit(f"it is no database of mixseek: it has none of the tables {', '.join(TABLES)}")
percent = "score" in found.get("leader_board", ())
for table, columns in TABLES.items():
    if table not in found:
        continue
    if table == "leader_board":
        columns = columns | SCORES[0 if percent else 1]
    if missing := columns - found[table]:
        sys.exit(f"the table {table} has no column {', '.join(sorted(missing))}")
    names = sorted(columns)
    expressions = [f"epoch_us({c})" if c.endswith("_at") else c for c in names]
    rows = db.execute(f"SELECT {', '.join(expressions)} FROM {table} ORDER BY created_at, execution_id, rowid")
    while row := rows.fetchone():
        print(json.dumps({"table": table, "percent": percent, **dict(zip(names, row))}, allow_nan=False))

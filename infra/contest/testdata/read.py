"""Reads the Parquet files of an archive with DuckDB and writes what it found as one JSON object."""
import json
import sys

import duckdb

found = {}
for name in ("round_history", "leader_board", "execution_summary"):
    rows = duckdb.read_parquet(f"{sys.argv[1]}/{name}.parquet")
    found[name] = {
        "columns": [[c, str(t)] for c, t in zip(rows.columns, rows.types)],
        "rows": [[str(v) if v is not None else None for v in row] for row in rows.fetchall()],
    }
# The published queries, on the archive as they stand.
leader_board = duckdb.read_parquet(f"{sys.argv[1]}/leader_board.parquet")
round_history = duckdb.read_parquet(f"{sys.argv[1]}/round_history.parquet")
found["best"] = duckdb.sql("SELECT team_name, round_number, evaluation_score FROM leader_board ORDER BY evaluation_score DESC, created_at ASC LIMIT 10").fetchall()
found["tokens"] = duckdb.sql(
    "SELECT team_id, COUNT(*), SUM(CAST(json_extract(usage_info, '$.input_tokens') AS INTEGER)) FROM leader_board GROUP BY team_id ORDER BY team_id"
).fetchall()
found["members"] = duckdb.sql(
    "SELECT json_extract_string(member_submissions_record, '$.submissions[0].agent_name') FROM round_history ORDER BY id"
).fetchall()
json.dump(found, sys.stdout, ensure_ascii=False)

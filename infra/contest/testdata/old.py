"""Makes databases with the tables of mixseek: as it writes them today, and as it did before."""
import json
import sys

import duckdb

folder, rounds = sys.argv[1], int(sys.argv[2])
KEYS = "execution_id VARCHAR, team_id VARCHAR, team_name VARCHAR, round_number INTEGER"
HISTORY = f"CREATE TABLE round_history (id INTEGER, {KEYS}, message_history JSON, member_submissions_record JSON, created_at TIMESTAMP)"
SUMMARY = ("CREATE TABLE execution_summary (execution_id VARCHAR, user_prompt VARCHAR, status VARCHAR, team_results JSON, total_teams INTEGER, "
           "best_team_id VARCHAR, best_score DOUBLE, total_execution_time_seconds DOUBLE, completed_at TIMESTAMP, created_at TIMESTAMP)")
AT = "2025-11-05 10:00:00.123456"

db = duckdb.connect(f"{folder}/mixseek.db")
db.execute(HISTORY)
db.execute(SUMMARY)
db.execute(f"CREATE TABLE leader_board (id INTEGER, {KEYS}, submission_content VARCHAR, submission_format VARCHAR, score FLOAT, score_details JSON, "
           "final_submission BOOLEAN, exit_reason VARCHAR, created_at TIMESTAMP, updated_at TIMESTAMP)")
db.execute("CREATE TABLE round_status (id INTEGER, execution_id VARCHAR, should_continue BOOLEAN)")
details = json.dumps({"metrics": [{"metric_name": "Coverage", "score": 87.5, "evaluator_comment": "十分です"}], "overall_score": 87.5})
db.execute("INSERT INTO round_history SELECT n, 'e1', 'a', 'チーム A', n, '[]', '{\"submissions\": [{\"agent_name\": \"x\"}]}', ? FROM range(1, ?) AS r(n)", [AT, rounds + 1])
db.execute("INSERT INTO leader_board SELECT n, 'e1', 'a', 'チーム A', n, '案', 'md', 87.5, ?, false, NULL, ?, NULL FROM range(1, ?) AS r(n)", [details, AT, rounds + 1])
db.execute("INSERT INTO execution_summary VALUES ('e1', '依頼', 'completed', '[]', 1, 'a', 87.5, 24.5, NULL, ?), ('e2', '依頼', 'failed', '[]', 1, NULL, NULL, 1.5, NULL, ?)", [AT, AT])
db.close()

db = duckdb.connect(f"{folder}/before.db")
db.execute(f"CREATE TABLE leader_board (id INTEGER, {KEYS}, evaluation_score DOUBLE, evaluation_feedback VARCHAR, submission_content VARCHAR, submission_format VARCHAR, "
           "usage_info JSON, created_at TIMESTAMP)")
db.execute("INSERT INTO leader_board VALUES (7, 'e0', 'b', 'B', 1, 0.5, 'Coverage (0.50): x', 'text', 'structured_json', '{\"input_tokens\": 3}', ?)", [AT])
db.close()

duckdb.connect(f"{folder}/other.db").execute("CREATE TABLE notes (id INTEGER)")
db = duckdb.connect(f"{folder}/empty.db")
db.execute(HISTORY)
db.close()
db = duckdb.connect(f"{folder}/narrow.db")
db.execute("CREATE TABLE round_history (id INTEGER, execution_id VARCHAR)")
db.close()

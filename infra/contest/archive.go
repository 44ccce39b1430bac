package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/parquet-go/parquet-go"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/runtime/boot"
	"ringi/shared/store"
	"ringi/shared/store/large"
)

// archiveFolder is the exports' folder in the workspace.
const archiveFolder = "archive"

var slackTeam = regexp.MustCompile(`^T[A-Z0-9]{2,20}$`)

// archive exports a tenant's contests as Parquet files, or adds those of a mixseek database to this machine's.
func (p program) archive(ctx context.Context, args []string) int {
	flags := p.flags("archive")
	table := flags.String("table", "", "the `name` of the stack's table (output TableName)")
	bucket := flags.String("bucket", "",
		"the `name` of the stack's bucket of results (output ResultsBucketName), where long texts are")
	team := flags.String("team", "", "the Slack workspace's `id`, T…")
	from := flags.String("import", "", "a mixseek database (`file` mixseek.db), whose contests are added to "+localFolder)
	if code, ok := p.parse(flags, args); !ok {
		return code
	}
	usage := "\nusage: contest archive -table NAME -bucket NAME -team T…\n       contest archive -import FILE"
	imports := *from != ""
	switch {
	case imports && *table+*bucket+*team != "":
		return p.misused("-import stands alone%s", usage)
	case imports && flags.NArg() == 0:
		w, err := p.workspace()
		if err != nil {
			return p.misused("%v", err)
		}
		return p.imports(ctx, *from, filepath.Join(w.Folder, localFolder))
	case *table == "":
		return p.misused("-table is required%s", usage)
	case *bucket == "":
		return p.misused("-bucket is required%s", usage)
	case !slackTeam.MatchString(*team):
		return p.misused("-team must be the id of a Slack workspace, such as T012ABCDEF, got %q%s", *team, usage)
	case flags.NArg() > 0:
		return p.misused("%q is not known here%s", flags.Arg(0), usage)
	}
	w, err := p.workspace()
	if err != nil {
		return p.misused("%v", err)
	}
	cfg, err := awsconfig.LoadDefaultConfig(ctx)
	if err != nil {
		return p.misused("%v", err)
	}
	of := archiveOf(cfg, *table, *bucket, aggregate.TenantID(*team))
	if err := of.export(ctx, filepath.Join(w.Folder, archiveFolder)); errors.Is(err, errNoContests) {
		fmt.Fprintf(p.problem, "%s has no contests in the table %s. Nothing was written\n", *team, *table)
		return exitFailed
	} else if err != nil {
		fmt.Fprintln(p.problem, err)
		return exitFailed
	}
	fmt.Fprintf(p.out, "%d rounds and %d contests are in %s\n", of.rounds, of.contests,
		filepath.Join(w.Folder, archiveFolder))
	return exitDone
}

// archiving is an export of one tenant's contests.
type archiving struct {
	store            *store.ContestStore
	tenant           string
	rounds, contests int // that were exported
	last             *contest.Work
}

func archiveOf(cfg aws.Config, table, bucket, tenant string) *archiving {
	rows := store.New(dynamodb.NewFromConfig(cfg), table, contest.Kind, contest.TeamKind)
	return &archiving{store: store.ContestsOf(rows, large.Open(cfg, boot.Results{ResultsBucket: bucket})), tenant: tenant}
}

// errNoContests: the tenant has no contests, or its id is wrong.
var errNoContests = errors.New("no contests")

// export writes the three tables. Each replaces the earlier file only when it is complete.
func (a *archiving) export(ctx context.Context, folder string) error {
	all, rounds, err := a.index(ctx)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return errNoContests
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	history, err := create[roundHistory](folder, "round_history")
	if err != nil {
		return err
	}
	defer history.discard()
	board, err := create[leaderBoard](folder, "leader_board")
	if err != nil {
		return err
	}
	defer board.discard()
	summaries, err := create[executionSummary](folder, "execution_summary")
	if err != nil {
		return err
	}
	defer summaries.discard()
	for _, r := range rounds {
		if err := a.round(ctx, r, history, board); err != nil {
			return fmt.Errorf("round %d of team %q of %s: %w", r.number, r.team, r.execution, err)
		}
	}
	for _, c := range all {
		if err := a.summary(ctx, c, summaries); err != nil {
			return fmt.Errorf("contest %s: %w", c.ExecutionID, err)
		}
	}
	a.rounds, a.contests = int(history.rows), int(summaries.rows)
	return errors.Join(history.keep(), board.keep(), summaries.keep())
}

// scored locates a scored round.
type scored struct {
	at              time.Time
	execution, team string
	number          int
}

// perPage is how many contests one query reads.
const perPage = 100

// index returns all contests, oldest first, and all rounds in the order of their ids: by created_at, then key.
func (a *archiving) index(ctx context.Context) (all []contest.Contest, rounds []scored, err error) {
	for cursor := ""; ; {
		page, err := a.store.Contests(ctx, a.tenant, cursor, perPage)
		if err != nil {
			return nil, nil, fmt.Errorf("list the contests: %w", err)
		}
		all = append(all, page.Items...)
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	slices.SortFunc(all, func(x, y contest.Contest) int {
		return cmp.Or(x.CreatedAt.Compare(y.CreatedAt), cmp.Compare(x.ExecutionID, y.ExecutionID))
	})
	for _, c := range all {
		for _, t := range c.Teams {
			w, err := a.team(ctx, c.ExecutionID, t.TeamID)
			if errors.Is(err, aggregate.ErrNotFound) {
				continue // the team never began
			} else if err != nil {
				return nil, nil, fmt.Errorf("team %q of %s: %w", t.TeamID, c.ExecutionID, err)
			}
			for _, r := range w.Rounds {
				rounds = append(rounds, scored{r.CreatedAt, c.ExecutionID, t.TeamID, r.RoundNumber})
			}
		}
	}
	slices.SortFunc(rounds, func(x, y scored) int {
		return cmp.Or(x.at.Compare(y.at), cmp.Compare(x.execution, y.execution), cmp.Compare(x.team, y.team),
			cmp.Compare(x.number, y.number))
	})
	return all, rounds, nil
}

// team returns a team's work. It caches the last one.
func (a *archiving) team(ctx context.Context, execution, id string) (*contest.Work, error) {
	ref := contest.TeamRef(a.tenant, execution, id)
	if a.last != nil && a.last.Ref() == ref {
		return a.last, nil
	}
	w, err := a.store.Teams.Load(ctx, ref)
	if err == nil {
		a.last = w
	}
	return w, err
}

// round writes a round's rows in two tables.
func (a *archiving) round(ctx context.Context, at scored, history *table[roundHistory],
	board *table[leaderBoard]) error {
	w, err := a.team(ctx, at.execution, at.team)
	if err != nil {
		return err
	}
	r, b := aggregate.Find(w.Rounds, contest.RoundKey(at.number)), aggregate.Find(w.Board, contest.BoardKey(at.number))
	if r == nil || b == nil {
		return fmt.Errorf("a row is gone: %w", aggregate.ErrNotFound)
	}
	of := contest.Ref(a.tenant, at.execution)
	messages, err := a.store.Values.Open(ctx, of, r.MessageHistory)
	if err != nil {
		return fmt.Errorf("open message_history: %w", err)
	}
	record, err := a.store.Values.Open(ctx, of, r.MemberSubmissionsRecord)
	if err != nil {
		return fmt.Errorf("open member_submissions_record: %w", err)
	}
	content, err := a.store.Content(ctx, a.tenant, r)
	if err != nil {
		return err
	}
	usage, err := json.Marshal(b.UsageInfo)
	if err != nil {
		return err
	}
	if err := history.put(func(id int32) roundHistory {
		return roundHistory{id, r.ExecutionID, r.TeamID, r.TeamName, int32(r.RoundNumber), string(messages), string(record),
			r.CreatedAt.UnixMicro()}
	}); err != nil {
		return err
	}
	return board.put(func(id int32) leaderBoard {
		return leaderBoard{id, b.ExecutionID, b.TeamID, b.TeamName, int32(b.RoundNumber), b.EvaluationScore,
			r.EvaluationFeedback, content, b.SubmissionFormat, string(usage), b.CreatedAt.UnixMicro()}
	})
}

// summary writes the summary of a finished contest.
func (a *archiving) summary(ctx context.Context, c contest.Contest, summaries *table[executionSummary]) error {
	s, err := a.store.Summary(ctx, a.tenant, c.ExecutionID)
	if errors.Is(err, aggregate.ErrNotFound) {
		return nil
	} else if err != nil {
		return err
	}
	results, err := json.Marshal(s.TeamResults)
	if err != nil {
		return err
	}
	return summaries.put(func(int32) executionSummary {
		return executionSummary{s.ExecutionID, s.UserPrompt, string(s.Status), string(results), int32(s.TotalTeams),
			s.BestTeamID, s.BestScore, s.TotalExecutionTimeSeconds, s.CompletedAt.UnixMicro(), s.CreatedAt.UnixMicro()}
	})
}

// roundHistory is a row of round_history. Times are UTC without a zone.
type roundHistory struct {
	ID                      int32  `parquet:"id"`
	ExecutionID             string `parquet:"execution_id"`
	TeamID                  string `parquet:"team_id"`
	TeamName                string `parquet:"team_name"`
	RoundNumber             int32  `parquet:"round_number"`
	MessageHistory          string `parquet:"message_history,json"`
	MemberSubmissionsRecord string `parquet:"member_submissions_record,json"`
	CreatedAt               int64  `parquet:"created_at,timestamp(microsecond:local)"`
}

// leaderBoard is a row of leader_board, with the complete submission.
type leaderBoard struct {
	ID                 int32   `parquet:"id"`
	ExecutionID        string  `parquet:"execution_id"`
	TeamID             string  `parquet:"team_id"`
	TeamName           string  `parquet:"team_name"`
	RoundNumber        int32   `parquet:"round_number"`
	EvaluationScore    float64 `parquet:"evaluation_score"`
	EvaluationFeedback string  `parquet:"evaluation_feedback"`
	SubmissionContent  string  `parquet:"submission_content"`
	SubmissionFormat   string  `parquet:"submission_format"`
	UsageInfo          string  `parquet:"usage_info,json"`
	CreatedAt          int64   `parquet:"created_at,timestamp(microsecond:local)"`
}

type executionSummary struct {
	ExecutionID               string   `parquet:"execution_id"`
	UserPrompt                string   `parquet:"user_prompt"`
	Status                    string   `parquet:"status"`
	TeamResults               string   `parquet:"team_results,json"`
	TotalTeams                int32    `parquet:"total_teams"`
	BestTeamID                *string  `parquet:"best_team_id"`
	BestScore                 *float64 `parquet:"best_score"`
	TotalExecutionTimeSeconds float64  `parquet:"total_execution_time_seconds"`
	CompletedAt               int64    `parquet:"completed_at,timestamp(microsecond:local)"`
	CreatedAt                 int64    `parquet:"created_at,timestamp(microsecond:local)"`
}

// perGroup is how many rows are buffered in memory before they are written: a row may have megabytes.
const perGroup = 100

// table is a Parquet file being written. It gets its name when it is complete.
type table[R any] struct {
	file   *os.File
	name   string
	writer *parquet.GenericWriter[R]
	rows   int32
}

func create[R any](folder, name string) (*table[R], error) {
	f, err := os.CreateTemp(folder, name+"-*.tmp")
	if err != nil {
		return nil, err
	}
	w := parquet.NewGenericWriter[R](f, parquet.Compression(&parquet.Snappy), parquet.MaxRowsPerRowGroup(perGroup))
	return &table[R]{file: f, name: filepath.Join(folder, name+".parquet"), writer: w}, nil
}

// put writes a row. Rows are numbered from 1.
func (t *table[R]) put(row func(id int32) R) error {
	t.rows++
	if _, err := t.writer.Write([]R{row(t.rows)}); err != nil {
		return fmt.Errorf("write %s: %w", t.name, err)
	}
	return nil
}

// keep completes the file and gives it its name.
func (t *table[R]) keep() error {
	err := errors.Join(t.writer.Close(), t.file.Chmod(0o644), t.file.Close())
	if err == nil {
		err = os.Rename(t.file.Name(), t.name)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", t.name, err)
	}
	return nil
}

// discard removes a file that was not completed.
func (t *table[R]) discard() {
	t.file.Close()
	os.Remove(t.file.Name()) // a completed file has another name
}

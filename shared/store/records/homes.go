package records

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/domain/aggregate"
	"ringi/shared/store/table"
)

// Rows of people who opened the app's Home tab: HOME#<tenant>, one per person, with a TTL.
const homes = "HOME#"

// Notes reads and writes the table.
type Notes struct{ t *table.Table }

// NotesOf returns the notes in a table.
func NotesOf(t *table.Table) Notes { return Notes{t} }

const (
	// homeFor is how long it is kept that a Home tab was opened.
	homeFor = time.Hour
	// homeAgain is the time within which opening a tab again changes nothing. It is short, since Slack opens the tab
	// anew when somebody chooses another language.
	homeAgain = 3 * time.Second
)

// OpenHome is a person who opened the tab.
type OpenHome struct {
	Team     string    `json:"team"`
	User     string    `json:"user"`
	OpenedAt time.Time `json:"opened_at"`
}

// HomeOpened records that a person opened their Home tab, and the table's stream triggers its update. If it was opened
// just before, nothing happens.
func (s Notes) HomeOpened(ctx context.Context, tenant string, h OpenHome) error {
	pk, err := table.TenantPartition(homes, tenant)
	if err != nil {
		return err
	}
	e := table.NewExpression()
	e.Row("home", h.OpenedAt.Add(homeFor))
	e.Set("team", h.Team)
	e.Set("user", h.User)
	e.Set("opened_at", h.OpenedAt)
	condition := table.AnyOf(e.Absent(), e.Is("opened_at", "<", h.OpenedAt.Add(-homeAgain)))
	_, err = s.t.Update(ctx, table.Key(pk, h.User), e, &condition)
	return table.Wrapped(table.Unless(err, table.ErrCondition), "note an open Home tab")
}

// OpenHome returns the person's row. It returns aggregate.ErrNotFound if they have not opened the tab within an hour.
func (s Notes) OpenHome(ctx context.Context, tenant, user string) (OpenHome, error) {
	pk, err := table.TenantPartition(homes, tenant)
	if err != nil {
		return OpenHome{}, err
	}
	if !table.KeyPart(user) {
		return OpenHome{}, aggregate.ErrNotFound
	}
	var h OpenHome
	err = s.t.Get(ctx, pk, user, &h)
	return h, table.Wrapped(err, "read an open Home tab")
}

// HomeOf parses the key of a Home tab's row from the table's stream.
func HomeOf(partition, sort string) (tenant, user string, ok bool) {
	if len(partition) <= len(homes) || partition[:len(homes)] != homes {
		return "", "", false
	}
	return partition[len(homes):], sort, sort != ""
}

// onceFor is how long Once remembers; Slack repeats nothing after that time.
const onceFor = 24 * time.Hour

// once returns the key of the row for something that must happen once.
func once(tenant, what string) (pk, sk string, err error) {
	pk, err = table.TenantPartition("QUOTA#", tenant)
	return pk, "ONCE#" + aggregate.Derive(time.Time{}, "once", what), err
}

// Came is the outcome of something that Once began: a code chosen by the caller, and a message in Slack. It is zero
// while the outcome is unknown.
type Came struct{ As, Channel, TS string }

// Once reports whether nobody in the tenant began what before, and records that it has begun. If somebody did, it
// returns the outcome. what is an external name, such as the trigger of a command.
func (s Notes) Once(ctx context.Context, tenant, what string) (first bool, came Came, err error) {
	pk, sk, err := once(tenant, what)
	if err != nil {
		return false, came, err
	}
	e := table.NewExpression()
	e.Row("once", s.t.Now().Add(onceFor))
	e.Remove("failed")
	condition := table.AnyOf(e.Absent(), e.Is("failed", "=", true))
	it, err := s.t.Update(ctx, table.Key(pk, sk), e, &condition)
	if errors.Is(err, table.ErrCondition) {
		return false, Came{table.TextOf(it, "came_as"), table.TextOf(it, "channel"), table.TextOf(it, "ts")}, nil
	}
	if err != nil {
		return false, came, fmt.Errorf("begin once: %w", err)
	}
	return true, came, nil
}

// Came saves the outcome of something that Once began, for callers who begin it again.
func (s Notes) Came(ctx context.Context, tenant, what string, c Came) error {
	pk, sk, err := once(tenant, what)
	if err != nil {
		return err
	}
	e := table.NewExpression()
	e.Set("came_as", c.As)
	e.Set("channel", c.Channel)
	e.Set("ts", c.TS)
	_, err = s.t.Update(ctx, table.Key(pk, sk), e, table.All(e.Exists()))
	return table.Wrapped(err, "note what became of it")
}

// Again makes Once report what as new again, after its first beginning had no effect.
func (s Notes) Again(ctx context.Context, tenant, what string) error {
	pk, sk, err := once(tenant, what)
	if err != nil {
		return err
	}
	e := table.NewExpression()
	e.Set("failed", true)
	_, err = s.t.Update(ctx, table.Key(pk, sk), e, table.All(e.Exists()))
	return table.Wrapped(err, "let it begin again")
}

// Probes is the budget of calls to a workspace whose Slack does not answer: one call in each interval of length every.
// Its row holds since when Slack does not answer.
func Probes(workspace string, every time.Duration) Budget {
	return Budget{Workspace: workspace, Name: "answers", Calls: 1, Window: every}
}

// SilentSince returns since when a workspace's Slack has not answered, zero if it answers. The value may be slightly
// stale.
func (s Notes) SilentSince(ctx context.Context, workspace string, now time.Time) (time.Time, error) {
	k, err := Probes(workspace, 1).key()
	if err != nil {
		return time.Time{}, err
	}
	out, err := s.t.DB.GetItem(ctx, &dynamodb.GetItemInput{TableName: &s.t.Name, Key: k, ConsistentRead: aws.Bool(false)})
	if err != nil {
		return time.Time{}, fmt.Errorf("read whether Slack answers: %w", err)
	}
	if int64(table.IntOf(out.Item, "silent_until")) <= now.UnixMilli() {
		return time.Time{}, nil
	}
	return time.UnixMilli(int64(table.IntOf(out.Item, "silent_since"))), nil
}

// NoteSilence records that a workspace's Slack did not answer. The record expires at until, or is deleted by
// NoteAnswer.
func (s Notes) NoteSilence(ctx context.Context, workspace string, now, until time.Time) error {
	k, err := Probes(workspace, 1).key()
	if err != nil {
		return err
	}
	e := table.NewExpression()
	since := e.Name("silent_since")
	e.Sets = append(e.Sets, fmt.Sprintf("%s = if_not_exists(%s, %s)", since, since, e.Value(now.UnixMilli())))
	e.Set("silent_until", until.UnixMilli())
	e.Row("pace", until.Add(paceRowsLast))
	_, err = s.t.Update(ctx, k, e, nil)
	return table.Wrapped(err, "note that Slack does not answer")
}

// NoteAnswer records that a workspace's Slack answers again.
func (s Notes) NoteAnswer(ctx context.Context, workspace string) error {
	k, err := Probes(workspace, 1).key()
	if err != nil {
		return err
	}
	e := table.NewExpression()
	e.Remove("silent_since", "silent_until")
	there := e.Exists()
	_, err = s.t.Update(ctx, k, e, &there)
	return table.Wrapped(table.Unless(err, aggregate.ErrNotFound), "note that Slack answers")
}

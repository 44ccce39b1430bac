package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/tenancy"
	"ringi/shared/store"
)

// changes replays the stream ranges in the relay's dead letters. Effects are computed from rows, so looking at each
// aggregate again is enough. Facts for Insights are added again for new rows, and scored rounds are counted for their
// teams; adding or counting twice changes nothing.
type changes struct {
	letters letters
	streams reader
	store   *store.Store
	sums    *store.Counter
	out     io.Writer
}

// reader reads records of DynamoDB Streams.
type reader interface {
	GetShardIterator(context.Context, *dynamodbstreams.GetShardIteratorInput,
		...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetShardIteratorOutput, error)
	GetRecords(context.Context, *dynamodbstreams.GetRecordsInput,
		...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetRecordsOutput, error)
}

// batch locates a dead letter's records.
type batch struct {
	ShardID   string `json:"shardId"`
	Start     string `json:"startSequenceNumber"`
	End       string `json:"endSequenceNumber"`
	StreamARN string `json:"streamArn"`
}

func (c *changes) replay(ctx context.Context) error {
	n, err := c.letters.each(ctx, func(m types.Message) error {
		var letter struct {
			Batch batch `json:"DDBStreamBatchInfo"`
		}
		if err := json.Unmarshal([]byte(aws.ToString(m.Body)), &letter); err != nil || letter.Batch.ShardID == "" ||
			letter.Batch.Start == "" {
			return errors.New("it has no DDBStreamBatchInfo; look at it in the console")
		}
		found, err := c.found(ctx, letter.Batch)
		var gone *streams.TrimmedDataAccessException
		var noShard *streams.ResourceNotFoundException
		if errors.As(err, &gone) || errors.As(err, &noShard) {
			fmt.Fprintf(c.out, "%s to %s: the stream keeps records for a day, these are gone; the sweeper has looked after "+
				"their tasks since, and what Insights miss of them stays missing; rounds of contests are counted by rescue "+
				"rounds\n", letter.Batch.Start, letter.Batch.End)
			return nil
		}
		if err != nil {
			return err
		}
		for _, ref := range found.refs {
			if err := c.again(ctx, ref); err != nil {
				return err
			}
		}
		if err := c.sums.PutFacts(ctx, found.facts); err != nil {
			return err
		}
		for _, round := range found.rounds {
			if err := c.sums.Count(ctx, round); err != nil {
				return err
			}
		}
		fmt.Fprintf(c.out, "%d facts are counted for Insights, %d scored rounds for their teams\n", len(found.facts),
			len(found.rounds))
		return nil
	})
	fmt.Fprintf(c.out, "%d ranges are replayed\n", n)
	return err
}

// again makes the relay look at an aggregate now, and the sweeper a minute later.
func (c *changes) again(ctx context.Context, ref aggregate.Ref) error {
	if _, err := c.store.Head(ctx, ref); errors.Is(err, aggregate.ErrNotFound) {
		fmt.Fprintf(c.out, "task %s is gone\n", ref.ID)
		return nil
	} else if err != nil {
		return err
	}
	if err := c.store.Redraw(ctx, ref); err != nil {
		return err
	}
	fmt.Fprintf(c.out, "%s %s is looked at again\n", ref.Kind, ref.ID)
	return nil
}

// found lists what a range's records are about, in order.
type found struct {
	refs   []aggregate.Ref
	facts  []tenancy.DailyFact // of new rows
	rounds []store.Counted     // of rows as they became
}

func (c *changes) found(ctx context.Context, b batch) (all found, err error) {
	at, err := c.streams.GetShardIterator(ctx, &dynamodbstreams.GetShardIteratorInput{
		StreamArn: &b.StreamARN, ShardId: &b.ShardID, ShardIteratorType: streams.ShardIteratorTypeAtSequenceNumber,
		SequenceNumber: &b.Start,
	})
	if err != nil {
		return all, fmt.Errorf("find %s in the stream: %w", b.Start, err)
	}
	seen := map[aggregate.Ref]bool{}
	for iterator := at.ShardIterator; iterator != nil; {
		page, err := c.streams.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: iterator})
		if err != nil {
			return all, fmt.Errorf("read the stream: %w", err)
		}
		for _, r := range page.Records {
			sequence := aws.ToString(r.Dynamodb.SequenceNumber)
			if compare(sequence, b.End) > 0 {
				return all, nil
			}
			if ref, ok := refOf(r.Dynamodb.Keys["PK"]); ok && !seen[ref] {
				seen[ref], all.refs = true, append(all.refs, ref)
			}
			c.counts(r, &all)
			if sequence == b.End {
				return all, nil
			}
		}
		// A page of an open shard may be empty though more records follow.
		iterator = page.NextShardIterator
	}
	return all, nil
}

// counts adds a new row's fact for Insights, and a scored round for its team. It skips a malformed row and names it.
func (c *changes) counts(r streams.Record, all *found) {
	if r.EventName == streams.OperationTypeRemove {
		return
	}
	row, err := attributevalue.FromDynamoDBStreamsMap(r.Dynamodb.NewImage)
	if err == nil && r.EventName == streams.OperationTypeInsert {
		fact, ok, bad := c.sums.FactOf(row)
		if err = bad; ok && err == nil {
			all.facts = append(all.facts, fact)
		}
	}
	if err == nil {
		round, ok, bad := c.sums.CountedOf(row)
		if err = bad; ok && err == nil {
			all.rounds = append(all.rounds, round)
		}
	}
	if err != nil {
		fmt.Fprintf(c.out, "record %s counts nothing: %v\n", aws.ToString(r.Dynamodb.SequenceNumber), err)
	}
}

// compare orders sequence numbers, which are longer than any integer.
func compare(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

func refOf(pk streams.AttributeValue) (aggregate.Ref, bool) {
	s, ok := pk.(*streams.AttributeValueMemberS)
	if !ok {
		return aggregate.Ref{}, false
	}
	return store.Kinds().Ref(s.Value)
}

type letters struct {
	sqs *sqs.Client
	url string
}

// hidden is how many seconds a received letter is invisible to others.
const hidden = 60

// each passes every letter to do and then deletes it. It stops at the first error and leaves that letter in the queue.
func (l letters) each(ctx context.Context, do func(types.Message) error) (n int, err error) {
	for {
		got, err := l.sqs.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
			QueueUrl: &l.url, MaxNumberOfMessages: 10, WaitTimeSeconds: 2, VisibilityTimeout: hidden,
			MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameMessageGroupId},
		})
		if err != nil {
			return n, fmt.Errorf("receive dead letters: %w", err)
		}
		if len(got.Messages) == 0 {
			return n, nil
		}
		for _, m := range got.Messages {
			if err := do(m); err != nil {
				return n, fmt.Errorf("dead letter %s: %w", aws.ToString(m.MessageId), err)
			}
			if _, err := l.sqs.DeleteMessage(ctx,
				&sqs.DeleteMessageInput{QueueUrl: &l.url, ReceiptHandle: m.ReceiptHandle}); err != nil {
				return n, fmt.Errorf("delete dead letter %s: %w", aws.ToString(m.MessageId), err)
			}
			n++
		}
	}
}

// moveCards moves dead cards back to the card queue. A card may be moved twice: drawing it twice is harmless.
func moveCards(ctx context.Context, dead letters, to string, out io.Writer) error {
	n, err := dead.each(ctx, func(m types.Message) error {
		_, err := dead.sqs.SendMessage(ctx, &sqs.SendMessageInput{
			QueueUrl: &to, MessageBody: m.Body, MessageDeduplicationId: m.MessageId,
			MessageGroupId: aws.String(m.Attributes[string(types.MessageSystemAttributeNameMessageGroupId)]),
		})
		return err
	})
	fmt.Fprintf(out, "%d cards are in the queue again\n", n)
	return err
}

// games repairs contests that don't end, and rounds that were not counted for their teams.
type games struct {
	contests *store.ContestStore
	apply    bool
	closing  bool // stop the teams that still play
	out      io.Writer
}

// again prints what a contest waits for, and starts another run of it.
func (g *games) again(ctx context.Context, ref aggregate.Ref) error {
	a, err := g.contests.Load(ctx, ref)
	if err != nil {
		return err
	}
	if a.Contest == nil {
		return fmt.Errorf("%s: %w", ref, aggregate.ErrConflict) // a torn read
	}
	now := time.Now()
	if err := g.tell(ctx, a); err != nil {
		return err
	}
	switch k := a.Contest; {
	case a.Summary != nil:
		fmt.Fprintln(g.out, "it is summed up: there is nothing to do")
		return nil
	case !g.closing && a.Head.OverAt == nil && now.Before(k.DeadlineAt):
		fmt.Fprintf(g.out, "its teams have time until %s: let them play, or add -close to stop them\n",
			aggregate.TimeText(k.DeadlineAt))
		return nil
	}
	c, err := a.Rerun(g.closing, now)
	if err != nil {
		return err
	}
	next := c.Head.(*contest.Head).Run
	if !g.apply {
		fmt.Fprintf(g.out, "run %d would begin\nnothing was written: add -apply to do it\n", next)
		return nil
	}
	after, err := g.contests.Decide(ctx, ref,
		func(a *contest.Aggregate) (aggregate.Change, error) { return a.Rerun(g.closing, now) })
	if err != nil {
		return fmt.Errorf("begin another run (look again if it moved meanwhile): %w", err)
	}
	fmt.Fprintf(g.out, "run %d begins, at once by the relay or within a minute by the sweeper\n", after.Head.Run)
	return nil
}

// tell prints the status of the contest and its teams.
func (g *games) tell(ctx context.Context, a *contest.Aggregate) error {
	k := a.Contest
	fmt.Fprintf(g.out, "contest %s: %s, begun %s, its teams' time ends %s; run %s-%d, %d begun anew\n",
		k.ExecutionID, k.Status, aggregate.TimeText(k.CreatedAt), aggregate.TimeText(k.DeadlineAt), k.ExecutionID,
		a.Head.Run, a.Head.Restarts)
	if k.ForID != "" {
		fmt.Fprintf(g.out, "for %s %s %s, which %s\n", k.ForKind, k.ForID, k.ForRow,
			map[bool]string{true: "knows how it ended", false: "does not know yet how it ended"}[k.Told])
	}
	if k.SettledAt != nil && a.Summary == nil {
		fmt.Fprintln(g.out, "it was given up: nobody summed it up")
	}
	for i, t := range k.Teams {
		w, err := g.contests.Teams.Load(ctx, contest.TeamRef(k.TenantID, k.ExecutionID, t.TeamID))
		switch {
		case errors.Is(err, aggregate.ErrNotFound):
			fmt.Fprintf(g.out, "team %d %q has not begun\n", i+1, t.TeamID)
			continue
		case err != nil:
			return err
		case w.Team == nil:
			return fmt.Errorf("team %d: %w", i+1, aggregate.ErrConflict) // a torn read
		}
		best := "none"
		if w.Team.BestScore != nil {
			best = fmt.Sprintf("%.4f in round %d", *w.Team.BestScore, w.Team.BestRound)
		}
		fmt.Fprintf(g.out, "team %d %q: %s %s %s, %d of %d rounds, best %s, $%s of $%s, time until %s\n",
			i+1, t.TeamID, w.Team.Status, w.Team.ExitReason, w.Team.Reason, w.Team.Rounds, w.Team.MaxRounds, best,
			w.Used().Cost, w.Team.Budget, aggregate.TimeText(w.Team.DeadlineAt))
	}
	return nil
}

// count counts each of a tenant's scored rounds for its team exactly once.
func (g *games) count(ctx context.Context, tenant string) error {
	n, cursor := 0, ""
	for {
		page, err := g.contests.Board(ctx, tenant, store.ContestFilter{}, cursor, store.MaxPage)
		if err != nil {
			return err
		}
		for _, b := range page.Items {
			if err := g.contests.Count(ctx, &b); err != nil {
				return err
			}
			n++
		}
		if cursor = page.Next; cursor == "" {
			fmt.Fprintf(g.out, "%d scored rounds are counted\n", n)
			return nil
		}
	}
}

// lookAgain prints what a conversation with an agent waits for. With apply it makes the relay and the sweeper look at
// the conversation again. It changes no decision and no call.
func lookAgain(ctx context.Context, all *store.ConversationStore, ref aggregate.Ref, apply bool, out io.Writer) error {
	a, err := all.Load(ctx, ref)
	if err != nil {
		return err
	}
	if a.Conversation == nil {
		return fmt.Errorf("%s: %w", ref, aggregate.ErrConflict) // a torn read
	}
	fmt.Fprintf(out, "conversation %s with %s: %s, run %s-%d %s; last changed %s\n", a.Head.SessionID,
		a.Conversation.AgentID, a.Conversation.Status, a.Head.SessionID, a.Head.Run,
		map[bool]string{true: "has ended", false: "is open, or died"}[a.Head.Resting], aggregate.TimeText(a.Head.ChangedAt))
	fmt.Fprintf(out, "%d messages are not answered\n", len(a.Inbox))
	for _, x := range a.Actions {
		if x.Status.Over() {
			continue
		}
		claim := ""
		if x.Claim != nil {
			claim = ", claimed until " + aggregate.TimeText(x.Claim.LeaseUntil)
		}
		fmt.Fprintf(out, "action %d (%s) is %s%s\n", x.Number, x.ActionType, x.Status, claim)
	}
	switch next := a.Next(time.Now()).State; next {
	case aggregate.StateFinish:
		fmt.Fprintln(out, "it waits for people, or for a claim to end: there is nothing to run")
	default:
		fmt.Fprintf(out, "a run has to go to %s\n", next)
	}
	if !apply {
		fmt.Fprintln(out, "nothing was written: add -apply to have it looked at again")
		return nil
	}
	if err := all.Redraw(ctx, ref); err != nil {
		return err
	}
	fmt.Fprintln(out, "it is looked at again, at once by the relay and within a minute by the sweeper, which begins "+
		"its run if there is none")
	return nil
}

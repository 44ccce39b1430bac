package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/store"
	"ringi/shared/store/table"
)

// maxWrites is how many rows one transaction of DynamoDB may write.
const maxWrites = 100

// forgotten exceeds the number of commits and runs that a task can have made since the restored moment. Their numbers
// must not be used again: a run that is still open from then would be taken for the task's own.
const forgotten = 1000

type item = table.Item

// rows copies rows of a restored table back into the stack's table.
type rows struct {
	db          *dynamodb.Client
	from, table string
	apply       bool
	out         io.Writer
}

// missing puts back rows that the table no longer has: all rows of aggregates whose head is gone, and single rows of
// other kinds. It never overwrites a row. It writes heads last: a task with a head but only half of its rows would go
// on as if it had just begun, and after an interruption nobody could tell that rows are missing.
func (r *rows) missing(ctx context.Context) error {
	n, left := 0, 0
	pages := dynamodb.NewScanPaginator(r.db, &dynamodb.ScanInput{TableName: &r.from, ConsistentRead: aws.Bool(true)})
	live := map[string]bool{} // partitions of aggregates that have a head
	var heads []item
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("read %s: %w", r.from, err)
		}
		for _, it := range page.Items {
			pk, sk := keyOf(it)
			_, aggregated := store.Kinds().Ref(pk)
			if aggregated {
				if _, known := live[pk]; !known {
					if live[pk], err = r.exists(ctx, pk, aggregate.HeadKey); err != nil {
						return err
					}
				}
				if live[pk] {
					continue
				}
				if answered, err := r.answered(ctx, it); err != nil {
					return err
				} else if answered {
					left++
					continue
				}
			} else if there, err := r.exists(ctx, pk, sk); err != nil {
				return err
			} else if there {
				continue
			} else if comes, err := r.comesBack(ctx, it); err != nil {
				return err
			} else if !comes {
				left++
				continue
			}
			n++
			if aggregated && sk == aggregate.HeadKey {
				heads = append(heads, it)
			} else if err := r.putBack(ctx, it); err != nil {
				return err
			}
		}
	}
	for _, it := range heads {
		if err := r.putBack(ctx, it); err != nil {
			return err
		}
	}
	if left > 0 {
		fmt.Fprintf(r.out, "%d rows stay away: sessions, answered tokens, what is counted of teams, and links of another chain than the table's\n", left)
	}
	r.conclude("%d rows are put back", n)
	return nil
}

// comesBack reports whether a missing row outside aggregates may be put back. Ended web sessions stay ended. A team's
// counts stay away: its rounds are counted again as they come back, and adding them to old counts would be wrong. Links
// of a chain come back up to the table's head, and a head only if its last link is there: a link beyond the head would
// block the next one, and nothing could be sealed any more.
func (r *rows) comesBack(ctx context.Context, it item) (bool, error) {
	pk, sk := keyOf(it)
	switch {
	case strings.HasPrefix(pk, "WEB#"), strings.HasPrefix(pk, "COUNTED#"):
		return false, nil
	case !strings.HasPrefix(pk, "CHAIN#"):
		return true, nil
	case sk == aggregate.HeadKey:
		return r.exists(ctx, pk, fmt.Sprintf("LINK#%010d", table.IntOf(it, "seq")))
	}
	head, err := r.row(ctx, pk, aggregate.HeadKey)
	return table.IntOf(it, "seq") <= table.IntOf(head, "seq"), err
}

// answered reports whether a row is the token of a run that has left its gate. The head that is put back has another
// run and couldn't say so any more: the token would be sent again, perhaps for a state machine that is gone.
func (r *rows) answered(ctx context.Context, it item) (bool, error) {
	pk, sk := keyOf(it)
	if !strings.HasPrefix(sk, "WAIT#") {
		return false, nil
	}
	w, err := table.UnpackAs[aggregate.Wait](it)
	if err != nil {
		return false, fmt.Errorf("read %s %s: %w", pk, sk, err)
	}
	head, err := r.rowOf(ctx, r.from, pk, aggregate.HeadKey)
	if err != nil || head == nil {
		return false, err
	}
	h, err := table.UnpackAs[aggregate.Head](head)
	if err != nil {
		return false, fmt.Errorf("read %s %s: %w", pk, aggregate.HeadKey, err)
	}
	return w.Left(&h), nil
}

// putBack writes a missing row. It makes a head due at once, so that the sweeper resumes its task and redraws its
// cards.
func (r *rows) putBack(ctx context.Context, it item) error {
	pk, sk := keyOf(it)
	fmt.Fprintf(r.out, "missing %s %s\n", pk, sk)
	if !r.apply {
		return nil
	}
	_, aggregated := store.Kinds().Ref(pk)
	switch {
	case aggregated && sk == aggregate.HeadKey:
		it = awake(it, table.IntOf(it, "rev")+forgotten, table.IntOf(it, "run")+forgotten)
	case strings.HasPrefix(sk, "CARD#"):
		it = unseen(it)
	}
	_, err := r.db.PutItem(ctx,
		&dynamodb.PutItemInput{TableName: &r.table, Item: it, ConditionExpression: aws.String("attribute_not_exists(PK)")})
	var there *types.ConditionalCheckFailedException
	if err != nil && !errors.As(err, &there) {
		return fmt.Errorf("put back %s %s: %w", pk, sk, err)
	}
	return nil
}

// setBack sets one task back to the restored table's rows, in a transaction that fails if somebody else changes the
// task. It increases revision and run, so that a process with the newer state can no longer commit it.
func (r *rows) setBack(ctx context.Context, ref aggregate.Ref) error {
	pk, _ := store.Kinds().Partition(ref)
	was, err := r.partition(ctx, r.from, pk)
	if err != nil {
		return err
	}
	now, err := r.partition(ctx, r.table, pk)
	if err != nil {
		return err
	}
	head, restored := now[aggregate.HeadKey], was[aggregate.HeadKey]
	if restored == nil {
		return fmt.Errorf("%s has no task %s", r.from, ref.ID)
	}
	if head == nil {
		return fmt.Errorf("the table has no task %s: without -task it is put back", ref.ID)
	}
	var writes []types.TransactWriteItem
	for _, sk := range slices.Sorted(maps.Keys(was)) {
		if sk == aggregate.HeadKey || reflect.DeepEqual(was[sk], now[sk]) || bookkept(sk) {
			continue
		}
		fmt.Fprintf(r.out, "set back %s\n", sk)
		writes = append(writes, types.TransactWriteItem{Put: &types.Put{TableName: &r.table, Item: was[sk]}})
	}
	for _, sk := range slices.Sorted(maps.Keys(now)) {
		if was[sk] != nil || bookkept(sk) {
			continue
		}
		if strings.HasPrefix(sk, "STEP#") {
			return fmt.Errorf("task %s: %s was called since: it would be called again. Cancel the task instead", ref.ID, sk)
		}
		fmt.Fprintf(r.out, "remove %s\n", sk)
		writes = append(writes, types.TransactWriteItem{Delete: &types.Delete{TableName: &r.table,
			Key: item{"PK": now[sk]["PK"], "SK": now[sk]["SK"]}}})
	}
	writes = append(writes, types.TransactWriteItem{Put: &types.Put{
		TableName: &r.table, Item: awake(restored, table.IntOf(head, "rev")+1, table.IntOf(head, "run")+1),
		ConditionExpression:      aws.String("#rev = :rev"),
		ExpressionAttributeNames: map[string]string{"#rev": "rev"}, ExpressionAttributeValues: item{":rev": head["rev"]},
	}})
	if len(writes) > maxWrites {
		return fmt.Errorf("task %s: %d rows differ, a transaction writes %d at most; cancel the task instead", ref.ID, len(writes), maxWrites)
	}
	if r.apply {
		if _, err := r.db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: writes}); err != nil {
			return fmt.Errorf("set back task %s (try again if it moved meanwhile): %w", ref.ID, err)
		}
	}
	r.conclude("%d rows are set back", len(writes))
	return nil
}

// bookkept reports whether a row stays as it is now because it isn't part of the task's state: a WAIT belongs to an
// open run, a CARD says what its message shows, a USAGE what was spent, a LEASE which process works.
func bookkept(sk string) bool {
	return slices.ContainsFunc([]string{"WAIT#", "CARD#", "USAGE#", "LEASE#"},
		func(kind string) bool { return strings.HasPrefix(sk, kind) })
}

// unseen returns a card's row without the hash of what its message shows, so that the card is redrawn. A card without a
// message is searched for in the thread before it is posted.
func unseen(card item) item {
	c := maps.Clone(card)
	delete(c, "hash")
	if table.TextOf(c, "message_ts") == "" {
		c["state"] = table.Text(string(aggregate.CardPosting))
		c["claimed_by"] = table.Text("rescue")
		c["claimed_at"] = table.Text(aggregate.TimeText(time.Unix(0, 0)))
	}
	return c
}

// awake returns a head that is due at once and whose cards must be redrawn.
func awake(head item, rev, run int) item {
	h := maps.Clone(head)
	at := aggregate.TimeText(time.Now())
	h["rev"], h["run"] = table.Number(rev), table.Number(run)
	if h["GSI1PK"] != nil {
		h["due_at"], h["GSI1SK"] = table.Text(at), table.Text(at)
	}
	delete(h, "shown_rev")
	return h
}

func (r *rows) conclude(format string, n int) {
	fmt.Fprintf(r.out, format+"\n", n)
	if !r.apply {
		fmt.Fprintln(r.out, "nothing was written: add -apply to do it")
	}
}

// row reads a row of the stack's table; nil if it is missing.
func (r *rows) row(ctx context.Context, pk, sk string) (item, error) {
	return r.rowOf(ctx, r.table, pk, sk)
}

// rowOf reads a row of either table.
func (r *rows) rowOf(ctx context.Context, name, pk, sk string) (item, error) {
	out, err := r.db.GetItem(ctx,
		&dynamodb.GetItemInput{TableName: &name, ConsistentRead: aws.Bool(true), Key: table.Key(pk, sk)})
	if err != nil {
		return nil, fmt.Errorf("look for %s %s: %w", pk, sk, err)
	}
	return out.Item, nil
}

func (r *rows) exists(ctx context.Context, pk, sk string) (bool, error) {
	it, err := r.row(ctx, pk, sk)
	return it != nil, err
}

// partition reads an aggregate's rows, by SK.
func (r *rows) partition(ctx context.Context, from, pk string) (map[string]item, error) {
	all := map[string]item{}
	for it, err := range table.Queried(ctx, table.New(r.db, from), &dynamodb.QueryInput{
		TableName: &from, ConsistentRead: aws.Bool(true), KeyConditionExpression: aws.String("PK = :pk"),
		ExpressionAttributeValues: item{":pk": table.Text(pk)},
	}, func(it item) (item, error) { return it, nil }) {
		if err != nil {
			return nil, fmt.Errorf("read %s from %s: %w", pk, from, err)
		}
		_, sk := keyOf(it)
		all[sk] = it
	}
	return all, nil
}

func keyOf(it item) (pk, sk string) { return table.TextOf(it, "PK"), table.TextOf(it, "SK") }

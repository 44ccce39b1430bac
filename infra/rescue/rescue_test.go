package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
	"ringi/shared/store/table"
)

func TestDeadCardsAreDrawnAfterAReplay(t *testing.T) {
	r := ask(t)
	r.spoil(driver.PromptCard)
	dead := running.QueueURL("CardDeadLetters")
	for i := range 2 { // the same card may be in the dead letters twice
		expect.Value(sqs.NewFromConfig(running.AWS).SendMessage(t.Context(), &sqs.SendMessageInput{
			QueueUrl: &dead, MessageGroupId: &r.Ref.ID, MessageDeduplicationId: aws.String(fmt.Sprint(i)),
			MessageBody: aws.String(fmt.Sprintf(`{"tenant":%q,"kind":"task","id":%q,"rev":1}`, r.Ref.Tenant, r.Ref.ID)),
		}))(t)
	}
	for _, args := range runbook(t, "cards", map[string]string{"CardDeadLettersUrl": dead,
		"CardQueueUrl": running.QueueURL("CardQueue")}) {
		expect.Has(t, rescue(t, args), "2 cards")
	}
	r.Eventually("the card is drawn", func() bool {
		return strings.Contains(r.shows(driver.PromptCard),
			"approve_prompt")
	})
	r.empty("CardDeadLetters")
	r.empty("CardQueue")
}

func TestDeadChangesAreLookedAtAgain(t *testing.T) {
	r := ask(t)
	r.spoil(driver.PromptCard)
	dead := running.QueueURL("ChangeDeadLetters")
	r.giveUp(r.inStream())
	had := r.losesFacts()
	for _, args := range runbook(t, "changes", map[string]string{"ChangeDeadLettersUrl": dead,
		"TableName": running.TableName}) {
		said := rescue(t, args)
		for _, want := range []string{"task " + r.Ref.ID + " is looked at again", "1 ranges"} {
			expect.Is(t, strings.Count(said, want), 1, "%q in %q", want, said)
		}
	}
	r.Eventually("the card is drawn", func() bool {
		return strings.Contains(r.shows(driver.PromptCard),
			"approve_prompt")
	})
	r.empty("ChangeDeadLetters")
	has := r.facts()
	expect.That(t, len(had) != 0 && slices.Equal(has, had), "Insights know %v of the task, and knew %v", has, had)
}

// trimmed is a stream that no longer has the requested records.
type trimmed struct{ reader }

func (trimmed) GetShardIterator(context.Context, *dynamodbstreams.GetShardIteratorInput,
	...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetShardIteratorOutput, error) {
	return nil, &streams.TrimmedDataAccessException{}
}

func TestChangesOlderThanTheStreamAreSaidToBeGone(t *testing.T) {
	r := ask(t)
	r.giveUp(batch{ShardID: "shard", Start: "1", End: "2", StreamARN: "arn"})
	var out bytes.Buffer
	c := &changes{letters{sqs.NewFromConfig(running.AWS), running.QueueURL("ChangeDeadLetters")}, trimmed{},
		r.Store.KindStore.Store, store.CounterOf(r.Store.Table(), r.Store.Kinds()), &out}
	err := c.replay(t.Context())
	expect.That(t, err == nil && strings.Contains(out.String(), "these are gone"), "said %q, %v", &out, err)
	r.empty("ChangeDeadLetters")
}

func TestALetterThatNobodyUnderstandsStays(t *testing.T) {
	dead := running.QueueURL("ChangeDeadLetters")
	client := sqs.NewFromConfig(running.AWS)
	expect.Value(client.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: &dead,
		MessageBody: aws.String("hello")}))(t)
	t.Cleanup(func() {
		_, err := client.PurgeQueue(context.Background(), &sqs.PurgeQueueInput{QueueUrl: &dead})
		expect.NoError(t, err)
	})
	var out bytes.Buffer
	err := run(t.Context(), running.AWS, []string{"changes", "-from", dead, "-table", running.TableName}, &out)
	expect.That(t, err != nil && strings.Contains(err.Error(), "no DDBStreamBatchInfo") &&
		strings.Contains(out.String(), "0 ranges"), "said %q, %v", &out, err)
}

func TestMissingRowsComeBack(t *testing.T) {
	r := ask(t)
	values := map[string]string{"RestoredTable": restore(t), "TableName": running.TableName, "tenant": r.Ref.Tenant,
		"task": r.Ref.ID}
	r.approve(driver.PromptCard, "approve_prompt") // is lost: it comes after the moment that is restored
	r.pending(task.CardProcess)
	before := len(r.items())
	r.drop()

	commands := runbook(t, "rows", values)
	said := rescue(t, commands[0])
	expect.That(t, strings.HasSuffix(said,
		r.Ref.ID+" HEAD\n9 rows are put back\nnothing was written: add -apply to do it\n"), "said %q", said)
	expect.Is(t, len(r.items()), 0, "rows that are there before anything was written")
	rescue(t, commands[1])
	n := len(r.items())
	expect.That(t, n != 0 && n < before, "%d rows came back, %d were there later", n, before)
	said = rescue(t, commands[1])
	expect.That(t, strings.HasPrefix(said, "0 rows"), "a second time said %q", said)
	r.asks(task.CardPrompt)
	r.Eventually("the card asks again", func() bool {
		return strings.Contains(r.shows(driver.PromptCard),
			"approve_prompt")
	})
	r.finish(1) // the lost process's card stays, without its row
}

func TestATaskIsSetBackUnlessItsStepsWereCalled(t *testing.T) {
	r := ask(t)
	values := map[string]string{"RestoredTable": restore(t), "TableName": running.TableName, "tenant": r.Ref.Tenant,
		"task": r.Ref.ID}
	r.approve(driver.PromptCard, "approve_prompt")
	r.pending(task.CardProcess)
	was := r.Until("", func(*task.Aggregate) bool { return true })

	commands := runbook(t, "rows", values)
	said := rescue(t, commands[2])
	expect.That(t, strings.Contains(said, "set back PROMPT#0001") && strings.Contains(said, "remove PROCESS#0001") &&
		strings.Contains(said, "nothing was written"), "said %q", said)
	rescue(t, commands[3])
	r.asks(task.CardPrompt)
	now := r.Until("", func(*task.Aggregate) bool { return true })
	expect.That(t, now.Head.Rev > was.Head.Rev && now.Head.Run > was.Head.Run && len(now.Processes) == 0,
		"head was rev %d run %d, is rev %d run %d with %d processes; they must go "+
			"forward", was.Head.Rev, was.Head.Run, now.Head.Rev, now.Head.Run, len(now.Processes))
	spent, before := now.Used(), was.Used()
	expect.That(t, spent.Calls >= before.Calls && spent.Input >= before.Input && len(was.Uses) >= 3,
		"%d rows came to %+v, now to %+v; what was spent stays spent", len(was.Uses), before, spent)
	r.Eventually("the card asks again", func() bool {
		return strings.Contains(r.shows(driver.PromptCard),
			"approve_prompt")
	})
	r.finish(0)

	var out bytes.Buffer
	err := run(t.Context(), running.AWS, commands[3], &out)
	expect.That(t, err != nil && strings.Contains(err.Error(), "was called since"), "after its steps were called: %v", err)
}

func TestWhatIsNoStateOfATaskIsNotSetBack(t *testing.T) {
	for _, sk := range []string{"WAIT#1", "CARD#prompt", "USAGE#01", "LEASE#EXECUTION#0001", "STEP#1", "PROMPT#0001",
		"GATE#PROMPT#0001"} {
		kept := !strings.ContainsAny(sk[:1], "SPG")
		expect.That(t, bookkept(sk) == kept, "%s is kept: %v", sk, !kept)
	}
}

// Alarms and the dashboard use metrics that running functions write.
func TestFunctionsCountWhatIsWatched(t *testing.T) {
	r := ask(t)
	r.approve(driver.PromptCard, "approve_prompt")
	r.pending(task.CardProcess)
	expect.Value(running.Fire(t.Context(), "SweepTasksFunction"))(t)
	for function, names := range map[string][]boot.MetricName{
		"UpdateCardFunction":         {boot.SlackCalled, boot.SlackFailed},
		"ReceiveInteractionFunction": {boot.SlackCalled, boot.SlackFailed, boot.DecisionSeconds},
		"SweepTasksFunction":         {boot.SweepRepaired, boot.SweepFailed},
	} {
		for _, name := range names {
			r.Eventually(function+" counts "+string(name), func() bool {
				return slices.ContainsFunc(running.Lambda.Logs(function), func(line string) bool {
					var m map[string]any
					_ = json.Unmarshal([]byte(line), &m)
					_, there := m[string(name)].(float64)
					return there && m["_aws"] != nil && m["function"] != ""
				})
			})
		}
	}
}

func TestBadCommandsSayWhatIsWanted(t *testing.T) {
	tests := []struct {
		name string
		args string
		want string
	}{
		{"nothing", "", "say what to rescue"},
		{"something else", "people -from a -table b", "none of cards"},
		{"no source", "cards -to b", "-from is missing"},
		{"no queue", "cards -from a", "-to is missing"},
		{"no table", "rows -from a", "-table is missing"},
		{"the same queue", "cards -from a -to a", "another than"},
		{"the same table", "rows -from a -table a", "another than"},
		{"half a task", "rows -from a -table b -task x/y", "two ids of 26 characters"},
		{"no contest", "contest -table b", "<tenant>/<execution>"},
		{"a task as a contest", "contest -table b -contest 01ARZ3NDEKTSV4RRFFQ69G5FAV/01ARZ3NDEKTSV4RRFFQ69G5FAV", "a UUID"},
		{"no conversation", "session -table b -session 01ARZ3NDEKTSV4RRFFQ69G5FAV/x", "a UUID"},
		{"no tenant", "rounds -table b", "-tenant"},
		{"a stray word", "rows -from a -table b now", `unexpected argument "now"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			err := run(t.Context(), running.AWS, strings.Fields(tt.args), &out)
			expect.That(t, err != nil && strings.Contains(err.Error(), tt.want), "got %v, want %q in it", err, tt.want)
		})
	}
}

func TestSequenceNumbersAreLongerThanIntegers(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"99", "100", -1}, {"100000000000000000000000000002", "100000000000000000000000000001", 1}, {"007", "7", 0},
	} {
		expect.Is(t, compare(tt.a, tt.b), tt.want, "compare(%s, %s)", tt.a, tt.b)
	}
}

// finish stamps what is left; the thread then has the request, four cards, and left others.
func (r *request) finish(left int) {
	r.Helper()
	r.approve(driver.PromptCard, "approve_prompt")
	r.Sweep() // no run waits for this decision
	r.pending(task.CardProcess)
	r.approve(driver.ProcessCard, "approve_process")
	r.Until("the work is done", func(a *task.Aggregate) bool {
		return a.Task != nil &&
			a.Task.Status == task.TaskCompleted
	})
	n := len(running.Sandbox.Messages(webapi.HR, r.Root))
	expect.That(r, n == 5+left, "the thread has %d messages, want the request, four cards and %d left over", n, left)
}

// A head that is put back has another run, and no longer proves which gates its run has left: tokens that were answered
// would all be sent again.
func TestAnsweredTokensStayAway(t *testing.T) {
	server := storetest.Start(t)
	_, from := server.Store(t)
	_, to := server.Store(t)
	const pk = "TASK#01TENANT#01TASK"
	entered := time.Date(2026, 4, 18, 9, 0, 0, 0, time.UTC)
	head := aggregate.Head{TenantID: "01TENANT", Rev: 9, Run: 2, Entered: &entered}
	put := func(kind, sk string, v any) {
		it := expect.Value(table.Pack(kind, pk, sk, v))(t)
		expect.Value(server.DB.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &from, Item: it}))(t)
	}
	put("head", aggregate.HeadKey, head)
	for gate, w := range map[string]aggregate.Wait{
		"PROMPT#0001":  {Run: 2, Entered: entered.Add(-time.Minute)},
		"PROCESS#0001": {Run: 2, Entered: entered.Add(time.Minute)},
		"PROMPT#0002":  {Run: 1, Entered: entered.Add(-time.Hour)},
	} {
		w.Gate, w.Token = gate, "token"
		put("wait", w.Key(), w)
	}
	bring(t, server, from, to)
	r := &rows{db: server.DB, table: to}
	for gate, waits := range map[string]bool{"PROMPT#0001": false, "PROCESS#0001": true, "PROMPT#0002": true} {
		is := expect.Value(r.exists(t.Context(), pk, "WAIT#"+gate))(t)
		expect.Is(t, is, waits, "the token of %s comes back", gate)
	}
	expect.That(t, expect.Value(r.exists(t.Context(), pk, aggregate.HeadKey))(t), "the head stays away")
}

// Rounds that are put back are counted while the rescue still runs: a sum of some restored rounds must not be added to
// old counts of the others.
func TestTeamsStatisticsAreWholeAfterTheirRowsCame(t *testing.T) {
	server := storetest.Start(t)
	was, from := server.Store(t)
	is, table := server.Store(t)
	round := func(row string) store.Counted {
		return store.Counted{Tenant: "01TENANT", Of: "team", Row: row, Rev: 1, Adds: map[string]int{"rounds": 1}}
	}
	for _, row := range []string{"a", "b", "c"} {
		expect.NoError(t, store.CounterOf(was.KindStore.Table(), was.KindStore.Kinds()).Count(t.Context(), round(row)))
	}
	expect.NoError(t, store.CounterOf(is.KindStore.Table(), is.KindStore.Kinds()).Count(t.Context(),
		round("a"))) // the sealer was faster
	bring(t, server, from, table)
	for _, row := range []string{"a", "b", "c"} { // it goes on, or rescue rounds does
		expect.NoError(t, store.CounterOf(is.KindStore.Table(), is.KindStore.Kinds()).Count(t.Context(), round(row)))
	}
	n := expect.Value(store.CounterOf(is.KindStore.Table(), is.KindStore.Kinds()).CountedSums(t.Context(), "01TENANT",
		"team",
		"rounds"))(t)["rounds"]
	expect.Is(t, n, 3, "counted rounds")
}

func TestAConversationIsLookedAtAndNothingOfItIsDecided(t *testing.T) {
	d := driver.Talk(t, running, webapi.Sato, "codex: ファイルを作って")
	asks := d.Shows("操作 #1 の確認")
	was := d.Rests()
	values := map[string]string{"TableName": running.TableName, "tenant": d.Ref().Tenant, "session": d.Ref().ID}
	for _, command := range runbook(t, "session", values) {
		said := rescue(t, command)
		expect.That(t, strings.Contains(said, "with codex: ") &&
			strings.Contains(said, "action 1 (code_generate) is pending") && strings.Contains(said, "0 messages") &&
			strings.Contains(said, "nothing to run"), "said %q", said)
	}
	d.Eventually("its cards are drawn again", func() bool {
		a := d.Load()
		return a.Head.Redraws > was.Head.Redraws &&
			a.Head.ShownRev >= a.Head.Rev
	})
	now := d.Load()
	expect.That(t, now.Head.Rev == was.Head.Rev && now.Pending() != nil,
		"revision %d, was %d; pending %+v", now.Head.Rev, was.Head.Rev, now.Pending())
	d.Press(webapi.Sato, asks, card.ApproveAction)
	d.Shows("完了しました: ファイル 2 件")
}

func TestAContestThatHangsIsClosedByHand(t *testing.T) {
	s, ref := driver.Compete(t, running, "方針 demo: hang team-1", 1, 1)
	team := contest.TeamRef(ref.Tenant, ref.ID, "team-1")
	expect.Eventually(t, "the team hangs", func() bool {
		_, err := s.Teams.Load(t.Context(), team)
		return err == nil
	})
	values := map[string]string{"TableName": running.TableName, "tenant": ref.Tenant, "execution": ref.ID}
	commands := runbook(t, "contest", values)
	for _, look := range commands[:2] { // even with -apply: the contest has time left
		said := rescue(t, look)
		expect.That(t, strings.Contains(said, `team 1 "team-1": running`) && strings.Contains(said, "let them play"),
			"said %q", said)
	}
	expect.Has(t, rescue(t, commands[2]), "run 2 begins")
	a := driver.SummedUp(t, s, ref)
	expect.That(t, a.Contest.Status == contest.Abandoned && a.Summary.Status == contest.SummaryFailed &&
		a.Head.Run == 2 && a.Head.OverAt != nil, "%+v %+v", a.Contest, a.Summary)
	expect.Has(t, rescue(t, commands[2]), "nothing to do", "a second time")
}

func TestRoundsThatNobodyCountedAreCountedOnce(t *testing.T) {
	s, ref := driver.Compete(t, running, "方針", 1, 1)
	driver.SummedUp(t, s, ref)
	sums := func() store.Statistics {
		return expect.Value(s.TeamStatistics(t.Context(), ref.Tenant, "team-1"))(t)
	}
	expect.Eventually(t, "the round is counted", func() bool { return sums().TotalRounds == 1 })
	was := sums()
	db := dynamodb.NewFromConfig(running.AWS)
	pk := "COUNTED#" + ref.Tenant + "#" + contest.TeamHash("team-1")
	for _, sk := range []string{"SUM", "ROW#" + contest.TeamRef(ref.Tenant, ref.ID, "team-1").ID + "#" +
		contest.BoardKey(1)} {
		expect.Value(db.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &running.TableName, Key: item{
			"PK": &types.AttributeValueMemberS{Value: pk}, "SK": &types.AttributeValueMemberS{Value: sk},
		}}))(t)
	}
	lost := sums()
	expect.Must(t, lost.TotalRounds == 0, "still counted: %+v", lost)
	for range 2 {
		rescue(t, runbook(t, "rounds", map[string]string{"TableName": running.TableName, "tenant": ref.Tenant})[0])
		now := sums()
		expect.That(t, now == was, "counted %+v, was %+v", now, was)
	}
}

package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
	"ringi/shared/store/table"
)

const organisationTenant = "01TENANT"

func organisationsAt() time.Time { return time.Date(2026, 4, 17, 9, 30, 0, 0, time.UTC) }

func suzuki() aggregate.Actor { return aggregate.Actor{Type: aggregate.ActorUser, ID: "U0SUZUKI"} }

// company returns an organisation of so many people in departments of ten, the first of whom has a name.
func company(t *testing.T, people int, first string) *rules.Organisation {
	t.Helper()
	var b strings.Builder
	b.WriteString("email,name,department,position,head\n")
	for i := range people {
		name, head := fmt.Sprintf("社員 %d", i*7919%people), ""
		if i == 0 {
			name = first
		}
		if i%10 == 0 {
			head = "yes"
		}
		fmt.Fprintf(&b, "person.%d@a-company-with-a-long-name.example,%s,本社/第 %d 営業部/第 %d 課,課長,%s\n", i, name, i/50,
			i/10, head)
	}
	o, wrong := rules.ReadOrganisation([]byte(b.String()))
	expect.NoError(t, wrong.Err())
	return o
}

// organisationWorld is a table in which an organisation may stand.
type organisationWorld struct {
	*store.Store
	table string
}

func start(t *testing.T) *organisationWorld {
	t.Helper()
	s, name := storetest.Start(t).Store(t)
	return &organisationWorld{s.Store, name}
}

func (w *organisationWorld) save(over int, o *rules.Organisation) error {
	return w.SaveOrganisation(context.Background(), organisationTenant, over, o, suzuki(), organisationsAt())
}

// stands says who is the first person of the organisation that stands.
func (w *organisationWorld) stands(t *testing.T) (first string, rev int) {
	t.Helper()
	is := expect.Value(w.Organisation(t.Context(), organisationTenant))(t)
	if is.Organisation == nil {
		return "", is.Rev
	}
	return is.Organisation.All()[0].Name, is.Rev
}

func (w *organisationWorld) audit(t *testing.T) (all []aggregate.AuditEntry) {
	t.Helper()
	e := table.NewExpression()
	out := expect.Value(w.Table().DB.Query(t.Context(), table.Filled(e, &dynamodb.QueryInput{TableName: &w.table,
		KeyConditionExpression: table.All(e.Is("PK", "=", table.AuditMonth(organisationTenant, organisationsAt())))})))(t)
	for _, it := range out.Items {
		all = append(all, expect.Value(table.UnpackAs[aggregate.AuditEntry](it))(t))
	}
	return all
}

func TestAnOrganisationStandsOnceItIsSaved(t *testing.T) {
	w := start(t)
	none := expect.Value(w.Organisation(t.Context(), organisationTenant))(t)
	expect.That(t, none.Organisation == nil && none.Rev == 0 && !none.Stands(), "%+v stands", none)
	o := company(t, 30, "緑川 誠")
	for over := range 2 { // the second time it is the same
		expect.NoError(t, w.save(over, o))
		is := expect.Value(w.Organisation(t.Context(), organisationTenant))(t)
		expect.That(t, string(is.Organisation.Bytes()) == string(o.Bytes()) && is.Rev == 1 && is.SavedBy == "U0SUZUKI" &&
			is.SavedAt.Equal(organisationsAt()), "%+v", is.OrganisationRow)
		entries := w.audit(t)
		expect.Must(t, len(entries) == 1 && entries[0].Action == tenancy.AuditOrganisationSaved, "%+v", entries)
		for _, part := range []string{`"people":30`, `"sha256":"` + aggregate.HashOf(string(o.Bytes())) + `"`} {
			expect.Has(t, string(entries[0].Details), part)
		}
	}
	expect.NoError(t, w.save(1, company(t, 20, "緑川 新")))
	first, rev := w.stands(t)
	expect.That(t, first == "緑川 新" && rev == 2, "%s, %d", first, rev)
	expect.Has(t, string(w.audit(t)[1].Details), `"people":20`)
	expect.That(t, w.SaveOrganisation(t.Context(), organisationTenant, 2, o, aggregate.System(),
		organisationsAt()) != nil, "the system saves an organisation")
	expect.Fails(t, expect.Err(w.Organisation(t.Context(), "a#b")), aggregate.ErrNotFound)

	remove := func(over int) error {
		return w.RemoveOrganisation(t.Context(), organisationTenant, over, suzuki(), organisationsAt())
	}
	expect.Fails(t, remove(1), aggregate.ErrConflict)
	expect.NoError(t, remove(2))
	expect.Fails(t, remove(3), aggregate.ErrConflict, "nothing stands")
	is := expect.Value(w.Organisation(t.Context(), organisationTenant))(t)
	expect.That(t, is.Organisation == nil && !is.Stands() && is.Rev == 3, "%+v", is.OrganisationRow)
	expect.Is(t, w.audit(t)[2].Action, tenancy.AuditOrganisationRemoved)
	expect.NoError(t, w.save(3, o))
	_, rev = w.stands(t)
	expect.Is(t, rev, 4, "what is saved after a removal")
}

// Several thousand people fit into a row. More than fit are refused, and what stands stays.
func TestAnOrganisationOfThousandsIsSavedAndRead(t *testing.T) {
	w := start(t)
	o := company(t, 8000, "緑川 誠")
	expect.NoError(t, w.save(0, o))
	expect.Is(t, expect.Value(w.Organisation(t.Context(), organisationTenant))(t).Organisation.People(), 8000)
	for code, row := range map[string]func(i int) string{
		"csv_large": func(i int) string { // as it is kept
			sum := aggregate.HashOf(fmt.Sprint(i))
			return sum[:64] + "@x.example," + sum[30:64]
		},
		"csv_bytes": func(i int) string {
			return fmt.Sprintf("%05d@x.example,%s", i, strings.Repeat("d", (rules.MaxOrganisationBytes-20)/rules.MaxPosts-17))
		},
	} {
		var b strings.Builder
		b.WriteString("email,department\n")
		for i := range rules.MaxPosts {
			b.WriteString(row(i) + "\n")
		}
		o, wrong := rules.ReadOrganisation([]byte(b.String()))
		expect.NoError(t, wrong.Err())
		large, is := errors.AsType[aggregate.Problem](w.save(1, o))
		expect.That(t, is && large.Code == code, "%v, want %s", large, code)
	}
	first, rev := w.stands(t)
	expect.That(t, first == "緑川 誠" && rev == 1, "%s, %d", first, rev)
}

func TestOfTwoWhoSaveAtOnceOneIsRefused(t *testing.T) {
	w := start(t)
	errs, saved := make([]error, 4), ""
	expect.AtOnce(len(errs), func(i int) { errs[i] = w.save(0, company(t, 100, fmt.Sprintf("緑川 %d", i))) })
	for i, err := range errs {
		if err == nil {
			saved += fmt.Sprintf("緑川 %d", i)
			continue
		}
		expect.Fails(t, err, aggregate.ErrConflict)
	}
	first, rev := w.stands(t)
	expect.That(t, first == saved && rev == 1 && len(w.audit(t)) == 1, "%s stands, %s were saved", first, saved)
}

// Whoever reads while others save reads one of the files, with its revision.
func TestAnOrganisationIsReadWhileOthersSave(t *testing.T) {
	w := start(t)
	var saving sync.WaitGroup
	saving.Go(func() {
		for rev := range 20 {
			expect.NoError(t, w.save(rev, company(t, 20, fmt.Sprint("緑川 ", rev+1))))
		}
	})
	for rev := 0; rev < 20; {
		var first string
		if first, rev = w.stands(t); rev > 0 {
			expect.Is(t, first, fmt.Sprint("緑川 ", rev))
		}
	}
	saving.Wait()
}

// A row that somebody changed is not believed, and another organisation may be saved in its place.
func TestAFileThatWasChangedIsNotBelieved(t *testing.T) {
	w := start(t)
	o := company(t, 10, "緑川 誠")
	expect.NoError(t, w.save(0, o))
	expect.NoError(t, w.save(1, company(t, 10, "緑川 新")))
	pk, sk, _ := tenancy.OrganisationFile{TenantID: organisationTenant}.Place()
	for rev, file := range map[int][]byte{2: {0x1f, 0x8b}, 3: nil} {
		e := table.NewExpression()
		e.Set("file", file)
		expect.Value(w.Table().DB.UpdateItem(t.Context(), table.Filled(e, &dynamodb.UpdateItemInput{TableName: &w.table,
			Key:              map[string]types.AttributeValue{"PK": table.Text(pk), "SK": table.Text(sk)},
			UpdateExpression: e.Update()})))(t)
		is, err := w.Organisation(t.Context(), organisationTenant)
		expect.Fails(t, err, store.ErrUnreadable)
		expect.That(t, is.Organisation == nil, "%d: %+v", rev, is)
		expect.NoError(t, w.save(is.Rev, o))
		first, _ := w.stands(t)
		expect.Is(t, first, "緑川 誠")
	}
}

func TestWhoIsToBeRemindedIsFoundByTime(t *testing.T) {
	s, _ := storetest.Start(t).Store(t)
	now := time.Date(2026, 11, 20, 0, 30, 0, 0, time.UTC)
	due := func(at time.Time) (out []tenancy.Reminding) {
		for r, err := range s.DueReminders(t.Context(), at) {
			expect.NoError(t, err)
			out = append(out, r)
		}
		return out
	}
	save := func(next, was tenancy.Reminding) error { return s.SaveReminding(t.Context(), next, was) }
	none := tenancy.Reminding{}
	expect.NoError(t, save(tenancy.Reminding{TenantID: "T2", DueAt: now.Add(time.Second)}, none))
	expect.NoError(t, save(tenancy.Reminding{TenantID: "T1", DueAt: now}, none))
	err := save(tenancy.Reminding{TenantID: "T1", DueAt: now.Add(time.Hour)}, none)
	expect.Fails(t, err, aggregate.ErrConflict, "another row is made")
	expect.Is(t, len(due(now.Add(-time.Millisecond))), 0)
	expect.Is(t, len(due(now)), 1)
	all := due(now.Add(time.Second))
	expect.Must(t, len(all) == 2 && all[0].TenantID == "T1" && all[0].Day == 0 && all[1].TenantID == "T2", "%+v", all)
	next := all[0]
	next.Day, next.DueAt = tenancy.DateOf(now), now.Add(time.Hour)
	expect.NoError(t, save(next, all[0]))
	for _, stale := range []tenancy.Reminding{next, {TenantID: "T1"}} {
		expect.Fails(t, save(stale, all[0]), aggregate.ErrConflict, "over what has changed")
	}
	is := due(now.Add(2 * time.Hour))
	expect.Must(t, len(is) == 2 && is[1].Day == next.Day && is[1].Rev == 2, "%+v", is)
	expect.NoError(t, save(tenancy.Reminding{TenantID: "T1"}, is[1]))
	expect.Is(t, len(due(now.Add(2*time.Hour))), 1, "the row that was ended stays due")
}

const root = "1775034000.000100"

// world has one conversation in a new table.
type world struct {
	*store.ConversationStore
	ref aggregate.Ref
	now time.Time
}

func inbound(ts, text string) conversation.Inbound {
	return conversation.Inbound{Team: "T1", Channel: "D1", ChannelType: "im", Thread: root, TS: ts, User: "U1", Text: text}
}

func open(t *testing.T, server *storetest.Server) *world {
	t.Helper()
	_, name := server.Store(t)
	w := &world{ConversationStore: store.NewConversations(server.DB, name), ref: inbound(root, "").Ref(),
		now: time.Now().UTC().Truncate(time.Millisecond)}
	expect.NoError(t, w.Begin(t.Context(), expect.Value(conversation.Begin(inbound(root, "hello"),
		conversation.Opening{AgentID: "codex"}, w.now))(t)))
	return w
}

func (w *world) tell(t *testing.T, ts, text string) error {
	t.Helper()
	return w.Tell(t.Context(), w.ref, expect.Value(conversation.Tell(inbound(ts, text), conversation.Opening{}, w.now))(t))
}

func (w *world) decide(t *testing.T, decide conversation.Decision) *conversation.Aggregate {
	t.Helper()
	return expect.Value(w.Decide(t.Context(), w.ref, decide))(t)
}

func (w *world) load(t *testing.T) *conversation.Aggregate {
	t.Helper()
	return expect.Value(w.Load(t.Context(), w.ref))(t)
}

func (w *world) said(t *testing.T) (out []string) {
	t.Helper()
	for _, m := range expect.Value(w.Messages(t.Context(), w.ref.Tenant, w.ref.ID, ""))(t) {
		out = append(out, string(m.Sender)+": "+m.Content)
	}
	return out
}

func TestSessionsInTheTable(t *testing.T) {
	server := storetest.Start(t)
	for name, test := range map[string]func(*testing.T, *world){
		"a message comes once, into a session that nobody read": testIngress,
		"an answer takes what it saw and nothing else":          testAnswer,
		"one that is not kept is forgotten":                     testForgotten,
		"what nobody copied isn't committed":                    testUncopied,
		"the newest lines of an output stay":                    testLog,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t, server)) })
	}
}

func testIngress(t *testing.T, w *world) {
	err := w.Begin(t.Context(), expect.Value(conversation.Begin(inbound(root, "hello"), conversation.Opening{}, w.now))(t))
	expect.That(t, errors.Is(err, aggregate.ErrExists), "opened twice: %v", err)
	expect.NoError(t, w.tell(t, "1775034001.000100", "more"))
	expect.Fails(t, w.tell(t, "1775034001.000100", "more"), aggregate.ErrExists, "told twice")
	expect.Fails(t, w.tell(t, root, "hello"), aggregate.ErrExists, "the first one told again")
	c := expect.Value(conversation.Tell(conversation.Inbound{Team: "T1", Channel: "D1", Thread: "1775034009.000100",
		TS: root, User: "U1"}, conversation.Opening{}, w.now))(t)
	err = w.Tell(t.Context(), conversation.RefOf(w.ref.Tenant, conversation.ID("T1", "D1", "1775034009.000100")), c)
	expect.That(t, errors.Is(err, aggregate.ErrNotFound), "a thread without a session: %v", err)
	page := expect.Value(w.Listed(t.Context(), w.ref.Tenant, "", 10, 0, nil))(t)
	expect.Is(t, len(page.Items), 1, "sessions of the tenant")
	a := w.load(t)
	expect.That(t, len(a.Inbox) == 2 && a.Head.Rev == 2 && a.Conversation.Opener == "U1" && len(w.said(t)) == 2,
		"%+v, %d wait, %v", a.Head, len(a.Inbox), w.said(t))
	e := a.Effects(w.now)
	expect.That(t, e.Run != nil && e.Run.Name == w.ref.ID+"-1" && e.Begin == nil, "%+v", e)
}

func testAnswer(t *testing.T, w *world) {
	seen := w.load(t).Waiting()
	expect.NoError(t, w.tell(t, "1775034001.000100", "meanwhile"))
	use := aggregate.Usage{ID: "use-1", Provider: "demo", Calls: 1, Cost: 7}
	a := w.decide(t, func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Answered(1, seen, conversation.Answer{Text: "hi", Usage: use}, w.now)
	})
	expect.That(t, len(a.Inbox) == 1 && !a.Head.Resting && a.Conversation.Usage.Cost == 7, "%d wait, resting %v, %v",
		len(a.Inbox), a.Head.Resting, a.Conversation.Usage.Cost)
	if is := w.load(t); len(is.Inbox) != 1 || len(is.Cards) != 1 {
		t.Errorf("in the table %d wait, %d cards", len(is.Inbox), len(is.Cards))
	}
	expect.Fails(t, expect.Err(w.Decide(t.Context(), w.ref, func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Answered(1, seen, conversation.Answer{Text: "again"}, w.now)
	})), aggregate.ErrMoved, "answered twice")
	a = w.decide(t, func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Answered(1, a.Waiting(), conversation.Answer{Text: "yes?"}, w.now)
	})
	uses := expect.Value(w.Uses(t.Context(), w.ref.Tenant, w.ref.ID))(t)
	expect.That(t, a.Head.Resting && len(uses) == 1 && uses[0].Cost == 7, "resting %v, used %+v", a.Head.Resting, uses)
	newest := expect.Value(w.Newest(t.Context(), w.ref.Tenant, w.ref.ID, "", 1))(t)
	expect.That(t, len(newest) == 1 && newest[0].Content == "yes?", "the newest is %+v", newest)
}

func testForgotten(t *testing.T, w *world) {
	policy := aggregate.Policy{Team: "T1", AllowSelf: true}
	w.decide(t, func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.End(aggregate.Actor{Type: aggregate.ActorUser, ID: "U1", Team: "T1"}, policy, w.now)
	})
	expect.NoError(t, w.tell(t, "1775034001.000100", "still there?"))
	if a := w.load(t); a.Conversation.Status != conversation.Closed || len(a.Inbox) != 1 || a.Effects(w.now).Run != nil {
		t.Errorf("%+v", a.Conversation)
	}
	w.Now = func() time.Time { return w.now.Add(25 * time.Hour) }
	expect.Fails(t, expect.Err(w.Load(t.Context(), w.ref)), aggregate.ErrNotFound, "a day later")
	w.now = w.now.Add(25 * time.Hour)
	expect.Fails(t, w.tell(t, "1775034002.000100", "hello?"), aggregate.ErrNotFound, "told a day later")
}

// testUncopied: a stamp whose payload was not copied to where it stays is no stamp.
func testUncopied(t *testing.T, w *world) {
	payload := aggregate.Blob{S3Key: "talks/t/s/" + aggregate.HashOf("x") + ".json", Bytes: 5000}
	x := w.decide(t, func(a *conversation.Aggregate) (aggregate.Change, error) {
		p := &conversation.Proposal{Type: conversation.ShellCommand, Payload: payload,
			Terms: aggregate.Terms{ApprovalRequired: true, ApprovalHours: 24}}
		return a.Answered(1, a.Waiting(), conversation.Answer{Text: "shall I?", Proposal: p}, w.now)
	}).Current()
	_, err := w.Decide(t.Context(), w.ref, func(a *conversation.Aggregate) (aggregate.Change, error) {
		by := aggregate.Actor{Type: aggregate.ActorUser, ID: "U1", Team: "T1", Member: true}
		return decide.Approve(a, x.ActionID, by, aggregate.Policy{Team: "T1", AllowSelf: true}, w.now)
	})
	expect.That(t, err != nil && w.load(t).Current().Status == conversation.ActionPending, "it is stamped: %v", err)
}

func testLog(t *testing.T, w *world) {
	entries := func(action string, from, n int) (out []conversation.LogEntry) {
		for i := range n {
			out = append(out, conversation.LogEntry{LogID: fmt.Sprint(from + i), ActionID: action, Order: from + i,
				Text: fmt.Sprint("line ", from+i), CreatedAt: w.now, DeleteAfter: w.now.Add(time.Hour).Unix()})
		}
		return out
	}
	var gone []int
	for i := range 100 {
		gone = append(gone, i)
	}
	late := []int{100, 101, 102, 103, 104, 105, 106}
	for _, part := range []struct {
		from, n int
		gone    []int
	}{{0, 300, nil}, {300, 300, gone}, {600, 7, late}, {600, 7, late}} { // the last again, as after a lost answer
		expect.NoError(t, w.AppendLog(context.Background(), w.ref, "A", entries("A", part.from, part.n), part.gone))
	}
	all := expect.Value(w.Log(t.Context(), w.ref, "A", 0))(t)
	tail := expect.Value(w.Log(t.Context(), w.ref, "A", 10))(t)
	expect.That(t, len(all) == conversation.MostLines && all[0].Order == 107 && len(tail) == 10 &&
		tail[9].Text == "line 606", "%d lines from %d, the tail %+v", len(all), all[0].Order, tail)
	// A flood: the first lines are there, then only the newest ones came. More at once than are kept are not all put.
	expect.NoError(t, w.AppendLog(t.Context(), w.ref, "B", entries("B", 0, 20), nil))
	flood := entries("B", 9000, 600)
	expect.NoError(t, w.AppendLog(t.Context(), w.ref, "B", flood, []int{0, 1, 2, 9000, 9099}))
	all = expect.Value(w.Log(t.Context(), w.ref, "B", 0))(t)
	expect.That(t, len(all) == 517 && all[0].Order == 3 && all[17].Order == 9100 && all[516].Order == 9599,
		"%d lines from %d", len(all), all[0].Order)
}

func TestOneOfManyBeginsWhatIsToBeDoneOnce(t *testing.T) {
	s, _ := storetest.Start(t).Store(t)
	begin := func(what string) bool {
		first, came, err := s.Once(t.Context(), "01TENANT", what)
		expect.That(t, err == nil && came == (store.Came{}), "%+v, %v", came, err)
		return first
	}
	var first atomic.Int32
	expect.AtOnce(8, func(int) {
		if begin("trigger 1") {
			first.Add(1)
		}
	})
	expect.That(t, first.Load() == 1, "%d of eight were the first", first.Load())
	expect.That(t, begin("trigger 2"), "another is taken for the same")
	expect.NoError(t, s.Again(t.Context(), "01TENANT", "trigger 1"))
	expect.That(t, begin("trigger 1") && !begin("trigger 1"), "what failed begins again, and only once")
	is := store.Came{As: "accepted", Channel: "C1", TS: "1776675600.000900"}
	expect.NoError(t, s.Came(t.Context(), "01TENANT", "trigger 1", is))
	if first, came, err := s.Once(t.Context(), "01TENANT", "trigger 1"); first || came != is || err != nil {
		t.Errorf("%v, %+v, %v", first, came, err)
	}
}

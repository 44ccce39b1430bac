package store_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/organisation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
	"ringi/shared/store/table"
	"ringi/shared/words/language"
)

const organisationTenant = "01TENANT"

func organisationsAt() time.Time { return time.Date(2026, 4, 17, 9, 30, 0, 0, time.UTC) }

func suzuki() aggregate.Actor { return aggregate.Actor{Type: aggregate.ActorUser, ID: "U0SUZUKI"} }

// company returns an organisation of so many people in departments of ten, and their accounts.
func company(t *testing.T, people int, first string) (*organisation.Organisation, *organisation.Accounts) {
	t.Helper()
	var b strings.Builder
	b.WriteString(strings.Join(organisation.Header(language.English), ",") + "\n")
	var accounts []organisation.Account
	for i := range people {
		name, position, parent := fmt.Sprintf("社員 %d", i), ",", ""
		if i == 0 {
			name = first
		}
		if i%10 == 0 {
			position = "課長,3"
		}
		if i >= 10 {
			parent = fmt.Sprintf("D%d", (i/10-1)/5)
		}
		fmt.Fprintf(&b, "%05d,%s,person.%d@a-company-with-a-long-name.example,D%d,第 %d 課,%s,%s,,,employee,,\n", i,
			name, i, i/10, i/10, parent, position)
		accounts = append(accounts, organisation.Account{ID: fmt.Sprintf("U0%09d", i),
			Mail: fmt.Sprintf("Person.%d@a-company-with-a-long-name.example", i)})
	}
	o := expect.Value(organisation.Read([]byte(b.String())))(t)
	return o, o.Match(accounts).Kept()
}

// organisationWorld is a table with a store of organisations.
type organisationWorld struct {
	*store.OrganisationStore
	server *storetest.Server
	table  string
}

func start(t *testing.T) *organisationWorld {
	t.Helper()
	server := storetest.Start(t)
	s, name := server.Store(t)
	return &organisationWorld{store.OrganisationsOf(s.Store), server, name}
}

// again is another process.
func (w *organisationWorld) again() *organisationWorld {
	return &organisationWorld{store.OrganisationsOf(store.New(w.server.DB, w.table, store.Kinds()...)), w.server, w.table}
}

// dying is a process that dies after so many puts of rows: no call goes through from then on.
func (w *organisationWorld) dying(puts int) *organisationWorld {
	cfg := w.server.Config.Copy()
	cfg.Retryer = func() aws.Retryer { return aws.NopRetryer{} }
	cfg.HTTPClient = &http.Client{Transport: &mortal{left: puts}}
	return &organisationWorld{store.OrganisationsOf(store.New(dynamodb.NewFromConfig(cfg), w.table, store.Kinds()...)),
		w.server, w.table}
}

type mortal struct {
	mu   sync.Mutex
	left int
}

var errDead = errors.New("the process is dead")

func (m *mortal) RoundTrip(q *http.Request) (*http.Response, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if strings.HasSuffix(q.Header.Get("X-Amz-Target"), ".PutItem") {
		m.left--
	}
	if m.left < 0 || m.left == 0 && strings.HasSuffix(q.Header.Get("X-Amz-Target"), ".TransactWriteItems") {
		m.left = -1
		return nil, errDead
	}
	return http.DefaultTransport.RoundTrip(q)
}

// stands says who is the first person of the organisation that stands.
func (w *organisationWorld) stands(t *testing.T) (first string, rev int) {
	t.Helper()
	is := expect.Value(w.Current(t.Context(), organisationTenant))(t)
	if is.Organisation == nil {
		return "", is.Rev
	}
	p, _ := is.Organisation.Person("00000")
	return p.Name, is.Rev
}

// rows counts the rows of versions.
func (w *organisationWorld) rows(t *testing.T, version string) int {
	t.Helper()
	e := table.NewExpression()
	out := expect.Value(w.server.DB.Query(t.Context(), table.Filled(e, &dynamodb.QueryInput{TableName: &w.table,
		KeyConditionExpression: table.All(e.Is("PK", "=", tenancy.OrganisationPartition(organisationTenant, version)))})))(t)
	return len(out.Items)
}

func (w *organisationWorld) audit(t *testing.T) (all []aggregate.AuditEntry) {
	t.Helper()
	e := table.NewExpression()
	out := expect.Value(w.server.DB.Query(t.Context(), table.Filled(e, &dynamodb.QueryInput{TableName: &w.table,
		KeyConditionExpression: table.All(e.Is("PK", "=", table.AuditMonth(organisationTenant, organisationsAt())))})))(t)
	for _, it := range out.Items {
		all = append(all, expect.Value(table.UnpackAs[aggregate.AuditEntry](it))(t))
	}
	return all
}

func TestAnOrganisationStandsOnceItIsSaved(t *testing.T) {
	w := start(t)
	none := expect.Value(w.Current(t.Context(), organisationTenant))(t)
	expect.That(t, none.Organisation == nil && none.Rev == 0 && !none.Stands(), "%+v stands", none)
	o, accounts := company(t, 30, "緑川 誠")
	expect.NoError(t, w.Save(t.Context(), organisationTenant, 0, o, accounts, suzuki(), organisationsAt()))
	is := expect.Value(w.again().Current(t.Context(), organisationTenant))(t)
	expect.Is(t, is.Organisation.SHA256(), o.SHA256())
	expect.Is(t, is.Accounts.SHA256(), accounts.SHA256())
	expect.That(t, is.Rev == 1 && is.SavedBy == "U0SUZUKI" && is.SavedAt.Equal(organisationsAt()) &&
		is.SHA256 == o.SHA256(), "%+v", is.OrganisationRow)
	entries := w.audit(t)
	expect.Must(t, len(entries) == 1, "%d entries", len(entries))
	expect.Is(t, entries[0].Action, tenancy.AuditOrganisationSaved)
	for _, part := range []string{`"people":30`, `"people_added":30`, `"accounts":30`,
		`"sha256":"` + o.SHA256() + `"`} {
		expect.That(t, strings.Contains(string(entries[0].Details), part), "lacks %s: %s", part, entries[0].Details)
	}

	expect.NoError(t, w.Save(t.Context(), organisationTenant, 1, o, accounts, suzuki(), organisationsAt()))
	_, rev := w.stands(t)
	expect.That(t, rev == 1 && len(w.audit(t)) == 1, "the same again is revision %d", rev)

	fewer := o.Match(nil).Kept()
	expect.NoError(t, w.Save(t.Context(), organisationTenant, 1, o, fewer, suzuki(), organisationsAt()))
	is = expect.Value(w.again().Current(t.Context(), organisationTenant))(t)
	expect.That(t, is.Rev == 2 && is.Accounts.People() == 0, "other accounts are not saved: %+v", is.OrganisationRow)
}

func TestAnOrganisationOf5000PeopleIsSavedAndRead(t *testing.T) {
	w := start(t)
	o, accounts := company(t, 5000, "緑川 誠")
	expect.NoError(t, w.Save(t.Context(), organisationTenant, 0, o, accounts, suzuki(), organisationsAt()))
	is := expect.Value(w.again().Current(t.Context(), organisationTenant))(t)
	expect.That(t, len(o.Batches()) >= 3 && len(accounts.Batches()) >= 1, "only %d batches", len(o.Batches()))
	expect.Is(t, is.Organisation.SHA256(), o.SHA256())
	expect.Is(t, is.Accounts.People(), 5000)
}

// A version that is read is not read again, and one item says which stands.
func TestAVersionIsReadOnce(t *testing.T) {
	w := start(t)
	o, accounts := company(t, 10, "緑川 誠")
	expect.NoError(t, w.Save(t.Context(), organisationTenant, 0, o, accounts, suzuki(), organisationsAt()))
	v := expect.Value(w.Current(t.Context(), organisationTenant))(t).Version
	other := w.again()
	other.stands(t)
	_, err := w.Table().Erase(t.Context(), tenancy.OrganisationPartition(organisationTenant, v), nil)
	expect.NoError(t, err)
	first, _ := other.stands(t)
	expect.Is(t, first, "緑川 誠")
	_, err = w.again().Current(t.Context(), organisationTenant)
	expect.Fails(t, err, store.ErrUnreadable)
}

func TestWhoDiesWhileSavingChangesNothing(t *testing.T) {
	w := start(t)
	old, accounts := company(t, 20, "緑川 誠")
	expect.NoError(t, w.Save(t.Context(), organisationTenant, 0, old, accounts, suzuki(), organisationsAt()))
	o, accounts := company(t, 5000, "緑川 新")
	puts := len(o.Batches()) + len(accounts.Batches())
	for n := range puts + 1 {
		err := w.dying(n).Save(t.Context(), organisationTenant, 1, o, accounts, suzuki(), organisationsAt())
		expect.That(t, err != nil, "it is saved though the process died after %d of %d puts", n, puts)
		first, rev := w.again().stands(t)
		expect.That(t, first == "緑川 誠" && rev == 1, "after %d puts %s stands, revision %d", n, first, rev)
	}
	left := expect.Value(w.OrganisationVersions(t.Context(), organisationTenant))(t)
	expect.That(t, len(left) >= puts, "%d versions are listed", len(left))
	expect.Is(t, len(w.audit(t)), 1)

	// Who saves within the hour takes nothing away; who saves later cleans up.
	expect.NoError(t, w.Save(t.Context(), organisationTenant, 1, o, accounts, suzuki(),
		organisationsAt().Add(time.Minute)))
	expect.Is(t, len(expect.Value(w.OrganisationVersions(t.Context(), organisationTenant))(t)), len(left)+1)
	expect.NoError(t, w.Save(t.Context(), organisationTenant, 2, old, accounts, suzuki(),
		organisationsAt().Add(2*time.Hour)))
	for _, v := range left[1:] {
		expect.Is(t, w.rows(t, v.Version), 0, "rows of %s are left", v.Version)
	}
	kept := expect.Value(w.OrganisationVersions(t.Context(), organisationTenant))(t)
	expect.Is(t, len(kept), 3)
	for _, v := range kept {
		_, _, err := w.again().Version(t.Context(), organisationTenant, v.OrganisationVersion)
		expect.NoError(t, err)
	}
}

func TestOfTwoWhoSaveAtOnceOneIsRefused(t *testing.T) {
	w := start(t)
	var saving sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		saving.Go(func() {
			o, accounts := company(t, 100, fmt.Sprintf("緑川 %d", i))
			errs[i] = w.again().Save(context.WithoutCancel(t.Context()), organisationTenant, 0, o, accounts, suzuki(),
				organisationsAt())
		})
	}
	saving.Wait()
	saved := -1
	for i, err := range errs {
		switch {
		case err == nil && saved < 0:
			saved = i
		case err == nil:
			t.Errorf("%d and %d were both saved", saved, i)
		default:
			expect.Fails(t, err, aggregate.ErrConflict)
		}
	}
	first, rev := w.stands(t)
	expect.That(t, first == fmt.Sprintf("緑川 %d", saved) && rev == 1, "%s stands, %d was told that it was saved", first,
		saved)
	expect.Is(t, len(expect.Value(w.OrganisationVersions(t.Context(), organisationTenant))(t)), 1, "what lost is left")
	expect.Is(t, len(w.audit(t)), 1)
}

func TestARemovedOrganisationLeavesItsVersionAndItsRevision(t *testing.T) {
	w := start(t)
	o, accounts := company(t, 10, "緑川 誠")
	expect.NoError(t, w.Save(t.Context(), organisationTenant, 0, o, accounts, suzuki(), organisationsAt()))
	was := expect.Value(w.Current(t.Context(), organisationTenant))(t)
	expect.Fails(t, w.RemoveOrganisation(t.Context(), organisationTenant, 0, suzuki(), organisationsAt()),
		aggregate.ErrConflict)
	expect.NoError(t, w.RemoveOrganisation(t.Context(), organisationTenant, 1, suzuki(), organisationsAt()))
	expect.Fails(t, w.RemoveOrganisation(t.Context(), organisationTenant, 2, suzuki(), organisationsAt()),
		aggregate.ErrConflict, "nothing stands")
	is := expect.Value(w.Current(t.Context(), organisationTenant))(t)
	expect.That(t, is.Organisation == nil && !is.Stands() && is.Rev == 2, "%+v", is.OrganisationRow)
	_, _, err := w.again().Version(t.Context(), organisationTenant, was.OrganisationVersion)
	expect.NoError(t, err)
	expect.Is(t, w.audit(t)[1].Action, tenancy.AuditOrganisationRemoved)
	expect.NoError(t, w.Save(t.Context(), organisationTenant, 2, o, accounts, suzuki(), organisationsAt()))
	_, rev := w.stands(t)
	expect.Is(t, rev, 3)
}

// Rows that somebody changed are not believed, and another organisation may be saved in their place.
func TestRowsThatWereChangedAreNotBelieved(t *testing.T) {
	w := start(t)
	o, accounts := company(t, 10, "緑川 誠")
	expect.NoError(t, w.Save(t.Context(), organisationTenant, 0, o, accounts, suzuki(), organisationsAt()))
	v := expect.Value(w.Current(t.Context(), organisationTenant))(t).Version
	e := table.NewExpression()
	e.Set("rows", strings.Replace(string(o.Canonical()), "緑川 誠", "悪川 誠", 1))
	expect.Value(w.server.DB.UpdateItem(t.Context(), table.Filled(e, &dynamodb.UpdateItemInput{TableName: &w.table,
		Key: map[string]types.AttributeValue{"PK": table.Text(tenancy.OrganisationPartition(organisationTenant, v)),
			"SK": table.Text("BATCH#0001")}, UpdateExpression: e.Update()})))(t)
	is, err := w.again().Current(t.Context(), organisationTenant)
	expect.Fails(t, err, store.ErrUnreadable)
	expect.That(t, is.Rev == 1 && is.Organisation == nil, "%+v", is)
	expect.NoError(t, w.again().Save(t.Context(), organisationTenant, 1, o, accounts, suzuki(), organisationsAt()))
	first, rev := w.again().stands(t)
	expect.That(t, first == "緑川 誠" && rev == 2, "%s stands, revision %d", first, rev)
}

func TestIdsThatNothingHas(t *testing.T) {
	w := start(t)
	_, err := w.Current(t.Context(), "a#b")
	expect.Fails(t, err, aggregate.ErrNotFound)
	_, _, err = w.Version(t.Context(), organisationTenant, tenancy.OrganisationVersion{Version: "a#b"})
	expect.Fails(t, err, aggregate.ErrNotFound)
	o, accounts := company(t, 10, "緑川 誠")
	expect.That(t, w.Save(t.Context(), organisationTenant, 0, o, accounts, aggregate.System(), organisationsAt()) != nil,
		"the system saves an organisation")
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
	expect.That(t, errors.Is(err, aggregate.ErrConflict), "another row is made: %v", err)
	expect.Is(t, len(due(now.Add(-time.Millisecond))), 0)
	expect.Is(t, len(due(now)), 1)
	all := due(now.Add(time.Second))
	expect.Must(t, len(all) == 2 && all[0].TenantID == "T1" && all[0].Day == 0 && all[1].TenantID == "T2", "%+v", all)
	next := all[0]
	next.Day, next.DueAt = tenancy.DateOf(now), now.Add(time.Hour)
	expect.NoError(t, save(next, all[0]))
	for _, stale := range []tenancy.Reminding{next, {TenantID: "T1"}} {
		err = save(stale, all[0])
		expect.That(t, errors.Is(err, aggregate.ErrConflict), "over what has changed: %v", err)
	}
	is := due(now.Add(2 * time.Hour))
	expect.Must(t, len(is) == 2 && is[1].Day == next.Day && is[1].Rev == 2, "%+v", is)
	expect.NoError(t, save(tenancy.Reminding{TenantID: "T1"}, is[1]))
	expect.Is(t, len(due(now.Add(2*time.Hour))), 1, "the row that was ended stays due")
}

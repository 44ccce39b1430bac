package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/organisation"
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
func company(t *testing.T, people int, first string) *organisation.Organisation {
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
	o, wrong := organisation.Read([]byte(b.String()))
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

func (w *organisationWorld) save(over int, o *organisation.Organisation) error {
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
	expect.NoError(t, w.save(0, o))
	is := expect.Value(w.Organisation(t.Context(), organisationTenant))(t)
	expect.Is(t, string(is.Organisation.Bytes()), string(o.Bytes()))
	expect.That(t, is.Rev == 1 && is.SavedBy == "U0SUZUKI" && is.SavedAt.Equal(organisationsAt()), "%+v",
		is.OrganisationRow)
	entries := w.audit(t)
	expect.Must(t, len(entries) == 1, "%d entries", len(entries))
	expect.Is(t, entries[0].Action, tenancy.AuditOrganisationSaved)
	for _, part := range []string{`"people":30`, `"sha256":"` + aggregate.HashOf(string(o.Bytes())) +
		`"`} {
		expect.That(t, strings.Contains(string(entries[0].Details), part), "lacks %s: %s", part, entries[0].Details)
	}
	expect.NoError(t, w.save(1, o))
	_, rev := w.stands(t)
	expect.That(t, rev == 1 && len(w.audit(t)) == 1, "the same again is revision %d", rev)
	expect.NoError(t, w.save(1, company(t, 20, "緑川 新")))
	first, rev := w.stands(t)
	expect.That(t, first == "緑川 新" && rev == 2 &&
		strings.Contains(string(w.audit(t)[1].Details), `"people":20`), "%s, %d, %+v", first, rev, w.audit(t))
	expect.That(t, w.SaveOrganisation(t.Context(), organisationTenant, 2, o, aggregate.System(),
		organisationsAt()) != nil, "the system saves an organisation")
	expect.Fails(t, expect.Err(w.Organisation(t.Context(), "a#b")), aggregate.ErrNotFound)
}

// Several thousand people fit into a row. More than fit are refused, and what stands stays.
func TestAnOrganisationOfThousandsIsSavedAndRead(t *testing.T) {
	w := start(t)
	o := company(t, 8000, "緑川 誠")
	expect.NoError(t, w.save(0, o))
	expect.Is(t, expect.Value(w.Organisation(t.Context(), organisationTenant))(t).Organisation.People(), 8000)
	var b strings.Builder
	b.WriteString("email,department\n")
	for i := range organisation.MaxRows {
		sum := aggregate.HashOf(fmt.Sprint(i))
		fmt.Fprintf(&b, "%s@x.example,%s\n", sum[:64], sum[30:64])
	}
	noise, wrong := organisation.Read([]byte(b.String()))
	expect.NoError(t, wrong.Err())
	large, is := errors.AsType[aggregate.Problem](w.save(1, noise))
	expect.That(t, is && large.Code == "csv_large", "%v", large)
	b.Reset()
	b.WriteString("email,department\n")
	for i := range organisation.MaxRows {
		fmt.Fprintf(&b, "%05d@x.example,%s\n", i, strings.Repeat("d", (organisation.MaxBytes-20)/organisation.MaxRows-17))
	}
	grows, wrong := organisation.Read([]byte(b.String()))
	expect.NoError(t, wrong.Err())
	large, is = errors.AsType[aggregate.Problem](w.save(1, grows))
	expect.That(t, is && large.Code == "csv_bytes", "%v", large)
	first, rev := w.stands(t)
	expect.That(t, first == "緑川 誠" && rev == 1, "%s, %d", first, rev)
}

func TestOfTwoWhoSaveAtOnceOneIsRefused(t *testing.T) {
	w := start(t)
	var saving sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		saving.Go(func() { errs[i] = w.save(0, company(t, 100, fmt.Sprintf("緑川 %d", i))) })
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
	expect.Is(t, len(w.audit(t)), 1)
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

func TestARemovedOrganisationLeavesItsRevision(t *testing.T) {
	w := start(t)
	o := company(t, 10, "緑川 誠")
	expect.NoError(t, w.save(0, o))
	remove := func(over int) error {
		return w.RemoveOrganisation(t.Context(), organisationTenant, over, suzuki(), organisationsAt())
	}
	expect.Fails(t, remove(0), aggregate.ErrConflict)
	expect.NoError(t, remove(1))
	expect.Fails(t, remove(2), aggregate.ErrConflict, "nothing stands")
	is := expect.Value(w.Organisation(t.Context(), organisationTenant))(t)
	expect.That(t, is.Organisation == nil && !is.Stands() && is.Rev == 2, "%+v", is.OrganisationRow)
	expect.Is(t, w.audit(t)[1].Action, tenancy.AuditOrganisationRemoved)
	expect.NoError(t, w.save(2, o))
	_, rev := w.stands(t)
	expect.Is(t, rev, 3)
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

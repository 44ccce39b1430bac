package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/chain"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/seal"
	"ringi/shared/store/table"
)

func testChain(t *testing.T, st *taskStore) {
	st.parts(t, []part{
		{"of many who append at once one is next", testAppendRace},
		{"a link that is appended twice stands once", testAppendTwice},
		{"all chains are found, and what was done with them only moves forward", testChainNotes},
		{"links and rows are read back as they were sealed", testChainRead},
	})
}

var chainSalt = strings.Repeat("0a", 32)

func link(t *testing.T, st *taskStore, tenant string, rows ...chain.Row) chain.Link {
	t.Helper()
	is := expect.Value(st.Chain(t.Context(), tenant))(t)
	l := expect.Value(chain.Next(is.Head, chainSalt, rows, at()))(t)
	l.Signature = []byte("signed")
	return l
}

func testAppendRace(t *testing.T, st *taskStore) {
	for n := range 3 {
		var won, lost atomic.Int32
		var all sync.WaitGroup
		var links []chain.Link
		for i := range 8 {
			links = append(links, link(t, st, "01RACE", chain.Row{Key: fmt.Sprint("AUDIT#", i)}))
		}
		for _, l := range links {
			all.Go(func() {
				switch err := st.AppendLink(t.Context(), l); {
				case err == nil:
					won.Add(1)
				case errors.Is(err, aggregate.ErrConflict):
					lost.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		all.Wait()
		expect.That(t, won.Load() == 1 && lost.Load() == 7, "%d are link %d, %d came too late", won.Load(), n+1, lost.Load())
	}
	previous := ""
	n := 0
	for l, err := range st.Links(t.Context(), "01RACE", false) {
		expect.NoError(t, err)
		if n++; l.Seq != n || l.Previous != previous {
			t.Errorf("link %d: %+v", n, l)
		}
		previous = l.ID()
	}
	expect.That(t, n == 3, "%d links", n)
}

func testAppendTwice(t *testing.T, st *taskStore) {
	l := link(t, st, "01TWICE", chain.Row{Key: "AUDIT#1"})
	expect.NoError(t, st.AppendLink(t.Context(), l))
	expect.NoError(t, st.AppendLink(t.Context(), l))
	is := expect.Value(st.Chain(t.Context(), "01TWICE"))(t)
	expect.That(t, is.Seq == 1 && is.Link == l.ID(), "%+v", is)
}

func testChainNotes(t *testing.T, st *taskStore) {
	expect.NoError(t, st.AppendLink(t.Context(), link(t, st, "01NOTES")))
	for _, seq := range []int{1, 7, 3, 7} {
		expect.NoError(t, st.HeadKept(t.Context(), "01NOTES", seq, at().Add(time.Duration(seq)*time.Hour)))
	}
	for _, hours := range []time.Duration{2, 1} {
		expect.NoError(t, st.ChainChecked(t.Context(), "01NOTES", at().Add(hours*time.Hour)))
	}
	found := false
	for is, err := range st.Chains(t.Context()) {
		expect.NoError(t, err)
		if is.Tenant == "01NOTES" {
			found = is.Kept == 7 && is.KeptAt.Equal(at().Add(7*time.Hour)) && is.Checked.Equal(at().Add(2*time.Hour)) && is.Seq == 1
		}
	}
	expect.That(t, found, "the chain is not found with its notes")
	gone(t, "a note on no chain", st.HeadKept(t.Context(), "01NOBODY", 1, at()))
	_, err := st.Chain(t.Context(), "a#b")
	gone(t, "a tenant that is none", err)
}

func testChainRead(t *testing.T, st *taskStore) {
	var sealed []chain.Row
	for i := range 5 {
		entry := aggregate.AuditEntry{TenantID: "01READ", ID: fmt.Sprintf("%026d", i), Timestamp: at().AddDate(0, 0, 10*i), Action: "prompt.approved", ActorID: "U1"}
		it := expect.Value(table.PackAudit(entry))(t)
		expect.Value(st.t.DB.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &st.t.Name, Item: it}))(t)
		sealed = append(sealed, expect.Value(seal.SealedRow(it))(t))
	}
	l := link(t, st, "01READ", sealed...)
	l.Late, l.Entries[0].Note = true, chain.Misdated
	expect.NoError(t, st.AppendLink(t.Context(), l))
	for back, err := range st.Links(t.Context(), "01READ", true) {
		expect.NoError(t, err)
		expect.Same(t, l, back)
	}
	var rows []chain.Row
	for r, err := range st.RowsOfLog(t.Context(), "01READ", at().AddDate(0, 0, 10), at().AddDate(0, 0, 40)) {
		expect.NoError(t, err)
		rows = append(rows, r)
	}
	expect.Same(t, sealed[1:4], rows)
}

// An item's sealed text must not depend on how the item was read, and different items must have different texts.
func TestItemsThatDifferAreSealedDifferently(t *testing.T) {
	seen := []string{}
	for _, v := range []types.AttributeValue{
		table.Text("1"), table.Number(1), &types.AttributeValueMemberBOOL{Value: true}, table.Text("true"), &types.AttributeValueMemberNULL{Value: true},
		&types.AttributeValueMemberL{Value: []types.AttributeValue{table.Text("1")}}, &types.AttributeValueMemberSS{Value: []string{"1"}}, &types.AttributeValueMemberNS{Value: []string{"1"}},
		&types.AttributeValueMemberM{Value: table.Item{"a": table.Text("1")}}, &types.AttributeValueMemberM{Value: table.Item{"a": table.Number(1)}},
		&types.AttributeValueMemberB{Value: []byte("1")}, &types.AttributeValueMemberN{Value: "1.0"},
	} {
		r := expect.Value(seal.SealedRow(table.Item{"PK": table.Text("AUDIT#T#2026-04"), "SK": table.Text("2026-04-18T14:30:00.000Z#1"), "v": v}))(t)
		if slices.Contains(seen, string(r.Content)) || !r.At.Equal(at()) {
			t.Errorf("%T %v: %s at %v", v, v, r.Content, r.At)
		}
		seen = append(seen, string(r.Content))
	}
	for _, sk := range []string{"2026-03-18T14:30:00.000Z#1", "yesterday", ""} {
		r := expect.Value(seal.SealedRow(table.Item{"PK": table.Text("AUDIT#T#2026-04"), "SK": table.Text(sk)}))(t)
		expect.That(t, r.At.IsZero(), "%q in April is of %v", sk, r.At)
	}
}

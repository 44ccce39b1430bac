package store

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/records"
	"ringi/shared/store/table"
)

func testWeb(t *testing.T, st *taskStore) {
	st.parts(t, []part{
		{"a session is its cookie's, until it is over or ended", testWebSession},
		{"a cookie is replaced once, and taken a moment longer", testWebRotation},
		{"a cookie whose next one did not come is replaced once more", testWebLostCookie},
		{"who the person is by now is noted, and brings no ended session back", testWebSeen},
		{"a sign-in is taken once, by one of many, and not too late", testSignIn},
		{"sign-ins are counted for each address and minute", testSignIns},
		{"the table has no secret of a browser's", testWebSecrets},
	})
}

// signedIn begins a session under a cookie.
func signedIn(t *testing.T, st *taskStore, cookie string, now time.Time) records.Session {
	t.Helper()
	x := records.NewSession("01TENANT", "T1", "U1", "鈴木", true, now)
	expect.NoError(t, st.BeginSession(t.Context(), cookie, x))
	return x
}

func gone(t *testing.T, what string, err error) {
	t.Helper()
	expect.Fails(t, err, aggregate.ErrNotFound, "%s", what)
}

func testWebSession(t *testing.T, st *taskStore) {
	now := time.Now().UTC().Truncate(time.Millisecond)
	x := signedIn(t, st, "c1", now)
	expect.Same(t, x, expect.Value(st.Session(t.Context(), "c1", now))(t))
	_, err := st.Session(t.Context(), "c1", now.Add(records.SessionLasts))
	gone(t, "after eight hours", err)
	_, err = st.Session(t.Context(), records.HashOf("c1"), now)
	gone(t, "what the table shows", err)
	expect.NoError(t, st.EndSession(t.Context(), "c1"))
	_, err = st.Session(t.Context(), "c1", now)
	gone(t, "after its end", err)
	expect.NoError(t, st.EndSession(t.Context(), "c1"))
}

func testWebRotation(t *testing.T, st *taskStore) {
	now := time.Now().UTC().Truncate(time.Millisecond)
	x := signedIn(t, st, "c2", now)
	next := rotatedAtOnce(t, st, "c2", x, now.Add(20*time.Minute))
	expect.NoError(t, st.CameSession(t.Context(), next, expect.Value(st.Session(t.Context(), next, now))(t)))
	is := expect.Value(st.Session(t.Context(), next, now))(t)
	expect.That(t, is.Before == "", "a cookie that came is %+v", is)
	old := expect.Value(st.Session(t.Context(), "c2", now.Add(20*time.Minute+records.Grace-time.Second)))(t)
	expect.That(t, !old.MustRotate(now.Add(time.Hour)) && old.Form == x.Form, "the old one is %+v", old)
	_, err := st.Session(t.Context(), "c2", now.Add(20*time.Minute+records.Grace))
	gone(t, "a replayed cookie", err)
	expect.NoError(t, st.EndSession(t.Context(), "c2"))
	if err := st.RotateSession(t.Context(), "c2", "c2-z", x, now); !errors.Is(err, aggregate.ErrConflict) {
		t.Errorf("a session that was ended is replaced: %v", err)
	}
}

// rotatedAtOnce rotates a cookie four times in parallel, and returns the only one of the new cookies that was accepted.
func rotatedAtOnce(t *testing.T, st *taskStore, old string, x records.Session, now time.Time) (next string) {
	t.Helper()
	var won atomic.Int32
	var all sync.WaitGroup
	for n := range 4 {
		all.Go(func() {
			switch err := st.RotateSession(t.Context(), old, old+"-"+string(rune('a'+n)), x, now); {
			case err == nil:
				won.Add(1)
				next = old + "-" + string(rune('a'+n))
			case !errors.Is(err, aggregate.ErrConflict):
				t.Errorf("rotate: %v", err)
			}
		})
	}
	all.Wait()
	expect.Must(t, won.Load() == 1, "%d cookies took the place of one", won.Load())
	return next
}

func testWebLostCookie(t *testing.T, st *taskStore) {
	now := time.Now().UTC().Truncate(time.Millisecond)
	x := signedIn(t, st, "c4", now)
	lost := rotatedAtOnce(t, st, "c4", x, now)
	now = now.Add(records.Grace)
	is := expect.Value(st.Session(t.Context(), "c4", now))(t)
	expect.Must(t, is.MustRotate(now), "it is %+v", is)
	if err := st.RotateSession(t.Context(), "c4", "c4-z", x, now); !errors.Is(err, aggregate.ErrConflict) {
		t.Errorf("one that was replaced since it was read is replaced again: %v", err)
	}
	expect.NoError(t, st.RotateSession(t.Context(), "c4", "c4-2", is, now))
	newest := expect.Value(st.Session(t.Context(), "c4-2", now))(t)
	for range 2 { // two parallel requests of a page
		expect.NoError(t, st.CameSession(t.Context(), "c4-2", newest))
	}
	_, err := st.Session(t.Context(), "c4", now.Add(records.Grace))
	gone(t, "a replayed cookie", err)
	gone(t, "who comes with the lost one", st.CameSession(t.Context(), lost,
		expect.Value(st.Session(t.Context(), lost, now))(t)))
	for _, cookie := range []string{"c4", "c4-2", lost} {
		_, err := st.Session(t.Context(), cookie, now)
		gone(t, cookie+" after two had a cookie", err)
	}
	x = signedIn(t, st, "c5", now)
	next := rotatedAtOnce(t, st, "c5", x, now)
	expect.NoError(t, st.EndSession(t.Context(), "c5"))
	_, err = st.Session(t.Context(), next, now)
	gone(t, "under the next cookie, after its end", err)
}

func testWebSeen(t *testing.T, st *taskStore) {
	now := time.Now().UTC().Truncate(time.Millisecond)
	x := signedIn(t, st, "c3", now)
	x.Name, x.Admin, x.AskedAt = "田中", false, now.Add(2*time.Minute)
	expect.NoError(t, st.SawSession(t.Context(), "c3", x))
	expect.Same(t, x, expect.Value(st.Session(t.Context(), "c3", now))(t))
	expect.NoError(t, st.EndSession(t.Context(), "c3"))
	expect.NoError(t, st.SawSession(t.Context(), "c3", x))
	_, err := st.Session(t.Context(), "c3", now)
	gone(t, "an ended session that was seen", err)
}

func testSignIn(t *testing.T, st *taskStore) {
	now := time.Now().UTC()
	x := records.SignIn{Browser: records.HashOf("b"), Nonce: "n", Next: "/console/tasks"}
	expect.NoError(t, st.BeginSignIn(t.Context(), "s1", x, now))
	var taken atomic.Int32
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if got, err := st.TakeSignIn(t.Context(), "s1", now); err == nil && got == x {
				taken.Add(1)
			}
		})
	}
	all.Wait()
	expect.That(t, taken.Load() == 1, "one state was taken %d times", taken.Load())
	expect.NoError(t, st.BeginSignIn(t.Context(), "s2", x, now))
	_, err := st.TakeSignIn(t.Context(), "s2", now.Add(records.SignInLasts+time.Second))
	gone(t, "after ten minutes", err)
	_, err = st.TakeSignIn(t.Context(), "s3", now)
	gone(t, "a state of nobody", err)
}

func testSignIns(t *testing.T, st *taskStore) {
	now := time.Now().UTC().Truncate(time.Minute)
	within := func(address string, now time.Time) bool {
		t.Helper()
		return expect.Value(st.CountSignIn(t.Context(), address, now))(t)
	}
	for n := range records.SignInsPerMinute {
		expect.That(t, within(fmt.Sprintf("2001:db8:0:7::%x", n), now.Add(time.Duration(n)*time.Second)),
			"the %dth is too many", n+1)
	}
	for _, address := range []string{"2001:db8:0:7::1", "2001:db8:0:7:ffff::"} {
		expect.That(t, !within(address, now), "one more from %s is within the limit", address)
	}
	var is struct {
		N int `json:"n"`
	}
	pk, sk := "WEB#"+records.HashOf("address "+records.Network("2001:db8:0:7::1")),
		"MINUTE#"+now.Format("2006-01-02T15:04")
	if expect.NoError(t, st.t.Get(t.Context(), pk, sk, &is)); is.N != records.SignInsPerMinute {
		t.Errorf("what is beyond the limit is counted: %d", is.N)
	}
	for name, ok := range map[string]bool{
		"another network": within("2001:db8:0:8::1", now),
		"an IPv4 address": within("192.0.2.7", now),
		"another minute":  within("2001:db8:0:7::1", now.Add(time.Minute)),
	} {
		expect.That(t, ok, "%s is too many", name)
	}
	var won atomic.Int32
	var all sync.WaitGroup
	for range 2 * records.SignInsPerMinute {
		all.Go(func() {
			if ok, err := st.CountSignIn(t.Context(), "192.0.2.9", now); err == nil && ok {
				won.Add(1)
			}
		})
	}
	all.Wait()
	expect.That(t, won.Load() == records.SignInsPerMinute, "%d at once are within the limit", won.Load())
}

func testWebSecrets(t *testing.T, st *taskStore) {
	now := time.Now()
	signedIn(t, st, "cookie-in-the-open", now)
	expect.NoError(t, st.BeginSignIn(t.Context(), "state-in-the-open",
		records.SignIn{Browser: records.HashOf("browser-in-the-open")}, now))
	seen := 0
	for pages := dynamodb.NewScanPaginator(st.t.DB, &dynamodb.ScanInput{TableName: &st.t.Name}); pages.HasMorePages(); {
		for _, it := range expect.Value(pages.NextPage(t.Context()))(t).Items {
			if !strings.HasPrefix(table.TextOf(it, "PK"), "WEB#") {
				continue
			}
			seen++
			expect.That(t, table.IntOf(it, "delete_after") != 0, "%s stays for ever", table.TextOf(it, "type"))
			for name := range it {
				expect.That(t, !strings.Contains(table.TextOf(it, name), "in-the-open"), "%s of %s has a secret", name,
					table.TextOf(it, "type"))
			}
		}
	}
	expect.That(t, seen >= 2, "%d rows of browsers were looked at", seen)
}

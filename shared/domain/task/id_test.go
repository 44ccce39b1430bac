package task

import (
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

func TestEveryDeliveryOfAMessageMakesOneTask(t *testing.T) {
	id := func(team, channel, ts string) string {
		t.Helper()
		return expect.Value(ID(team, channel, ts))(t)
	}
	ts := "1776490200.000100"
	one := id(team, "C_HR", ts)
	expect.Is(t, id(team, "C_HR", ts), one, "delivered again")
	others := map[string]string{
		"another channel":             id(team, "C_IT", ts),
		"another workspace":           id("T_OTHER", "C_HR", ts),
		"a microsecond later":         id(team, "C_HR", "1776490200.000101"),
		"a second later":              id(team, "C_HR", "1776490201.000100"),
		"a border moved":              id(team+"C", "_HR", ts),
		"the tenant's":                aggregate.TenantID(team),
		"a tenant of the same letter": aggregate.TenantID(team + "C_HR" + ts),
	}
	seen := map[string]string{one: "the message"}
	for name, other := range others {
		expect.Is(t, seen[other], "", "%s has the id of", name)
		seen[other] = name
		expect.That(t, aggregate.ValidID(other), "%s: %q is no id", name, other)
	}
	at := ulid.Time(ulid.MustParse(one).Time())
	expect.That(t, at.Equal(time.Date(2026, 4, 18, 5, 30, 0, 0, time.UTC)), "made at %v", at)

	mention, direct := request(), request()
	direct.EventID, direct.Source, direct.Text = "Ev2", SourceAgentContainer, "別の本文"
	a, ref, err := Receive(aggregate.TenantID(team), mention, dawn)
	expect.NoError(t, err)
	_, again, err := Receive(aggregate.TenantID(team), direct, dawn.Add(time.Hour))
	expect.That(t, err == nil && ref == again && ref.ID == one, "%+v, then %+v, %v", ref, again, err)
	s := create(t, a)
	if err := s.commit(Head{Head: aggregate.Head{Run: 1}}, a); err == nil {
		t.Error("the same message commits twice")
	}
}

func TestATimestampThatIsNotSlacksIsRefused(t *testing.T) {
	for _, ts := range []string{
		"", ".", "1776490200", "1776490200.", ".000100", "1776490200.0001", "1776490200.0001000", "-1.000100", "+1776490200.000100",
		"01776490200.000100", "1776490200.+00100", "1776490200.-00100", "1776490200.00010x", "1_776490200.000100", "1776490200.0_0100",
		"1776490200.000100\n", " 1776490200.000100", "0x69e31318.000100", "1e9.000100", "253402300800.000000", "99999999999999999999.000100",
		"9223372036854775807.000000", "１７７６４９０２００.000100", "1776490200.0００", "1776490200.000100.1", strings.Repeat("9", 4000) + ".000100",
	} {
		if got, err := ID(team, "C_HR", ts); err == nil || got != "" {
			t.Errorf("%.40q makes %s", ts, got)
		} else if len(err.Error()) > 200 {
			t.Errorf("%.40q: the error has %d bytes", ts, len(err.Error()))
		}
		r := request()
		if r.MessageTS = ts; ts != "" {
			_, _, err := Receive("tenant", r, dawn)
			expect.That(t, err != nil, "%.40q is received", ts)
		}
	}
	for ts, want := range map[string]time.Time{
		"0.000000":            time.Unix(0, 0),
		"1776490200.000999":   time.Unix(1776490200, 0),
		"1776490200.999999":   time.Unix(1776490200, 999e6),
		"253402300799.999999": time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC),
	} {
		got, err := aggregate.ParseTS(ts)
		expect.That(t, err == nil && got.Equal(want), "%s: %v, %v, want %v", ts, got, err, want)
	}
}

func FuzzParseTS(f *testing.F) {
	for _, ts := range []string{"1776490200.000100", "0.000000", "-1.000000", "253402300799.999999", "1.１２"} {
		f.Add(ts)
	}
	f.Fuzz(func(t *testing.T, ts string) {
		at, err := aggregate.ParseTS(ts)
		if err != nil {
			return
		}
		expect.That(t, len(ts) >= 8 && len(ts) <= 19 && at.Year() <= 9999 && !at.Before(time.Unix(0, 0)), "%q is %v", ts, at)
		id, err := ID(team, "C", ts)
		expect.That(t, err == nil && aggregate.ValidID(id), "%q makes %q, %v", ts, id, err)
	})
}

func TestIDsAreCheckedStrictly(t *testing.T) {
	for id, want := range map[string]bool{
		aggregate.NewID(): true, aggregate.TenantID("T1"): true, "": false, "01JS": false, strings.Repeat("0", 27): false,
		"0000000000000000000000000U": false, "8ZZZZZZZZZZZZZZZZZZZZZZZZZ": false, "TASK#01JS00000000000000000": false,
	} {
		expect.Is(t, aggregate.ValidID(id), want, "%q", id)
	}
	expect.That(t, aggregate.NewID() != aggregate.NewID(), "two new ids are one")
}

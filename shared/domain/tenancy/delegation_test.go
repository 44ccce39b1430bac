package tenancy

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

func setter(user string, admin bool) Setter {
	return Setter{Actor: aggregate.Actor{Type: aggregate.ActorUser, ID: user}, Admin: admin}
}

func dayOf(t *testing.T, text string) Date {
	t.Helper()
	return expect.Value(ParseDate(text))(t)
}

// U2 stands in for U1 through August. It is the last minute of 31 July in Japan.
func august(t *testing.T) (Delegation, time.Time) {
	return Delegation{TenantID: "01T", Hand: "U2", Principal: "U1", From: dayOf(t, "2026-08-01"),
		Until: dayOf(t, "2026-08-31")}, time.Date(2026, 7, 31, 14, 59, 0, 0, time.UTC)
}

func TestADelegationIsRefused(t *testing.T) {
	many := func(n int) (all []Delegation) {
		for i := range n {
			all = append(all, Delegation{Principal: fmt.Sprintf("U1%02d", i), Until: dayOf(t, "2027-01-01")})
		}
		return all
	}
	for name, tt := range map[string]struct {
		change     func(*Delegation)
		by         Setter
		of, theirs int    // of the principal, and by the hand for others
		want       string // empty: it is set
	}{
		"by the principal":                     {by: setter("U1", false)},
		"by an administrator":                  {by: setter("U9", true)},
		"by an administrator for themselves":   {by: setter("U1", true)},
		"by somebody else":                     {by: setter("U9", false), want: "others"},
		"by the hand":                          {by: setter("U2", false), want: "setter"},
		"by the hand, who is an administrator": {by: setter("U2", true), want: "setter"},
		"by the system": {by: Setter{Actor: aggregate.System(), Admin: true},
			want: "must be a person"},
		"of oneself": {by: setter("U1", false), change: func(d *Delegation) { d.Hand = d.Principal }, want: "own_hand"},
		"of somebody without an account": {by: setter("U1", false),
			change: func(d *Delegation) { d.Hand = "" }, want: "no_account"},
		"of a key that names two": {by: setter("U1", false),
			change: func(d *Delegation) { d.Hand = "U2#U1" }, want: "no_account"},
		"of a day":   {by: setter("U1", false), change: func(d *Delegation) { d.Until = d.From }},
		"of 92 days": {by: setter("U1", false), change: func(d *Delegation) { d.Until = d.From + 91 }},
		"of 93 days": {by: setter("U1", false), change: func(d *Delegation) { d.Until = d.From + 92 }, want: "days"},
		"of no day": {by: setter("U1", false), change: func(d *Delegation) { d.Until = d.From - 1 },
			want: "backwards"},
		"from today, in the zone": {by: setter("U1", false), change: func(d *Delegation) { d.From-- }},
		"from yesterday, in the zone": {by: setter("U1", false),
			change: func(d *Delegation) { d.From -= 2 }, want: "past"},
		"from a year ahead": {by: setter("U1", false), change: func(d *Delegation) { d.From += 365; d.Until = d.From }},
		"from more than a year ahead": {by: setter("U1", false),
			change: func(d *Delegation) { d.From += 366; d.Until = d.From }, want: "ahead"},
		"beside 19":                        {by: setter("U1", false), of: 19, theirs: 19},
		"beside 20":                        {by: setter("U1", false), of: 20, want: "most_stand_ins"},
		"of somebody who stands in for 20": {by: setter("U1", false), theirs: 20, want: "most_hand"},
		"by an administrator beside 20 of the person": {by: setter("U9", true), of: 20, want: "most_stand_ins"},
	} {
		t.Run(name, func(t *testing.T) {
			d, now := august(t)
			if tt.change != nil {
				tt.change(&d)
			}
			_, c, err := d.Set(Delegation{}, many(tt.of), many(tt.theirs), tt.by, now)
			wrong, refused := errors.AsType[aggregate.Problem](err)
			expect.That(t, refused == (tt.want != "") && wrong.Code == tt.want && (len(c.Writes) == 1) == (tt.want == ""),
				"%v, want %q", err, tt.want)
		})
	}
}

// A delegation counts from 00:00 of its first day to the end of its last, where the tenant is, and never before it was
// set.
func TestWhenADelegationCounts(t *testing.T) {
	d, now := august(t)
	d, _, err := d.Set(Delegation{}, nil, nil, setter("U1", false), now)
	expect.NoError(t, err)
	counts := func(d Delegation, at string) bool { return d.Counts(expect.Value(time.Parse(time.RFC3339Nano, at))(t)) }
	for at, want := range map[string]bool{
		"2026-07-31T23:59:59.999+09:00": false, "2026-08-01T00:00:00+09:00": true,
		"2026-08-31T23:59:59.999+09:00": true, "2026-09-01T00:00:00+09:00": false,
		"2026-07-31T15:00:00Z": true, "2026-08-31T15:00:00Z": false,
	} {
		expect.Is(t, counts(d, at), want, "%s", at)
	}
	late, _ := august(t)
	late, _, err = late.Set(Delegation{}, nil, nil, setter("U1", false), d.StandIn().Begins.Add(10*time.Hour))
	expect.NoError(t, err)
	expect.That(t, !counts(late, "2026-08-01T09:59:59.999+09:00") && counts(late, "2026-08-01T10:00:00+09:00"),
		"it counts from when it was set: %s", late.SetAt)
	ended, c, err := d.End(setter("U9", true), d.StandIn().Begins.Add(time.Hour))
	expect.NoError(t, err)
	expect.That(t, ended.Rev == 2 && len(c.Writes) == 1 && c.Writes[0].Over == 1 && ended.Over(*ended.EndedAt), "%+v", c)
	expect.That(t, counts(ended, "2026-08-01T00:59:59.999+09:00") && !counts(ended, "2026-08-01T01:00:00+09:00"), "ended")
}

func TestADelegationOnceMore(t *testing.T) {
	d, now := august(t)
	first, c, err := d.Set(Delegation{}, nil, nil, setter("U1", false), now)
	expect.NoError(t, err)
	expect.Is(t, fmt.Sprint(c.Audit[0].Action, c.Audit[0].ResourceID), "delegation.setU2#U1#2026-08-01", "entry")
	same, c, err := d.Set(first, []Delegation{first}, nil, setter("U9", true), now.Add(time.Hour))
	expect.That(t, err == nil && len(c.Writes) == 0 && same.SetBy == "U1", "the same again changes nothing: %+v, %v", c,
		err)
	d.Until--
	_, _, err = d.Set(first, nil, nil, setter("U1", false), now)
	wrong, _ := errors.AsType[aggregate.Problem](err)
	expect.Is(t, wrong.Code, "set", "another end")
	ended, _, err := first.End(setter("U1", false), now)
	expect.NoError(t, err)
	_, c, err = ended.End(setter("U1", false), now)
	expect.That(t, err == nil && len(c.Writes) == 0, "ended twice: %v", err)
	again, c, err := d.Set(ended, []Delegation{ended}, nil, setter("U1", false), now)
	expect.That(t, err == nil && again.Rev == 3 && again.EndedAt == nil && c.Writes[0].Over == 2, "set anew: %+v, %v", c,
		err)
	for by, want := range map[Setter]string{setter("U2", false): "", setter("U3", false): "others",
		setter("U3", true): ""} {
		_, _, err = first.End(by, now)
		wrong, _ = errors.AsType[aggregate.Problem](err)
		expect.Is(t, wrong.Code, want, "ended by %s", by.ID)
	}
}

func day(text string) Date {
	d, err := ParseDate(text)
	if err != nil {
		panic(err)
	}
	return d
}

func TestWorkingDays(t *testing.T) {
	for text, want := range map[string]bool{"2026-11-20": true, "2026-11-21": false, "2026-11-22": false,
		"2026-11-23": false, "2026-11-24": true, "2029-11-23": true,
		// in the place of a Sunday, and between two holidays
		"2026-05-06": false, "2026-09-22": false, "2027-03-22": false} {
		expect.Is(t, WorkingDay(day(text)), want, text)
	}
}

func TestWhenPeopleAreReminded(t *testing.T) {
	off := DefaultSettings()
	off.RemindAt = ""
	for _, c := range []struct {
		name string
		s    Settings
		day  string
		now  string
		want string // day, and when
	}{
		{"before its time", DefaultSettings(), "", "2026-11-20 09:29", "2026-11-20 2026-11-20 09:30"},
		{"past its time, the next one", DefaultSettings(), "", "2026-11-20 09:30", "2026-11-24 2026-11-24 09:30"},
		{"when it is its turn", DefaultSettings(), "2026-11-20", "2026-11-20 09:31", "2026-11-20 2026-11-20 09:30"},
		{"late, of the same day", DefaultSettings(), "2026-11-20", "2026-11-20 23:59", "2026-11-20 2026-11-20 09:30"},
		{"not of a day that is over", DefaultSettings(), "2026-11-20", "2026-11-21 00:00", "2026-11-24 2026-11-24 09:30"},
		{"on a day that is due at last", DefaultSettings(), "2026-11-20", "2026-11-24 11:00", "2026-11-24 2026-11-24 09:30"},
		{"never", off, "2026-11-20", "2026-11-20 09:30", " 2026-11-21 09:30"},
	} {
		now := expect.Value(time.ParseInLocation("2006-01-02 15:04", c.now, Zone()))(t)
		var of Date
		if c.day != "" {
			of = day(c.day)
		}
		d, at := c.s.NextReminder(of, now)
		expect.Is(t, d.String()+" "+at.In(Zone()).Format("2006-01-02 15:04"), c.want, c.name)
	}
}

func aKey() Key {
	return Key{TenantID: "01T", Name: "agent", Answers: "U1", Tools: []string{"a"}, Channel: "C1", QuotaDay: 1,
		ExpiresAt: keyNow.AddDate(0, 0, MaxKeyDays)}
}

var keyNow = time.Date(2026, 4, 18, 14, 30, 0, 0, time.UTC)

func TestWhatDoesNotFitInAKeyIsNamed(t *testing.T) {
	admin := aggregate.Actor{Type: aggregate.ActorUser, ID: "U9"}
	_, _, _, err := NewKey(aKey(), admin, keyNow)
	expect.NoError(t, err)
	for field, change := range map[string]func(*Key){
		"name":        func(k *Key) { k.Name = strings.Repeat("あ", MaxKeyName+1) },
		"name ":       func(k *Key) { k.Name = "a\nb" },
		"answers":     func(k *Key) { k.Answers = "sato" },
		"tools":       func(k *Key) { k.Tools = nil },
		"tools[1]":    func(k *Key) { k.Tools = []string{"a", ""} },
		"channel":     func(k *Key) { k.Channel = "D1" },
		"quota_day":   func(k *Key) { k.QuotaDay = 0 },
		"expires_at":  func(k *Key) { k.ExpiresAt = keyNow.AddDate(0, 0, MaxKeyDays).Add(time.Second) },
		"expires_at ": func(k *Key) { k.ExpiresAt = keyNow },
	} {
		k := aKey()
		change(&k)
		_, _, c, err := NewKey(k, admin, keyNow)
		bad, is := errors.AsType[aggregate.Problem](err)
		expect.That(t, is && bad.Field == strings.TrimSpace(field) && len(c.Writes) == 0, "%s: %v", field, err)
	}
	_, _, _, err = NewKey(aKey(), aggregate.System(), keyNow)
	expect.That(t, err != nil, "made by nobody")
}

func TestAKeyIsGoodForItsToolsUntilItEnds(t *testing.T) {
	k, at := aKey(), keyNow
	expect.NoError(t, k.Holds("a", at))
	expect.Fails(t, k.Holds("b", at), ErrKey{KeyTool})
	expect.Fails(t, k.Holds("a", k.ExpiresAt), ErrKey{KeyExpired})
	expect.NoError(t, k.Stands(at))
	gone, c := k.Revoke(aggregate.System(), at)
	expect.Fails(t, gone.Stands(at), ErrKey{KeyRevoked})
	_, again := gone.Revoke(aggregate.System(), at)
	expect.That(t, len(c.Writes) == 1 && len(again.Writes) == 0, "revoked twice")
	_, _, err := k.Save(gone, aggregate.Actor{Type: aggregate.ActorUser, ID: "U9"}, at)
	expect.Fails(t, err, ErrKey{KeyRevoked})
}

// A key that is used each second has one write each four minutes.
func TestTheLastUseIsCoarse(t *testing.T) {
	k, at := aKey(), keyNow
	expect.Is(t, len(k.Used(at).Writes), 1)
	k.LastUsedAt = &at
	expect.Is(t, len(k.Used(at.Add(KeyUsedEvery-1)).Writes), 0)
	expect.Is(t, len(k.Used(at.Add(KeyUsedEvery)).Writes), 1)
}

// What an administrator can't change comes from the row alone.
func TestSavingAKeyKeepsItsSecret(t *testing.T) {
	was, is := aKey(), aKey()
	was.ID, was.Hash, was.Rev = "id", "hash", 3
	is.Hash, is.ID, is.TenantID, is.Name = "another", "another", "01OTHER", "new"
	got, c, err := is.Save(was, aggregate.Actor{Type: aggregate.ActorUser, ID: "U9"}, keyNow)
	expect.NoError(t, err)
	expect.That(t, got.Hash == "hash" && got.ID == "id" && got.TenantID == "01T" && got.Name == "new" &&
		c.Writes[0].Over == 3, "%+v", got)
	_, c, err = was.Save(was, aggregate.Actor{Type: aggregate.ActorUser, ID: "U9"}, keyNow)
	expect.That(t, err == nil && len(c.Writes) == 0, "the same again is written")
}

package tenancy

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

func TestDefaultSettingsAreTheSeeds(t *testing.T) {
	d := DefaultSettings()
	expect.NoError(t, d.Validate())
	expect.That(t, d.PromptApprovalRequired && d.ProcessApprovalRequired && d.L4TimeoutSeconds == 360 &&
		d.AutoApproveTools && d.AllowSelfApproval && d.Model == "claude-sonnet-4-6" && d.MaxVersions == 5 &&
		d.ApprovalTimeoutHours == 168 && d.Approvers.Mode == aggregate.ApproversChannel && d.Locale == "ja", "%+v", d)
}

// Each row of the table belongs to a setting with a field of its kind, and has texts in each language.
func TestEachSettingHasOneRow(t *testing.T) {
	types := map[Kind]string{KindFlag: "bool", KindWhole: "int", KindDollars: "float64", KindText: "string",
		KindChoice: "string", KindPeople: "[]string", KindGroups: "[]string"}
	var fields, rows []string
	for _, m := range Members(new(Settings)) {
		fields = append(fields, m.Name)
	}
	for _, section := range Sections {
		for _, x := range section.Settings {
			rows = append(rows, x.Name)
			for _, locale := range language.All {
				w, first := x.Says(locale), x.Says(language.All[0])
				expect.That(t, (w.About == "") == (first.About == "") && (w.Hint == "") == (first.Hint == ""),
					"%s has another text in %s: %+v", x.Name, locale, w)
				expect.That(t, len(w.Choices) == len(x.Choices) && w.Label != "" &&
					!slices.Contains(w.Choices, ""), "%s lacks words in %s: %+v", x.Name, locale, w)
			}
			expect.That(t, x.Min <= x.Max && (x.Kind != KindWhole || x.Max != 0) && (x.fits != nil) == (x.Code != ""),
				"%s has no bounds, or no code for its form", x.Name)
		}
	}
	for _, locale := range language.All {
		w := saidOf.In(locale)
		expect.That(t, len(w.Settings) == len(rows) && len(w.Sections) == len(Sections), "%s says too much", locale)
		for _, section := range Sections {
			expect.That(t, section.Title(locale) != "", "%s calls %s nothing", locale, section.Key)
		}
	}
	slices.Sort(fields)
	slices.Sort(rows)
	expect.Same(t, fields, rows)
	for _, f := range new(Settings).Fields() {
		of := f.Value.Type()
		expect.That(t, types[f.Kind] == of.String() || of == reflect.TypeFor[aggregate.ApproverMode]() ||
			f.Kind == KindRows && of.Elem().Kind() == reflect.Struct, "%s is %s, and in the row %s", f.Name, of, f.Kind)
	}
}

// bounds set a field to its nth value. Some values are valid.
var bounds = []struct {
	field     string
	set       func(s *Settings, n int)
	good, bad []int
}{
	{"name", func(s *Settings, n int) { s.Name = strings.Repeat("人", n) }, []int{1, 80}, []int{0, 81}},
	{"model", func(s *Settings, n int) { s.Model = "openai:" + strings.Repeat("m", n) }, []int{1, 150}, []int{0, 151}},
	{"l4_timeout_seconds", func(s *Settings, n int) { s.L4TimeoutSeconds = n }, []int{30, 86400}, []int{29, 86401, -1, 0}},
	{"approval_timeout_hours", func(s *Settings, n int) { s.ApprovalTimeoutHours = n }, []int{1, 8736},
		[]int{0, 8737, -5}},
	{"max_versions", func(s *Settings, n int) { s.MaxVersions = n }, []int{1, 50}, []int{0, 51}},
	{"approvers.users", func(s *Settings, n int) { s.Approvers.Users = slices.Repeat([]string{"U0SATO"}, n) },
		[]int{0, 200}, []int{201}},
	{"approvers.usergroups", func(s *Settings, n int) { s.Approvers.Usergroups = slices.Repeat([]string{"S0HR"}, n) },
		[]int{0, 50}, []int{51}},
	{"approvers.users[1]", func(s *Settings, n int) {
		s.Approvers.Users = []string{"U1", []string{"W0SATO", "@sato", "", "S0HR", "U1 "}[n]}
	}, []int{0}, []int{1, 2, 3, 4}},
	{"approvers.usergroups[0]", func(s *Settings, n int) {
		s.Approvers.Usergroups = []string{[]string{"S1", "U0SATO", "hr"}[n]}
	}, []int{0}, []int{1, 2}},
	{"max_cost_usd", func(s *Settings, n int) { s.MaxCostUSD = float64(n) }, []int{0, 1000000}, []int{-1, 1000001}},
	{"approvers.mode", func(s *Settings, n int) {
		s.Approvers.Mode = []aggregate.ApproverMode{"channel", "list", "", "all"}[n]
	}, []int{0, 1}, []int{2, 3}},
	{"locale", func(s *Settings, n int) { s.Locale = []string{"ja", "en", "", "fr"}[n] }, []int{0, 1}, []int{2, 3}},
	{"executor", func(s *Settings, n int) { s.Executor = []string{"steps", "managed", "", "x"}[n] }, []int{0, 1},
		[]int{2, 3}},
	{"draft_contest.max_rounds", func(s *Settings, n int) { s.DraftContest.MaxRounds = n }, []int{1, 10}, []int{0, 11}},
	{"draft_contest.seconds", func(s *Settings, n int) { s.DraftContest.Seconds = n }, []int{10, 3600}, []int{9, 3601}},
	{"draft_contest.budget_usd", func(s *Settings, n int) { s.DraftContest.BudgetUSD = float64(n) }, []int{0, 1000000},
		[]int{-1, 1000001}},
	{"max_open_tasks", func(s *Settings, n int) { s.MaxOpenTasks = n }, []int{0, maxLimit},
		[]int{-1, maxLimit + 1}},
	{"max_tasks_per_hour", func(s *Settings, n int) { s.MaxTasksPerHour = n }, []int{0, maxLimit},
		[]int{-1, maxLimit + 1}},
	{"agents", func(s *Settings, n int) {
		s.Agents = nil
		for i := range n {
			s.Agents = append(s.Agents, Agent{ID: fmt.Sprint("a", i), Provider: OpenAI,
				Capabilities: Capabilities})
		}
	}, []int{0, 20}, []int{21}},
	{"agents[1].id", func(s *Settings, n int) {
		a := Agent{ID: "a", Provider: OpenAI, Capabilities: Capabilities}
		s.Agents = []Agent{a, a}
		s.Agents[1].ID = []string{"b", "a", "", "A B"}[n]
	}, []int{0}, []int{1, 2, 3}},
	{"agents[0].endpoint", func(s *Settings, n int) {
		s.Agents = []Agent{{ID: "a", Provider: LocalEndpoint,
			Endpoint: []string{"http://localhost:11434/v1", "", "localhost"}[n], Capabilities: Capabilities}}
	}, []int{0}, []int{1, 2}},
	{"auto_actions[0].type", func(s *Settings, n int) {
		types := []ActionType{TestRun, ShellCommand, CodeGenerate, ""}
		s.AutoActions = []AutoRule{{Type: types[n], Argv: []string{"go"}, Place: "D1"}}
	}, []int{0}, []int{1, 2, 3}},
	{"auto_actions[0].source", func(s *Settings, n int) {
		s.Sources = []Source{{Name: "shop", Repository: "acme/shop", Ref: "heads/main", People: []string{"U1"},
			Agents: []string{"codex"}, CI: CISkip}}
		s.AutoActions = []AutoRule{{Type: TestRun, Argv: []string{"go"},
			Source: []string{"shop", "pay", "No!"}[n], Place: "D1"}}
	}, []int{0}, []int{1, 2}},
	{"remind_at", func(s *Settings, n int) { s.RemindAt = []string{"", "00:00", "23:59", "24:00", "9", "09:30:00"}[n] },
		[]int{0, 1, 2}, []int{3, 4, 5}},
	{"auto_actions[0].argv", func(s *Settings, n int) {
		all := [][]string{{"go", "test", "./..."}, {"sh", "x"}, {}, {"npx", "*"}, {"go", ""}}
		s.AutoActions = []AutoRule{{Type: TestRun, Argv: all[n], Place: "D1"}}
	}, []int{0, 1}, []int{2, 3, 4}},
}

func TestSettingsOutOfBoundsAreRefusedByField(t *testing.T) {
	for _, tt := range bounds {
		for _, n := range tt.good {
			s := DefaultSettings()
			tt.set(&s, n)
			err := s.Validate()
			expect.That(t, err == nil, "%s at %d: %v", tt.field, n, err)
		}
		for _, n := range tt.bad {
			s := DefaultSettings()
			tt.set(&s, n)
			var field aggregate.Problem
			if err := s.Validate(); !errors.As(err, &field) || field.Field != tt.field || field.Code == "" {
				t.Errorf("%s at %d: %v", tt.field, n, err)
			}
		}
	}
}

func TestAllThatIsWrongIsSaidAtOnce(t *testing.T) {
	s := DefaultSettings()
	s.Name, s.MaxVersions, s.Model, s.MaxCostUSD, s.MaxCostDayUSD = "", 51, "llama3", math.NaN(), -1
	s.Approvers.Users = []string{"U0SATO", "@sato", "sato"}
	s.MCPServers = []MCPServer{{"rooms", "https://a.example/mcp"}, {"rooms", "http://b.example?key=1"}}
	var got []string
	for _, p := range s.Problems() {
		got = append(got, p.Field+" "+p.Code)
	}
	expect.Same(t, []string{
		"name length", "max_versions between", "model model", "max_cost_usd between", "max_cost_day_usd between",
		"approvers.users[1] user_id", "approvers.users[2] user_id", "mcp_servers[1].name taken",
		"mcp_servers[1].url address_only",
	}, got)
}

func TestWhatChangedIsReadFromTheLog(t *testing.T) {
	was, is := DefaultSettings(), DefaultSettings()
	is.Approvers.Users, is.MaxOpenTasks, is.Name = []string{"U1"}, 3, "<b>"
	diff := Differences(was, is)
	got := ReadDifferences(aggregate.Details(detailsOf(diff)))
	expect.That(t, len(got) == 3 && got[0] == (Difference{"approvers.users", "[]", `["U1"]`}) &&
		got[1] == (Difference{"max_open_tasks", "50", "3"}), "%+v", got)
}

func TestAVendorsClientIsSavedWithItsIdInTheLogAndNeverItsSecret(t *testing.T) {
	first := VendorClient{TenantID: "T1", Provider: "freee", ClientID: "one", Sealed: "v1.sealed"}
	saved, c, err := first.Save(VendorClient{}, person, now)
	expect.Must(t, err == nil && saved.Rev == 1 && c.Writes[0].Over == 0 && saved.UpdatedBy == person.ID, "%+v, %v",
		saved, err)
	next := saved
	next.ClientID = "two"
	for name, test := range map[string]struct {
		was, x VendorClient
		want   string
	}{
		"first": {VendorClient{}, first, `"one"`}, "another": {saved, next, `"two"`}, "another secret": {saved, saved,
			`"clients.freee"`},
	} {
		_, c, err := test.x.Save(test.was, person, now)
		expect.That(t, err == nil && len(c.Audit) == 1 && strings.Contains(string(c.Audit[0].Details), test.want) &&
			!strings.Contains(string(c.Audit[0].Details), "sealed"), "%s: %+v, %v", name, c.Audit, err)
	}
	for _, id := range []string{"", strings.Repeat("x", 513)} {
		first.ClientID = id
		_, _, err := first.Save(VendorClient{}, person, now)
		expect.That(t, fieldOf(err) == "client_id", "%d bytes: %v", len(id), err)
	}
	_, _, err = saved.Save(saved, aggregate.System(), now)
	expect.That(t, err != nil, "nobody saved it")
}

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
	self := setter("U1", false)
	for name, tt := range map[string]struct {
		by         Setter
		change     func(*Delegation)
		of, theirs int    // of the principal, and by the hand for others
		want       string // empty: it is set
	}{
		"by the principal":                     {by: self},
		"by an administrator":                  {by: setter("U9", true)},
		"by an administrator for themselves":   {by: setter("U1", true)},
		"by somebody else":                     {by: setter("U9", false), want: "others"},
		"by the hand":                          {by: setter("U2", false), want: "setter"},
		"by the hand, who is an administrator": {by: setter("U2", true), want: "setter"},
		"by the system":                        {by: Setter{aggregate.System(), true}, want: "must be a person"},
		"of oneself":                           {self, func(d *Delegation) { d.Hand = d.Principal }, 0, 0, "own_hand"},
		"of somebody without an account":       {self, func(d *Delegation) { d.Hand = "" }, 0, 0, "no_account"},
		"of a key that names two":              {self, func(d *Delegation) { d.Hand = "U2#U1" }, 0, 0, "no_account"},
		"of a day":                             {self, func(d *Delegation) { d.Until = d.From }, 0, 0, ""},
		"of 92 days":                           {self, func(d *Delegation) { d.Until = d.From + 91 }, 0, 0, ""},
		"of 93 days":                           {self, func(d *Delegation) { d.Until = d.From + 92 }, 0, 0, "days"},
		"of no day":                            {self, func(d *Delegation) { d.Until = d.From - 1 }, 0, 0, "backwards"},
		"from today, in the zone":              {self, func(d *Delegation) { d.From-- }, 0, 0, ""},
		"from yesterday, in the zone":          {self, func(d *Delegation) { d.From -= 2 }, 0, 0, "past"},
		"from a year ahead":                    {self, func(d *Delegation) { d.From += 365; d.Until = d.From }, 0, 0, ""},
		"from more than a year on":             {self, func(d *Delegation) { d.From += 366; d.Until += 366 }, 0, 0, "ahead"},
		"beside 19":                            {by: self, of: 19, theirs: 19},
		"beside 20":                            {by: self, of: 20, want: "most_stand_ins"},
		"of somebody who stands in for 20":     {by: self, theirs: 20, want: "most_hand"},
		"by an administrator, beside 20":       {by: setter("U9", true), of: 20, want: "most_stand_ins"},
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

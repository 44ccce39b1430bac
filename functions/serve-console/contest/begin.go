package contest

import (
	"cmp"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/card"
	"ringi/shared/store"
	"ringi/shared/words/legible"
)

// beginForm holds the form's values as they were typed.
type beginForm struct {
	Key                           string // made when the form is opened: sent twice, a form begins one contest
	Prompt, File                  string
	MaxRounds, BudgetUSD, Seconds string
}

type beginPage struct {
	beginForm
	Usable           []web.Choice // files
	Unusable, Warned []remarks    // files that can't be played, and usable ones with something without effect
	NotSet, More     bool
	Wrong            map[string]string // by field; "": the whole form
}

// remarks are what is wrong with a file, or has no effect there.
type remarks struct {
	File string
	Says []string
}

// mostContestUSD bounds a contest's cost where no budget does; leastContestUSD is the smallest that people may ask for.
const (
	mostContestUSD  = 1_000_000
	leastContestUSD = 0.01
)

func (c *Pages) openBeginForm(w http.ResponseWriter, r *http.Request, v *web.Viewer, s tenancy.Settings) error {
	d := s.DraftContest
	return c.showBeginForm(w, r, v, beginForm{contest.NewID(), "", d.File, strconv.Itoa(d.MaxRounds),
		strconv.FormatFloat(d.BudgetUSD, 'f', -1, 64), strconv.Itoa(d.Seconds)}, map[string]string{})
}

// showBeginForm renders the form with the typed values and their problems.
func (c *Pages) showBeginForm(w http.ResponseWriter, r *http.Request, v *web.Viewer, f beginForm,
	wrong map[string]string) error {
	words := v.Texts("contests")
	d := web.Document{Title: words.Say("new_contest"), Here: "contests", Status: web.Answer(false, len(wrong) > 0)}
	p := beginPage{beginForm: f, Wrong: wrong}
	found, err := c.Begin(r.Context(), store.ContestQuery{Tenant: v.Tenant, Locale: v.Locale})
	if err != nil {
		slog.ErrorContext(r.Context(), "contests are not listed", "tenant", v.Tenant, "err", err)
		wrong[""] = words.Say("not_now")
	}
	if wrong[""] != "" {
		d.Status = http.StatusServiceUnavailable
	}
	p.NotSet, p.More = found.NotSet, found.More
	for _, x := range found.Contests {
		switch text := words.Say("file_text", "file", x.File, "teams", len(x.Teams), "rounds", x.MaxRounds); {
		case len(x.Wrong) > 0:
			p.Unusable = append(p.Unusable, remarks{x.File, x.Wrong})
		case len(x.Warnings) > 0:
			p.Warned = append(p.Warned, remarks{x.File, x.Warnings})
			fallthrough
		default:
			p.Usable = append(p.Usable, web.Choice{Value: x.File, Text: legible.ForeignLine(text), Chosen: x.File == f.File})
		}
	}
	d.Data = p
	return c.Show(w, r, v, d, "contest/begin")
}

// mostOfOne returns the budget of a request, whatever is left of the day's and the month's.
func mostOfOne(s tenancy.Settings) aggregate.MicroUSD {
	most := aggregate.USD(mostContestUSD)
	return min(cmp.Or(s.MaxCost(), most), most)
}

// beginAlone begins the requested contest and redirects to its page.
func (c *Pages) beginAlone(w http.ResponseWriter, r *http.Request, v *web.Viewer, s tenancy.Settings) error {
	f := beginForm{Key: r.PostFormValue("key"), Prompt: strings.ReplaceAll(r.PostFormValue("prompt"), "\r\n", "\n"),
		File: r.PostFormValue("file"), MaxRounds: strings.TrimSpace(r.PostFormValue("max_rounds")),
		BudgetUSD: strings.TrimSpace(r.PostFormValue("budget_usd")), Seconds: strings.TrimSpace(r.PostFormValue("seconds"))}
	words := v.Texts("contests")
	asked, wrong := f.alone(v, s, words)
	if wrong["key"] != "" {
		f.Key = contest.NewID()
	}
	if len(wrong) > 0 {
		return c.showBeginForm(w, r, v, f, wrong)
	}
	answer, err := c.Begin(r.Context(), store.ContestQuery{Begin: &asked, Locale: v.Locale})
	switch {
	case err != nil:
		slog.ErrorContext(r.Context(), "a contest is not known to have begun", "tenant", v.Tenant, "execution_id",
			asked.Execution, "err", err)
		return c.showBeginForm(w, r, v, f, map[string]string{"": words.Say("not_now")})
	case answer.OverBudget:
		return c.showBeginForm(w, r, v, f, map[string]string{"budget_usd": words.Say("over_budget")})
	case !answer.Begun:
		return c.showBeginForm(w, r, v, f, map[string]string{"file": words.Say("bad_file")})
	}
	slog.InfoContext(r.Context(), "a contest began", "tenant", v.Tenant, "execution_id", asked.Execution, "user", v.User)
	return c.Done(w, r, contestPath(asked.Execution), "contest_begun")
}

// alone converts the form, or returns its problems by field. It doesn't check the day's budget: hold-contest does,
// because a form that is sent again must find its contest even if the budget is used up.
func (f beginForm) alone(v *web.Viewer, s tenancy.Settings, words web.Texts) (store.Alone, map[string]string) {
	var bad aggregate.Problems
	rounds, errRounds := strconv.Atoi(f.MaxRounds)
	seconds, errSeconds := strconv.Atoi(f.Seconds)
	usd, errUSD := strconv.ParseFloat(f.BudgetUSD, 64)
	most := mostOfOne(s)
	bad.Unless(card.Prose(f.Prompt) != "", "prompt", "text")
	bad.Unless(len(f.Prompt) <= contest.MaxPrompt && utf8.ValidString(f.Prompt), "prompt", "bytes", contest.MaxPrompt)
	bad.Unless(errRounds == nil && rounds >= 1 && rounds <= contest.MaxRounds, "max_rounds", "between", 1,
		contest.MaxRounds)
	bad.Unless(errSeconds == nil && seconds >= contest.MinTeamSeconds && seconds <= contest.MaxTeamSeconds, "seconds",
		"between", contest.MinTeamSeconds, contest.MaxTeamSeconds)
	bad.Unless(errUSD == nil && usd >= leastContestUSD && usd <= mostContestUSD && aggregate.USD(usd) <= most,
		"budget_usd", "between", leastContestUSD, most)
	wrong := map[string]string{}
	for _, x := range bad {
		wrong[x.Field] = words.Problem(x, nil)
	}
	if !contest.ValidID(f.Key) { // another release's form
		wrong["key"] = words.Say("wrong")
	}
	if f.File == "" {
		wrong["file"] = words.Say("bad_file")
	}
	if len(wrong) > 0 {
		return store.Alone{}, wrong
	}
	what := strings.Join([]string{f.Key, f.File, f.MaxRounds, f.BudgetUSD, f.Seconds, f.Prompt}, "\x00")
	return store.Alone{Tenant: v.Tenant,
		Execution: contest.IDFor(aggregate.Ref{Tenant: v.Tenant, Kind: "console", ID: v.User}, what), File: f.File,
		Prompt: f.Prompt, Locale: s.Locale, MaxRounds: rounds, Seconds: seconds, Budget: aggregate.USD(usd),
		By: aggregate.Actor{Type: aggregate.ActorUser, ID: v.User, Team: v.Team, Surface: aggregate.SurfaceConsole}}, nil
}

package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/model/round"
	"ringi/shared/model/teamconfig"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// How many characters of a text, and of why something failed, are shown in a line.
const maxLine, maxFailed = 60, 200

// watching prints events, one line each. It shows an evaluator by its metric.
func watching(lines io.Writer, metrics []teamconfig.Metric) func(round.Event) {
	began := time.Now()
	var mu sync.Mutex
	return func(e round.Event) {
		mu.Lock()
		defer mu.Unlock()
		at := e.At.Sub(began).Seconds()
		if i := metricOf(e); i > 0 && i <= len(metrics) {
			e.Agent = metrics[i-1].Name
		}
		fmt.Fprintf(lines, "%7.1fs  %-10s r%-2d %-9s %s\n", at, legible.Clip(still(e.Team), 10), e.Round, e.Kind, detail(e))
	}
}

// metricOf returns the number of an evaluator's metric, from 1, from the answer's key: 02/evaluator/3/1. It returns 0
// for other events.
func metricOf(e round.Event) int {
	parts := strings.Split(e.Key, "/")
	if e.Kind != round.EvaluatorSay || len(parts) < 3 {
		return 0
	}
	i, err := strconv.Atoi(parts[2])
	if err != nil {
		return 0
	}
	return i
}

func detail(e round.Event) string {
	var parts []string
	if e.Agent != "" && e.Kind != round.LeaderSaid {
		parts = append(parts, still(e.Agent))
	}
	if e.Tool != "" {
		parts = append(parts, still(e.Tool))
	}
	if e.Kind == round.Scored {
		parts = append(parts, points(e.Score))
	}
	if e.Took > 0 {
		parts = append(parts, fmt.Sprintf("%.1fs", e.Took.Seconds()))
	}
	if e.Usage != nil {
		about := ""
		if e.Usage.Estimated > 0 {
			about = "about "
		}
		parts = append(parts, fmt.Sprintf("%s%d+%d tokens", about, e.Usage.Input+e.Usage.Cached, e.Usage.Output))
	}
	if e.CutOff {
		parts = append(parts, fmt.Sprintf("cut off after %d tokens, asked again with more room", e.Tokens))
	}
	switch {
	case e.Kind == round.Waits:
		parts = append(parts, "for the rate limit: "+legible.Clip(still(e.Failed), maxFailed))
	case e.Failed != "":
		parts = append(parts, "failed: "+legible.Clip(still(e.Failed), maxFailed))
	case e.Text != "" && e.Kind != round.Scored:
		parts = append(parts, oneLine(e.Text))
	}
	return strings.Join(parts, "  ")
}

// oneLine returns the start of a text in one line.
func oneLine(s string) string {
	return legible.Clip(still(s), maxLine)
}

// still formats a text as one line without terminal control characters: names from files may contain any.
func still(s string) string { return strings.Join(strings.Fields(quiet(s)), " ") }

// quiet returns a text's visible characters, with a blank for each control character and line end.
func quiet(s string) string {
	return legible.Visible(strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp) {
			return ' '
		}
		return r
	}, s))
}

// quietJSON escapes control and invisible characters in JSON; the value stays the same.
func quietJSON(b []byte) []byte {
	var out []byte
	for _, r := range string(b) {
		if !legible.Ignorable(r) {
			out = utf8.AppendRune(out, r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			out = fmt.Appendf(out, `\u%04x`, unit)
		}
	}
	return out
}

// counted formats a number with its noun.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// points formats a score of 0.0 to 1.0 as percent.
func points(score float64) string { return fmt.Sprintf("%.2f", score*100) }

// dollars formats a sum. It says where calls without a known price are left out of it.
func dollars(cost aggregate.MicroUSD, unpriced int) string {
	switch {
	case unpriced == 0:
		return cost.String()
	case cost == 0:
		return "unknown"
	}
	return ">" + cost.String()
}

// show prints the contest's table and the best submission. Names are the last column, because wide characters would
// break the columns after them.
func show(out io.Writer, s summary) {
	cost, unpriced := s.spent()
	fmt.Fprintf(out, "\n%s: %s, %.1f s, %s USD\n\n", s.ExecutionID, s.Status, s.TotalExecutionTimeSeconds,
		dollars(cost, unpriced))
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "PLACE\tSCORE\tROUND\tROUNDS\tTOKENS\tUSD\tEXIT\tTEAM")
	for i, o := range s.Teams {
		place, score, best := "-", "-", "-"
		if b := o.best(); b != nil {
			place, score, best = fmt.Sprint(i+1), points(b.EvaluationScore), fmt.Sprint(b.RoundNumber)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%d\t%s\t%s\t%s (%s)\n", place, score, best, o.Played, o.Tokens,
			dollars(o.cost, o.Unpriced), o.ExitReason, still(o.TeamName), still(o.TeamID))
	}
	t.Flush()
	if unpriced > 0 {
		fmt.Fprintf(out, "The prices of %s are not known, so USD leaves them out.\n", counted(unpriced, "call"))
	}
	for _, o := range s.Teams {
		if o.Detail != "" {
			fmt.Fprintf(out, "%s: %s\n", still(o.TeamID), still(o.Detail))
		}
	}
	if s.BestTeamID == nil {
		return
	}
	best := s.Teams[0].best()
	fmt.Fprintln(out)
	for l := range strings.SplitSeq(strings.TrimSpace(best.SubmissionContent), "\n") {
		fmt.Fprintln(out, strings.TrimRight(quiet(l), " "))
	}
	fmt.Fprintln(out)
	for l := range strings.SplitSeq(contest.InPoints(best.EvaluationFeedback, language.English), "\n") {
		fmt.Fprintln(out, still(l))
	}
}

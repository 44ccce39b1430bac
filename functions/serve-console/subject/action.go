package subject

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/explain"
	"ringi/shared/slack/card"
	"ringi/shared/store/large"
	"ringi/shared/words/language"
)

type actionRow struct {
	Is                  *conversation.Action
	Type, Badge, Status string
	Summary, By         string
	DecideBy            time.Time
	Changes             []changedFile
	Became              []changedFile // what it changed, once it has ended
	No                  string        // why nobody can approve it
	Pull                *pullRequest
	Argv                []string
	Script              string
	Effect              *web.Effect // of a call
	ToolKind, Exactly   string      // and its arguments as they are stamped
	Readers             string
	Returned            string // what the agent was given of a call's result
	Whole               bool   // the complete payload is shown
	Verdicts            []verdict
	Facts               []fact // how it ran
	Open, Waits         bool
	Lines               []logLine
	Count               int
	Missing             int    // lines of output that are not kept
	More                string // address that shows its output and all that it would do; empty: this page does
}

// verdict is what a person or a rule said about an action.
type verdict struct {
	Mark, Says, By string
	At             *time.Time
	More, Quote    string
}

// fact is a line about how an action ran.
type fact struct {
	Name, Text string
	Bad        bool
}

// changedFile is a path of a difference: what became of it, and its lines.
type changedFile struct {
	Path, What string
	Lines      []web.Line // with their signs
}

// signs are those of lines that differ.
var signs = map[string]web.Change{"+": web.Added, "-": web.Removed}

// changedFiles renders a difference.
func changedFiles(changes []files.Change, locale string) (out []changedFile) {
	for _, c := range changes {
		x := changedFile{Path: language.Spelled(c.Path), What: explain.Became(c, locale, language.OneLine)}
		for _, line := range explain.DifferenceLines(c, locale) {
			x.Lines = append(x.Lines, web.Line{Change: signs[line[:min(1, len(line))]], Text: line})
		}
		out = append(out, x)
	}
	return out
}

type logLine struct {
	Number int // in the whole output
	Text   string
}

// action returns the row: the complete payload, who decided, and the result.
func (t *loadedTalk) action(x *conversation.Action, path string, words web.Texts, locale string) actionRow {
	out := actionRow{Is: x, Type: explain.ActionCalled(x, locale), Badge: actionBadge(x.Status),
		Status: actionStatus(locale, x.Status), Summary: card.Prose(x.Summary),
		By:    labelOf(t.defs, t.is.Conversation.AgentID),
		Waits: x.Status == conversation.ActionPending, Open: t.open(x)}
	if x.RequestedBy == conversation.RequestedByUser && len(x.Askers) > 0 {
		out.By = t.person(x.Askers[0])
	}
	p, all := t.asked[x.ActionID]
	out.Whole = all
	out.Argv, out.Changes = web.Each(p.Argv, language.Spelled), changedFiles(p.Changes, locale)
	if p.Tool != "" {
		t.call(x, p, &out, locale)
	} else {
		out.Script = language.Spelled(p.Script)
	}
	out.Pull = pullOf(x, p, words, locale)
	if x.Status == conversation.ActionPending {
		out.No = explain.Unapprovable(p, locale)
		out.DecideBy = web.TimeOf(x.Gate.Terms.DecideBy)
	}
	t.decided(x, &out, words)
	t.ended(x, &out, words, locale)
	if out.Count = x.Lines; t.logged == x.Number {
		t.printed(&out)
	} else {
		out.More = fmt.Sprintf("%s?log=%d#action-%d", path, x.Number, x.Number)
	}
	return out
}

// open reports whether the page shows an action in a panel of its own: one that goes on, or that the reader chose.
func (t *loadedTalk) open(x *conversation.Action) bool {
	return !x.Status.Over() || t.chosen && x.Number == t.logged
}

// place is where on the page an action is.
func (t *loadedTalk) place(x *conversation.Action) string {
	switch {
	case x.Status == conversation.ActionPending:
		return fmt.Sprintf("#asked-%d", x.Number)
	case t.open(x):
		return fmt.Sprintf("#action-%d", x.Number)
	}
	return fmt.Sprintf("#older-%d", x.Number)
}

// printed fills in an action's output.
func (t *loadedTalk) printed(out *actionRow) {
	for _, l := range t.log {
		out.Lines = append(out.Lines, logLine{l.Order + 1, card.Output(l.Text)})
		out.Count = max(out.Count, l.Order+1)
	}
	out.Missing = out.Count - len(t.log)
}

// decided fills in the person who decided about an action, or the rule.
func (t *loadedTalk) decided(x *conversation.Action, out *actionRow, words web.Texts) {
	switch g := x.Gate; {
	case g.ApprovedAt == nil:
	case x.ApprovedBy == conversation.ApprovedByAuto:
		out.Verdicts = []verdict{{"✅", words.Say("by_rule"), language.OneLine(cmp.Or(x.Rule, "—")), g.ApprovedAt, "", ""}}
	default:
		via := ""
		if at := g.LastSurface(); at != "" {
			via = words.Say("via") + ": " + words.In("surface", at)
		}
		out.Verdicts = []verdict{{"✅", words.Say("approved"), t.person(g.ApprovedBy), g.ApprovedAt, via, ""}}
	}
	switch by := t.person(x.CancelledBy); x.CancelReason {
	case "":
	case conversation.ReasonRejected:
		out.Status, out.Badge = words.Say("rejected"), "badge-bad"
		why := web.Mentions(card.Prose(x.ErrorDetail), t.person)
		out.Verdicts = append(out.Verdicts, verdict{"❌", out.Status, by, x.CompletedAt, "", why})
	default:
		out.Verdicts = append(out.Verdicts, verdict{"⏹️", actionStatus(words.Locale(), conversation.ActionCancelled), by,
			x.CompletedAt, words.In("why", x.CancelReason), ""})
	}
}

// ended fills in an action's result.
func (t *loadedTalk) ended(x *conversation.Action, out *actionRow, words web.Texts, locale string) {
	if t.logged == x.Number {
		out.Returned, out.Became = t.returned, changedFiles(t.became, locale)
	}
	say := func(name, text string, bad bool) {
		if text = strings.TrimSpace(text); text != "" {
			out.Facts = append(out.Facts, fact{name, text, bad})
		}
	}
	if x.StartedAt != nil {
		say(words.Say("began"), web.Minute(*x.StartedAt), false)
	}
	if x.StartedAt != nil && x.CompletedAt != nil {
		took := explain.Length(locale, x.CompletedAt.Sub(*x.StartedAt))
		say(words.Say("ended"), web.Minute(*x.CompletedAt)+" ("+words.Say("took")+" "+took+")", false)
	}
	if x.ExitCode != nil {
		say(words.Say("exit"), strconv.Itoa(*x.ExitCode), false)
	}
	if c := x.Changed; c != nil && c.Files > 0 {
		text := words.Say("files_changed", "n", c.Files, "added", c.Added, "removed", c.Removed)
		text += " " + explain.Seen(x, locale)
		if x.NotTaken {
			text += " " + words.Say("not_taken")
		}
		say(words.Say("files"), text, false)
	}
	say(words.Say("result"), card.Prose(x.ResultSummary), false)
	switch {
	case x.Outcome == conversation.OutcomeUnknown:
		out.Status, out.Badge = words.Say("unknown"), "badge-bad"
		why := words.Say("unknown_about")
		if x.Pushed != nil {
			why = words.Say("pull_unknown")
		}
		say(words.Say("unknown"), why, true)
	case x.Status == conversation.ActionFailed:
		say(words.Say("failure"), explain.ActionReason(locale, x.Error, card.Prose(x.ErrorDetail)), true)
	}
	if l := x.Late; l != nil {
		status := actionStatus(locale, l.Status)
		if l.Error == conversation.ReasonUnknown {
			status = words.Say("unknown")
		}
		text := fmt.Sprintf("%s %s %s", status, l.Tests.Said(locale), language.ForeignLine(l.ErrorDetail))
		if l.ExitCode != nil {
			text += fmt.Sprintf(" (%s: %d)", words.Say("exit"), *l.ExitCode)
		}
		say(words.Say("late"), text, false)
	}
}

// became reads what an action that has ended changed, if the page shows its output and the files are kept.
func (c *Pages) became(ctx context.Context, ref aggregate.Ref, x *conversation.Action) ([]files.Change, error) {
	if c.Files == nil || x.Changed == nil || x.Changed.Files == 0 || x.ActionType == conversation.CodeGenerate {
		return nil, nil
	}
	changes, err := c.Files.Difference(ctx, ref, x.Base, x.Version)
	if errors.Is(err, large.ErrGone) {
		return nil, nil
	}
	return files.Bounded(changes[:min(len(changes), mostChanges)]), err
}

// mostChanges bounds the paths of a command's difference on a page; the page says how many there are.
const mostChanges = 200

// mostPayloads bounds the payloads in the bucket that a page opens.
const mostPayloads = 10

// payloads returns the actions' payloads; of those in the bucket only that of first and the newest mostPayloads.
func (c *Pages) payloads(ctx context.Context, ref aggregate.Ref, actions []*conversation.Action,
	first *conversation.Action) (map[string]conversation.Payload, error) {
	out, opened := map[string]conversation.Payload{}, 0
	for _, x := range slices.Backward(append(slices.Clone(actions), first)) {
		if _, there := out[x.ActionID]; there || x.Payload.S3Key != "" && opened == mostPayloads {
			continue
		}
		if x.Payload.S3Key != "" {
			opened++
		}
		p, err := web.ReadPayload(ctx, c.Site, ref, x)
		switch {
		case err == nil:
			out[x.ActionID] = p
		case !errors.Is(err, large.ErrExpired) && !errors.Is(err, explain.ErrMalformedForm):
			return nil, err
		}
	}
	return out, nil
}

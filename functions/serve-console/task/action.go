package task

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/slack/card"
	"ringi/shared/words/legible"
)

// Limits of what the list says of an action; its page says all.
const (
	mostNames  = 3
	mostDoing  = 200 // characters of a command, and of a path
	mostFields = 8   // words of a program and its arguments
)

// doing says in a line what an agent's action would do, from its payload alone.
func (c *Pages) doing(ctx context.Context, v *web.Viewer, ref aggregate.Ref, x *conversation.Action, r Reader) string {
	text, words := []byte(x.Payload.JSON), v.Texts("approvals")
	kind := cmp.Or(card.ActionCalled(x, v.Locale), legible.OneLine(string(x.ActionType)))
	var err error
	if x.Payload.S3Key != "" {
		text, err = c.Results.Open(ctx, ref, x.Payload)
	}
	p, problems := conversation.ReadKept(x.ActionType, text)
	if err != nil || problems != nil {
		slog.WarnContext(ctx, "what an action would do is not shown", "session_id", ref.ID, "err", err, "problems", len(problems))
		return kind + ": " + words.Say("unread")
	}
	return kind + ": " + strings.Join(doingOf(p, words, r), " · ")
}

func doingOf(p conversation.Payload, words web.Texts, r Reader) (out []string) {
	switch {
	case p.Push != nil:
		out = append(out, legible.OneLine(p.Push.Repository)+" ← "+legible.OneLine(p.Push.Source))
	case p.Tool != "":
		out = append(out, legible.OneLine(p.Tool), card.CallKind(p.Access, r.Locale))
		out = append(out, r.Effects([]task.Step{card.CalledStep(p)})...)
	case len(p.Commands) > 0:
		out = append(out, words.Say("commands", "n", len(p.Commands), "first", first(p.Commands[0].Script)))
	case p.Script != "":
		out = append(out, first(p.Script))
	case len(p.Argv) > 0:
		out = append(out, program(p.Argv))
	}
	return append(out, files(p, words)...)
}

// files counts the files that a payload adds, changes and deletes, the deleted ones first, and names some of each.
func files(p conversation.Payload, words web.Texts) (out []string) {
	var deleted, changed, added []string
	for _, c := range p.Changes {
		switch {
		case c.Is == nil:
			deleted = append(deleted, c.Path)
		case c.Was == nil:
			added = append(added, c.Path)
		default:
			changed = append(changed, c.Path)
		}
	}
	if deleted != nil {
		out = append(out, words.Say("deleted", "n", len(deleted), "names", some(deleted)))
	}
	if changed != nil {
		out = append(out, words.Say("changed", "n", len(changed), "names", some(changed)))
	}
	if added != nil {
		out = append(out, words.Say("added", "n", len(added), "names", some(added)))
	}
	return out
}

// some names the first of these paths.
func some(paths []string) string {
	var names []string
	for _, path := range paths[:min(len(paths), mostNames)] {
		names = append(names, legible.Isolated(first(path)))
	}
	if len(paths) > mostNames {
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}

// first returns the beginning of a text in one line, with what hides spelled out.
func first(text string) string {
	return legible.Beginning(legible.OneLine(strings.TrimSpace(text)), mostDoing)
}

// program writes a program and its arguments; one that could be taken for several, or for none, has quotation marks.
func program(argv []string) string {
	var out []string
	for _, arg := range argv[:min(len(argv), mostFields)] {
		if arg == "" || strings.ContainsAny(arg, " \t\n\"'") {
			arg = fmt.Sprintf("%q", arg)
		}
		out = append(out, first(arg))
	}
	if len(argv) > mostFields {
		out = append(out, "…")
	}
	return strings.Join(out, " ")
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/store"
)

// games repairs contests that don't end, and rounds that were not counted for their teams.
type games struct {
	contests *store.ContestStore
	apply    bool
	closing  bool // stop the teams that still play
	out      io.Writer
}

// again prints what a contest waits for, and starts another run of it.
func (g *games) again(ctx context.Context, ref aggregate.Ref) error {
	a, err := g.contests.Load(ctx, ref)
	if err != nil {
		return err
	}
	if a.Contest == nil {
		return fmt.Errorf("%s: %w", ref, aggregate.ErrConflict) // a torn read
	}
	now := time.Now()
	if err := g.tell(ctx, a); err != nil {
		return err
	}
	switch k := a.Contest; {
	case a.Summary != nil:
		fmt.Fprintln(g.out, "it is summed up: there is nothing to do")
		return nil
	case !g.closing && a.Head.OverAt == nil && now.Before(k.DeadlineAt):
		fmt.Fprintf(g.out, "its teams have time until %s: let them play, or add -close to stop them\n", aggregate.TimeText(k.DeadlineAt))
		return nil
	}
	c, err := a.Rerun(g.closing, now)
	if err != nil {
		return err
	}
	next := c.Head.(*contest.Head).Run
	if !g.apply {
		fmt.Fprintf(g.out, "run %d would begin\nnothing was written: add -apply to do it\n", next)
		return nil
	}
	after, err := g.contests.Decide(ctx, ref,
		func(a *contest.Aggregate) (aggregate.Change, error) { return a.Rerun(g.closing, now) })
	if err != nil {
		return fmt.Errorf("begin another run (look again if it moved meanwhile): %w", err)
	}
	fmt.Fprintf(g.out, "run %d begins, at once by the relay or within a minute by the sweeper\n", after.Head.Run)
	return nil
}

// tell prints the status of the contest and its teams.
func (g *games) tell(ctx context.Context, a *contest.Aggregate) error {
	k := a.Contest
	fmt.Fprintf(g.out, "contest %s: %s, begun %s, its teams' time ends %s; run %s-%d, %d begun anew\n",
		k.ExecutionID, k.Status, aggregate.TimeText(k.CreatedAt), aggregate.TimeText(k.DeadlineAt), k.ExecutionID, a.Head.Run, a.Head.Restarts)
	if k.ForID != "" {
		fmt.Fprintf(g.out, "for %s %s %s, which %s\n", k.ForKind, k.ForID, k.ForRow, map[bool]string{true: "knows how it ended", false: "does not know yet how it ended"}[k.Told])
	}
	if k.SettledAt != nil && a.Summary == nil {
		fmt.Fprintln(g.out, "it was given up: nobody summed it up")
	}
	for i, t := range k.Teams {
		w, err := g.contests.Teams.Load(ctx, contest.TeamRef(k.TenantID, k.ExecutionID, t.TeamID))
		switch {
		case errors.Is(err, aggregate.ErrNotFound):
			fmt.Fprintf(g.out, "team %d %q has not begun\n", i+1, t.TeamID)
			continue
		case err != nil:
			return err
		case w.Team == nil:
			return fmt.Errorf("team %d: %w", i+1, aggregate.ErrConflict) // a torn read
		}
		best := "none"
		if w.Team.BestScore != nil {
			best = fmt.Sprintf("%.4f in round %d", *w.Team.BestScore, w.Team.BestRound)
		}
		fmt.Fprintf(g.out, "team %d %q: %s %s %s, %d of %d rounds, best %s, $%s of $%s, time until %s\n",
			i+1, t.TeamID, w.Team.Status, w.Team.ExitReason, w.Team.Reason, w.Team.Rounds, w.Team.MaxRounds, best, w.Used().Cost, w.Team.Budget, aggregate.TimeText(w.Team.DeadlineAt))
	}
	return nil
}

// count counts each of a tenant's scored rounds for its team exactly once.
func (g *games) count(ctx context.Context, tenant string) error {
	n, cursor := 0, ""
	for {
		page, err := g.contests.Board(ctx, tenant, store.ContestFilter{}, cursor, store.MaxPage)
		if err != nil {
			return err
		}
		for _, b := range page.Items {
			if err := g.contests.Count(ctx, &b); err != nil {
				return err
			}
			n++
		}
		if cursor = page.Next; cursor == "" {
			fmt.Fprintf(g.out, "%d scored rounds are counted\n", n)
			return nil
		}
	}
}

// lookAgain prints what a conversation with an agent waits for. With apply it makes the relay and the sweeper look at
// the conversation again. It changes no decision and no call.
func lookAgain(ctx context.Context, all *store.ConversationStore, ref aggregate.Ref, apply bool, out io.Writer) error {
	a, err := all.Load(ctx, ref)
	if err != nil {
		return err
	}
	if a.Conversation == nil {
		return fmt.Errorf("%s: %w", ref, aggregate.ErrConflict) // a torn read
	}
	fmt.Fprintf(out, "conversation %s with %s: %s, run %s-%d %s; last changed %s\n", a.Head.SessionID,
		a.Conversation.AgentID, a.Conversation.Status, a.Head.SessionID, a.Head.Run,
		map[bool]string{true: "has ended", false: "is open, or died"}[a.Head.Resting], aggregate.TimeText(a.Head.ChangedAt))
	fmt.Fprintf(out, "%d messages are not answered\n", len(a.Inbox))
	for _, x := range a.Actions {
		if x.Status.Over() {
			continue
		}
		claim := ""
		if x.Claim != nil {
			claim = ", claimed until " + aggregate.TimeText(x.Claim.LeaseUntil)
		}
		fmt.Fprintf(out, "action %d (%s) is %s%s\n", x.Number, x.ActionType, x.Status, claim)
	}
	switch next := a.Next(time.Now()).State; next {
	case aggregate.StateFinish:
		fmt.Fprintln(out, "it waits for people, or for a claim to end: there is nothing to run")
	default:
		fmt.Fprintf(out, "a run has to go to %s\n", next)
	}
	if !apply {
		fmt.Fprintln(out, "nothing was written: add -apply to have it looked at again")
		return nil
	}
	if err := all.Redraw(ctx, ref); err != nil {
		return err
	}
	fmt.Fprintln(out, "it is looked at again, at once by the relay and within a minute by the sweeper, which begins its run if there is none")
	return nil
}

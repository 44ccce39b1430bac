package conversation

import (
	"slices"
	"testing"

	"ringi/shared/runtime/expect"
)

// The test repeats every allowed move, so that a change of a table requires a change here.
func TestStatusesMoveAsTheyMay(t *testing.T) {
	sessions := map[[2]Status]bool{
		{Open, Executing}: true, {Open, Closed}: true, {Open, Failing}: true, {Executing, Open}: true,
		{Closed, Open}: true, {Failing, Open}: true, {Failing, Executing}: true, {Failing, Closed}: true,
	}
	all := []Status{Open, Executing, Closed, Failing}
	for _, from := range all {
		for _, to := range all {
			expect.Is(t, Moves.Allows(from, to), sessions[[2]Status{from, to}], "session %s → %s", from, to)
		}
	}
	actions := map[[2]ActionStatus]bool{
		{ActionPending, ActionApproved}: true, {ActionPending, ActionCancelled}: true,
		{ActionApproved, ActionExecuting}: true, {ActionApproved, ActionFailed}: true, {ActionApproved, ActionCancelled}: true,
		{ActionExecuting, ActionSucceeded}: true, {ActionExecuting, ActionFailed}: true, {ActionExecuting, ActionCancelled}: true,
		{ActionFailed, ActionSucceeded}: true, {ActionFailed, ActionFailed}: true,
	}
	every := []ActionStatus{ActionPending, ActionApproved, ActionExecuting, ActionSucceeded, ActionFailed, ActionCancelled}
	for _, from := range every {
		for _, to := range every {
			expect.Is(t, ActionMoves.Allows(from, to), actions[[2]ActionStatus{from, to}], "action %s → %s", from, to)
		}
		over := slices.Contains(every[3:], from)
		expect.That(t, over == from.Over(), "%s is over: %v", from, from.Over())
	}
}

func TestAThreadHasOneConversation(t *testing.T) {
	id := ID("T1", "C1", "1713450000.000100")
	expect.That(t, ValidID(id) && !ValidID("x") && !ValidID(id+"0"), "%s has not the form of an id, or others have", id)
	expect.Is(t, ID("T1", "C1", "1713450000.000100"), id, "made again")
	for _, other := range []string{ID("T2", "C1", "1713450000.000100"), ID("T1", "C11", "713450000.000100"), MessageID("T1", "C1", "1713450000.000100")} {
		expect.That(t, other != id, "%s twice", id)
	}
}

package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

// A key waits for few answers at once; more are answered at once.
func TestAKeyWaitsForFewAnswers(t *testing.T) {
	w := opened(t, storetest.Start(t))
	_, a, _ := w.says("POST", "/calls", askBash)
	for range 6 {
		expect.NoError(t, w.Store.Count(t.Context(), w.key.TenantID, call.Waits(w.key, mostWait*time.Second, w.now)))
	}
	began := time.Now()
	status, is, text := w.says("GET", "/calls/"+a.ID+"?wait=25", "")
	expect.That(t, status == 200 && is.Status == "pending" && time.Since(began) < 20*time.Second, "%d %s", status, text)
}

// A key that ends while the answer is waited for is told so, and what it asked for was asked; one that has ended asks
// for nothing.
func TestAKeyThatEndsWhileItWaitsHasAsked(t *testing.T) {
	w := opened(t, storetest.Start(t))
	was, waited := w.rows(), make(chan int)
	go func() {
		status, _, _ := w.says("POST", "/calls?wait=25", askBash)
		waited <- status
	}()
	for w.rows() < was+5 && t.Context().Err() == nil { // the use of the key is noted, and more
		time.Sleep(20 * time.Millisecond)
	}
	expect.NoError(t, w.all.RevokeKey(t.Context(), w.key.TenantID, w.key.ID, aggregate.System(), w.now))
	expect.Is(t, <-waited, 401)
	page := expect.Value(store.CallsOf(w.all).Listed(t.Context(), w.key.TenantID, "", 9, 9,
		func(call.Call) bool { return true }))(t)
	expect.That(t, len(page.Items) == 1 && page.Items[0].KeyID == w.key.ID, "%+v", page.Items)
	was = w.rows()
	status, _, _ := w.says("POST", "/calls?wait=25", strings.Replace(askBash, "deploy", "test", 1))
	expect.That(t, status == 401 && w.rows() == was, "%d, %d rows, not %d", status, w.rows(), was)
}

// Once a key is revoked its waits end, and what waits for people; what is taken off it isn't granted any more.
func TestARevokedKeyWaitsForNothing(t *testing.T) {
	w := opened(t, storetest.Start(t))
	_, a, _ := w.says("POST", "/calls", askBash)
	_, b, _ := w.says("POST", "/calls", strings.Replace(askBash, "deploy", "test", 1))
	_, dm, _ := w.tell(w.connected("2026-07-28"), writeTool, message("a"))
	w.act(b.ID, circulation.Stamp, "")
	k := expect.Value(w.all.Key(t.Context(), w.key.TenantID, w.key.ID))(t)
	k.Tools = []string{writeTool}
	expect.Value(w.all.SaveKey(t.Context(), k, pipelinetest.Member("U9"), w.now))(t)
	status, _, text := w.says("POST", "/calls/"+b.ID+"/take", strings.Replace(takes("a"), "deploy", "test", 1))
	expect.That(t, status == 403 && strings.Contains(text, "not among"), "%d %s", status, text)
	expect.NoError(t, w.all.FollowKey(t.Context(), w.key.TenantID, w.key.ID, w.now)) // as the relay does
	_, is, text := w.says("GET", "/calls/"+a.ID, "")
	expect.That(t, is.Status == "refused" && strings.Contains(is.Say, "may not use this tool any more"), "%s", text)
	began, waited := time.Now(), make(chan int)
	go func() {
		status, _, _ := w.says("GET", "/calls/"+dm.ID+"?wait=25", "")
		waited <- status
	}()
	expect.NoError(t, w.all.RevokeKey(t.Context(), w.key.TenantID, w.key.ID, aggregate.System(), w.now))
	expect.That(t, <-waited == 401 && time.Since(began) < 20*time.Second, "a wait goes on")
	expect.NoError(t, w.all.FollowKey(t.Context(), w.key.TenantID, w.key.ID, w.now))
	x := expect.Value(w.Store.Joined(t.Context(), w.key, dm.ID))(t)
	expect.Is(t, x.Call.CancelReason, call.ReasonKey)
}

// The key of somebody who left stops within five minutes, whatever became of Slack's event. While Slack is silent it
// stands.
func TestALeaversKeyStops(t *testing.T) {
	w := opened(t, storetest.Start(t))
	looks := func() int {
		status, _, _ := w.says("GET", "/calls/call-x", "")
		return status
	}
	expect.Is(t, looks(), 404)
	w.left = "U1"
	expect.Is(t, looks(), 404) // asked a moment ago
	w.now, w.slack = w.now.Add(tenancy.KeyUsedEvery), errors.New("down")
	expect.Is(t, looks(), 404)
	w.now, w.slack = w.now.Add(tenancy.KeyUsedEvery), nil
	expect.Is(t, looks(), 401)
	k := expect.Value(w.all.Key(t.Context(), w.key.TenantID, w.key.ID))(t)
	expect.That(t, k.RevokedAt != nil && k.RevokedBy == "" && tenancy.KeyUsedEvery < 5*time.Minute, "%+v", k)
}

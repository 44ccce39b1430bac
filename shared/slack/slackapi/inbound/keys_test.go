package inbound

import (
	"context"
	"errors"
	"testing"

	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/secret"
)

// replaced is a signing secret that was replaced since it was read.
type replaced struct {
	now, next string
	err       error
	asked     int
}

func (k *replaced) SigningSecret(context.Context) (string, error) { return k.now, k.err }

func (*replaced) AppID() string { return "" }

func (k *replaced) Refused(context.Context) bool {
	k.asked++
	changed := k.next != k.now
	k.now = k.next
	return changed
}

func serve(e Edge, r Request) int {
	return e.Serve(context.Background(), r, func(context.Context, []byte) (Response, error) { return OK(), nil }).StatusCode
}

func TestASecretThatWasReplacedIsTakenAtTheFirstBadSignature(t *testing.T) {
	k := &replaced{now: "old", next: "s"}
	e := edge()
	e.Keys = k
	if got := serve(e, signed("{}")); got != 200 || k.asked != 1 {
		t.Errorf("answered %d after asking %d times", got, k.asked)
	}
	r := signed("{}")
	r.Body = "{ }"
	if got := serve(e, r); got != 401 || k.asked != 2 {
		t.Errorf("a bad signature is answered %d after asking %d times", got, k.asked)
	}
	delete(r.Headers, "x-slack-signature")
	if got := serve(e, r); got != 401 || k.asked != 2 {
		t.Errorf("no signature is answered %d after asking %d times: it says nothing of the secret", got, k.asked)
	}
}

func TestWithoutASigningSecretSlackIsToldToComeAgain(t *testing.T) {
	for _, err := range []error{secret.ErrMissing, errors.New("down")} {
		e := edge()
		e.Keys = &replaced{err: err}
		got := serve(e, signed("{}"))
		expect.That(t, got == 503, "%v: answered %d", err, got)
	}
}

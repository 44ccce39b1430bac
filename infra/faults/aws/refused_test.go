package aws

import (
	"strings"
	"testing"
	"time"

	"ringi/infra/local/lambda"
	"ringi/infra/local/sandbox/webapi"
)

// TestCredentialsThatMayNotBeOpened: the key's policy denies decryption. The card says that the tool could not be
// called; once the policy is fixed a retry works.
func TestCredentialsThatMayNotBeOpened(t *testing.T) {
	s := start(t)
	faulty.set(0, 0, func(c lambda.Call) *fault {
		if c.Kind != "TrentService.Decrypt" {
			return nil
		}
		return &fault{name: "AccessDenied", status: 400, body: `{"__type":"AccessDeniedException","Message":"User arn:aws:iam::123456789012:role/x is not authorized"}`}
	})
	d := say(t, s, webapi.Sato, "今月の勤怠をまとめて")
	d.Approve(webapi.Suzuki)
	failed := d.Card("CARD#execution", "retry_execution")
	a := d.Load()
	if rows := a.StepsOf(a.Execution()); len(rows) != 1 || rows[0].Status != "failed" {
		t.Errorf("the steps are %+v, not one that failed", rows)
	}
	t.Log(a.Execution().Error, a.Execution().ErrorDetail)
	for _, leak := range []string{"arn:aws", "authorized", "AccessDenied"} {
		if b := face(failed); strings.Contains(b, leak) {
			t.Errorf("the card says %q: %s", leak, b)
		}
	}
	faulty.set(0, 0, nil)
	d.Click(webapi.Sato, "CARD#execution", "retry_execution")
	d.Until("done", completed)
}

// TestABucketThatIsSlowOrDown: a result of many rows goes to S3, which answers late or not at all, for longer than the
// client retries. Once S3 works again the result is saved without calling the vendor again.
func TestABucketThatIsSlowOrDown(t *testing.T) {
	const failures = 6 // twice the client's tries
	for name, f := range map[string]fault{
		"slow": {name: "late", status: 503, body: "<Error><Code>SlowDown</Code></Error>", delay: 1500 * time.Millisecond},
		"down": {name: "InternalError", status: 500, body: "<Error><Code>InternalError</Code></Error>"},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			met := 0
			faulty.set(0, 0, func(c lambda.Call) *fault { // holds the lock of faulty
				if !isBucket(c.Kind) || met == failures {
					return nil
				}
				met++
				return &f
			})
			before := s.Vendors.Calls("list_employees")
			d := say(t, s, webapi.Sato, "今月の勤怠をまとめて")
			d.Approve(webapi.Suzuki)
			d.Until("done", completed)
			faulty.set(0, 0, nil)
			if met != failures {
				t.Errorf("the bucket failed %d times, not %d: the test proves little", met, failures)
			}
			if n := s.Vendors.Calls("list_employees") - before; n != 1 {
				t.Errorf("the employees were listed %d times", n)
			}
		})
	}
}

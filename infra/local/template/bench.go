package template

import (
	"cmp"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
)

// Bench checks the calls of functions against their roles before they reach AWS's stand-ins.
type Bench struct {
	Account Account
	// Roles maps a function's access key id to its role. Calls with other keys, those of people and tests, are not
	// checked.
	Roles map[string]Role
	Log   *slog.Logger
}

// Handler passes on the calls that the caller's role allows, and refuses the others as AWS does.
func (b *Bench) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := readPolicy(r)
		if err != nil {
			return // the caller has disconnected
		}
		role, judged := b.Roles[c.caller]
		if !judged {
			next.ServeHTTP(w, r)
			return
		}
		all, err := b.Account.requests(c)
		if err != nil {
			b.Log.ErrorContext(r.Context(), "a call that can't be judged", "function", c.caller, "err", err)
			c.refuse(w, err.Error())
			return
		}
		for _, q := range all {
			if why := b.judge(c.caller, role, q); why != "" {
				b.Log.ErrorContext(r.Context(), "a call that the role doesn't allow", "function", c.caller, "action", q.Action,
					"resource", q.Resource)
				c.refuse(w, why)
				return
			}
		}
		if list, reads := b.Account.listOf(c, all); reads {
			w = &gone{ResponseWriter: w, call: c, refused: func() string { return b.judge(c.caller, role, list) }}
		}
		next.ServeHTTP(w, r)
	})
}

// judge returns why a request is refused, or "".
func (b *Bench) judge(caller string, role Role, q Request) string {
	v := role.Judge(q)
	if same := b.Account.Same; same != nil {
		for _, q.Resource = range same(role, q) {
			if v = role.Judge(q); v.Allowed {
				break
			}
		}
	}
	if !v.Allowed {
		return b.Account.refusal(role, caller, q, v)
	}
	return ""
}

// listOf returns the right that a caller needs to get a 404 for a missing object. Without that right, S3 answers 403.
func (a Account) listOf(c call, all []Request) (Request, bool) {
	if len(all) != 1 || all[0].Action != "s3:GetObject" {
		return Request{}, false
	}
	bucket, _, _ := strings.Cut(all[0].Resource, "/")
	return Request{Action: "s3:ListBucket", Resource: bucket, Context: all[0].Context}, true
}

// gone replaces S3's 404 for a missing object by a 403 if the caller may not list the bucket.
type gone struct {
	http.ResponseWriter
	call    call
	refused func() string
	instead bool // the answer was replaced
}

func (g *gone) WriteHeader(status int) {
	if status == http.StatusNotFound {
		if why := g.refused(); why != "" {
			g.instead = true
			g.Header().Del("Content-Length")
			g.call.refuse(g.ResponseWriter, why)
			return
		}
	}
	g.ResponseWriter.WriteHeader(status)
}

func (g *gone) Write(b []byte) (int, error) {
	if g.instead {
		return len(b), nil
	}
	return g.ResponseWriter.Write(b)
}

// Unwrap lets the proxy flush the response.
func (g *gone) Unwrap() http.ResponseWriter { return g.ResponseWriter }

// Must returns an error unless the role of a function or state machine allows these actions, which AWS takes on its
// behalf.
func (b *Bench) Must(owner, resource string, actions ...string) error {
	for _, action := range actions {
		if why := b.judge(owner, b.Roles[owner], Request{Action: action, Resource: resource}); why != "" {
			return errors.New(why)
		}
	}
	return nil
}

// refusal returns AWS's message for a request that the role does not allow.
func (a Account) refusal(role Role, caller string, q Request, v Verdict) string {
	action, resource := q.Action, q.Resource
	if strings.HasPrefix(action, "sqs:") { // SQS uses lower case
		action = strings.ToLower(action)
	}
	why := "because no identity-based policy allows the " + action + " action"
	if v.By != "" {
		why = "with an explicit deny in an identity-based policy"
	}
	if strings.HasPrefix(action, "s3:") {
		resource = `"` + resource + `"`
	}
	who := fmt.Sprintf("arn:aws:sts::%s:assumed-role/%s/%s", a.ID, role.Name, caller)
	return fmt.Sprintf("User: %s is not authorized to perform: %s on resource: %s %s", who, action, resource, why)
}

// refuse answers a refused call in the form of its service.
func (c call) refuse(w http.ResponseWriter, message string) {
	switch c.service {
	case "s3":
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(http.StatusForbidden)
		if c.Method == http.MethodHead {
			return
		}
		body, _ := xml.Marshal(struct { // marshaling strings can't fail
			XMLName       xml.Name `xml:"Error"`
			Code, Message string
		}{Code: "AccessDenied", Message: message})
		w.Write(append([]byte(xml.Header), body...))
	case "lambda":
		w.Header().Set("X-Amzn-Errortype", "AccessDeniedException")
		c.answer(w, http.StatusForbidden, map[string]string{"Message": message})
	case "sqs": // clients read the code of the older protocol first
		w.Header().Set("X-Amzn-Query-Error", "AccessDenied;Sender")
		c.answer(w, http.StatusForbidden, map[string]string{"__type": "com.amazon.coral.service#AccessDeniedException",
			"message": message})
	case "dynamodb":
		c.answer(w, http.StatusBadRequest, map[string]string{"__type": "com.amazon.coral.service#AccessDeniedException",
			"Message": message})
	default:
		c.answer(w, http.StatusBadRequest, map[string]string{"__type": "AccessDeniedException", "Message": message})
	}
}

func (c call) answer(w http.ResponseWriter, status int, body map[string]string) {
	w.Header().Set("Content-Type", cmp.Or(c.Header.Get("Content-Type"), "application/json"))
	w.WriteHeader(status)
	text, _ := json.Marshal(body) // marshaling strings can't fail
	w.Write(text)
}

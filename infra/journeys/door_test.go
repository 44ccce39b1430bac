package journeys

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ringi/shared/domain/call"
	"ringi/shared/runtime/expect"
)

// door stands in for Ringi's, made from its description alone. Paths begin with a test's name and a way, from which
// follows what it does; each pair has its own calls.
type door struct {
	*httptest.Server
	mu    sync.Mutex
	calls map[string]*asked // by way, tool and effect
	broke map[string]bool   // answers that broke off once
}

type asked struct{ id, way, tool, effect, sum, status, use string }

// key is the only one that the door knows.
const key = "rk_0123456789abcdefghijklmnopqrstuvwxyz0123456789"

func newDoor(t *testing.T) *door {
	t.Helper()
	d := &door{calls: map[string]*asked{}, broke: map[string]bool{}}
	d.Server = httptest.NewServer(d)
	t.Cleanup(func() {
		d.CloseClientConnections()
		d.Close()
	})
	return d
}

// fault is how an answer goes wrong: false means that the right one is still to be sent.
type fault func(d *door, w http.ResponseWriter, right string) bool

func body(status int, text string) fault {
	return func(_ *door, w http.ResponseWriter, right string) bool {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprint(w, strings.ReplaceAll(text, "RIGHT", right))
		return true
	}
}

// with changes one member of the right answer; nil leaves it out.
func with(member string, value any) fault {
	return func(d *door, w http.ResponseWriter, right string) bool {
		return body(200, changed(right, map[string]any{member: value}))(d, w, "")
	}
}

// another answers with the id and sum of another call, which is stamped, too.
func another(d *door, w http.ResponseWriter, right string) bool {
	x := d.ask("another/"+right, []byte(`{"tool":"shell","arguments":{"command":"make test"}}`))
	return body(200, changed(right, map[string]any{"id": x.id, "sha256": x.sum}))(d, w, "")
}

func changed(right string, members map[string]any) string {
	var all map[string]any
	if err := json.Unmarshal([]byte(right), &all); err != nil {
		panic(err)
	}
	maps.Copy(all, members)
	maps.DeleteFunc(all, func(_ string, value any) bool { return value == nil })
	return expect.JSON(all)
}

func cutOff(_ *door, w http.ResponseWriter, right string) bool {
	w.Header().Set("Content-Length", fmt.Sprint(len(right)))
	fmt.Fprint(w, right[:len(right)-9])
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

// drip sends a byte now and then for minutes, so that no single read takes long.
func drip(_ *door, w http.ResponseWriter, right string) bool {
	for _, b := range []byte(strings.Repeat(" ", 1000) + right) {
		time.Sleep(300 * time.Millisecond)
		if _, err := w.Write([]byte{b}); err != nil {
			return true
		}
		w.(http.Flusher).Flush()
	}
	return true
}

func elsewhere(d *door, w http.ResponseWriter, _ string) bool {
	w.Header().Set("Location", d.URL+"/x/stamped/calls?wait=0")
	w.WriteHeader(http.StatusTemporaryRedirect)
	return true
}

var other = strings.Repeat("0f", 32)

// faults are what may go wrong with the answer to each of the two requests of a stamped call.
var faults = map[string]fault{
	"500-and-yes":    body(500, `RIGHT`),
	"201-and-yes":    body(201, `RIGHT`),
	"403-and-yes":    body(403, `RIGHT`),
	"half":           body(200, `{"id":"call_1","status":"gran`),
	"html":           body(200, `<!doctype html><title>Sign in</title>`),
	"empty":          body(200, ``),
	"null":           body(200, `null`),
	"bare-yes":       body(200, `{"status":"granted"}`),
	"yes-of-nothing": body(200, `{"id":null,"sha256":null,"tool":null,"status":"granted","say":null}`),
	"two-answers":    body(200, `RIGHT RIGHT`),
	"status-unknown": with("status", "stamped"),
	"no-say":         with("say", nil),
	"empty-say":      with("say", ""),
	"no-id":          with("id", nil),
	"no-sum":         with("sha256", nil),
	"another-sum":    with("sha256", other),
	"unknown-id":     with("id", "call_2"),
	"another-id":     another,
	"say-list":       body(200, `{"status":"pending","say":[]}`),
	"cut-off":        cutOff,
	"drip":           drip,
	"redirect":       elsewhere,
	"broken-once":    once(cutOff),
}

// once is a fault of the first answer of its kind alone.
func once(f fault) fault {
	return func(d *door, w http.ResponseWriter, right string) bool {
		d.mu.Lock()
		first := !d.broke[right]
		d.broke[right] = true
		d.mu.Unlock()
		return first && f(d, w, right)
	}
}

func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	parts := strings.SplitN(strings.TrimPrefix(r.URL.Path, "/"), "/", 3)
	if len(parts) != 3 {
		parts = []string{"", "", ""}
	}
	test, way, path := parts[0], parts[1], parts[2]
	wait, _ := strconv.Atoi(r.URL.Query().Get("wait"))
	if wait > 25 { // a client ends a hook after 60 seconds
		body(400, `{"error":"it would wait too long"}`)(d, w, "")
		return
	}
	if r.Header.Get("Authorization") != "Bearer "+key || r.Method != http.MethodPost {
		body(401, `{"error":"the key is not known"}`)(d, w, "")
		return
	}
	content, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	step, x := "ask", (*asked)(nil)
	if path == "calls" {
		x = d.ask(test+"/"+way, content)
	} else if id, is := strings.CutSuffix(strings.TrimPrefix(path, "calls/"), "/take"); is {
		if step, x = "take", d.take(id, content); x == nil {
			body(409, `{"error":"the call is another one, or is not stamped"}`)(d, w, "")
			return
		}
	}
	if x == nil {
		body(404, `{"error":"id: no such call"}`)(d, w, "")
		return
	}
	right := d.says(x)
	if f := faults[strings.TrimPrefix(way, step+"-")]; strings.HasPrefix(way, step+"-") && f(d, w, right) {
		return
	}
	body(200, right)(d, w, "")
}

// ask has the call of this tool and effect, which is decided as its way says: late, once it was asked for.
func (d *door) ask(way string, content []byte) *asked {
	var in struct {
		Tool      string
		Arguments map[string]any
	}
	if len(content) > call.MaxArguments+1000 || json.Unmarshal(content, &in) != nil || in.Tool == "" {
		return nil
	}
	effect := effectOf(in.Arguments)
	sum := sha256.Sum256([]byte(way + in.Tool + effect))
	name := hex.EncodeToString(sum[:])
	d.mu.Lock()
	defer d.mu.Unlock()
	_, becomes, _ := strings.Cut(way, "/")
	x := d.calls[name]
	switch {
	case x == nil:
		x = &asked{id: "call_" + name[:16], way: way, tool: in.Tool, effect: effect, sum: name, status: "approved"}
		d.calls[name] = x
		if becomes == "late" {
			x.status = "pending"
		}
	case becomes == "late" && x.status == "pending":
		x.status = "approved"
	}
	if becomes == "refused" {
		x.status = "refused"
	}
	return x
}

// of returns a way's calls of which something holds.
func (d *door) of(way string, holds func(*asked) bool) (all []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, x := range d.calls {
		if x.way == way && holds(x) {
			all = append(all, x.effect)
		}
	}
	return all
}

// askedBy are the effects that a way was asked about.
func (d *door) askedBy(way string) []string { return d.of(way, func(*asked) bool { return true }) }

// taken is how many calls of a way were granted.
func (d *door) taken(way string) int {
	return len(d.of(way, func(x *asked) bool { return x.status == "granted" }))
}

// effectOf leaves out what is for people alone.
func effectOf(arguments map[string]any) string {
	of := maps.Clone(arguments)
	delete(of, "description")
	return expect.JSON(of)
}

// take grants a stamped call to one attempt, unless that names another tool or other arguments.
func (d *door) take(id string, content []byte) *asked {
	var in struct {
		Use       string `json:"tool_use_id"`
		Tool      string
		Arguments map[string]any
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, x := range d.calls {
		if x.id == id && json.Unmarshal(content, &in) == nil && in.Use != "" &&
			in.Tool == x.tool && effectOf(in.Arguments) == x.effect &&
			(x.status == "approved" || x.status == "granted" && x.use == in.Use) {
			x.status, x.use = "granted", in.Use
			return x
		}
	}
	return nil
}

func (d *door) says(x *asked) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	say := map[string]string{
		"approved": "It is stamped. Take it.", "granted": "It was granted to an attempt already.",
		"pending": x.id + " waits for people's stamp. Nothing was run. Repeat exactly this call later.",
		"refused": x.id + " was refused by 佐藤: over the budget. Nothing was run.",
	}[x.status]
	return expect.JSON(map[string]any{"id": x.id, "status": x.status, "tool": x.tool, "sha256": x.sum, "say": say})
}

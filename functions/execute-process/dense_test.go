package main

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/template"
	"ringi/infra/local/vendors"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/outbound"
	"ringi/shared/tool/mcp"
	"ringi/shared/tool/runner"
)

// talkative is the rooms server, whose answers to bookings are changed.
type talkative struct {
	change func(answer string) string
	stream bool // they are events
}

func (s talkative) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	rec := httptest.NewRecorder()
	vendors.NewRooms().ServeHTTP(rec, r) // each try books anew
	answer, kind := rec.Body.String(), rec.Header().Get("Content-Type")
	if strings.Contains(answer, `"structuredContent":{"`) {
		if answer = s.change(strings.TrimSpace(answer)); s.stream {
			answer, kind = "data: "+answer+"\n\n", "text/event-stream"
		}
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(rec.Code)
	_, _ = io.WriteString(w, answer)
}

// beside adds members to the structured content.
func beside(members string) func(string) string {
	return func(answer string) string {
		return strings.Replace(answer, `"structuredContent":{"`, `"structuredContent":{`+members+`,"`, 1)
	}
}

// A server that answers with as many small values as an answer can hold, or as are decoded at all, does not end the
// function after its write was made.
func TestADenseAnswerFitsIntoTheMemory(t *testing.T) {
	expect.AtNight(t) // TestTheLargestResultsFitIntoTheMemory is a sample
	const most = 7900 << 10
	of := func(value string, bytes int) string {
		return strings.TrimSuffix(strings.Repeat(value+",", bytes/(len(value)+1)), ",")
	}
	more := func(value string, bytes int) func(string) string { return beside(`"more":[` + of(value, bytes) + `]`) }
	var few, named []string
	for n := range 1000 {
		few = append(few, fmt.Sprintf(`"m%d":{"":1}`, n))
	}
	for n := range most / len(strings.Join(few, ",")) {
		named = append(named, fmt.Sprintf(`"n%d":{%s}`, n, strings.Join(few, ",")))
	}
	for name, tt := range map[string]struct {
		server talkative
		kept   bool
	}{
		"small objects":                  {talkative{change: more(`{"id":123456}`, most)}, true},
		"empty objects":                  {talkative{change: more(`{}`, most)}, true},
		"numbers":                        {talkative{change: more(`1`, most)}, true},
		"as many objects as are decoded": {talkative{change: more(`{"id":123456}`, 3580<<10)}, true},
		"objects in objects":             {talkative{change: beside(strings.Join(named, ","))}, true},
		"a message in several lines":     {talkative{stream: true, change: more("\ndata: "+of(`{"id":123456}`, 8<<10), most)}, true},
		"metadata": {talkative{change: func(answer string) string {
			return strings.Replace(answer, `"structuredContent":`, `"_meta":{"more":[`+of(`{"id":123456}`, most)+`]},"structuredContent":`, 1)
		}}, true},
		"many icons": {talkative{change: func(answer string) string {
			return strings.Replace(answer, `"content":[`, `"content":[{"type":"text","text":"","icons":[`+of(`{}`, most)+`]},`, 1)
		}}, false},
		"what something follows": {talkative{change: func(answer string) string {
			return more(`{"id":123456}`, most)(answer) + "}"
		}}, false},
	} {
		t.Run(name, func(t *testing.T) { bookAtTalkative(t, tt.server, tt.kept) })
	}
}

func bookAtTalkative(t *testing.T, server talkative, kept bool) {
	s := httptest.NewServer(server)
	defer s.Close()
	template.Fits(t, "ExecuteProcessFunction", []string{vendorOf + "=" + s.URL}, func() {
		url := os.Getenv(vendorOf)
		m := &meeting{world: newWorld(t, pipelinetest.Start(t))}
		reach := outbound.Dialer{Allow: []string{strings.TrimPrefix(url, "http://")}}.Client()
		m.tools.Tools = expect.Value(runner.New(m.h.Catalog, runner.Config{
			Credentials: tokens{m.vendors}, Outbound: reach, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		}))(t)
		settings := tenancy.DefaultSettings()
		settings.MCPServers = []tenancy.MCPServer{{Name: "rooms", URL: url}}
		expect.Value(m.Store.SaveSettings(t.Context(), m.Ref.Tenant, settings, pipelinetest.Approver(), m.Now()))(t)
		m.admin = mcp.Admin{Rows: m.Store, Credentials: tokens{m.vendors}, Client: mcp.Client{HTTP: reach}, Now: time.Now}
		m.allow(booking, aggregate.Write)
		m.approved(m.book(1))
		template.Settle(t)
		m.run()
		if kept {
			m.ends(task.ExecutionCompleted, "", task.StepCompleted)
		} else {
			m.ends(task.ExecutionFailed, task.ReasonToolUnknown, task.StepUnknown)
		}
	})
}

package main

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/peak"
	"ringi/infra/local/vendors/rooms"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/outbound"
	"ringi/shared/tool/mcp"
	"ringi/shared/tool/runner"
)

// talkative is the rooms server, which answers a booking with a long list beside it.
type talkative struct{ list string }

func (s talkative) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	rec := httptest.NewRecorder()
	rooms.New().ServeHTTP(rec, r) // each try books anew
	w.Header().Set("Content-Type", rec.Header().Get("Content-Type"))
	w.WriteHeader(rec.Code)
	_, _ = w.Write(bytes.Replace(rec.Body.Bytes(),
		[]byte(`"structuredContent":{"`), []byte(`"structuredContent":{"more":[`+s.list+`],"`), 1))
}

// A server that answers with as many small values as an answer can hold, or as are decoded at all, does not end the
// function after its write was made.
func TestADenseAnswerFitsIntoTheMemory(t *testing.T) {
	of := func(value string, bytes int) string {
		return strings.TrimSuffix(strings.Repeat(value+",", bytes/(len(value)+1)), ",")
	}
	for name, list := range map[string]string{
		"small objects": of(`{"id":123456}`, 7900<<10), "empty objects": of(`{}`, 7900<<10), "numbers": of(`1`, 7900<<10),
		"as many objects as are decoded": of(`{"id":123456}`, 3580<<10),
	} {
		t.Run(name, func(t *testing.T) { bookAtTalkative(t, list) })
	}
}

func bookAtTalkative(t *testing.T, list string) {
	s := httptest.NewServer(talkative{list})
	defer s.Close()
	peak.Fits(t, "ExecuteProcessFunction", []string{vendorOf + "=" + s.URL}, func() {
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
		peak.Settle(t)
		m.run()
		m.ends(task.ExecutionCompleted, "", task.StepCompleted)
		result := m.Load().Steps[0].Result
		expect.That(t, result.Bytes > 3<<20, "the result has %d bytes", result.Bytes)
	})
}

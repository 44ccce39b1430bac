package stack

import (
	"bufio"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"ringi/shared/runtime/expect"
)

// atOnce answers each call as soon as it has read the last byte of the body.
func atOnce(t *testing.T, answer string) string {
	expect.Patience(t)
	l := expect.Value(listen(anyPort, "-test"))(t)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				said := bufio.NewReader(c)
				for {
					r, err := http.ReadRequest(said)
					if err != nil {
						return
					}
					io.CopyN(io.Discard, r.Body, r.ContentLength)
					io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 65536\r\n\r\n"+answer)
				}
			}()
		}
	}()
	return address(l)
}

// The answer may arrive before the transport knows that the call's body has ended.
func TestAnAnswerThatComesAtOnceIsForwardedWhole(t *testing.T) {
	call, answer := strings.Repeat("c", 9000), strings.Repeat("a", 65536)
	h := expect.Value(awsHandler(http.NotFoundHandler(), http.NotFoundHandler(), http.NotFoundHandler(), atOnce(t, answer), "", "", slog.New(slog.DiscardHandler)))(t)
	front := httptest.NewServer(h)
	defer front.Close()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for range 100 {
				resp, err := client.Post(front.URL, "", strings.NewReader(call))
				if err != nil {
					t.Error(err)
					return
				}
				got, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err != nil || string(got) != answer {
					t.Errorf("%d bytes of the answer, %v", len(got), err)
					return
				}
			}
		})
	}
	all.Wait()
}

// Calls on tables and streams go to the tables' engine, and all other calls to the other stand-ins.
func TestCallsOnTablesGoToTheirEngine(t *testing.T) {
	answering := func(name string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, name) }))
		t.Cleanup(s.Close)
		return s.URL
	}
	none := http.NotFoundHandler()
	h := expect.Value(awsHandler(none, none, none, answering("stand-ins"), answering("tables"), "", slog.New(slog.DiscardHandler)))(t)
	for target, want := range map[string]string{
		"DynamoDB_20120810.PutItem": "tables", "DynamoDBStreams_20120810.GetRecords": "tables",
		"AmazonSQS.SendMessage": "stand-ins", "AWSStepFunctions.StartExecution": "stand-ins", "": "stand-ins",
	} {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader("{}"))
		r.Header.Set("X-Amz-Target", target)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		got := w.Body.String()
		expect.That(t, got == want, "%q is answered by the %s, want the %s", target, got, want)
	}
}

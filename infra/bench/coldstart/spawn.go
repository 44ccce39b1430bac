package coldstart

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"ringi/infra/local/process"
)

// startWithin is Lambda's own limit on a start.
const startWithin = 10 * time.Second

// sample is one start of a process.
type sample struct {
	took time.Duration
	rss  int64
}

// spawn starts a process and ends it when it asks for its first event.
func (s starter) spawn(ctx context.Context) (sample, error) {
	asked := make(chan time.Time, 1)
	said := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/invocation/next") {
			select {
			case asked <- time.Now():
			default:
			}
			<-r.Context().Done()
			return
		}
		var body bytes.Buffer
		body.ReadFrom(http.MaxBytesReader(w, r.Body, 1<<16))
		select {
		case said <- body.String():
		default:
		}
		w.WriteHeader(http.StatusAccepted)
	}))
	defer server.Close()

	var output bytes.Buffer
	cmd := exec.Command(s.command[0], s.command[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, &output, &output
	cmd.Env = append([]string{"AWS_LAMBDA_RUNTIME_API=" + server.Listener.Addr().String()}, s.environment...)
	began := time.Now()
	p, err := process.Start(cmd)
	if err != nil {
		return sample{}, err
	}
	defer p.Kill()
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	select {
	case at := <-asked:
		return sample{at.Sub(began), memory(p.PID())}, nil
	case text := <-said:
		return sample{}, fmt.Errorf("start %s: it said %s", s.command[0], text)
	case <-p.Done():
		return sample{}, fmt.Errorf("start %s: it ended: %s", s.command[0], &output)
	case <-ctx.Done():
		return sample{}, fmt.Errorf("start %s: %w", s.command[0], errors.Join(ctx.Err(), p.Err()))
	}
}

// memory is what a process keeps in memory, in bytes; 0 where /proc doesn't tell.
func memory(pid int) int64 {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			if err == nil {
				return kb << 10
			}
		}
	}
	return 0
}

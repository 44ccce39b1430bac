package template

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"testing"

	"ringi/shared/runtime/expect"
)

const (
	// measured marks the process whose memory is measured.
	measured = "RINGI_TEST_MEASURED"
	// spareKB is for what a function has and the measured process lacks, such as connections to a model's provider. What
	// the measured process alone has, the test, is about as much.
	spareKB = 16 << 10
)

// Fits runs the test once more, in a process of its own, and there calls do. That process's largest memory must
// fit into the memory that the template gives to the function.
func Fits(t *testing.T, function string, environment []string, do func()) {
	t.Helper()
	if detecting {
		t.Skip("the race detector takes memory of its own")
	}
	if os.Getenv(measured) != "" {
		do()
		status := expect.Value(os.ReadFile("/proc/self/status"))(t)
		_, peak, _ := bytes.Cut(status, []byte("VmHWM:"))
		fmt.Printf("\npeak %s\n", bytes.TrimSpace(peak[:bytes.IndexByte(peak, '\n')]))
		return
	}
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("without /proc the memory is not known")
	}
	path := filepath.Join("..", "..", "template.yaml") // from a function's folder
	tpl := expect.Value(Read(path, Names{}, map[string]string{"Stage": "dev"}))(t)
	limit := 0
	for _, f := range tpl.Functions {
		if f.ID == function {
			limit = f.Memory
		}
	}
	peak := 0
	for range 3 { // a machine that stalls collects garbage late
		if peak = peakKB(t, limit, environment); peak < limit<<10-spareKB {
			break
		}
	}
	t.Logf("%s takes up to %d MiB of %d", function, peak>>10, limit)
	expect.That(t, peak < limit<<10-spareKB, "%s takes %d KiB of %d MB", function, peak, limit)
}

// peakKB runs the test in a process of its own, with the collector's limit as boot.BoundMemory sets it.
func peakKB(t *testing.T, limit int, environment []string) (kb int) {
	t.Helper()
	again := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	again.Env = append(append(os.Environ(), environment...), measured+"=1",
		"GOGC=100", fmt.Sprintf("GOMEMLIMIT=%dMiB", limit/4*3))
	out, err := again.CombinedOutput()
	_, peak, found := bytes.Cut(out, []byte("\npeak "))
	expect.Must(t, err == nil && found, "%v\n%s", err, out)
	fmt.Sscan(string(peak), &kb)
	expect.Must(t, kb > 0, "no peak in %.40s", peak)
	return kb
}

// Settle forgets, in the measured process, what preparing the test took.
func Settle(t *testing.T) {
	t.Helper()
	debug.FreeOSMemory()
	expect.NoError(t, os.WriteFile("/proc/self/clear_refs", []byte("5"), 0))
}

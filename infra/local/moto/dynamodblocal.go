package moto

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/process"
	"ringi/shared/runtime/expect"
)

// readyWithin bounds the start of an installed server. A start takes three seconds on an idle machine.
const localReadyWithin = 3 * time.Minute

// ErrJava says what to install when DynamoDB Local can't be downloaded or run.
var ErrJava = errors.New("DynamoDB Local needs a JDK of Java 17 or newer and Maven: install them (on Debian and " +
	"Ubuntu default-jdk-headless and maven)")

//go:embed server
var server embed.FS

// Start installs DynamoDB Local if necessary, starts it without tables on a free port, and waits until it answers. The
// server keeps everything in memory. It ends with this process or by Stop. Access keys may only contain letters and
// digits. If log is nil, the server's error output is discarded.
//
// It returns ErrJava if Java or Maven is missing, and Maven's output if the libraries can't be downloaded.
func StartLocal(ctx context.Context, log *slog.Logger) (*process.Server, error) {
	log = cmp.Or(log, slog.New(slog.DiscardHandler))
	if err := suitable(ctx); err != nil {
		return nil, err
	}
	folder, err := process.Folder()
	if err != nil {
		return nil, err
	}
	dir, err := install(ctx, folder, log)
	if err != nil {
		return nil, err
	}
	// Only the C1 compiler runs: a test ends before the slower C2 compiler would pay off.
	java := exec.Command("java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx1g",
		"-Djava.library.path=lib", "-cp", "classes:lib/*", "Launcher")
	java.Dir = dir
	java.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.TempDir(), "JAVA_HOME=" + os.Getenv("JAVA_HOME"),
		"DDB_LOCAL_TELEMETRY=0"}
	return process.Serve(ctx, "DynamoDB Local", java, localReadyWithin, log)
}

// suitable returns ErrJava unless Maven and a new enough JDK are installed.
func suitable(ctx context.Context) error {
	for _, name := range []string{"mvn", "java"} {
		if _, err := exec.LookPath(name); err != nil {
			return ErrJava
		}
	}
	out, err := exec.CommandContext(ctx, "javac", "-version").CombinedOutput() // "javac 17.0.15"
	if err != nil {
		return ErrJava
	}
	major, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(string(out)), "javac "), ".")
	if version, err := strconv.Atoi(major); err != nil || version < 17 {
		return ErrJava
	}
	return nil
}

// install downloads the libraries with Maven and compiles the launcher against them.
func install(ctx context.Context, folder string, log *slog.Logger) (string, error) {
	files, err := fs.Sub(server, "server")
	if err != nil {
		return "", fmt.Errorf("install DynamoDB Local: %w", err)
	}
	return process.Install(folder, "dynamodblocal", files, func(dir string) error {
		log.Info("fetching DynamoDB Local by Maven (once, about ten seconds)")
		if out, err := run(ctx, dir, "mvn", "-q", "-B", "dependency:copy-dependencies",
			"-DoutputDirectory="+filepath.Join(dir, "lib")); err != nil {
			return fmt.Errorf("maven could not fetch DynamoDB Local (is a repository reachable from here?): %s", out)
		}
		if out, err := run(ctx, dir, "javac", "-cp", "lib/*", "-d", "classes", "Launcher.java"); err != nil {
			return fmt.Errorf("compile the launcher of DynamoDB Local: %s", out)
		}
		return nil
	})
}

func run(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// withoutJava is set where CI has no Java; tests of this engine are then skipped. In CI without this variable, they
// fail if Java is missing.
const withoutJava = "RINGI_WITHOUT_JAVA"

// LocalForTest starts an empty server for one test of the night and returns its endpoint. The server ends with the
// test. Without Java or Maven the test is skipped on a laptop. In CI it fails, unless withoutJava is set.
func LocalForTest(t testing.TB) string {
	t.Helper()
	expect.AtNight(t)
	s, err := StartLocal(t.Context(), nil)
	if errors.Is(err, ErrJava) && (os.Getenv("CI") == "" || os.Getenv(withoutJava) != "") {
		t.Skip(err)
	}
	expect.NoError(t, err)
	t.Cleanup(s.Stop)
	return s.URL
}

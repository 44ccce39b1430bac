package contestfiles_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"ringi/shared/domain/tenancy"
	"ringi/shared/explain/errorclass"
	"ringi/shared/model/contestfiles"
	"ringi/shared/model/teamconfig"
	"ringi/shared/runtime/expect"
)

// rows know T1, the deployment's own, and T2.
type rows struct{ err error }

func (r rows) Further(_ context.Context, tenant string) (tenancy.Tenant, bool, error) {
	return tenancy.Tenant{TeamID: "T" + tenant}, tenant != "1", r.err
}

// TestFilesAreTheOwnWorkspacesUnlessShared: a further workspace has what is shared with it by name, and none when that
// can't be understood.
func TestFilesAreTheOwnWorkspacesUnlessShared(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) {
		expect.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	write("a.toml", "[orchestrator]\n")
	write("b.toml", "[orchestrator]\n")
	sees := func(tenant string, want ...string) {
		t.Helper()
		w := expect.Value(contestfiles.For(aws.Config{}, folder, rows{})(t.Context(), tenant))(t)
		files, _, err := w.Contests()
		expect.NoError(t, err)
		expect.Same(t, want, append([]string(nil), files...))
	}
	sees("1", "a.toml", "b.toml")
	sees("2")
	write(teamconfig.SharedFile, "[contests]\n'b.toml' = ['T2']\n")
	sees("1", "a.toml", "b.toml")
	sees("2", "b.toml")
	sees("3")
	write(teamconfig.SharedFile, "[contests\n")
	sees("2")
	if _, err := contestfiles.For(aws.Config{}, folder, rows{errors.New("down")})(t.Context(), "1"); !errors.Is(err, errorclass.ErrUnavailable) {
		t.Errorf("while nobody knows whose they are: %v", err)
	}
}

// While the bucket is down no contest is shared, and the error says so: it does not blame a file.
func TestNobodyKnowsWhatIsSharedWhileTheFileIsOutOfReach(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, "<Error><Code>SlowDown</Code></Error>")
	}))
	defer server.Close()
	cfg := aws.Config{Region: "us-east-1", BaseEndpoint: &server.URL, RetryMaxAttempts: 1, Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}
	if w, err := contestfiles.For(cfg, "s3://files", rows{})(t.Context(), "2"); !errors.Is(err, errorclass.ErrUnavailable) {
		t.Errorf("%+v, %v", w, err)
	}
}

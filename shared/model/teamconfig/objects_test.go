package teamconfig_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"ringi/infra/local/moto"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/model/teamconfig"
	"ringi/shared/runtime/expect"
)

// The list has the contests below the workspace's prefix, including those in folders, and none of another prefix.
func TestContestsOfABucketAreListed(t *testing.T) {
	url := moto.ForTests(t)
	cfg := aws.Config{Region: "us-east-1", BaseEndpoint: &url,
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}
	client := s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true })
	bucket := strings.ToLower(t.Name())
	expect.Value(client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &bucket}))(t)
	const about = "[orchestrator]\n[[orchestrator.teams]]\nconfig = 'a.toml'\n"
	for name, text := range map[string]string{
		"team/contest.toml": about, "team/configs/other.toml": about, "team/configs/a.toml": "[team]\nteam_id = 'a'\n", "team/notes.txt": "x", "team/": "",
		"teammate/contest.toml": about, "contest.toml": about,
	} {
		expect.Value(client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: &name,
			Body: strings.NewReader(text)}))(t)
	}
	for prefix, want := range map[string][]string{
		"/team": {"configs/other.toml", "contest.toml"},
		"":      {"contest.toml", "team/configs/other.toml", "team/contest.toml", "teammate/contest.toml"},
		"/none": nil,
	} {
		w := expect.Value(teamconfig.Open(fmt.Sprintf("s3://%s%s", bucket, prefix), teamconfig.Bucket(cfg)))(t)
		files, more, err := w.Contests()
		expect.NoError(t, err)
		expect.Same(t, want, files)
		expect.That(t, !more, "%q: there are no more", prefix)
	}
}

// rows has T1, the deployment's own workspace, and T2, a further one.
type rows struct{ err error }

func (r rows) Further(_ context.Context, tenant string) (tenancy.Tenant, bool, error) {
	return tenancy.Tenant{TeamID: "T" + tenant}, tenant != "1", r.err
}

// A further workspace sees only files that are shared with it by name, and none if shared.toml can't be read.
func TestFilesAreTheOwnWorkspacesUnlessShared(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) {
		expect.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	write("a.toml", "[orchestrator]\n")
	write("b.toml", "[orchestrator]\n")
	sees := func(tenant string, want ...string) {
		t.Helper()
		w := expect.Value(teamconfig.For(aws.Config{}, folder, rows{})(t.Context(), tenant))(t)
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
	if _, err := teamconfig.For(aws.Config{}, folder, rows{errors.New("down")})(t.Context(), "1"); !errors.Is(err,
		explain.ErrUnavailable) {
		t.Errorf("while nobody knows whose they are: %v", err)
	}
}

// While the bucket is unavailable no contest is shared, and the error does not blame a file.
func TestNobodyKnowsWhatIsSharedWhileTheFileIsOutOfReach(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, "<Error><Code>SlowDown</Code></Error>")
	}))
	defer server.Close()
	cfg := aws.Config{Region: "us-east-1", BaseEndpoint: &server.URL, RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}
	if w, err := teamconfig.For(cfg, "s3://files", rows{})(t.Context(), "2"); !errors.Is(err, explain.ErrUnavailable) {
		t.Errorf("%+v, %v", w, err)
	}
}

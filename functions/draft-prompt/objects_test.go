package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"ringi/shared/domain/tenancy"
	"ringi/shared/explain/errorclass"
	"ringi/shared/model/contestfiles"
	"ringi/shared/model/teamconfig"
	"ringi/shared/runtime/expect"
)

func TestFilesOfABucketAreRead(t *testing.T) {
	forbidden := false
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		files := map[string]string{
			"/files/teams/contest.toml": "[orchestrator]\n[[orchestrator.teams]]\nconfig = 'a.toml'\n",
			"/files/teams/a.toml":       "[team]\nteam_id = 'a'\nteam_name = 'A'\n[team.leader]\nmodel = 'demo'\n",
		}
		text, there := files[r.URL.Path]
		switch {
		case there:
			io.WriteString(w, text)
		case forbidden:
			w.WriteHeader(http.StatusForbidden)
			io.WriteString(w, "<Error><Code>AccessDenied</Code><Message>User: arn:aws:sts::123456789012:assumed-role/x is not authorized</Message></Error>")
		default:
			w.WriteHeader(http.StatusNotFound)
			io.WriteString(w, "<Error><Code>NoSuchKey</Code><Message>x</Message></Error>")
		}
	}))
	defer s.Close()
	cfg := aws.Config{Region: "us-east-1", BaseEndpoint: &s.URL, Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}
	h := &Handler{Workspace: func(context.Context, string) (teamconfig.Workspace, error) {
		return teamconfig.Open("s3://files/teams", contestfiles.Bucket(cfg))
	}}
	of := tenancy.DraftContest{File: "contest.toml", MaxRounds: 3}
	if c, err := h.config(t.Context(), "", of); err != nil || len(c.Teams) != 1 || len(c.Evaluator.Metrics) == 0 {
		t.Errorf("without files of an evaluator and a judge: %+v, %v", c, err)
	}
	forbidden = true
	_, err := h.config(t.Context(), "", of)
	if err == nil || !strings.Contains(err.Error(), "configs/evaluator.toml: evaluator_config: can't be opened: the bucket says AccessDenied") || strings.Contains(err.Error(), "arn:") {
		t.Errorf("people read on a card: %v", err)
	}
}

func TestAFileThatIsOutOfReachIsNoFileThatIsWrong(t *testing.T) {
	var status int
	var code string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		expect.Is(t, r.URL.Path, "/files/contests/configs/contest.toml", "asked for")
		w.WriteHeader(status)
		fmt.Fprintf(w, "<Error><Code>%s</Code><Message>User: arn:aws:sts::1:role</Message></Error>", code)
	}))
	defer server.Close()
	cfg := aws.Config{Region: "us-east-1", BaseEndpoint: &server.URL, RetryMaxAttempts: 1, Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}
	h := &Handler{Workspace: func(context.Context, string) (teamconfig.Workspace, error) {
		return teamconfig.Open("s3://files/contests", contestfiles.Bucket(cfg))
	}}
	for _, tt := range []struct {
		status int
		code   string
		later  bool
		says   string
	}{
		{404, "NoSuchKey", false, "there is no such file in the workspace"},
		{403, "AccessDenied", false, "configs/contest.toml: can't be opened: the bucket says AccessDenied"},
		{404, "NoSuchBucket", false, "the bucket says NoSuchBucket"},
		{503, "SlowDown", true, ""},
		{500, "InternalError", true, ""},
	} {
		status, code = tt.status, tt.code
		_, err := h.config(t.Context(), "", tenancy.DraftContest{File: "configs/contest.toml", MaxRounds: 3})
		if err == nil || errors.Is(err, errorclass.ErrUnavailable) != tt.later || !strings.Contains(err.Error(), tt.says) || !tt.later && strings.Contains(err.Error(), "arn:") {
			t.Errorf("%s: %v", code, err)
		}
	}
	server.Close()
	if _, err := h.config(t.Context(), "", tenancy.DraftContest{File: "configs/contest.toml", MaxRounds: 3}); !errors.Is(err, errorclass.ErrUnavailable) {
		t.Errorf("nobody answers: %v", err)
	}
}

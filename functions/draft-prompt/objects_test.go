package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"ringi/shared/teamconfig"
	"ringi/shared/tenancy"
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
	h := &Handler{Workspace: func() (teamconfig.Workspace, error) { return teamconfig.Open("s3://files/teams", objects(cfg)) }}
	of := tenancy.DraftContest{File: "contest.toml", MaxRounds: 3}
	if c, err := h.config(of); err != nil || len(c.Teams) != 1 || len(c.Evaluator.Metrics) == 0 {
		t.Errorf("without files of an evaluator and a judge: %+v, %v", c, err)
	}
	forbidden = true
	_, err := h.config(of)
	if err == nil || !strings.Contains(err.Error(), "configs/evaluator.toml: evaluator_config: can't be opened: the bucket says AccessDenied") || strings.Contains(err.Error(), "arn:") {
		t.Errorf("people read on a card: %v", err)
	}
}

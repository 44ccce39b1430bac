package teamconfig_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"ringi/infra/local/moto"
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
		"team/contest.toml": about, "team/configs/other.toml": about, "team/configs/a.toml": "[team]\nteam_id = 'a'\n",
		"team/notes.txt": "x", "team/": "",
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

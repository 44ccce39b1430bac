package teamconfig_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"ringi/infra/local/process"
	"ringi/shared/model/teamconfig"
	"ringi/shared/runtime/expect"
)

// Files are those below the workspace's prefix, including those in folders, and none of another prefix.
func TestFilesOfABucketAreRead(t *testing.T) {
	url := process.MotoForTests(t)
	cfg := aws.Config{Region: "us-east-1", BaseEndpoint: &url,
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}
	client := s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true })
	bucket := strings.ToLower(t.Name())
	expect.Value(client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &bucket}))(t)
	const about = "[orchestrator]\n[[orchestrator.teams]]\nconfig = 'a.toml'\n"
	for name, text := range map[string]string{
		"team/contest.toml": about, "team/a.toml": "[team]\nteam_id = 'a'\nteam_name = 'A'\n", "teammate/other.toml": about,
	} {
		expect.Value(client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: &name,
			Body: strings.NewReader(text)}))(t)
	}
	w := expect.Value(teamconfig.Open(fmt.Sprintf("s3://%s/team", bucket), teamconfig.Bucket(cfg)))(t)
	c, found := w.Contest("contest.toml", "en")
	expect.That(t, len(found) == 0 && len(c.Teams) == 1 && c.Teams[0].TeamID == "a", "%+v %v", c, found)
	_, found = w.Contest("other.toml", "en")
	expect.That(t, len(found) == 1 && strings.Contains(found[0].String(), "there is no such file"), "%v", found)
}

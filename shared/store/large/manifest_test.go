package large_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/go-cmp/cmp"

	"ringi/infra/local/moto"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/large"
)

// bucket is a new bucket with the store on it.
func bucket(t *testing.T, name string) (*s3.Client, *large.Versions) {
	t.Helper()
	endpoint := moto.ForTests(t)
	client := s3.NewFromConfig(config(endpoint), func(o *s3.Options) { o.UsePathStyle = true })
	expect.Value(client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &name}))(t)
	return client, large.OpenVersions(config(endpoint), name)
}

const folder = "workspaces/versions/01TENANT/0b1c/"

func TestAManifestStandsBesideItsVersion(t *testing.T) {
	client, s := bucket(t, "manifests")
	made, _ := tree(t, "1\n")
	version := expect.Value(s.Put(t.Context(), session, made))(t)
	// The archive is not needed any more.
	expect.Value(client.DeleteObject(t.Context(), &s3.DeleteObjectInput{
		Bucket: aws.String("manifests"), Key: aws.String(folder + version + ".tar")}))(t)
	got := expect.Value(s.Manifest(t.Context(), session, version))(t)
	if diff := cmp.Diff(made.Manifest(), got); diff != "" {
		t.Error(diff)
	}
	empty := expect.Value(s.Manifest(t.Context(), session, ""))(t)
	expect.That(t, len(empty.Entries) == 0, "the empty version lists %v", empty)
	_, err := s.Manifest(t.Context(), large.VersionsOf{Tenant: session.Tenant, ID: "other"}, version)
	expect.Fails(t, err, large.ErrGone, "another conversation's manifest")
}

// What an action changed is computed once; cards and pages read it without an archive.
func TestADifferenceStandsBesideItsVersion(t *testing.T) {
	client, s := bucket(t, "differences")
	one, _ := tree(t, "1\n")
	two, _ := tree(t, "1\n2\n")
	base := expect.Value(s.Put(t.Context(), session, one))(t)
	version := expect.Value(s.Put(t.Context(), session, two))(t)
	_, err := s.Difference(t.Context(), session, base, version)
	expect.Fails(t, err, large.ErrGone, "before it is computed")
	for from, was := range map[string]*conversation.Tree{"": {}, base: one} {
		want := conversation.Difference(was, two)
		got, _, err := s.Compare(t.Context(), session, from, version)
		expect.NoError(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	for _, v := range []string{base, version} {
		expect.Value(client.DeleteObject(t.Context(), &s3.DeleteObjectInput{
			Bucket: aws.String("differences"), Key: aws.String(folder + v + ".tar")}))(t)
	}
	got := expect.Value(s.Difference(t.Context(), session, base, version))(t)
	if diff := cmp.Diff(conversation.Difference(one, two), got); diff != "" {
		t.Error(diff)
	}
	_, _, err = s.Compare(t.Context(), session, version, base)
	expect.Fails(t, err, large.ErrGone, "archives that are gone")
	_, err = s.Difference(t.Context(), session, "../x", version)
	expect.That(t, err != nil, "a version is a path")
}

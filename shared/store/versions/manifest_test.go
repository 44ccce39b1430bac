package versions_test

import (
	"bytes"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/go-cmp/cmp"

	"ringi/infra/local/moto"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/versions"
)

// bucket is a new bucket with the store on it.
func bucket(t *testing.T, name string) (*s3.Client, *versions.Store) {
	t.Helper()
	endpoint := moto.ForTests(t)
	client := s3.NewFromConfig(config(endpoint), func(o *s3.Options) { o.UsePathStyle = true })
	expect.Value(client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &name}))(t)
	return client, versions.Open(config(endpoint), name)
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
	_, err := s.Manifest(t.Context(), versions.Conversation{Tenant: session.Tenant, ID: "other"}, version)
	expect.Fails(t, err, versions.ErrGone, "another conversation's manifest")
}

// A version of an earlier release has an archive only.
func TestAVersionWithoutAManifestGetsOne(t *testing.T) {
	client, s := bucket(t, "earlier")
	made, archive := tree(t, "1\n")
	version := conversation.Version(archive)
	expect.Value(client.PutObject(t.Context(), &s3.PutObjectInput{
		Bucket: aws.String("earlier"), Key: aws.String(folder + version + ".tar"), Body: bytes.NewReader(archive)}))(t)
	got := expect.Value(s.Manifest(t.Context(), session, version))(t)
	if diff := cmp.Diff(made.Manifest(), got); diff != "" {
		t.Error(diff)
	}
	listed := func() int {
		out := expect.Value(client.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{
			Bucket: aws.String("earlier"), Prefix: aws.String(folder)}))(t)
		return len(out.Contents)
	}
	expect.Is(t, listed(), 1, "objects after it was only read")
	for range 2 {
		expect.NoError(t, s.Complete(t.Context(), session, version, made))
		expect.Is(t, listed(), 2, "objects after it was completed")
	}
	expect.NoError(t, s.Complete(t.Context(), session, "", &conversation.Tree{}))
	expect.Is(t, listed(), 2, "objects after the empty version was completed")
}

// What an action changed is computed once; cards and pages read it without an archive.
func TestADifferenceStandsBesideItsVersion(t *testing.T) {
	client, s := bucket(t, "differences")
	one, first := tree(t, "1\n")
	two, _ := tree(t, "1\n2\n")
	base := conversation.Version(first)
	expect.Value(client.PutObject(t.Context(), &s3.PutObjectInput{ // an earlier release left no manifest
		Bucket: aws.String("differences"), Key: aws.String(folder + base + ".tar"), Body: bytes.NewReader(first)}))(t)
	version := expect.Value(s.Put(t.Context(), session, two))(t)
	_, err := s.Difference(t.Context(), session, base, version)
	expect.Fails(t, err, versions.ErrGone, "before it is computed")
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
	m := expect.Value(s.Manifest(t.Context(), session, base))(t)
	expect.Is(t, len(m.Entries), 1, "entries of the base's manifest")
	_, _, err = s.Compare(t.Context(), session, version, base)
	expect.Fails(t, err, versions.ErrGone, "archives that are gone")
	_, err = s.Difference(t.Context(), session, "../x", version)
	expect.That(t, err != nil, "a version is a path")
}

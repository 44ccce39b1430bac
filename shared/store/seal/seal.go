// Package seal signs the heads of audit log chains with a KMS key, and stores them in a bucket with object lock, where
// nobody can delete them.
package seal

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	kmstypes "github.com/aws/aws-sdk-go-v2/service/kms/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"golang.org/x/sync/errgroup"

	"ringi/shared/domain/chain"
)

// Signer is a KMS key for ECDSA with P-256 over SHA-256.
type Signer struct {
	KMS *kms.Client
	Key string
}

// Sign returns the signature of a text, as ASN.1.
func (s Signer) Sign(ctx context.Context, text []byte) ([]byte, error) {
	sum := sha256.Sum256(text)
	out, err := s.KMS.Sign(ctx, &kms.SignInput{
		KeyId: &s.Key, Message: sum[:], MessageType: kmstypes.MessageTypeDigest, SigningAlgorithm: kmstypes.SigningAlgorithmSpecEcdsaSha256,
	})
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	return out.Signature, nil
}

// Public returns the public key in DER (X.509).
func (s Signer) Public(ctx context.Context) ([]byte, error) {
	out, err := s.KMS.GetPublicKey(ctx, &kms.GetPublicKeyInput{KeyId: &s.Key})
	if err != nil {
		return nil, fmt.Errorf("get the public key: %w", err)
	}
	return out.PublicKey, nil
}

// Check returns a function that checks signatures against a public key.
func Check(public []byte) (chain.Signed, error) {
	parsed, err := x509.ParsePKIXPublicKey(public)
	if err != nil {
		return nil, fmt.Errorf("read the public key: %w", err)
	}
	key, ok := parsed.(*ecdsa.PublicKey)
	if !ok {
		return nil, fmt.Errorf("the public key is a %T, not of ECDSA", parsed)
	}
	return func(text, signature []byte) bool {
		sum := sha256.Sum256(text)
		return ecdsa.VerifyASN1(key, sum[:], signature)
	}, nil
}

// Heads stores heads in a bucket with object lock.
type Heads struct {
	S3     *s3.Client
	Bucket string
}

// Open returns a function's bucket. It uses path-style addresses because a bucket's name need not resolve as a host.
func Open(cfg aws.Config, bucket string) Heads {
	return Heads{S3: s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true }), Bucket: bucket}
}

func prefix(tenant string) string { return "heads/" + tenant + "/" }

// Keep stores a head. The bucket's default retention locks it.
func (h Heads) Keep(ctx context.Context, head chain.Head) error {
	body, err := json.Marshal(head)
	if err != nil {
		return fmt.Errorf("write a head: %w", err)
	}
	key := fmt.Sprintf("%s%s/%010d.json", prefix(head.Tenant), head.At.UTC().Format("2006-01-02"), head.Seq)
	// S3 requires a checksum for objects with a lock.
	_, err = h.S3.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &h.Bucket, Key: &key, Body: bytes.NewReader(body), ContentType: aws.String("application/json"), ChecksumAlgorithm: s3types.ChecksumAlgorithmSha256,
	})
	if err != nil {
		return fmt.Errorf("keep head %d of %s: %w", head.Seq, head.Tenant, err)
	}
	return nil
}

// readAtOnce is how many heads are read in parallel.
const readAtOnce = 16

// All returns a tenant's signed heads, the longest chain's last, and the names of objects that are not signed heads. It
// reads all versions of all days: a delete marker or newer version may hide an object, and the signature does not cover
// the object's key.
func (h Heads) All(ctx context.Context, tenant string, signed chain.Signed) (heads []chain.Head, strange []string, err error) {
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(readAtOnce)
	var mu sync.Mutex
	pages := s3.NewListObjectVersionsPaginator(h.S3, &s3.ListObjectVersionsInput{Bucket: &h.Bucket, Prefix: aws.String(prefix(tenant))})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, nil, errors.Join(all.Wait(), fmt.Errorf("list heads: %w", err))
		}
		for _, v := range page.Versions {
			all.Go(func() error {
				head, err := h.get(ctx, aws.ToString(v.Key), v.VersionId)
				if err != nil {
					return err
				}
				ok := head != nil && head.Tenant == tenant && signed(head.Text(), head.Signature)
				mu.Lock()
				defer mu.Unlock()
				if ok {
					heads = append(heads, *head)
				} else {
					strange = append(strange, aws.ToString(v.Key))
				}
				return nil
			})
		}
	}
	if err := all.Wait(); err != nil {
		return nil, nil, err
	}
	slices.Sort(strange)
	slices.SortFunc(heads, func(a, b chain.Head) int { return cmp.Or(cmp.Compare(a.Seq, b.Seq), a.At.Compare(b.At)) })
	return heads, strange, nil
}

// get reads one version of an object. It returns nil if the object is not a head.
func (h Heads) get(ctx context.Context, key string, version *string) (*chain.Head, error) {
	out, err := h.S3.GetObject(ctx, &s3.GetObjectInput{Bucket: &h.Bucket, Key: &key, VersionId: version})
	if err != nil {
		return nil, fmt.Errorf("get %s: %w", key, err)
	}
	defer out.Body.Close()
	body, err := io.ReadAll(io.LimitReader(out.Body, 64<<10))
	if err != nil {
		return nil, fmt.Errorf("get %s: %w", key, err)
	}
	var head chain.Head
	if json.Unmarshal(body, &head) != nil {
		return nil, nil
	}
	return &head, nil
}

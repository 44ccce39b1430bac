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
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	kmstypes "github.com/aws/aws-sdk-go-v2/service/kms/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"golang.org/x/sync/errgroup"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/chain"
	"ringi/shared/store/table"
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
		KeyId: &s.Key, Message: sum[:], MessageType: kmstypes.MessageTypeDigest,
		SigningAlgorithm: kmstypes.SigningAlgorithmSpecEcdsaSha256,
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
		Bucket: &h.Bucket, Key: &key, Body: bytes.NewReader(body), ContentType: aws.String("application/json"),
		ChecksumAlgorithm: s3types.ChecksumAlgorithmSha256,
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
func (h Heads) All(ctx context.Context, tenant string, signed chain.Signed) (heads []chain.Head, strange []string,
	err error) {
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(readAtOnce)
	var mu sync.Mutex
	pages := s3.NewListObjectVersionsPaginator(h.S3, &s3.ListObjectVersionsInput{Bucket: &h.Bucket,
		Prefix: aws.String(prefix(tenant))})
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

// A tenant's partition CHAIN#<tenant> has the chain's head and a row for each link.
const (
	chainPrefix = "CHAIN#"
	chainHead   = "HEAD"
	linkPrefix  = "LINK#"
	chains      = "CHAINS" // all heads, in GSI1
)

// Chain is the state of a tenant's chain: its last link, and how far it was stored and checked.
type Chain struct {
	chain.Head
	Kept    int       `json:"kept,omitempty"`      // seq of the newest head that was put away
	KeptAt  time.Time `json:"kept_at,omitzero"`    // when it was put away last
	Checked time.Time `json:"checked_at,omitzero"` // all rows before this were looked at once more
}

// Rows reads and writes the rows of chains.
type Rows struct{ t *table.Table }

// RowsIn returns the chains in a table.
func RowsIn(t *table.Table) Rows { return Rows{t} }

func linkKey(seq int) string { return linkPrefix + fmt.Sprintf("%010d", seq) }

// Chain returns a tenant's chain. If there is none, only the tenant is set.
func (s Rows) Chain(ctx context.Context, tenant string) (Chain, error) {
	is := Chain{Head: chain.Head{Tenant: tenant}}
	pk, err := table.TenantPartition(chainPrefix, tenant)
	if err == nil {
		err = s.t.Get(ctx, pk, chainHead, &is)
	}
	if err != nil && !errors.Is(err, aggregate.ErrNotFound) || pk == "" {
		return Chain{}, fmt.Errorf("read the chain of %.40s: %w", tenant, err)
	}
	return is, nil
}

// AppendLink appends a link to its chain. It returns aggregate.ErrConflict when another link was appended first.
// Appending the same link again changes nothing.
func (s Rows) AppendLink(ctx context.Context, l chain.Link) error {
	pk, err := table.TenantPartition(chainPrefix, l.Tenant)
	if err != nil {
		return fmt.Errorf("append a link: %w", err)
	}
	it, err := table.Pack("link", pk, linkKey(l.Seq), l)
	if err != nil {
		return err
	}
	e := table.NewExpression()
	e.Set("tenant_id", l.Tenant)
	e.Set("seq", l.Seq)
	e.Set("link", l.ID())
	e.Set("at", l.At)
	e.Set("GSI1PK", chains)
	e.Set("GSI1SK", l.Tenant)
	e.Row("chain", time.Time{})
	var condition string
	if l.Seq == 1 {
		condition = e.Absent()
	} else {
		condition = table.Both(e.Is("seq", "=", l.Seq-1), e.Is("link", "=", l.Previous))
	}
	err = s.t.TransactPast(ctx, aggregate.NewID(), []types.TransactWriteItem{
		s.t.Move(table.Key(pk, chainHead), e, condition), s.t.Put(it, 0),
	})
	if errors.As(err, new(*table.Lost)) {
		var there chain.Link
		if s.t.Get(ctx, pk, linkKey(l.Seq), &there) == nil && there.ID() == l.ID() {
			return nil // the answer to an earlier try was lost
		}
		err = aggregate.ErrConflict
	}
	return table.Wrapped(err, "append link %d of %s", l.Seq, l.Tenant)
}

// HeadKept records that the head with this seq was stored in the bucket at a time.
func (s Rows) HeadKept(ctx context.Context, tenant string, seq int, at time.Time) error {
	e := table.NewExpression()
	e.Set("kept", seq)
	e.Set("kept_at", at)
	return s.noteChain(ctx, tenant, "kept", e, e.Is("kept", "<=", seq))
}

// ChainChecked records that no row before a time still has to be sealed.
func (s Rows) ChainChecked(ctx context.Context, tenant string, through time.Time) error {
	e := table.NewExpression()
	e.Set("checked_at", through)
	return s.noteChain(ctx, tenant, "checked_at", e, e.Is("checked_at", "<", through))
}

// noteChain writes attributes of the chain's head if that lacks one of them or its value is lower.
func (s Rows) noteChain(ctx context.Context, tenant, name string, e *table.Expression, lower string) error {
	pk, err := table.TenantPartition(chainPrefix, tenant)
	if err != nil {
		return err
	}
	_, err = s.t.Update(ctx, table.Key(pk, chainHead), e, table.All(e.Exists(), table.AnyOf(e.Lacks(name), lower)))
	return table.Wrapped(table.Unless(err, table.ErrCondition), "note %s of the chain of %s", name, tenant)
}

// Chains returns the chains of all tenants. It reads an index, which may be slightly stale.
func (s Rows) Chains(ctx context.Context) iter.Seq2[Chain, error] {
	return table.Queried(ctx, s.t, s.t.Find(table.NewExpression(), "GSI1", chains), table.UnpackAs[Chain])
}

// Links returns a tenant's links from seq on.
func (s Rows) Links(ctx context.Context, tenant string, seq int) iter.Seq2[chain.Link, error] {
	e := table.NewExpression()
	return table.Queried(ctx, s.t, s.t.Find(e, "", chainPrefix+tenant, e.Between("SK", linkKey(seq), linkPrefix+"~")),
		table.UnpackAs[chain.Link])
}

// Link returns one of a tenant's links. It returns aggregate.ErrNotFound if there is none with that seq.
func (s Rows) Link(ctx context.Context, tenant string, seq int) (l chain.Link, err error) {
	err = s.t.Get(ctx, chainPrefix+tenant, linkKey(seq), &l)
	return l, table.Wrapped(err, "read link %d of %.40s", seq, tenant)
}

// RowsOfLog returns the rows of a tenant's audit log from a time until before another, in order, with all attributes.
func (s Rows) RowsOfLog(ctx context.Context, tenant string, from, until time.Time) iter.Seq2[chain.Row, error] {
	return func(yield func(chain.Row, error) bool) {
		for _, month := range table.AuditMonths(tenant, from, until) {
			e := table.NewExpression()
			in := s.t.Find(e, "", month, e.Between("SK", aggregate.TimeText(from), aggregate.TimeText(until)))
			for r, err := range table.Queried(ctx, s.t, in, SealedRow) {
				if !yield(r, err) || err != nil {
					return
				}
			}
		}
	}
}

// SealedRow returns an audit row as it is sealed, with all of its attributes. If its key has no time, the row has none.
func SealedRow(it map[string]types.AttributeValue) (chain.Row, error) {
	members := map[string]any{}
	for name, v := range it {
		members[name] = table.Plain(v)
	}
	content, err := chain.Canonical(members)
	if err != nil {
		return chain.Row{}, err
	}
	pk, sk := table.TextOf(it, "PK"), table.TextOf(it, "SK")
	moment, _, _ := strings.Cut(sk, "#")
	at, err := time.Parse(time.RFC3339, moment)
	if err != nil || !strings.HasSuffix(pk, "#"+at.UTC().Format("2006-01")) {
		at = time.Time{}
	}
	return chain.Row{Key: chain.KeyOf(pk, sk), Content: content, At: at}, nil
}

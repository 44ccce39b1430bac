// Package large stores results of tools, small ones in the row and larger ones in S3, and the prompts sent to models.
package large

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/boot"
)

const (
	// MaxInline is the largest value stored in a row, in bytes: 60 steps with arguments and results must fit into one
	// Query's megabyte.
	MaxInline = 4 << 10
	// MaxBytes is the largest value that can be stored.
	MaxBytes = 8 << 20
)

// errAltered means an object whose content was changed after it was stored.
var errAltered = errors.New("its content is not what its name says")

// ErrTooLarge means a value over MaxBytes. Retrying does not help.
var ErrTooLarge = fmt.Errorf("over the limit of %d bytes", MaxBytes)

// Prefixes of the bucket's keys. Results and prompts may contain what people wrote, so they are deleted after
// retain_results_days. Arguments are never deleted, like the audit log that says who approved them.
const (
	results   = ResultsPrefix
	prompts   = conversation.PromptsPrefix
	arguments = conversation.StampedPrefix
	contests  = "contests/" // what rounds and their teams were made of; kept like the rows that name them
	// models' answers of rounds that go on; the bucket deletes them a day after the rows that name them
	turns = "turns/"

	filesOf = FilesPrefix // of requests, and their texts; they expire like results
	beside  = "attached/" // files of requests that were taken on; never deleted, as they are in what people stamp

	talks = conversation.TalksPrefix // payloads of conversations; kept until the conversation is forgotten

	ResultsPrefix = "results/" // of results' keys
	FilesPrefix   = "files/"   // of requests' files
	ReadsFolder   = "/reads/"  // of what agents read of files, which expires like prompts
)

// ErrExpired means a value that was deleted after its tenant's retain_results_days.
var ErrExpired = errors.New("the result has expired")

// Store stores values in an S3 bucket.
type Store struct{ Bucket *Bucket }

// Open returns a function's store by its environment.
func Open(cfg aws.Config, env boot.Results) Store {
	return Store{Bucket: BucketAt(cfg, env.ResultsBucket)}
}

// Keep stores a result and returns its Blob. A value over MaxInline is stored in the bucket under the task's prefix,
// named by its hash, so that storing it twice makes one object. It returns ErrTooLarge for a value over MaxBytes.
func (s Store) Keep(ctx context.Context, ref aggregate.Ref, v json.RawMessage) (aggregate.Blob, error) {
	return s.keep(ctx, results+under(ref), v, MaxInline)
}

// KeepArguments is Keep for the arguments of a call, which never expire.
func (s Store) KeepArguments(ctx context.Context, ref aggregate.Ref, v json.RawMessage) (aggregate.Blob, error) {
	return s.keep(ctx, arguments+under(ref), v, MaxInline)
}

// KeepPayload is Keep for what an action in a conversation is to do: it goes with the conversation, unless somebody
// stamps it.
func (s Store) KeepPayload(ctx context.Context, ref aggregate.Ref, v json.RawMessage) (aggregate.Blob, error) {
	return s.keep(ctx, talks+under(ref), v, MaxInline)
}

// KeepContest is Keep for values of a contest, which are kept as long as its rows. Up to inline bytes are stored in the
// row.
func (s Store) KeepContest(ctx context.Context, ref aggregate.Ref, v json.RawMessage,
	inline int) (aggregate.Blob, error) {
	return s.keep(ctx, contests+under(ref), v, inline)
}

// KeepTurn is KeepContest for a model's answer that an interrupted round continues from. The bucket deletes it after
// eight days.
func (s Store) KeepTurn(ctx context.Context, ref aggregate.Ref, v json.RawMessage, inline int) (aggregate.Blob, error) {
	return s.keep(ctx, turns+under(ref), v, inline)
}

// KeepReads is Keep for what an agent read of its conversation's files.
func (s Store) KeepReads(ctx context.Context, ref aggregate.Ref, v json.RawMessage) (aggregate.Blob, error) {
	return s.keep(ctx, reads(ref), v, MaxInline)
}

// KeepCallResult is KeepReads for what a tool returned. It is always stored in the bucket, since rows of approved
// actions outlive their conversation.
func (s Store) KeepCallResult(ctx context.Context, ref aggregate.Ref, v json.RawMessage) (aggregate.Blob, error) {
	return s.put(ctx, reads(ref), v)
}

// KeepText stores the text of a request's file beside the file.
func (s Store) KeepText(ctx context.Context, ref aggregate.Ref, text string) (aggregate.Blob, error) {
	v, err := json.Marshal(text)
	if err != nil {
		return aggregate.Blob{}, fmt.Errorf("keep a text: %w", err)
	}
	return s.put(ctx, filesOf+under(ref), v)
}

// Lend stores a file named by its hash, of a conversation as KeepReads does, and returns an address at which it can be
// read for some time.
func (s Store) Lend(ctx context.Context, ref aggregate.Ref, file []byte, during time.Duration) (string, error) {
	if err := s.KeepFile(ctx, ref, file); err != nil {
		return "", err
	}
	return s.Bucket.Address(ctx, fileKey(ref, aggregate.HashOf(string(file))), during)
}

// KeepFile stores a file named by its hash, of a conversation as KeepReads does.
func (s Store) KeepFile(ctx context.Context, ref aggregate.Ref, file []byte) error {
	key := fileKey(ref, aggregate.HashOf(string(file)))
	if err := s.Bucket.Put(ctx, key, octets, file); err != nil {
		return fmt.Errorf("keep a file: %w", err)
	}
	return nil
}

func fileKey(ref aggregate.Ref, sum string) string {
	if ref.Kind == task.Kind.Name {
		return filesOf + under(ref) + sum
	}
	return reads(ref) + sum
}

// File returns a file that KeepFile stored, by its hash. It returns ErrExpired for one that is not there, and an error
// for content that has another hash.
func (s Store) File(ctx context.Context, ref aggregate.Ref, sum string) ([]byte, error) {
	return s.get(ctx, fileKey(ref, sum), sum, task.MaxFileBytes)
}

func attachedKey(ref aggregate.Ref, sum string) string { return beside + under(ref) + sum }

// Attach stores a request's file, which KeepFile stored before, for as long as the audit log.
func (s Store) Attach(ctx context.Context, ref aggregate.Ref, sum string) error {
	v, err := s.File(ctx, ref, sum)
	if err == nil {
		err = s.Bucket.Put(ctx, attachedKey(ref, sum), octets, v)
	}
	if err != nil {
		return fmt.Errorf("attach a file: %w", err)
	}
	return nil
}

// Attached returns a file that Attach stored, as File does.
func (s Store) Attached(ctx context.Context, ref aggregate.Ref, sum string) ([]byte, error) {
	return s.get(ctx, attachedKey(ref, sum), sum, task.MaxFileBytes)
}

// AttachedAddress returns an address that serves such a file as one to be saved under a name, for LinkLasts.
func (s Store) AttachedAddress(ctx context.Context, ref aggregate.Ref, sum, name string) (string, error) {
	return s.Bucket.Download(ctx, attachedKey(ref, sum), name)
}

// Prompts returns a function that stores the prompts sent for a task. They are always stored in the bucket, named by
// their hash.
func (s Store) Prompts(ref aggregate.Ref) func(ctx context.Context, body []byte) (aggregate.Blob, error) {
	return func(ctx context.Context, body []byte) (aggregate.Blob, error) {
		return s.put(ctx, prompts+under(ref), body)
	}
}

// under returns the part of a key that names the task.
func under(ref aggregate.Ref) string { return ref.Tenant + "/" + ref.ID + "/" }

// reads returns the prefix of what agents read of a conversation's files.
func reads(ref aggregate.Ref) string {
	return talks + strings.TrimSuffix(under(ref), "/") + ReadsFolder
}

// keep keeps a value of up to inline bytes in the row, and a larger one in the bucket.
func (s Store) keep(ctx context.Context, prefix string, v json.RawMessage, inline int) (aggregate.Blob, error) {
	if len(v) <= inline {
		return aggregate.Blob{Bytes: len(v), JSON: aggregate.JSON(v)}, nil
	}
	return s.put(ctx, prefix, v)
}

// put stores a value in the bucket and returns its Blob, with an error one without a key.
func (s Store) put(ctx context.Context, prefix string, v []byte) (aggregate.Blob, error) {
	b := aggregate.Blob{Bytes: len(v)}
	if len(v) > MaxBytes {
		return b, fmt.Errorf("keep a value of %d bytes: %w", len(v), ErrTooLarge)
	}
	key := prefix + aggregate.HashOf(string(v)) + ".json"
	if err := s.Bucket.Put(ctx, key, "application/json", v); err != nil {
		return b, fmt.Errorf("keep a value: %w", err)
	}
	b.S3Key = key
	return b, nil
}

// CallResult opens what a call returned. It returns ErrExpired once that is not kept any more.
func CallResult(ctx context.Context, from interface {
	Open(ctx context.Context, ref aggregate.Ref, b aggregate.Blob) (json.RawMessage, error)
}, ref aggregate.Ref, b aggregate.Blob) (r conversation.CallResult, err error) {
	text, err := from.Open(ctx, ref, b)
	if err != nil {
		return r, err
	}
	return conversation.ReadCallResult(text)
}

// Open returns the complete value of a Blob of this task, or ErrExpired.
func (s Store) Open(ctx context.Context, ref aggregate.Ref, b aggregate.Blob) (json.RawMessage, error) {
	if b.S3Key == "" {
		if b.JSON == "" {
			return nil, errors.New("open a value: it was too large to be kept")
		}
		return json.RawMessage(b.JSON), nil
	}
	own := func(prefix string) bool { return strings.HasPrefix(b.S3Key, prefix+under(ref)) }
	if !slices.ContainsFunc([]string{results, prompts, arguments, contests, turns, talks, filesOf}, own) {
		return nil, fmt.Errorf("open a value: %w", aggregate.ErrNotFound)
	}
	v, err := s.value(ctx, b.S3Key)
	if stamped, talked := strings.CutPrefix(b.S3Key, talks); talked && errors.Is(err, ErrExpired) {
		v, err = s.value(ctx, arguments+stamped) // a row from before the stamp
	}
	return v, err
}

// Copy copies an object if its content has the hash in both names. It reads and stores the object, since S3's own copy
// would take whatever is there by then.
func (s Store) Copy(ctx context.Context, c aggregate.Copy) error {
	if path.Base(c.To) != path.Base(c.From) {
		return fmt.Errorf("copy %s to %s: %w", c.From, c.To, errAltered)
	}
	v, err := s.value(ctx, c.From)
	if err != nil {
		return fmt.Errorf("copy %s: %w", c.From, err)
	}
	_, err = s.put(ctx, strings.TrimSuffix(c.To, path.Base(c.To)), v)
	return err
}

// Copier makes copies. Store implements it.
type Copier interface {
	Copy(ctx context.Context, c aggregate.Copy) error
}

// Copying returns a decision that copies the objects which decide's Change names. Only then the Change can be
// committed.
func Copying[A any](ctx context.Context, s Copier, decide aggregate.Decision[A]) aggregate.Decision[A] {
	return func(a A) (aggregate.Change, error) {
		c, err := decide(a)
		if err != nil {
			return c, err
		}
		for _, x := range c.Copies {
			if err := s.Copy(ctx, x); err != nil {
				return aggregate.Change{}, err
			}
		}
		c.Copies = nil
		return c, nil
	}
}

// value reads an object that is named by its hash.
func (s Store) value(ctx context.Context, key string) (json.RawMessage, error) {
	return s.get(ctx, key, (aggregate.Blob{S3Key: key}).Hash(), MaxBytes)
}

// get reads an object and checks its content against its hash. It returns ErrExpired for one that was deleted;
// arguments never are.
func (s Store) get(ctx context.Context, key, sum string, limit int64) ([]byte, error) {
	v, err := s.Bucket.Get(ctx, key, limit)
	switch {
	case MissingObject(err) && !strings.HasPrefix(key, arguments):
		err = fmt.Errorf("%w: %w", ErrExpired, err)
	case err == nil && aggregate.HashOf(string(v)) != sum:
		err = errAltered
	}
	if err != nil {
		return nil, fmt.Errorf("open a value: %w", err)
	}
	return v, nil
}

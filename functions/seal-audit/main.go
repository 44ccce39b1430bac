// Command seal-audit seals the audit log: new rows from the table's stream, and each minute rows that were missed.
//
// It is the stream's second reader, and AWS serves two at most; so it also counts what the numbers of a day and a
// team's statistics are made of, from the same records. It decides nothing, and no decision waits for it.
//
// A link lists keys and salted hashes of entries, names the link before it, and is signed by a key that nobody else may
// use. Any invocation appends, by a transaction on the head's seq. A row that is sealed twice is sealed alike. A batch
// gathers for 20 s (2 s in development), and one batch of a shard is handled at a time: a tenant's entries of a month
// are in one shard, and two batches would meet in that head, where all but one had signed in vain.
//
// An entry that was changed or removed, or is dated more than two minutes off its record, rings, and is sealed as such:
// that stays a finding, even if somebody puts it back. Each minute the signed head of each chain that moved goes to a
// bucket with Object Lock, so that removing the end with its links shows. Entries of past days that nobody sealed are
// sealed as late, in windows of six hours, whoever waited longest first.
//
// A fact is counted once: its row names the sources that it was counted from, and it is written in one transaction with
// the day's sum. What the stream forgot is counted by infra/rescue.
package main

import (
	"context"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"ringi/shared/runtime/boot"
	"ringi/shared/store"
	"ringi/shared/store/seal"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return h.Handle })
}

type environment struct {
	boot.Table
	Key    string `env:"CHAIN_KEY_ID" doc:"the key that signs the audit log's chain"`
	Days   string `env:"HEAD_RETENTION_DAYS" doc:"for how many days the bucket locks an object"`
	Bucket string `env:"HEADS_BUCKET" doc:"the bucket whose objects are locked, for heads of chains"`
}

// rows reads and writes the audit log, its chains and its figures.
type rows struct {
	seal.Rows
	*store.Counter
}

func rowsOf(s *store.Store) rows {
	return rows{seal.Of(s.Table()), store.CounterOf(s.Table(), s.Kinds())}
}

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	days, err := strconv.Atoi(env.Days)
	return &Handler{
		Store: rowsOf(store.OpenAll(cfg, env.Table)), Signer: seal.Signer{KMS: kms.NewFromConfig(cfg), Key: env.Key},
		Heads: seal.Open(cfg, env.Bucket), Locked: time.Duration(days) * 24 * time.Hour, Now: time.Now,
	}, err
}

// Command seal-audit seals the audit log: new rows from the table's stream, and each minute rows that were missed.
package main

import (
	"context"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/config"
	"ringi/shared/store"
	"ringi/shared/store/kinds"
	"ringi/shared/store/seal"
	"ringi/shared/store/sums"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return h.Handle })
}

type environment struct {
	config.Table
	Key    string `env:"CHAIN_KEY_ID" doc:"the key that signs the audit log's chain"`
	Days   string `env:"HEAD_RETENTION_DAYS" doc:"for how many days the bucket locks an object"`
	Bucket string `env:"HEADS_BUCKET" doc:"the bucket whose objects are locked, for heads of chains"`
}

// rows reads and writes the audit log, its chains and its figures.
type rows struct {
	seal.Rows
	*sums.Counter
}

func rowsOf(s *store.Store) rows { return rows{seal.Of(s.Table()), sums.Of(s.Table(), s.Kinds())} }

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	days, err := strconv.Atoi(env.Days)
	return &Handler{
		Store: rowsOf(kinds.Open(cfg, env.Table)), Signer: seal.Signer{KMS: kms.NewFromConfig(cfg), Key: env.Key},
		Heads: seal.Open(cfg, env.Bucket), Locked: time.Duration(days) * 24 * time.Hour, Now: time.Now,
	}, err
}

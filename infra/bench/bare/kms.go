//go:build kms

package main

import "github.com/aws/aws-sdk-go-v2/service/kms"

func init() { clients = append(clients, with(kms.NewFromConfig)) }

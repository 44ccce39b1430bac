// Package secret is the area of what tenants connect: tokens in the vault, consent by OAuth, and workspaces' bots. The
// deployment's own secrets are in runtime/secret.
//
// It imports model and what stands below. Begin with vault.
package secret

// Package secret is the area of the accounts that tenants connect: tokens in the vault, consent by OAuth, and
// workspaces' bots. The deployment's own secrets are in runtime/secret.
//
// Begin with vault.
package secret

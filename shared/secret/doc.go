// Package secret is the area of the accounts that tenants connect: tokens in the vault, consent by OAuth, and
// workspaces' bots. The deployment's own secrets are in runtime/secret.
//
// It imports model and the areas above model in the README. Begin with vault.
package secret

// Package circulation says where a gate under a rule stands: Walk folds what people did along the gate's route, and
// Admit says whether somebody may do more. Cards, lists, claims and proofs use nothing else. It knows no task, reads no
// clock and imports only the standard library; infra/audit/verify.py has the same fold in Python.
package circulation

// Package conversation holds the rules for conversations with agents: messages, the actions that agents propose, the
// files they work on, and the results. Every decision is a pure function that takes loaded rows and returns a Change.
//
// Nothing is executed without approval: only an approved action can execute, and it is approved by people or by an
// administrator's rule for tests and listed reads. People approve exactly the payload that ReadPayload accepted, and
// exactly that is executed. A version of the files is one archive whose bytes depend only on the files. An archive that
// returns from the place where commands run is treated as untrusted input.
//
// A run is a turn. A message is put with its inbox row; an answer takes what waited when it began and deletes exactly
// those rows, so what comes meanwhile is answered next. What people change or delete in Slack is a message of its own.
// One action is open at a time; while it waits, people and agent go on talking.
//
// A proposal names its bytes. It is completed before it is kept: the version of the files that it is about (base) and,
// in place of files and edits, what becomes of each line. So the stamped hash covers what is drawn. A claim is refused
// where the conversation's version isn't the base any more. The version moves with the result, from base to what was
// left, or not at all; what a late result left is offered and taken by a person alone. Where a version is gone, nothing
// is proposed or run until a person chooses to begin empty or to fetch the source again: it never begins with an empty
// folder by itself.
//
// Which reads go without a person: the settings list agent, tool, version and people; everybody who spoke since a
// person last approved something is among them; and each argument is a choice, a number or a date, or stands word for
// word in a message of one of them. So no word that a model composed leaves unseen.
//
// A pull request's stamp covers each changed path against the source's commit. What steers CI, deployments, merging or
// Git's hooks is refused by its name. Each step of pushing is committed before the next is made and can be made again:
// whoever meets an expired claim goes on from the row.
//
// After files, attachments, output or a summary were shown, the agent's request is an offer that a person makes.
//
// A conversation that isn't kept is forgotten in two commits. From the first on nobody reads or writes; whoever puts
// something outside of commits looks into the head afterwards and deletes what came too late. Fifteen minutes later,
// longer than any function runs, all is erased but the head and what was stamped.
package conversation

// Package files knows what files are, and nothing of conversations: a version's tree and its archive, another's
// archive that is read within bounds, the difference of two trees, what is proposed to be written, and patches.
//
// A Tree never has a path or a link that leads out of it, whoever wrote the archive that it is read from. The same
// files are the same archive, byte by byte, so an archive's SHA-256 is its version's id. A difference depends on the
// two trees alone, so what people stamp is what is made: Tree.Make takes changes only where each path is what the
// change says it was, and becomes what the change says it is.
//
// Whatever exceeds a limit is refused by name, or left out and named. Nothing here reads a clock or a network; only
// Unpack and Pack touch a disk, within an os.Root.
package files

// Package reference converts objects by rules as the documentation says, and as nothing else does:
// it shares no code with webhookd. Its test edits the same objects by both, and compares what users
// see after each step.
//
// An object is what users see, and for each version what it last said. There are no
// annotations and no digests.
package reference

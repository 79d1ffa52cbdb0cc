// Package kept is the verb kept: what an object keeps for other versions.
package kept

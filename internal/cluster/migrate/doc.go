// Package migrate takes the objects of a CustomResourceDefinition from one version to another:
// stores them in it, and removes the versions that are no longer needed.
//
// All state is in the cluster. Next derives the next step from what is observed, so a run that was
// killed goes on when it is started again, and two runs at once do no harm.
//
// A version leaves status.storedVersions only with a proof that no object is stored in it:
//
//  1. The storage version has not changed for a while, in which every API server has learned of it
//     and every request that began before has ended. Answers over several new connections name it.
//  2. After that, each object of a complete list was written successfully, or deleted. A write that
//     changes nothing is enough: the API server stores an object again if it would now be stored as
//     other bytes. Objects that are created meanwhile are stored in the new version.
//  3. From the beginning of 1 to the change of status.storedVersions, the CRD has the same uid and
//     generation. The change has a resourceVersion, so that it fails otherwise.
//
// Kubernetes' own controller (KEP-4192) does 2 and 3 in the same way.
package migrate

// Package cluster is a client of the Kubernetes API for the commands that run once, in a Job or on
// a user's machine. It finds clusters as kubectl does, reads objects, creates them, and changes
// them by merge patch and by server-side apply. The server has no access to the API and never
// imports this package.
//
// It is client-go's REST client, not its dynamic one: objects are JSON, so a caller decodes what it
// needs and sends only the fields that it sets. Fields that this build does not know are never
// lost, and the schemas of CRDs take no memory.
package cluster

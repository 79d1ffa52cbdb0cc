// Package kubeapi is a small client of the Kubernetes API for the verbs that run once, in a Job: it reads objects, creates
// them, and changes them by merge patch and by server-side apply. It is not client-go, which would double what an idle
// webhookd keeps in memory, and it is not used while serving: the server has no access to the API.
//
// Objects are JSON: a caller decodes what it needs, and sends only the fields that it means to set. So no field that this
// build does not know is ever lost.
package kubeapi
